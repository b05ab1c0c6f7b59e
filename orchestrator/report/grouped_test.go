package report

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"
	"testing"

	"kanban-run/orchestrator/console"
	"kanban-run/orchestrator/event"
)

func grouped(names bool, play func(*Grouped)) string {
	var b bytes.Buffer
	g := NewGrouped(console.New(&b, nil), "T0KEN", names)
	play(g)
	g.Close()
	return b.String()
}

func TestGroupedWrapsAStepsWords(t *testing.T) {
	got := grouped(false, func(g *Grouped) {
		entries := story()
		for _, e := range entries[:3] {
			g.Entry("kanban.yaml", e)
		}
		g.Agent("kanban.yaml", said("::error::boom"))
		g.Agent("kanban.yaml", said("::T0KEN::"))
		g.Notice("kanban.yaml", "odd in a group")
		for _, e := range entries[3:] {
			g.Entry("kanban.yaml", e)
		}
		g.Notice("kanban.yaml", "odd")
	})
	want := `2 tasks in /w
withheld from the agents: A_TOKEN (env.pass in .kanban-run.yaml or in a role passes a variable)
::group::step 1: tasks/a.md to Implementor (1 of 2)
::stop-commands::T0KEN
step 1: Implementor started
  \::error::boom
  \::T0KEN::
warning: odd in a group
step 1: Implementor attempt 1 rejected: stdout is empty (exit status 1); retry 1 of 3
step 1: Implementor started (attempt 2)
step 1: Implementor blocked in 2m05s: no \x1b[2J key
step 1: Manager started
step 1: Manager ok in 40ms
step 1: ended blocked, next tasks/b.md
step 1: the board's list stands
::T0KEN::
::endgroup::
step 1: Implementor blocked in 2m05s: no \x1b[2J key
::warning title=kanban.yaml::odd
`
	if got != want {
		t.Errorf("Grouped wrote\n%s\nwant\n%s", got, want)
	}
}

// With several boards a group is written at once, so that groups are whole.
func TestGroupedKeepsBoardsApart(t *testing.T) {
	got := grouped(true, func(g *Grouped) {
		for _, e := range story() {
			g.Entry("a.yaml", e)
			g.Entry("b.yaml", e)
		}
	})
	open := ""
	for line := range strings.Lines(got) {
		switch {
		case strings.HasPrefix(line, "::group::"):
			if open != "" {
				t.Fatalf("a group in a group:\n%s", got)
			}
			open = strings.Fields(line[len("::group::"):])[0]
		case strings.HasPrefix(line, "::endgroup::"):
			open = ""
		case open == "" && strings.Contains(line, "started"):
			t.Errorf("outside of a group: %s", line)
		}
	}
	if strings.Count(got, "::group::a.yaml step 1") != 1 || strings.Count(got, "::group::b.yaml step 1") != 1 {
		t.Errorf("want a group for each board:\n%s", got)
	}
}

// A run that goes on with an open step has journaled no start of it.
func TestGroupedOpensAGroupForAStepThatGoesOn(t *testing.T) {
	got := grouped(false, func(g *Grouped) {
		g.Entry("k", event.Entry{Event: event.AttemptStarted{AttemptRef: event.AttemptRef{Step: 7, Task: "tasks/a.md", Role: "Implementor", Attempt: 2}}})
		g.Agent("k", said("at work"))
		g.Entry("k", event.Entry{Event: event.RunInterrupted{}})
	})
	want := "::group::step 7: tasks/a.md goes on\n::stop-commands::T0KEN\nstep 7: Implementor started (attempt 2)\n  at work\n::T0KEN::\n::endgroup::\n"
	if got != want {
		t.Errorf("Grouped wrote\n%s\nwant\n%s", got, want)
	}
}

// TestGroupedTellsTheResult: the line after the group is what the step came to for its task, as every view words
// it: the last reply of its agent, or that it is set aside. A step of the Manager alone is told as it ended.
func TestGroupedTellsTheResult(t *testing.T) {
	ref := event.AttemptRef{Step: 1, Call: event.TaskCall, Task: "a.md", Role: "Implementor", Attempt: 1}
	reply := func(message string) event.Event {
		return event.ReplyAccepted{AttemptRef: ref, Status: "ok", Message: message, End: event.End{Millis: 1000}}
	}
	manager := event.ReplyAccepted{AttemptRef: event.AttemptRef{Step: 1, Call: event.ManagerCall, Task: "a.md", Role: event.ManagerRole}, Status: "ok"}
	for name, tt := range map[string]struct {
		events                []event.Event
		role, status, manager string
		want                  string
	}{
		"the last reply":           {[]event.Event{reply("one"), reply("two"), manager}, "Implementor", "ok", "", "step 1: Implementor ok in 1.0s: two"},
		"set aside":                {[]event.Event{event.TaskSetAside{Step: 1, Task: "a.md", Role: "Implementor", Status: "stuck", Reason: "no key"}, manager}, "Implementor", "stuck", "", "step 1: a.md is set aside, and the board goes on: no key"},
		"set aside in another run": {[]event.Event{manager}, "Implementor", "no_reply", "", "step 1: ended no reply, nothing is next"},
		"quarantine after ok":      {[]event.Event{reply("one"), manager}, "Implementor", "blocked", "", "step 1: ended blocked, nothing is next"},
		"ok, but not the Manager":  {[]event.Event{reply("one"), manager}, "Implementor", "ok", "blocked", "step 1: ended ok, and the Manager said blocked: m, nothing is next"},
		"the Manager":              {[]event.Event{manager}, "Manager", "ok", "", "step 1: done, nothing is next"},
		"the Manager is blocked":   {[]event.Event{manager}, "Manager", "blocked", "blocked", "step 1: ended blocked: m, nothing is next"},
	} {
		got := grouped(false, func(g *Grouped) {
			for _, e := range append(append([]event.Event{event.StepStarted{Step: 1, Task: "a.md", Role: "Implementor"}}, tt.events...), event.StepFinished{Step: 1, Task: "a.md", Role: tt.role, Status: tt.status, Manager: cmp.Or(tt.manager, "ok"), Message: "m"}) {
				g.Entry("k", event.Entry{Event: e})
			}
		})
		if _, after, _ := strings.Cut(got, "::endgroup::\n"); after != tt.want+"\n" {
			t.Errorf("%s: after the group: %q, want %q", name, after, tt.want)
		}
	}
}

func TestGroupedIsBounded(t *testing.T) {
	flood := func(g *Grouped) {
		for range 100 {
			g.Notice("", "odd")
		}
		g.Entry("k", story()[1])
		for i := range 100_000 {
			g.Agent("k", said(fmt.Sprintf("line %d %s", i, strings.Repeat("x", 40))))
		}
		g.Close()
	}
	if got := grouped(false, flood); strings.Count(got, "line ") != maxLines+keptLines || !strings.Contains(got, "  … 97950 lines of this step not shown\n  line 99950 ") || strings.Count(got, "::warning") != maxWarnings {
		t.Errorf("%d lines of the agent and %d warnings", strings.Count(got, "line "), strings.Count(got, "::warning"))
	}
	if got := grouped(true, flood); len(got) > 2*maxHeld || !strings.Contains(got, "lines before these") {
		t.Errorf("%d bytes were held back", len(got))
	}
}
