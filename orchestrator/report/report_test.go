package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mattn/go-runewidth"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/console"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/projection"
)

func path(p string) *string { return &p }

// story is a run with everything that a person may see.
func story() []event.Entry {
	events := []event.Event{
		event.RunStarted{Board: "kanban.yaml", Workdir: "/w", Tasks: 2, Withheld: []string{"A_TOKEN"}},
		event.StepStarted{Step: 1, Task: "tasks/a.md", Role: "Implementor", Index: 1, Of: 2},
		event.AttemptStarted{AttemptRef: event.AttemptRef{Step: 1, Call: event.TaskCall, Task: "tasks/a.md", Role: "Implementor", Attempt: 1}, Command: "claude"},
		event.ReplyRejected{AttemptRef: event.AttemptRef{Step: 1, Role: "Implementor", Attempt: 1}, Reason: "stdout is empty", Exit: "exit status 1", Of: 3},
		event.AttemptStarted{AttemptRef: event.AttemptRef{Step: 1, Call: event.TaskCall, Task: "tasks/a.md", Role: "Implementor", Attempt: 2}, Command: "claude"},
		event.ReplyAccepted{AttemptRef: event.AttemptRef{Step: 1, Call: event.TaskCall, Task: "tasks/a.md", Role: "Implementor"}, Status: "blocked", Message: "no \x1b[2J key", End: event.End{Millis: 125000}},
		event.AttemptStarted{AttemptRef: event.AttemptRef{Step: 1, Call: event.ManagerCall, Task: "tasks/a.md", Role: "Manager", Attempt: 1}, Command: "claude"},
		event.ReplyAccepted{AttemptRef: event.AttemptRef{Step: 1, Call: event.ManagerCall, Role: "Manager"}, Status: "ok", End: event.End{Millis: 40}},
		event.StepFinished{Step: 1, Task: "tasks/a.md", Role: "Implementor", Status: "blocked", Manager: "ok", Millis: 125000, NextTask: path("tasks/b.md"), Warning: "the board's list stands"},
		event.RunFinished{Outcome: event.Complete, Remarked: new(bool)},
	}
	var entries []event.Entry
	for i, e := range events {
		entries = append(entries, event.Entry{Seq: uint64(i + 1), Epoch: 1, Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local), Event: e})
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
03:04:05 kanban.yaml step 1: ended blocked, next tasks/b.md
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
	j.Summary([]projection.Board{{Board: "kanban.yaml", Outcome: event.Complete}}, nil, 0)
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
		l := NewLive(console.New(&b, nil), func() (int, int) { return 80, 24 }, false, []string{"kanban.yaml"})
		entries := story()
		for _, e := range entries[:3] {
			e.Time = time.Now()
			l.Entry("kanban.yaml", e)
		}
		l.Agent("kanban.yaml", said("runs go test ./... with a very long line that does not fit"))
		time.Sleep(2*time.Second + time.Millisecond)
		synctest.Wait()
		screen := render(b.String())
		checkScreen(t, screen[len(screen)-2:],
			"▸ kanban.yaml  task 1 of 2  a  Implementor  2s",
			"  runs go test ./... with a very long line that do…  last sign 2s       healthy")
		for _, e := range entries[3:] {
			l.Entry("kanban.yaml", e)
		}
		l.Close()
		checkScreen(t, render(b.String()),
			"  2 tasks in /w",
			"  withheld from the agents: A_TOKEN (env.pass in .kanban-run.yaml or in a role", "  passes a variable)",
			"✗ step 1: Implementor attempt 1 rejected: stdout is empty (exit status 1); retry", "  1 of 3",
			"! step 1: Implementor blocked in 2m05s: no \\x1b[2J key",
			"✓ step 1: Manager ok in 40ms",
			"! step 1: the board's list stands")
	})
}

func checkScreen(t *testing.T, screen []string, want ...string) {
	t.Helper()
	if strings.Join(screen, "\n") != strings.Join(want, "\n") {
		t.Errorf("the screen shows\n%s\nwant\n%s", strings.Join(screen, "\n"), strings.Join(want, "\n"))
	}
}

// liveMoment is an event or a sign of an agent, some time after the last.
type liveMoment struct {
	after time.Duration
	event event.Event
	sign  agent.Event
}

// TestLiveMoments: the two lines of one board in the moments of an attempt,
// at 80 and at 120 columns.
func TestLiveMoments(t *testing.T) {
	ref := event.AttemptRef{Step: 7, Call: event.TaskCall, Task: "tasks/search/7-highlight.md", Role: "Implementor", Attempt: 2}
	spent := int64(11_300_000)
	begin := []liveMoment{
		{event: event.RunStarted{Limits: event.Limits{MaxCost: 15_000_000}, Carried: event.Used{Attempts: 2, Told: 1, Priced: 1, Cost: 1_000_000}}},
		{event: event.ReplyAccepted{AttemptRef: event.AttemptRef{Call: event.ManagerCall}, Status: "ok", End: event.End{Spent: &event.Spending{Cost: &spent}}}},
		{event: event.StepStarted{Step: 7, Task: ref.Task, Index: 7, Of: 9}},
		{event: event.AttemptStarted{AttemptRef: ref, Adapter: "claude"}},
		{sign: agent.Event{Kind: agent.Session, ID: "s"}},
	}
	tool := liveMoment{sign: agent.Event{Kind: agent.ToolStarted, ID: "1", Tool: "Bash", Text: "go test ./search/..."}}
	for name, c := range map[string]struct {
		moments      []liveMoment
		then         time.Duration
		sign, second string
	}{
		"a call is open":       {[]liveMoment{tool}, 130 * time.Second, "▸", "Bash 2m10s: go test ./search/... | last sign 2m10s | healthy"},
		"two calls":            {[]liveMoment{tool, {sign: agent.Event{Kind: agent.ToolStarted, ID: "2", Tool: "Read"}}}, 3 * time.Second, "▸", "Bash 3s: go test ./search/... (and 1 more call) | last sign 3s | healthy"},
		"the model is at work": {nil, 38 * time.Second, "▸", "model 38s | last sign 38s | healthy"},
		"the provider refuses": {[]liveMoment{{sign: agent.Event{Kind: agent.Retry, Text: "529"}}}, 80 * time.Second, "▸", "waits for the provider 1m20s: 529 | last sign 1m20s | healthy"},
		"asked": {[]liveMoment{tool, {150 * time.Second, event.AnomalyFound{AttemptRef: ref, Anomaly: event.Anomaly{Check: "idle_detected", Severity: "warning"}}, agent.Event{}},
			{event: event.MessageSent{AttemptRef: ref, Type: event.HealthCheck}}}, 12 * time.Second, "!", "asked 12s: no answer yet | last sign 2m42s | warning"},
		"it has answered": {[]liveMoment{tool, {event: event.MessageSent{AttemptRef: ref, Type: event.HealthCheck}}, {event: event.MessageHeard{AttemptRef: ref, Answer: "I work"}}},
			time.Second, "▸", "Bash 1s: go test ./search/... | last sign 1s | healthy"},
		"a person is asked": {[]liveMoment{{event: event.AnomalyFound{AttemptRef: ref, Anomaly: event.Anomaly{Severity: "critical"}}}, {event: event.ConsentAsked{AttemptRef: ref}}},
			5 * time.Second, "✗", "waits for your consent 5s: kanban-run inbox | last sign 5s | critical"},
	} {
		synctest.Test(t, func(t *testing.T) {
			for _, width := range []int{80, 120} {
				var b bytes.Buffer
				l := NewLive(console.New(&b, nil), func() (int, int) { return width, 24 }, false, []string{"search.yaml"})
				before := time.Now()
				for _, m := range append(begin, c.moments...) {
					time.Sleep(m.after)
					if m.event != nil {
						l.Entry("search.yaml", event.Entry{Time: time.Now(), Event: m.event})
					} else {
						m.sign.Time = time.Now()
						l.Agent("search.yaml", agent.Sign{AttemptRef: ref, Event: m.sign})
					}
				}
				time.Sleep(c.then)
				synctest.Wait()
				first := c.sign + " search.yaml  task 7 of 9  7-highlight  Implementor  " + event.Elapsed(time.Since(before))
				if width == 120 {
					first = c.sign + " search.yaml  task 7 of 9  tasks/search/7-highlight.md  Implementor (claude), attempt 2  " + event.Elapsed(time.Since(before))
				}
				screen := render(b.String())
				second := strings.Split(c.second, " | ")
				right := fmt.Sprintf("%-16s  %8s", second[1], second[2])
				checkScreen(t, screen[len(screen)-2:], fmt.Sprintf("%-*s≥$12.30 of $15.00", width-1-runewidth.StringWidth("≥$12.30 of $15.00"), first), fmt.Sprintf("  %-*s%s", width-3-len(right), second[0], right))
				l.Close()
			}
		})
		if t.Failed() {
			t.Fatal(name)
		}
	}
}

// TestLiveRows: the rows of several boards are in the order in which these were named, in columns,
// and fit the terminal: what there is no room for goes in the order last sign, health, role.
func TestLiveRows(t *testing.T) {
	for width, want := range map[int][]string{
		120: {"▸ a.yaml     10/10  1           Architect       1s  Bash 1s: go test ./a/very/long/package/...      sign 1s     healthy",
			"▸ long.yaml   9/10  7-the-task  Implementor  1m16s  Bash 1m16s: go test ./a/very/long/package/...   sign 1m16s  healthy"},
		80: {"▸ a     10/10  1           Architect       1s  Bash 1s: go test ./a/v…  healthy",
			"▸ long   9/10  7-the-task  Implementor  1m16s  Bash 1m16s: go test ./…  healthy"},
		50: {"▸ a     10/10  1             1s  Bash 1s: go tes…", "▸ long   9/10  7-t…-task  1m16s  Bash 1m16s: go …"},
		20: {"▸ a     10/10  1  …", "▸ long   9/10  7-……"},
	} {
		synctest.Test(t, func(t *testing.T) {
			var b bytes.Buffer
			l := startTwo(&b, func() (int, int) { return width, 24 })
			screen := render(b.String())
			checkScreen(t, screen[len(screen)-3:], append(want, cut("  0 of 2 boards complete", width-1))...)
			l.Close()
		})
	}
}

// TestLiveCounts: below the rows of several boards one line says how many are complete, and how many
// wait for a person, be it at their end or with their run at work.
func TestLiveCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b bytes.Buffer
		names := []string{"a", "b", "c", "d", "e"}
		l := NewLive(console.New(&b, nil), func() (int, int) { return 80, 24 }, false, names)
		for _, name := range names {
			l.Entry(name, event.Entry{Time: time.Now(), Event: event.RunStarted{}})
		}
		for _, tt := range []struct {
			board string
			event event.Event
			want  string
		}{
			{"a", event.RunFinished{Outcome: event.Complete}, "1 of 5 boards complete"},
			{"b", event.RunFinished{Outcome: event.Incomplete}, "1 of 5 boards complete, 1 waits for you"},
			{"c", event.ConsentAsked{}, "1 of 5 boards complete, 2 wait for you"},
			{"c", event.ConsentGiven{}, "1 of 5 boards complete, 1 waits for you"},
			{"c", event.RunInterrupted{Outcome: event.Interrupted}, "1 of 5 boards complete, 1 waits for you"},
			{"d", event.RunFinished{Outcome: event.LimitReached}, "1 of 5 boards complete, 1 waits for you"},
		} {
			l.Entry(tt.board, event.Entry{Time: time.Now(), Event: tt.event})
			if screen := render(b.String()); screen[len(screen)-1] != "  "+tt.want {
				t.Errorf("after %s of %s the last line is %q, want %q", tt.event.Kind(), tt.board, screen[len(screen)-1], tt.want)
			}
		}
		l.Close()
	})
}

// TestEndedBoardStaysAway: a board whose run has ended has no row, also when its last programs are
// journaled behind the end. Its row stands from the begin of a run.
func TestEndedBoardStaysAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b bytes.Buffer
		l := NewLive(console.New(&b, nil), func() (int, int) { return 80, 24 }, false, []string{"a", "b"})
		for _, e := range []event.Event{event.HandoffOffered{}, event.RunStarted{}, event.RunFinished{Outcome: event.Complete}, event.Pushed{}, event.BoardLeft{}} {
			l.Entry("a", event.Entry{Time: time.Now(), Event: e})
		}
		l.Entry("b", event.Entry{Time: time.Now(), Event: event.RunStarted{}})
		if screen := strings.Join(render(b.String()), "\n"); strings.Contains(screen, "▸ a") || !strings.HasSuffix(screen, "  1 of 2 boards complete") {
			t.Errorf("the screen shows\n%s", screen)
		}
		l.Close()
	})
}

// TestManyBoards: of more boards than a terminal has rows as many are shown as there is room for:
// what is above the screen could not be drawn anew.
func TestManyBoards(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b bytes.Buffer
		var names []string
		for i := range 30 {
			names = append(names, fmt.Sprintf("board-%02d-with-a-name-that-is-much-too-long-for-a-line-of-a-terminal.yaml", i))
		}
		l := NewLive(console.New(&b, nil), func() (int, int) { return 80, 10 }, false, names)
		for _, name := range names {
			l.Entry(name, event.Entry{Time: time.Now(), Event: event.RunStarted{}})
			l.Entry(name, event.Entry{Time: time.Now(), Event: event.StepStarted{Step: 1, Task: "tasks/1-parser.md", Index: 1, Of: 2}})
		}
		screen := render(b.String())
		rows := screen[len(screen)-8:]
		if !strings.HasPrefix(rows[0], "▸ board") || !strings.Contains(rows[0], "1/2  1-parser") || rows[6] != "  and 24 more" || rows[7] != "  0 of 30 boards complete" || strings.Contains(screen[len(screen)-9], "▸") {
			t.Errorf("the rows are\n%s", strings.Join(screen[len(screen)-10:], "\n"))
		}
		l.Entry(names[0], event.Entry{Time: time.Now(), Event: event.DuplicateTask{Task: "tasks/1-parser.md", Owner: "other.yaml"}})
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if screen := render(b.String()); !strings.Contains(screen[len(screen)-8], "waits for other.yaml 2s") {
			t.Errorf("a board that waits shows\n%s", screen[len(screen)-8])
		}
		l.Close()
	})
}

// TestNarrowedScreen: a terminal that became narrower has wrapped what was drawn.
func TestNarrowedScreen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b bytes.Buffer
		width := 120
		l := startTwo(&b, func() (int, int) { return width, 24 })
		before := b.Len()
		width = 60
		l.Notice("a.yaml", "narrow")
		if drawn := b.String()[before:]; !strings.HasPrefix(drawn, "\x1b[5A\r\x1b[J") {
			t.Errorf("a terminal of half the width has two rows for each line, and %q clears others", drawn)
		}
		l.Close()
	})
}

// startTwo shows two boards: one for a second, the other for 76.
func startTwo(out io.Writer, size func() (int, int)) *Live {
	l := NewLive(console.New(out, nil), size, true, []string{"a.yaml", "long.yaml"})
	begin := func(board, task, role string, index, of int) {
		ref := event.AttemptRef{Step: 1, Call: event.TaskCall, Task: task, Role: role, Attempt: 1}
		for _, e := range []event.Event{event.RunStarted{}, event.StepStarted{Step: 1, Task: task, Index: index, Of: of}, event.AttemptStarted{AttemptRef: ref}} {
			l.Entry(board, event.Entry{Time: time.Now(), Event: e})
		}
		l.Agent(board, agent.Sign{AttemptRef: ref, Event: agent.Event{Kind: agent.ToolStarted, Time: time.Now(), ID: "1", Tool: "Bash", Text: "go test ./a/very/long/package/..."}})
	}
	begin("long.yaml", "tasks/a/very/long/path/to/7-the-task.md", "Implementor", 9, 10)
	time.Sleep(75 * time.Second)
	begin("a.yaml", "tasks/1.md", "Architect", 10, 10)
	time.Sleep(time.Second)
	synctest.Wait()
	return l
}

// render is a terminal that knows the two sequences that Live writes: so many lines
// up, and clear to the end.
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
		if got := [2]string{event.Took(d.Milliseconds()), event.Elapsed(d)}; got != want {
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
		{"plain", 5, "plain"}, {"plain", 4, "pla…"}, {"漢字漢字", 8, "漢字漢字"}, {"漢字漢字", 7, "漢字漢…"}, {"漢字漢字", 6, "漢字…"}, {"any", 0, "…"},
	} {
		if got := cut(tt.text, tt.width); got != tt.want {
			t.Errorf("cut(%q, %d) = %q, want %q", tt.text, tt.width, got, tt.want)
		}
	}
}
