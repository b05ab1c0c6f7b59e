package report

import (
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	reader "github.com/joshdk/go-junit"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/projection"
)

func same(text string) string { return text }

// folded is the fold of the story, a second apart, and of more events.
func folded(more ...event.Entry) *projection.Fold {
	var f projection.Fold
	for i, e := range story() {
		e.Time = time.Date(2026, 1, 2, 3, 4, 5+i, 0, time.UTC)
		f.Add(e)
	}
	for _, e := range more {
		f.Add(e)
	}
	return &f
}

// show is a board with the history f whose last run has ended.
func show(f *projection.Fold, board string, s flow.State) *projection.Board {
	s.Workdir = "/w"
	b := f.Board(board, &flow.History{State: s}, projection.Facts{Log: "log.md"})
	return &b
}

// played is the story of a board, with an ending.
func played(board string, outcome event.Outcome, text string) *projection.Board {
	return show(folded(), board, flow.State{Outcome: outcome, Text: text, Spent: true})
}

// stuck is a board whose agent gave no valid reply in its second step.
func stuck() *projection.Board {
	at := time.Date(2026, 1, 2, 3, 5, 0, 0, time.UTC)
	var more []event.Entry
	for _, e := range []event.Event{
		event.StepStarted{Step: 2, Task: "tasks/b|1.md", Role: "Architect"},
		event.AttemptStarted{AttemptRef: event.AttemptRef{Step: 2, Call: event.TaskCall, Task: "tasks/b|1.md", Role: "Architect", Attempt: 1}},
		event.ReplyRejected{AttemptRef: event.AttemptRef{Step: 2, Role: "Architect", Attempt: 1}, Reason: "the reply is no JSON", Exit: "exit status 1", Received: "gar]]>bage",
			Stderr: strings.Repeat("line\n", 30) + "the last", Output: ".kanban-run/runs/b.yaml/steps/2", End: event.End{Millis: 1500}},
	} {
		more = append(more, event.Entry{Time: at, Event: e})
	}
	return show(folded(more...), "b.yaml", flow.State{Outcome: event.Exhausted, Text: "retries exhausted: <garbage> & \x1b[2J]]>", Spent: true,
		Step: &flow.Step{Number: 2, Task: "tasks/b|1.md", Role: "Architect", Call: event.TaskCall}})
}

// TestJUnitIsRead reads the document as CI systems do, with a parser that is not ours.
func TestJUnitIsRead(t *testing.T) {
	idle := show(&projection.Fold{}, "c.yaml", flow.State{Outcome: event.Owned, Text: "another run owns the board"})
	text, err := JUnit([]*projection.Board{played("a.yaml", event.Complete, "the board is complete"), stuck(), idle}, same)
	if err != nil {
		t.Fatal(err)
	}
	suites, err := reader.Ingest(text)
	if err != nil {
		t.Fatalf("the parser says %v of\n%s", err, text)
	}
	var got []string
	for _, s := range suites {
		got = append(got, fmt.Sprintf("suite %s: %d tests, %d passed, %d failed, %d errors", s.Name, s.Totals.Tests, s.Totals.Passed, s.Totals.Failed, s.Totals.Error))
		for _, c := range s.Tests {
			got = append(got, fmt.Sprintf("%s | %s | %s | %s | %s", c.Name, c.Classname, c.Duration, c.Status, c.Message))
		}
	}
	want := []string{
		"suite a.yaml: 1 tests, 1 passed, 0 failed, 0 errors",
		"step 1: tasks/a.md | a.yaml.Implementor | 7s | passed | ",
		"suite b.yaml: 2 tests, 1 passed, 1 failed, 0 errors",
		"step 1: tasks/a.md | b.yaml.Implementor | 7s | passed | ",
		`step 2: tasks/b|1.md | b.yaml.Architect | 0s | failed | retries exhausted: <garbage> & \x1b[2J]]>`,
		"suite c.yaml: 1 tests, 0 passed, 0 failed, 1 errors",
		"the board is complete | c.yaml | 0s | error | another run owns the board",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the parser reads (-want +got):\n%s\n%s", diff, text)
	}
	failure := suites[1].Tests[1].Error.Error()
	for _, part := range []string{"Architect attempt 1 rejected: the reply is no JSON (exit status 1)", "gar]]>bage", "the last", "steps/2", "fresh retries"} {
		if !strings.Contains(failure, part) {
			t.Errorf("the failure lacks %q:\n%s", part, failure)
		}
	}
	if n := strings.Count(failure, "line\n"); n != 19 {
		t.Errorf("%d lines of standard error, want the last 20 in all", n)
	}
}

// numbers returns the numbers of failures, of errors and of skipped cases of a board.
func numbers(t *testing.T, b *projection.Board) string {
	t.Helper()
	text, err := JUnit([]*projection.Board{b}, same)
	if err != nil {
		t.Fatal(err)
	}
	var all suites
	if err := xml.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%d %d %d", all.Suites[0].Failures, all.Suites[0].Errors, all.Suites[0].Skipped)
}

// TestJUnitCounts: a board that is not complete has one failure or error, and one that is has
// none, whatever its steps were.
func TestJUnitCounts(t *testing.T) {
	want := map[event.Outcome]string{
		event.Complete: "0 0 0", event.Incomplete: "1 0 0", event.NeedsPerson: "1 0 0", event.Exhausted: "1 0 0", event.Frozen: "1 0 0", event.LimitReached: "0 1 0",
		event.Later: "0 1 0", event.Interrupted: "0 1 0", event.Owned: "0 1 0", event.Invalid: "0 1 0", event.Failed: "0 1 0", event.Unsaved: "0 1 0",
	}
	for _, outcome := range event.Outcomes() {
		for _, f := range []*projection.Fold{folded(), {}} {
			b := show(f, "a", flow.State{Outcome: outcome, Text: "text", Spent: true})
			if got := numbers(t, b); got != want[outcome] {
				t.Errorf("%s, %d steps: %s failures, errors and skipped, want %s", outcome, len(b.Steps), got, want[outcome])
			}
		}
	}
}

// list is the list of a board of tasks that are done if their last reply was ok.
func list(paths ...string) flow.List {
	no := func(int) bool { return false }
	return flow.List{Paths: paths, Marked: no, Done: no, Find: func(task string) int {
		for i, p := range paths {
			if p == task {
				return i
			}
		}
		return -1
	}}
}

// TestJUnitOfRuns: a board that was never run or is at work is not red.
// A task that failed fails in its own case, and a task that was never worked on is skipped.
func TestJUnitOfRuns(t *testing.T) {
	facts := projection.Facts{List: list("tasks/a.md", "tasks/b.md"), Current: "tasks/b.md"}
	board := func(s flow.State, change func(*projection.Facts)) *projection.Board {
		f, played := facts, folded()
		if change != nil {
			change(&f)
		}
		if f.Never {
			played = &projection.Fold{}
		}
		b := played.Board("a", &flow.History{State: s}, f)
		return &b
	}
	blocked := []flow.TaskStatus{{Task: "tasks/a.md", Status: "blocked"}}
	aside := func(o event.Outcome, status string) flow.State {
		return flow.State{Outcome: o, Text: "tasks/a.md is set aside", Spent: true, Workdir: "/w", Aside: []flow.Aside{{Task: "tasks/a.md", Status: status}},
			Statuses: []flow.TaskStatus{{Task: "tasks/a.md", Status: status}}}
	}
	for name, tt := range map[string]struct {
		board *projection.Board
		want  string
	}{
		"never run":            {board(flow.State{}, func(f *projection.Facts) { f.Never, f.Current = true, "tasks/a.md" }), "0 0 2"},
		"at work":              {board(flow.State{Running: true, Workdir: "/w", Statuses: blocked, Step: &flow.Step{Number: 2, Task: "tasks/b.md", Running: 1}}, func(f *projection.Facts) { f.Owned = true }), "0 0 0"},
		"set aside":            {board(aside(event.Incomplete, "blocked"), nil), "1 0 1"},
		"set aside at a limit": {board(aside(event.LimitReached, flow.StatusLimit), nil), "1 0 1"},
		"a limit":              {board(flow.State{Outcome: event.LimitReached, Text: "$5", Workdir: "/w"}, nil), "0 1 2"},
		"lenient, with one undone": {board(flow.State{Outcome: event.Incomplete, Lenient: true, Workdir: "/w", Statuses: []flow.TaskStatus{{Task: "tasks/a.md", Status: "ok"}}, Last: flow.ManagerReply{Status: "ok", BoardSHA: "s"}},
			func(f *projection.Facts) { f.Board, f.Current = flow.Board{Terminal: true, SHA: "s"}, "" }), "0 0 1"},
	} {
		if got := numbers(t, tt.board); got != tt.want {
			t.Errorf("%s: %s failures, errors and skipped, want %s (%s, %s, undone %v, failed %v)", name, got, tt.want, tt.board.State, tt.board.Outcome, tt.board.Undone, tt.board.Failed)
		}
	}
}

func TestMarkdown(t *testing.T) {
	got := Markdown([]*projection.Board{played("a.yaml", event.Complete, "the board is complete"), stuck()}, same, 0)
	file := filepath.Join("testdata", "report.md")
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("Markdown differs (-want +got):\n%s", diff)
	}
}

// TestMarkdownIsTheTablesItShouldBe renders it with a library: nothing that an agent or a
// board says becomes markup.
func TestMarkdownIsTheTablesItShouldBe(t *testing.T) {
	b := stuck()
	b.Board = "<b>*x* | y"
	b.Shown = b.Board
	b.Steps[0].Message = "| a <script>alert(1)</script>\n# heading\n@someone `code` ![x](http://x/y.png)"
	var html strings.Builder
	if err := goldmark.New(goldmark.WithExtensions(extension.GFM)).Convert([]byte(Markdown([]*projection.Board{b}, same, 0)), &html); err != nil {
		t.Fatal(err)
	}
	page := html.String()
	for part, times := range map[string]int{"<table>": 2, "<tr>": 5, "<h2": 1, "<h3": 1, "<h1": 0, "<script": 0, "<img": 0, "<b>": 0, "<em>": 0, "<a ": 0} {
		if got := strings.Count(page, part); got != times {
			t.Errorf("%d times %s, want %d in\n%s", got, part, times, page)
		}
	}
	if want := "&lt;b&gt;*x* | y"; strings.Count(page, want) < 3 {
		t.Errorf("the board's name is not shown as it is in\n%s", page)
	}
}

// A job's summary of more than 1 MiB is dropped whole: better fewer rows.
func TestMarkdownKeepsToItsLimit(t *testing.T) {
	var f projection.Fold
	for i := range 2000 {
		f.Add(event.Entry{Event: event.StepStarted{Step: i + 1, Task: fmt.Sprintf("tasks/%d.md", i), Role: "Implementor"}})
		f.Add(event.Entry{Event: event.StepFinished{Step: i + 1, Message: strings.Repeat("m", 300)}})
	}
	big := show(&f, "a.yaml", flow.State{Outcome: event.Complete, Text: flow.CompleteText})
	var boards []*projection.Board
	for range 20 {
		boards = append(boards, big)
	}
	bad := *big
	boards[17] = &bad
	bad.EndAs(event.RunInterrupted{Outcome: event.Exhausted, Reason: "no reply"})
	bad.Hint = "look at it"
	for _, limit := range []int{1 << 20, 50_000, 1000} {
		got := Markdown(boards, same, limit)
		if !strings.Contains(got, "no reply. Next: look at it") {
			t.Errorf("%d bytes do not say what a person has to do", limit)
		}
		if len(got) > limit || !strings.Contains(got, "19 of 20 boards complete") || !strings.Contains(got, " more\n") && !strings.Contains(got, "before these") {
			t.Errorf("%d bytes, want at most %d that say what is left out:\n%.300s", len(got), limit, got)
		}
	}
	if got := Markdown(boards[:1], same, 0); strings.Count(got, "\n| ") < 2000 || strings.Count(got, " :done,") != maxBars {
		t.Errorf("%d rows and %d bars, want all and %d", strings.Count(got, "\n| "), strings.Count(got, " :done,"), maxBars)
	}
}

// TestDocumentsTellOfChanges: what was changed while agents worked and waits for nobody is told once.
func TestDocumentsTellOfChanges(t *testing.T) {
	b := played("a.yaml", event.Complete, "the board is complete")
	b.Changed = []string{"the prompt of Manager changed while tasks/a.md was worked on"}
	text, err := JUnit([]*projection.Board{b}, same)
	for name, got := range map[string]string{"JUnit": string(text), "Markdown": Markdown([]*projection.Board{b}, same, 0)} {
		if strings.Count(got, "the prompt of Manager changed") != 1 || err != nil {
			t.Errorf("%s does not tell it once (%v):\n%s", name, err, got)
		}
	}
}

// TestOpenStepOfARunAtWork: the timeline shows it as active, and not as the reason of an end.
func TestOpenStepOfARunAtWork(t *testing.T) {
	b := stuck()
	b.State = projection.Running
	if text := Markdown([]*projection.Board{b}, same, 0); !strings.Contains(text, "2 Architect tasks/b_1.md :active,") {
		t.Errorf("the step is not active:\n%s", text)
	}
}

// What is a secret is hidden wherever it stands.
func TestDocumentsHideSecrets(t *testing.T) {
	b := stuck()
	for _, text := range []*string{&b.Board, &b.Reason.Said, &b.Hint, &b.Steps[1].Task, &b.Steps[1].Role, &b.Steps[1].Message, &b.Steps[1].Attempts[0].Reason,
		&b.Steps[1].Attempts[0].Received, &b.Steps[1].Attempts[0].Stderr} {
		*text = "hunter2"
	}
	b.Steps[1].Notes, b.Changed = []string{"hunter2"}, []string{"hunter2"}
	hide := func(text string) string { return strings.ReplaceAll(text, "hunter2", "HIDDEN") }
	text, err := JUnit([]*projection.Board{b}, hide)
	if err != nil || strings.Contains(string(text), "hunter2") {
		t.Errorf("JUnit shows it (%v):\n%s", err, text)
	}
	if text := Markdown([]*projection.Board{b}, hide, 0); strings.Contains(text, "hunter2") {
		t.Errorf("Markdown shows it:\n%s", text)
	}
}
