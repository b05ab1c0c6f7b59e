package flow_test

import (
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
)

// listOf returns a list of tasks. A task is followed by " [done]" if the board marks it, and by
// " (done)" if its header says that it is done.
func listOf(entries ...string) flow.List {
	l := flow.List{
		Marked: func(i int) bool { return strings.HasSuffix(entries[i], " [done]") },
		Done:   func(i int) bool { return strings.HasSuffix(entries[i], " (done)") },
	}
	for _, e := range entries {
		p, _, _ := strings.Cut(e, " ")
		l.Paths = append(l.Paths, p)
	}
	l.Find = func(task string) int {
		return slices.IndexFunc(l.Paths, func(p string) bool { return path.Clean(p) == path.Clean(task) })
	}
	return l
}

// TestRest: a task is done if its last reply was ok, if the board marks it, or if its header or a
// person says so. A task that the Manager dropped is open as long as it is not on the list.
func TestRest(t *testing.T) {
	done := []flow.TaskStatus{{Task: "a", Status: "ok"}, {Task: "b", Status: "before"}, {Task: "c", Status: "accepted"}}
	failed := []flow.TaskStatus{{Task: "a", Status: "blocked"}}
	for name, tt := range map[string]struct {
		state flow.State
		list  flow.List
		want  flow.Rest
	}{
		"a reply, before, a person": {flow.State{Statuses: done}, listOf("a", "b", "c"), flow.Rest{Tasks: 3}},
		"another spelling":          {flow.State{Statuses: done}, listOf("./a"), flow.Rest{Tasks: 1}},
		"never worked on":           {flow.State{}, listOf("a"), flow.Rest{Tasks: 1, Open: []flow.TaskStatus{{Task: "a"}}}},
		"a header":                  {flow.State{Statuses: failed}, listOf("a (done)", "b (done)"), flow.Rest{Tasks: 2}},
		"a mark without work":       {flow.State{}, listOf("a [done]"), flow.Rest{Tasks: 1, Marked: []flow.TaskStatus{{Task: "a"}}}},
		"a mark after work":         {flow.State{Statuses: done}, listOf("a [done]"), flow.Rest{Tasks: 1}},
		"a mark in spite of a reply": {flow.State{Statuses: failed}, listOf("a [done]"),
			flow.Rest{Tasks: 1, Marked: []flow.TaskStatus{{Task: "a", Status: "blocked"}}}},
		"a reply": {flow.State{Statuses: failed}, listOf("a", "b (done)"), flow.Rest{Tasks: 2, Open: []flow.TaskStatus{{Task: "a", Status: "blocked"}}}},
		"dropped": {flow.State{Statuses: done, Dropped: []string{"x", "y"}}, listOf("a", "./y (done)"),
			flow.Rest{Tasks: 3, Open: []flow.TaskStatus{{Task: "x", Status: "dropped"}}}},
		"dropped, and done since": {flow.State{Statuses: done, Dropped: []string{"./a"}}, listOf("b"), flow.Rest{Tasks: 1}},
		"taken off by a person":   {flow.State{Statuses: failed}, listOf("b (done)"), flow.Rest{Tasks: 1}},
	} {
		if diff := cmp.Diff(tt.want, tt.state.Rest(tt.list)); diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
	}
}

// TestChangeOf: what leaves the list in a reply of the Manager is dropped, unless it was done, the
// reply added a task, or the Manager was told an anomaly about it.
func TestChangeOf(t *testing.T) {
	all := []string{"a", "b", "./c", "d"}
	step := func(change func(*flow.Step)) flow.State {
		s := flow.State{Step: &flow.Step{Task: "a", Role: "Implementor", TaskStatus: "ok"}, Statuses: []flow.TaskStatus{{Task: "b", Status: "ok"}, {Task: "c", Status: "blocked"}}}
		change(s.Step)
		return s
	}
	as := func(*flow.Step) {}
	for name, tt := range map[string]struct {
		state flow.State
		after []string
		want  []string
	}{
		"nothing leaves":               {step(as), []string{"d", "c", "a", "b"}, nil},
		"done by this step, or before": {step(as), []string{"c", "d"}, nil},
		"one that is not ok":           {step(as), []string{"a", "b", "d"}, []string{"./c"}},
		"one never worked on":          {step(as), []string{"a"}, []string{"./c", "d"}},
		"one is added":                 {step(as), []string{"a", "new"}, nil},
		"this one is not ok":           {step(func(s *flow.Step) { s.TaskStatus = "blocked" }), []string{"b", "c", "d"}, []string{"a"}},
		"about this one an anomaly":    {step(func(s *flow.Step) { s.TaskStatus, s.Anomaly = "blocked", &event.Anomaly{} }), []string{"b", "c"}, []string{"d"}},
		"the Manager's own": {step(func(s *flow.Step) {
			s.TaskStatus, s.Role, s.Reply = "", event.ManagerRole, &event.ReplyAccepted{Status: "ok"}
		}), []string{"b", "c", "d"}, nil},
		"the Manager's own, not ok": {step(func(s *flow.Step) {
			s.TaskStatus, s.Role, s.Reply = "", event.ManagerRole, &event.ReplyAccepted{Status: "error"}
		}), []string{"b", "c", "d"}, []string{"a"}},
		"by a checkpoint's revision": {step(func(s *flow.Step) {
			s.TaskStatus, s.Checkpoint = "", &event.Checkpoint{}
			s.Reply = &event.ReplyAccepted{Status: "ok"}
		}), []string{"a", "b", "c"}, []string{"d"}},
	} {
		got := tt.state.ChangeOf(all, tt.after, none, none).Dropped
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
	}
	s := step(as)
	if got := s.ChangeOf(all, []string{"a"}, func(task string) bool { return task == "d" }, none).Dropped; !slices.Equal(got, []string{"./c"}) {
		t.Errorf("with a mark or a header that says done: %v", got)
	}
}

// none is a property that no task has.
func none(string) bool { return false }

// TestRenamed: a task that was added in the place of one that left, or with its base name, has its status
// if the file of the one that left is gone.
func TestRenamed(t *testing.T) {
	s := flow.State{Statuses: []flow.TaskStatus{{Task: "t/1", Status: "ok"}, {Task: "t/2", Status: "error"}}}
	for name, tt := range map[string]struct {
		before, after []string
		want          string
	}{
		"moved":        {[]string{"t/1", "t/2", "t/3"}, []string{"t/2", "t/3", "t/done/1"}, "t/1>t/done/1"},
		"in its place": {[]string{"t/1", "t/2"}, []string{"t/one", "t/2"}, "t/1>t/one"},
		"both":         {[]string{"t/1", "t/2"}, []string{"t/done/2", "t/done/1"}, "t/1>t/done/1 t/2>t/done/2"},
		"its file is there: another task in its place":       {[]string{"t/1", "t/2"}, []string{"t/one", "t/2"}, ""},
		"its file is there: another task with its base name": {[]string{"a/x", "b/x"}, []string{"b/x", "c/x"}, ""},
		"another length":           {[]string{"t/1", "t/2"}, []string{"t/one", "t/2", "t/4"}, ""},
		"another place":            {[]string{"t/1", "t/2"}, []string{"t/2", "t/one"}, ""},
		"with a name twice":        {[]string{"a/x", "b/x"}, []string{"c/x"}, "a/x>c/x"},
		"with one that is dropped": {[]string{"t/1", "t/2", "t/3"}, []string{"t/done/1", "t/2"}, "t/1>t/done/1"},
	} {
		gone := func(task string) bool { return !strings.HasPrefix(name, "its file is there") }
		c := s.ChangeOf(tt.before, tt.after, none, gone)
		var got []string
		for _, r := range c.Renamed {
			got = append(got, r.From+">"+r.To)
		}
		if strings.Join(got, " ") != tt.want || (len(c.Dropped) > 0) != strings.HasPrefix(name, "with") {
			t.Errorf("%s: %v, dropped %v", name, got, c.Dropped)
		}
	}
	first := start
	first.DoneBefore = []string{"t0"}
	s = after(t, events([]event.Event{first}, stepOf(1, "t1", 1, 1)[:5], []event.Event{event.StepFinished{Step: 1, Manager: "ok", BoardSHA: "2",
		Renamed: []event.Rename{{From: "t0", To: "done/t0"}, {From: "./t1", To: "done/t1"}, {From: "t9", To: "done/t9"}}}})...)
	if r := s.Rest(listOf("done/t0", "done/t1", "done/t9")); len(r.Open) != 1 || r.Open[0].Task != "done/t9" {
		t.Errorf("%+v", r)
	}
}

// TestEnded: who ended a terminal board decides whether all of its tasks have to be done. The
// Manager did if the board has the bytes that the last step left.
func TestEnded(t *testing.T) {
	run := func(status string) []event.Event {
		return events([]event.Event{start}, stepOf(1, "t1", 1, 1)[:5], []event.Event{event.StepFinished{Step: 1, Manager: status, Message: "why", BoardSHA: "left"}})
	}
	rest := func(all ...flow.TaskStatus) flow.Rest { return flow.Rest{Tasks: 5, Open: all} }
	never := []flow.TaskStatus{{Task: "t2"}, {Task: "t3"}, {Task: "t4"}}
	managers, persons := flow.Board{Terminal: true, SHA: "left"}, flow.Board{Terminal: true, SHA: "since"}
	with := func(b flow.Board, change func(*flow.Board)) flow.Board { change(&b); return b }
	for name, tt := range map[string]struct {
		events  []event.Event
		board   flow.Board
		outcome event.Outcome
		text    string
	}{
		"the Manager, all is done": {run("ok"), managers, event.Complete, "the board is complete"},
		"the Manager, early": {run("ok"), with(managers, func(b *flow.Board) { b.Rest = rest(never...) }), event.Incomplete,
			"the board is incomplete: 3 of 5 tasks were never worked on: t2, t3, t4"},
		"the Manager, phase complete": {run("ok"), with(managers, func(b *flow.Board) { b.Over, b.Rest = true, rest(never[0]) }), event.Incomplete,
			"the board is incomplete: 1 of 5 tasks was never worked on: t2"},
		"the Manager, one dropped": {run("ok"), with(managers, func(b *flow.Board) { b.Rest = rest(flow.TaskStatus{Task: "t2", Status: "dropped"}, never[1]) }), event.Incomplete,
			"the board is incomplete: 2 of 5 tasks are not done: t2 (dropped), t3 (never worked on)"},
		"the Manager, marks": {run("ok"), with(managers, func(b *flow.Board) {
			b.Rest.Marked = []flow.TaskStatus{{Task: "t2"}, {Task: "t3", Status: "error"}, {Task: "t4"}}
		}), event.Complete, "the board is complete; 2 tasks were marked without work here: t2, t4; 1 task was marked as done in spite of the reply: t3 (in error)"},
		"the Manager, with a status": {run("blocked"), with(managers, func(b *flow.Board) { b.Ended, b.Rest = "blocked", rest(never...) }), event.NeedsPerson,
			"why (the Manager ended the board with status blocked)"},
		"the board says incomplete": {run("ok"), with(persons, func(b *flow.Board) { b.Ended, b.Over, b.Rest = "incomplete", true, rest(never[0]) }), event.Incomplete,
			"the board is incomplete: 1 of 5 tasks was never worked on: t2"},
		"the board alone says so": {[]event.Event{start}, with(persons, func(b *flow.Board) { b.Ended = "incomplete" }), event.Incomplete,
			"the board ended incomplete, as it says itself"},
		"a person, by phase": {[]event.Event{start}, with(persons, func(b *flow.Board) { b.Over, b.Rest = true, rest(never...) }), event.Complete,
			"the board is complete; 3 tasks were not worked on here"},
		"a person, by current": {[]event.Event{start}, with(persons, func(b *flow.Board) { b.Rest = rest(never...) }), event.Complete,
			"the board is complete; 3 tasks bear no mark: name the first as current to begin, or set phase: complete"},
		"a person, one left": {run("ok"), with(persons, func(b *flow.Board) { b.Rest = rest(never[0]) }), event.Complete,
			"the board is complete; 1 task bears no mark: name it as current to begin, or set phase: complete"},
		"a person, over a reply": {run("ok"), with(persons, func(b *flow.Board) { b.Rest = rest(never[0], flow.TaskStatus{Task: "t4", Status: "error"}) }), event.Complete,
			"the board is complete; 2 of 5 tasks are not done: t2 (never worked on), t4 (in error)"},
		"a person, by marks": {run("ok"), with(persons, func(b *flow.Board) { b.Rest.Marked = never }), event.Complete, "the board is complete"},
	} {
		s := after(t, tt.events...)
		want := flow.Finish{Outcome: tt.outcome, Text: tt.text}
		if diff := cmp.Diff(flow.Effect(want), flow.Next(&s, tt.board), anyBy); diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
	}
}

// TestStatuses: what stood before the first run is done, an accepted reply counts also if its step is
// given up, and dropped tasks are kept, once.
func TestStatuses(t *testing.T) {
	first := start
	first.DoneBefore, first.Workdir = []string{"t0"}, "/p"
	events := events([]event.Event{first}, stepOf(1, "t1", 1, 1)[:3], []event.Event{event.StepAbandoned{Step: 1}},
		stepOf(2, "t2", 1, 1)[:5], []event.Event{event.StepFinished{Step: 2, Manager: "ok", BoardSHA: "2", Dropped: []string{"t3"}}},
		stepOf(3, "t4", 1, 1)[:5], []event.Event{event.StepFinished{Step: 3, Manager: "ok", BoardSHA: "3", Dropped: []string{"t3"}}},
		[]event.Event{event.StepStarted{Step: 4, Task: "t5", Role: "Implementor"}, event.StepAbandoned{Step: 4}})
	s := after(t, events...)
	want := []flow.TaskStatus{{Task: "t0", Status: "before"}, {Task: "t1", Status: "ok"}, {Task: "t2", Status: "ok"}, {Task: "t4", Status: "ok"}}
	if diff := cmp.Diff(want, s.Statuses); diff != "" || !slices.Equal(s.Dropped, []string{"t3"}) || s.Workdir != "/p" {
		t.Errorf("-want +got\n%s\ndropped %v", diff, s.Dropped)
	}
}
