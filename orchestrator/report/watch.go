package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mattn/go-runewidth"

	"kanban-run/orchestrator/console"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/standing"
)

// Watched is the state of a board in status --watch.
type Watched struct {
	Status Status
	Recent Recent
}

// Recent are the last events of a board.
type Recent struct{ last []event.Entry }

// A Recent keeps at least the last mostEvents events. The screen shows at most mostRecent of their
// lines.
const (
	mostEvents = 50
	mostRecent = 6
)

// Add notes an event.
func (r *Recent) Add(e event.Entry) {
	if len(r.last) == 2*mostEvents {
		r.last = append(r.last[:0], r.last[mostEvents:]...)
	}
	r.last = append(r.last, e)
}

type recentLine struct {
	at    time.Time
	board string
	event.Sentence
}

// lines returns the lines of weight Success or more, which a person should see.
func (r *Recent) lines(board string) (all []recentLine) {
	for _, e := range r.last {
		for _, l := range describe(e.Event) {
			if l.Weight >= event.Success {
				all = append(all, recentLine{e.Time, board, l})
			}
		}
	}
	return all
}

// DrawWatched returns the lines of a screen. For a single board it lists the tasks by state. For
// several boards it has one line each, and the boards that need a person come first. The last
// events follow.
func DrawWatched(out *console.Printer, boards []Watched, at time.Time, width int, color bool) []string {
	var lines []string
	var recent []recentLine
	for i := range boards {
		recent = append(recent, boards[i].Recent.lines(boards[i].Status.Board)...)
	}
	if len(boards) == 1 {
		lines = drawBoard(out, &boards[0].Status, at, width, color)
	} else {
		lines = drawBoards(out, boards, at, width, color)
	}
	slices.SortStableFunc(recent, func(a, b recentLine) int { return a.at.Compare(b.at) })
	if len(recent) > 0 {
		lines = append(lines, "")
	}
	for _, r := range recent[max(0, len(recent)-mostRecent):] {
		name := ""
		if len(boards) > 1 {
			name = r.board + "  "
		}
		text := cut(out.Sprintf("%s%s", name, r.Sentence), width-13)
		lines = append(lines,
			fmt.Sprintf("  %s %s %s", r.at.Local().Format("15:04:05"), coloredSign(r.Weight, color), text))
	}
	return lines
}

func drawBoard(out *console.Printer, s *Status, at time.Time, width int, color bool) []string {
	if !s.Running {
		weight, words := s.headline()
		return []string{coloredSign(weight, color) + " " + cut(out.Sprintf("%s", words), width-2)}
	}
	lines := s.now().clean(out).pair(at, width, color)
	for _, text := range s.forYou() {
		lines = append(lines, "  "+cut(out.Sprintf("for you: %s", text), width-2))
	}
	lines = append(lines, "")
	for _, group := range []struct{ state, name string }{
		{standing.Done, "done"},
		{standing.NotOK, "not ok"},
		{standing.Current, "doing"},
		{standing.Waiting, "to do"},
		{standing.Quarantined, "quarantined"},
	} {
		lines = append(lines, drawTasks(out, group.name, tasksIn(s.Tasks, group.state), width)...)
	}
	return lines
}

func tasksIn(tasks []standing.Task, state string) (names []string) {
	for _, t := range tasks {
		if t.State == state {
			names = append(names, shortTask(t.Task))
		}
	}
	return names
}

// drawTasks returns the names of tasks side by side, in at most three lines.
func drawTasks(out *console.Printer, title string, names []string, width int) []string {
	const most, indent = 3, 15
	var lines []string
	for i, name := range names {
		name = out.Sprintf("%s", name)
		switch last := len(lines) - 1; {
		case i == 0:
			lines = append(lines, fmt.Sprintf("  %-*s%s", indent-2, title, name))
		case runewidth.StringWidth(lines[last]+"  "+name) < width-len("  and 1000 more"):
			lines[last] += "  " + name
		case len(lines) == most:
			lines[last] += fmt.Sprintf("  and %d more", len(names)-i)
			return lines
		default:
			lines = append(lines, strings.Repeat(" ", indent)+name)
		}
	}
	for i := range lines {
		lines[i] = cut(lines[i], width)
	}
	return lines
}

func drawBoards(out *console.Printer, boards []Watched, at time.Time, width int, color bool) []string {
	sorted := slices.Clone(boards)
	slices.SortStableFunc(sorted, func(a, b Watched) int {
		return cmp.Compare(a.Status.rank(), b.Status.rank())
	})
	rows := make([]now, len(sorted))
	for i := range sorted {
		rows[i] = sorted[i].Status.now().clean(out)
	}
	return nowRows(rows, at, width, color)
}

// rank returns 0 for a board that needs a person, 1 for any other board at work, and 2 for the
// rest.
func (s *Status) rank() int {
	switch {
	case len(s.forYou()) > 0 || s.standing.Weight == event.Critical:
		return 0
	case s.Running:
		return 1
	default:
		return 2
	}
}

// now returns the display of a board. It shows the activity if a run is at work, and otherwise the
// end of the last run.
func (s *Status) now() now {
	n := now{board: s.Board, used: s.Used.Used, limit: s.Limits.MaxCost, weight: event.Routine}
	if s.Open != nil {
		n.task = s.Open.Task
		n.player = event.AttemptRef{
			Call:    s.Open.Call,
			Role:    s.Open.Role,
			Round:   s.Open.Round,
			Attempt: s.Open.Attempts,
		}
		for i, t := range s.Tasks {
			if t.State == standing.Current {
				n.index, n.of = i+1, len(s.Tasks)
			}
		}
	}
	if !s.Running {
		n.weight = s.standing.Weight
		n.doing.detail = s.ending()
		return n
	}
	if s.Open != nil {
		n.since = s.Open.Since
	}
	if s.Agent != nil {
		n.since, n.last, n.health = s.Agent.Started, s.Agent.LastActivity, s.Agent.Health
		n.doing = doingLive(*s.Agent)
		n.weight = weightOf(n.health)
	}
	if s.Consent != "" {
		n.doing = doing{what: "waits for your consent", detail: s.Consent}
	}
	return n
}

// ending describes the end of the last run.
func (s *Status) ending() string {
	switch s.Outcome {
	case event.Complete, event.Incomplete:
		return s.Text
	case event.NeedsPerson, event.Exhausted:
		return "needs you: " + s.Text
	default:
		return s.Outcome.Words() + ": " + s.Text
	}
}
