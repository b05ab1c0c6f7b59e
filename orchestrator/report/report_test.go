package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"kanban-run/orchestrator/console"
	"kanban-run/orchestrator/flow"
)

func path(p string) *string { return &p }

// story is a run with everything that a person may see.
func story() []flow.Entry {
	events := []flow.Event{
		flow.RunStarted{Board: "kanban.yaml", Workdir: "/w", Tasks: 2, Withheld: []string{"A_TOKEN"}},
		flow.StepStarted{Step: 1, Task: "tasks/a.md", Role: "Implementor", Index: 1, Of: 2},
		flow.AttemptStarted{AttemptRef: flow.AttemptRef{Step: 1, Call: flow.TaskCall, Task: "tasks/a.md", Role: "Implementor", Attempt: 1}, Command: "claude"},
		flow.ReplyRejected{AttemptRef: flow.AttemptRef{Step: 1, Role: "Implementor", Attempt: 1}, Reason: "stdout is empty", Exit: "exit status 1", Of: 3},
		flow.AttemptStarted{AttemptRef: flow.AttemptRef{Step: 1, Call: flow.TaskCall, Task: "tasks/a.md", Role: "Implementor", Attempt: 2}, Command: "claude"},
		flow.ReplyAccepted{AttemptRef: flow.AttemptRef{Step: 1, Call: flow.TaskCall, Role: "Implementor"}, Status: "blocked", Message: "no \x1b[2J key", Millis: 125000},
		flow.AttemptStarted{AttemptRef: flow.AttemptRef{Step: 1, Call: flow.ManagerCall, Task: "tasks/a.md", Role: "Manager", Attempt: 1}, Command: "claude"},
		flow.ReplyAccepted{AttemptRef: flow.AttemptRef{Step: 1, Call: flow.ManagerCall, Role: "Manager"}, Status: "ok", Millis: 40},
		flow.StepFinished{Step: 1, Task: "tasks/a.md", Role: "Implementor", Status: "blocked", Millis: 125000, NextTask: path("tasks/b.md"), Warning: "the board's list stands"},
		flow.RunFinished{Outcome: flow.Complete},
	}
	var entries []flow.Entry
	for i, e := range events {
		entries = append(entries, flow.Entry{Seq: uint64(i + 1), Epoch: 1, Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local), Event: e})
	}
	return entries
}

func TestPlain(t *testing.T) {
	var b bytes.Buffer
	p := NewPlain(console.New(&b, nil), true)
	for _, e := range story() {
		p.Entry("kanban.yaml", e)
	}
	p.Notice("kanban.yaml", "odd")
	want := `03:04:05 kanban.yaml 2 tasks in /w
03:04:05 kanban.yaml withheld from the agents: A_TOKEN (env.pass in .kanban-run.yaml or in a role passes a variable)
03:04:05 kanban.yaml step 1: tasks/a.md to Implementor (1 of 2)
03:04:05 kanban.yaml step 1: Implementor started
03:04:05 kanban.yaml step 1: Implementor attempt 1 rejected: stdout is empty (exit status 1); retry 1 of 3
03:04:05 kanban.yaml step 1: Implementor started (attempt 2)
03:04:05 kanban.yaml step 1: Implementor blocked in 2m05s: no \x1b[2J key
03:04:05 kanban.yaml step 1: Manager started
03:04:05 kanban.yaml step 1: Manager ok in 40ms
03:04:05 kanban.yaml step 1: done, next tasks/b.md
03:04:05 kanban.yaml step 1: the board's list stands
warning: kanban.yaml odd
`
	if got := b.String(); got != want {
		t.Errorf("Plain wrote\n%s\nwant\n%s", got, want)
	}
}

func TestJSONIsOneObjectALine(t *testing.T) {
	var b bytes.Buffer
	j := NewJSON(console.New(&b, nil), true)
	for _, e := range story() {
		j.Entry("kanban.yaml", e)
	}
	j.Notice("kanban.yaml", "odd")
	j.Refused("no board", "make one", 2)
	j.Summary([]Ending{{Board: "kanban.yaml", Outcome: flow.Complete}}, 0)
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	if len(lines) != len(story())+3 {
		t.Fatalf("%d lines, want %d", len(lines), len(story())+3)
	}
	for _, l := range lines {
		var e struct {
			Type string
			Data map[string]any
		}
		if err := json.Unmarshal([]byte(l), &e); err != nil || e.Type == "" || e.Data == nil {
			t.Errorf("line %q: %v", l, err)
		}
	}
}

// TestLive plays the story on a terminal and reads the screen after it.
func TestLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b bytes.Buffer
		l := NewLive(console.New(&b, nil), func() int { return 80 }, false, []string{"kanban.yaml"})
		entries := story()
		for _, e := range entries[:3] {
			l.Entry("kanban.yaml", e)
		}
		l.Agent("kanban.yaml", said("runs go test ./... with a very long line that does not fit"))
		time.Sleep(2*time.Second + time.Millisecond)
		synctest.Wait()
		screen := render(b.String())
		live := screen[len(screen)-1]
		if !strings.HasPrefix(live, "▸ kanban.yaml  1 of 2  2s  tasks/a.md  Implementor  2s ago: runs go test ") || len([]rune(live)) != 79 {
			t.Errorf("live line = %q (%d columns), want the role, the task, its place, the time and the activity within 79 columns", live, len([]rune(live)))
		}
		for _, e := range entries[3:] {
			l.Entry("kanban.yaml", e)
		}
		l.Close()
		want := []string{
			"  2 tasks in /w",
			"  withheld from the agents: A_TOKEN (env.pass in .kanban-run.yaml or in a role passes a variable)",
			"✗ step 1: Implementor attempt 1 rejected: stdout is empty (exit status 1); retry 1 of 3",
			"! step 1: Implementor blocked in 2m05s: no \\x1b[2J key",
			"✓ step 1: Manager ok in 40ms",
			"! step 1: the board's list stands",
		}
		if got := render(b.String()); strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("the screen shows\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}

// TestLiveRows: the rows of several boards are in the order in which these were named, in columns, with the place and the time before
// what may be long; a path is cut in its middle.
func TestLiveRows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b bytes.Buffer
		width := 80
		l := NewLive(console.New(&b, nil), func() int { return width }, false, []string{"a.yaml", "long.yaml"})
		begin := func(board, task, role string, index, of int) {
			l.Entry(board, flow.Entry{Event: flow.RunStarted{}})
			l.Entry(board, flow.Entry{Event: flow.StepStarted{Step: 1, Task: task, Index: index, Of: of}})
			l.Entry(board, flow.Entry{Event: flow.AttemptStarted{AttemptRef: flow.AttemptRef{Step: 1, Call: flow.TaskCall, Task: task, Role: role, Attempt: 1}}})
		}
		begin("long.yaml", "tasks/a/very/long/path/to/7-the-task.md", "Implementor", 9, 10)
		time.Sleep(75 * time.Second)
		begin("a.yaml", "tasks/1.md", "Architect", 10, 10)
		time.Sleep(time.Second)
		synctest.Wait()
		screen := render(b.String())
		if got := screen[len(screen)-2:]; !strings.HasPrefix(got[0], "▸ a.yaml     10 of 10     1s  tasks/1.md ") || !strings.HasPrefix(got[1], "▸ long.yaml   9 of 10  1m16s  tasks/a/") ||
			!strings.Contains(got[1], "7-the-task.md  Implementor") || strings.Index(got[0], "Architect") < 40 {
			t.Errorf("the rows are\n%s", strings.Join(got, "\n"))
		}
		before := b.Len()
		width = 40
		l.Notice("a.yaml", "narrow")
		if drawn := b.String()[before:]; !strings.HasPrefix(drawn, "\x1b[4A\r\x1b[J") {
			t.Errorf("a terminal of half the width has two rows for each line, and %q clears others", drawn)
		}
		l.Close()
	})
}

// render is a terminal that knows the two sequences that Live writes: so many lines up, and clear to the end.
func render(out string) []string {
	var screen []string
	for out != "" {
		if rest, ok := strings.CutPrefix(out, "\x1b["); ok {
			var n int
			digits := rest[:strings.IndexAny(rest, "AJ")]
			for _, d := range digits {
				n = n*10 + int(d-'0')
			}
			if rest[len(digits)] == 'A' {
				screen = screen[:len(screen)-n]
			}
			out = strings.TrimPrefix(rest[len(digits)+1:], "\r")
			continue
		}
		line, rest, _ := strings.Cut(out, "\n")
		screen = append(screen, line)
		out = rest
	}
	return screen
}

func TestTimes(t *testing.T) {
	for d, want := range map[time.Duration][2]string{
		0:                       {"0ms", "0s"},
		340 * time.Millisecond:  {"340ms", "0s"},
		2500 * time.Millisecond: {"2.5s", "2s"},
		12 * time.Second:        {"12s", "12s"},
		185 * time.Second:       {"3m05s", "3m05s"},
		2 * time.Hour:           {"2h00m", "2h00m"},
	} {
		if got := [2]string{Took(d.Milliseconds()), elapsed(d)}; got != want {
			t.Errorf("took, elapsed of %v = %q, want %q", d, got, want)
		}
	}
}

// A live line that wraps would leave its first part on the screen for ever.
func TestCutCountsColumns(t *testing.T) {
	for _, tt := range []struct {
		text  string
		width int
		want  string
	}{
		{"plain", 5, "plain"}, {"plain", 4, "pla…"}, {"漢字漢字", 8, "漢字漢字"}, {"漢字漢字", 7, "漢字漢…"}, {"漢字漢字", 6, "漢字…"}, {"any", 0, "any"},
	} {
		if got := cut(tt.text, tt.width); got != tt.want {
			t.Errorf("cut(%q, %d) = %q, want %q", tt.text, tt.width, got, tt.want)
		}
	}
}
