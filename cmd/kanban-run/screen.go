package main

import (
	"os"
	"slices"
	"sync"

	"github.com/spf13/pflag"
	"golang.org/x/term"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/ledger"
	"kanban-run/orchestrator/notify"
	"kanban-run/orchestrator/projection"
	"kanban-run/orchestrator/report"
	"kanban-run/orchestrator/result"
)

// output holds the flags for the form of a run's output.
type output struct{ json, quiet, noAgents *bool }

func outputFlags(flags *pflag.FlagSet) *output {
	return &output{
		json:  flags.Bool("json", false, "one JSON event a line on stdout, and nothing else"),
		quiet: flags.BoolP("quiet", "q", false, "errors and the last line only"),

		noAgents: flags.Bool("no-agent-events", false, "leave out what agents do, such as the tools that they use"),
	}
}

// screen is the output of a run: the observer, and the parts that the end of the run needs.
type screen struct {
	observer ledger.Observer
	json     *report.JSON
	record   *recorder // of a dry run; nil for any other run
	dry      bool
	dirs     []string // work directories of the boards
	docs     *documents
	notifier *notify.Notifier // nil if the settings name neither a command nor a webhook
	close    func()
}

func (o *output) screen(t *terminal, boards []string, dry bool) *screen {
	several := len(boards) > 1
	s := &screen{close: func() {}}
	switch {
	case *o.json:
		s.json = report.NewJSON(t.stdout, !*o.noAgents)
		s.observer = s.json
	case *o.quiet:
		s.observer = report.Quiet{Plain: report.NewPlain(t.stderr, several)}
	case dry:
		s.observer = report.NewDryRun(t.stdout, t.stderr, several)
	default:
		s.observer, s.close = progress(t, boards, *o.noAgents)
	}
	return s
}

// progress returns the observer of a run: groups of lines in a CI job, a live view on a terminal,
// plain lines elsewhere. It also returns a function that closes the observer.
func progress(t *terminal, boards []string, noAgents bool) (ledger.Observer, func()) {
	several := len(boards) > 1
	if t.job != nil {
		grouped := report.NewGrouped(t.stderr, t.job.token, several)
		return grouped, grouped.Close
	}
	if !term.IsTerminal(int(t.live.Fd())) || slices.Contains(t.environ, "TERM=dumb") {
		plain := report.NewPlain(t.stderr, several)
		plain.NoAgents = noAgents
		return plain, func() {}
	}
	live := report.NewLive(t.stderr, func() (width, height int) { return sizeOf(t.live) }, colored(t), boards)
	var once sync.Once
	return live, func() { once.Do(live.Close) }
}

// sizeOf returns the size of a terminal, or 80 by 24 if the size is unknown, as on a serial line.
func sizeOf(terminal *os.File) (width, height int) {
	width, height, err := term.GetSize(int(terminal.Fd()))
	if err != nil || width <= 0 || height <= 0 {
		return 80, 24
	}
	return width, height
}

// colored reports whether colours are allowed in the output. They are forbidden if NO_COLOR is set
// and not empty (no-color.org).
func colored(t *terminal) bool {
	return !slices.ContainsFunc(t.environ, func(e string) bool {
		return len(e) > len("NO_COLOR=") && e[:len("NO_COLOR=")] == "NO_COLOR="
	})
}

// recorder is an observer that folds the events of a dry run, of which no journal is left. It also
// forwards them to another observer. It is safe for concurrent use.
type recorder struct {
	ledger.Observer
	mu    sync.Mutex
	folds map[string]*projection.Fold
}

func newRecorder(o ledger.Observer) *recorder {
	return &recorder{Observer: o, folds: map[string]*projection.Fold{}}
}

// Entry folds a journaled event, and forwards it.
func (r *recorder) Entry(board string, e event.Entry) {
	r.mu.Lock()
	if r.folds[board] == nil {
		r.folds[board] = &projection.Fold{Keep: projection.Keep{Steps: keptSteps}}
	}
	r.folds[board].Add(e)
	r.mu.Unlock()
	r.Observer.Entry(board, e)
}

// board returns how the dry run of a board ended. Tasks that it leaves undone are no failure, because no agent
// writes the task files that are missing.
func (r *recorder) board(ended result.Result) projection.Board {
	r.mu.Lock()
	defer r.mu.Unlock()
	fold := r.folds[ended.Board]
	if fold == nil {
		fold = &projection.Fold{}
	}
	b := fold.Board(ended.Board, &flow.History{}, projection.Facts{})
	if ended.End.Outcome == event.Incomplete {
		ended.End.Outcome = event.Complete
	}
	b.EndAs(ended.End)
	return b
}
