package report

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"kanban-run/orchestrator/console"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/health"
	"kanban-run/orchestrator/projection"
)

// screen is a screen on the day of the story.
func screen(width int) Screen {
	return Screen{Out: console.New(io.Discard, nil), Now: time.Date(2026, 1, 2, 12, 0, 0, 0, time.Local), Width: width}
}

// board returns a board with the story, whose list has two tasks.
func board(name string, s flow.State, keep projection.Keep) *projection.Board {
	f := projection.Fold{Keep: keep}
	for _, e := range story() {
		f.Add(e)
	}
	if s.Workdir = "/w"; s.Statuses == nil {
		s.Statuses = []flow.TaskStatus{{Task: "tasks/a.md", Status: "blocked"}}
	}
	b := f.Board(name, &flow.History{State: s}, projection.Facts{List: list("tasks/a.md", "tasks/b.md"), Current: "tasks/b.md", Next: "step 2: Architect", Log: "log.md"})
	return &b
}

// needsPerson is a state in which a person has to look at an open step.
func needsPerson() flow.State {
	return flow.State{Outcome: event.NeedsPerson, Text: "Implementor is stuck", Spent: true,
		Step: &flow.Step{Number: 2, Task: "tasks/a.md", Role: "Implementor", Call: event.TaskCall, Started: 2}}
}

// TestStatus: status has one order: how the board stands, what it works on, what waits for a person with
// the command for it, what comes next, when it ended, the numbers, and the tasks.
func TestStatus(t *testing.T) {
	for name, tt := range map[string]struct {
		state flow.State
		want  []string
	}{
		"needs a person": {needsPerson(), []string{
			"✗ k.yaml needs you: Implementor is stuck",
			"",
			"  open     step 2: tasks/a.md, Implementor, 2 attempts",
			"  for you  kanban-run k.yaml             has tasks/a.md tried again, with fresh retries",
			"           kanban-run ack k.yaml accept  counts the work on tasks/a.md as done; the next run asks the Manager",
			"           kanban-run ack k.yaml skip    goes on without tasks/a.md, which stays undone",
			"  said     tasks/a.md: no \\x1b[2J key",
			"  next     step 2: Architect",
			"  ended    03:04",
			"  cost     of all runs unknown",
			"  steps    1; agents worked 2m05s",
			"",
			"  ✗ tasks/a.md  Implementor, 2 attempts, 2m05s, blocked",
			"    tasks/b.md",
		}},
		"a limit": {flow.State{Outcome: event.LimitReached, Text: "max_steps: 1"}, []string{
			"! k.yaml stopped (limit reached): max_steps: 1",
			"",
			"  next     step 2: Architect",
			"  again    kanban-run k.yaml",
			"  ended    03:04",
			"  cost     of all runs unknown",
			"  steps    1; agents worked 2m05s",
			"",
			"  ✗ tasks/a.md  Implementor, 2 attempts, 2m05s, blocked",
			"  ▸ tasks/b.md  next",
		}},
	} {
		got := strings.Join(screen(0).Status(board("k.yaml", tt.state, projection.Keep{}), false), "\n")
		if want := strings.Join(tt.want, "\n"); got != want {
			t.Errorf("%s: status says\n%s\nwant\n%s", name, got, want)
		}
	}
}

// TestDecidedInStatus: status has the last three decisions of people with their times.
func TestDecidedInStatus(t *testing.T) {
	var f projection.Fold
	for i := range 5 {
		f.Add(event.Entry{Time: time.Date(2026, 1, 2, 3, 4, i, 0, time.Local), Event: event.Acknowledged{Text: fmt.Sprint("decision ", i+1), Note: "seen"}})
	}
	b := f.Board("k.yaml", &flow.History{State: flow.State{Workdir: "/w", Outcome: event.LimitReached}}, projection.Facts{})
	got := strings.Join(screen(0).Status(&b, false), "\n")
	if strings.Count(got, "decided") != 3 || !strings.Contains(got, "  decided  2026-01-02 03:04:02: decision 3") || strings.Count(got, "seen") != 3 {
		t.Errorf("status says\n%s", got)
	}
}

// TestTable: the boards that a person decides about come first, then those to mend, to run again, and
// those that need nobody; the last line has the totals. Where there is no room, rows of boards that need
// nobody are left out.
func TestTable(t *testing.T) {
	mend := board("mend.yaml", flow.State{Outcome: event.LimitReached}, projection.Keep{})
	mend.SetInvalid(fmt.Errorf("no role X"))
	boards := []*projection.Board{
		board("done-1.yaml", flow.State{Outcome: event.Complete, Text: flow.CompleteText, Last: flow.ManagerReply{Status: "ok"}}, projection.Keep{}),
		board("again.yaml", flow.State{Outcome: event.LimitReached, Text: "max_steps: 1"}, projection.Keep{}),
		mend,
		board("stuck.yaml", needsPerson(), projection.Keep{}),
	}
	for i := range 2 {
		b := *boards[0]
		b.Board = fmt.Sprintf("done-%d.yaml", i+2)
		boards = append(boards, &b)
	}
	for _, b := range []*projection.Board{boards[0], boards[4], boards[5]} {
		b.EndAs(event.RunInterrupted{Outcome: event.Complete, Reason: flow.CompleteText})
	}
	names := func(lines []string) string {
		var all []string
		for _, l := range lines {
			if name, _, ok := strings.Cut(l, ".yaml"); ok {
				all = append(all, name)
			}
		}
		return strings.Join(all, "|")
	}
	atWork := *boards[1]
	atWork.Board, atWork.State, atWork.Who = "work.yaml", projection.Running, projection.Nobody
	if got := names(screen(0).Table(append([]*projection.Board{&atWork}, boards...), 0)); !strings.HasPrefix(got, "✗ stuck|✗ mend|! work|! again|") {
		t.Errorf("with a board at work the rows are %s", got)
	}
	sc := screen(0)
	atWork.Open = &projection.OpenStep{Step: 2, Task: "b.md", Role: "Implementor", Call: event.TaskCall, Attempts: 2}
	atWork.Agent = &health.Live{At: sc.Now, Started: sc.Now.Add(-8 * time.Second), LastActivity: sc.Now.Add(-3 * time.Second), Health: health.Healthy}
	if got := sc.Table([]*projection.Board{&atWork, boards[3]}, 1); len(got) != 3 || !strings.Contains(got[1], "b.md, Implementor: working 8s · last sign 3s · healthy; ") {
		t.Errorf("a board at work shows who works on what, since when and how, also in one line:\n%s", strings.Join(got, "\n"))
	}
	all := screen(0).Table(boards, 0)
	if got, want := names(all), "✗ stuck|✗ mend|! again|✓ done-1|✓ done-2|✓ done-3"; got != want {
		t.Errorf("the rows are %s, want %s", got, want)
	}
	if got, want := all[len(all)-1], "3 of 6 boards complete, 2 need you, 1 only has to be run again"; !strings.HasPrefix(got, want) {
		t.Errorf("the last line is %q, want %q", got, want)
	}
	for _, word := range []string{"you decide", "you mend it", "run it again", "Implementor is stuck (Implementor said: no \\x1b[2J key)"} {
		if text := strings.Join(all, "\n"); strings.Count(text, word) != 1 {
			t.Errorf("the table does not say once %q:\n%s", word, text)
		}
	}
	few := screen(0).Table(boards, 6)
	if got := names(few); got != "✗ stuck|✗ mend|! again|✓ done-1" || len(few) != 6 || few[4] != "  and 2 boards more that wait for nobody" {
		t.Errorf("in 6 lines the table is\n%s", strings.Join(few, "\n"))
	}
	if least := names(screen(0).Table(boards, 1)); least != "✗ stuck|✗ mend" {
		t.Errorf("in one line the rows are %s, want those that wait for a person", least)
	}
	whole, narrow := screen(40).Table(boards, 0), screen(40).Table(boards, 12)
	if text := strings.Join(narrow, "\n"); strings.Contains(strings.Join(whole, ""), "…") || len(whole) <= 12 || len(narrow) > 12 ||
		!strings.Contains(text, "(Implementor s…\n") || !strings.HasSuffix(text, "\n3 of 6 boards complete, 2 need you, 1\nonly has to be run again") {
		t.Errorf("in 12 lines of 40 columns the table is\n%s\nand without a bound\n%s", text, strings.Join(whole, "\n"))
	}
}

// TestWatch: status -w is status, or the table, and the last events of all boards in the order of time.
func TestWatch(t *testing.T) {
	keep := projection.Keep{Steps: 1, Notices: 50}
	one := board("a.yaml", needsPerson(), keep)
	alone := screen(80).Watch([]*projection.Board{one}, 40)
	status := screen(80).Status(one, false)
	if got := strings.Join(alone[:len(status)], "\n"); got != strings.Join(status, "\n") {
		t.Errorf("watched, it stands as\n%s", got)
	}
	want := []string{
		"",
		"  03:04:05 ✗ step 1: Implementor attempt 1 rejected: stdout is empty (exit stat…",
		"  03:04:05 ! step 1: Implementor blocked in 2m05s: no \\x1b[2J key",
		"  03:04:05 ✓ step 1: Manager ok in 40ms",
		"  03:04:05 ! step 1: the board's list stands",
	}
	if got := alone[len(status):]; strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("the last events are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	two := screen(120).Watch([]*projection.Board{one, board("b.yaml", flow.State{Outcome: event.LimitReached}, keep)}, 40)
	text := strings.Join(two, "\n")
	if n := strings.Count(text, "03:04:05"); n != mostRecent || !strings.Contains(text, "  b.yaml  step 1: the board's list stands") && !strings.Contains(text, "! b.yaml  step 1: the board's list stands") {
		t.Errorf("%d events of two boards:\n%s", n, text)
	}
}
