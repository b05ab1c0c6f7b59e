package flow_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
)

// visit is how a step of a board ends in these tests: a task is given to a role, leaves the
// project's files as tree says, and finding is what the agent said.
type visit struct{ task, role, tree, finding string }

// loops gives the tasks of visits out, one after the other, and returns how many were given out
// before a loop was suspected, with the suspicion; nil: there was none.
func loops(t *testing.T, visits []visit) (int, *flow.SuspectLoop) {
	t.Helper()
	s := after(t, start)
	for i, v := range visits {
		sha := fmt.Sprint("board ", i) // which the Manager touches every time
		switch e := flow.Next(&s, flow.Board{Task: v.task, Role: v.role, SHA: sha}).(type) {
		case flow.SuspectLoop:
			return i, &e
		case flow.Spawn:
		default:
			t.Fatalf("Next = %+v", e)
		}
		n := i + 1
		finished := event.StepFinished{Step: n, Manager: "ok", BoardSHA: sha}
		switch {
		case i+1 == len(visits):
		case visits[i+1].task == v.task:
			finished.Leaving = &event.Leaving{Tree: v.tree, Finding: event.FindingOf(v.finding), Said: v.finding}
		case s.WasWorkedOn(visits[i+1].task):
			finished.Leaving = &event.Leaving{Other: true, Tree: v.tree}
		}
		apply(t, &s, event.StepStarted{Step: n, Task: v.task, Role: v.role, BoardSHA: sha})
		if v.role != event.ManagerRole {
			apply(t, &s, attempt(n, event.TaskCall, 1), event.ReplyAccepted{AttemptRef: event.AttemptRef{Step: n, Call: event.TaskCall, Attempt: 1}, Status: "ok"})
		}
		apply(t, &s, attempt(n, event.ManagerCall, 1), event.ReplyAccepted{AttemptRef: event.AttemptRef{Step: n, Call: event.ManagerCall, Attempt: 1}, Status: "ok"}, finished)
	}
	return len(visits), nil
}

// rounds are n rounds of work and review; of makes each.
func rounds(n int, of func(i int) (work, review visit)) (all []visit) {
	for i := range n {
		work, review := of(i)
		all = append(all, work, review)
	}
	return all
}

const (
	worker   = "Implementor"
	reviewer = "Architect"
)

// TestLoops: seed 002, "Review Loop": the same finding over rounds, or rounds without progress.
// Whatever becomes of the board.
func TestLoops(t *testing.T) {
	for _, tt := range []struct {
		name      string
		visits    []visit
		at        int // visits before it is found
		text      string
		recommend event.Recommend
	}{
		{"a Manager that toggles sub_phase", rounds(9, func(i int) (visit, visit) {
			return visit{"t", worker, "same", fmt.Sprint("try ", i)}, visit{"t", reviewer, "same", fmt.Sprint("no ", i)}
		}), 6, "3 rounds of work and review of t changed no file but the board and the work log; the last: no 2", event.SwapOwner},
		{"reviews that touch files", rounds(9, func(i int) (visit, visit) {
			return visit{"t", worker, "same", ""}, visit{"t", reviewer, fmt.Sprint(i), ""}
		}), 6, "3 rounds", event.SwapOwner},
		{"a Manager that only writes comments", []visit{{"t", worker, "x", "0"}, {"t", worker, "x", "1"}, {"t", worker, "x", "2"}, {"t", worker, "x", "3"},
			{"t", worker, "x", "4"}, {"t", worker, "x", "5"}, {"t", worker, "x", "6"}}, 6, "t was given to Implementor 6 times in a row and no file changed", event.SwapOwner},
		{"the same finding", rounds(9, func(i int) (visit, visit) {
			return visit{"t", worker, fmt.Sprint(i), "done"}, visit{"t", reviewer, fmt.Sprint(i), fmt.Sprintf("TestParse fails after %d.%dms at 10:%02d:00", i+3, i, i)}
		}), 8, "Architect found the same in 4 reviews of t", event.TechReview},
		{"the same finding without git", rounds(9, func(i int) (visit, visit) {
			return visit{"t", worker, "", "done"}, visit{"t", reviewer, "", "No  tests\nyet"}
		}), 8, "found the same in 4 reviews", event.TechReview},
		{"a board that begins with a plan", append([]visit{{"t", "Manager", "0", ""}}, rounds(9, func(i int) (visit, visit) {
			return visit{"t", worker, "same", ""}, visit{"t", reviewer, "same", ""}
		})...), 7, "3 rounds", event.SwapOwner},
		{"three roles by turns", []visit{{"t", worker, "x", ""}, {"t", reviewer, "x", ""}, {"t", "Manager", "x", ""}, {"t", worker, "x", ""}, {"t", reviewer, "x", ""}, {"t", "Manager", "x", ""},
			{"t", worker, "x", ""}, {"t", reviewer, "x", ""}, {"t", "Manager", "x", ""}, {"t", worker, "x", ""}}, 9, "3 rounds", event.SwapOwner},
		{"two tasks by turns", rounds(9, func(i int) (visit, visit) {
			return visit{"t", worker, "same", ""}, visit{"u", worker, "same", ""}
		}), 13, "12 steps went to u and t by turns and no file changed", event.SwapOwner},
		{"three tasks by turns", append(rounds(9, func(i int) (visit, visit) {
			return visit{string("tuv"[2*i%3]), worker, "same", ""}, visit{string("tuv"[(2*i+1)%3]), worker, "same", ""}
		}), rounds(3, func(i int) (visit, visit) {
			return visit{string("tuv"[2*i%3]), worker, "same", ""}, visit{string("tuv"[(2*i+1)%3]), worker, "same", ""}
		})...), 20, "18 steps went to v, t and u by turns", event.SwapOwner},
		{"two tasks by turns, each with its review", rounds(18, func(i int) (visit, visit) {
			task := string("tu"[i%2])
			return visit{task, worker, "same", ""}, visit{task, reviewer, "same", ""}
		}), 14, "12 steps went to u and t by turns", event.SwapOwner},
		{"four tasks by turns", rounds(18, func(i int) (visit, visit) {
			return visit{string("tuvw"[2*i%4]), worker, "same", ""}, visit{string("tuvw"[(2*i+1)%4]), worker, "same", ""}
		}), 27, "24 steps went to w, t, u and v by turns", event.SwapOwner},
		{"a loop behind honest work", append([]visit{{"a", worker, "1", "x"}, {"t", worker, "2", "x"}, {"t", reviewer, "2", "y"}}, rounds(9, func(i int) (visit, visit) {
			return visit{"t", worker, "3", "done"}, visit{"t", reviewer, "3", fmt.Sprint(i)}
		})...), 9, "3 rounds", event.SwapOwner},
	} {
		t.Run(tt.name, func(t *testing.T) {
			at, e := loops(t, tt.visits)
			if e == nil || at != tt.at || !strings.Contains(e.Text, tt.text) || e.Recommend != tt.recommend || e.Reason == "" {
				t.Errorf("after %d visits: %+v, want %q after %d, recommended %q", at, e, tt.text, tt.at, tt.recommend)
			}
		})
	}
}

// TestHonestBoards: boards that look like a loop and are none.
func TestHonestBoards(t *testing.T) {
	boards := map[string][]visit{}
	for n := range 10 {
		tree := func(i int) string { return fmt.Sprintf("%d/%d", n, i) }
		flaky := rounds(n%4+1, func(i int) (visit, visit) {
			return visit{"t", worker, tree(i), "fixed"}, visit{"t", reviewer, tree(i), "TestFlaky fails"}
		})
		if n%4 == 3 { // the fourth try is the good one
			flaky[7].finding = "all tests pass"
		}
		boards[fmt.Sprint("a flaky test ", n)] = append(flaky, visit{"next", worker, tree(9), ""})
		boards[fmt.Sprint("similar tasks ", n)] = rounds(n+3, func(i int) (visit, visit) {
			task := fmt.Sprint("t", i)
			return visit{task, worker, "same", "done"}, visit{task, reviewer, "same", "good"}
		})
		boards[fmt.Sprint("findings that get fewer ", n)] = rounds(n+4, func(i int) (visit, visit) {
			return visit{"t", worker, tree(i), "fixed"}, visit{"t", reviewer, tree(i), fmt.Sprintf("%d tests fail", n+10-i)}
		})
		boards[fmt.Sprint("a task that is opened again ", n)] = rounds(n+3, func(i int) (visit, visit) {
			return visit{"t", worker, tree(i), "done"}, visit{fmt.Sprint("other ", i), worker, tree(i), "done"}
		})
		boards[fmt.Sprint("a Manager's own task between the others ", n)] = rounds(n+9, func(i int) (visit, visit) {
			return visit{"plan", event.ManagerRole, "same", ""}, visit{fmt.Sprint("t", i), worker, "same", "done"}
		})
		boards[fmt.Sprint("tasks by turns that are worked on ", n)] = rounds(n+9, func(i int) (visit, visit) {
			return visit{"t", worker, tree(i / 5), ""}, visit{"u", worker, tree(i / 5), ""}
		})
		var steps []visit
		for i := range n + 7 { // a long task, with a file at least every fifth time
			steps = append(steps, visit{"t", worker, tree(i / 5), "more to do"})
		}
		boards[fmt.Sprint("a long task ", n)] = steps
	}
	if len(boards) != 70 {
		t.Fatalf("%d boards", len(boards))
	}
	for name, visits := range boards {
		if at, e := loops(t, visits); e != nil {
			t.Errorf("%s: after %d visits: %+v", name, at, e)
		}
	}
}

// looped is a board whose task t1 is suspected to loop.
func looped(t *testing.T, told bool) flow.State {
	s := after(t, start, one, attempt(1, event.TaskCall, 1), tasked, attempt(1, event.ManagerCall, 1), managed,
		event.StepFinished{Step: 1, Manager: "ok", BoardSHA: "a"})
	e := event.LoopSuspected{Task: "t1", Role: worker, BoardSHA: "a", TaskSHA: "t", Told: told,
		Suspicion: event.Suspicion{Text: "round and round", Recommend: event.Clarify, Reason: "why"}}
	if err := s.Apply(e); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestQuarantine: seed 002, "Review Loop", action 2: the task alone rests. The Manager is told
// once; the board goes on with any other task.
func TestQuarantine(t *testing.T) {
	here, there := flow.Board{Task: "./t1", Role: worker, SHA: "a"}, flow.Board{Task: "t2", Role: worker, SHA: "a"}
	s := looped(t, true)
	if e, ok := flow.Next(&s, there).(flow.Spawn); !ok || e.Call != event.TaskCall {
		t.Errorf("another task: Next = %+v, want it worked on", e)
	}
	e, ok := flow.Next(&s, here).(flow.Spawn)
	if !ok || e.Call != event.ManagerCall || e.Role != event.ManagerRole {
		t.Fatalf("Next = %+v, want the Manager called", e)
	}
	ref := event.AttemptRef{Step: 2, Call: event.ManagerCall, Attempt: 1}
	for _, e := range []event.Event{event.StepStarted{Step: 2, Task: "t1", Role: event.ManagerRole, BoardSHA: "a"}, attempt(2, event.ManagerCall, 1)} {
		if err := s.Apply(e); err != nil {
			t.Fatal(err)
		}
	}
	if a := s.Step.Anomaly; a == nil || a.Type != "loop_suspected" || a.Executor != worker || !strings.Contains(a.Details, "round and round") || !strings.Contains(a.Details, "clarify acceptance criteria") {
		t.Errorf("the Manager is told %+v", a)
	}
	for _, e := range []event.Event{event.ReplyAccepted{AttemptRef: ref, Status: "ok"},
		event.StepFinished{Step: 2, Manager: "ok", BoardSHA: "b", Quarantined: []event.TaskFile{{Task: "t1", SHA: "u"}}}} {
		if err := s.Apply(e); err != nil {
			t.Fatal(err)
		}
	}
	checkRests(t, s, here, "; the Manager was told, and names the task again")
	checkRests(t, looped(t, false), here, "a person decides")
	if e, ok := flow.Next(&s, flow.Board{Terminal: true, SHA: "b"}).(flow.Finish); !ok || e.Outcome != event.NeedsPerson || !strings.HasPrefix(e.Text, "the board is complete; t1 is in quarantine: LOOP_SUSPECTED") {
		t.Errorf("at the end: Next = %+v", e)
	}

	interrupted := s
	if err := interrupted.Apply(event.RunInterrupted{Quarantined: []event.TaskFile{{Task: "t1", SHA: "left"}}}); err != nil || interrupted.Quarantined("t1").TaskSHA != "left" || s.Quarantined("t1").TaskSHA != "u" {
		t.Errorf("%v, %+v: what an agent left is no edit of a person", err, interrupted.Quarantined("t1"))
	}

	again := s
	if err := again.Apply(event.RunFinished{Outcome: event.NeedsPerson}); err != nil {
		t.Fatal(err)
	}
	if err := again.Apply(start); err != nil {
		t.Fatal(err)
	}
	checkRests(t, again, here, "names the task again")
	for _, tt := range []struct {
		board, task string
		ends        string
	}{{"b", "u", ""}, {"b", "edited", "its file was edited"}, {"edited", "u", "the board was edited"}, {"b", "t", "its file was edited"}} {
		s, ends := again, ""
		err := flow.Release(&s, flow.Board{SHA: "edited", Terminal: true}, func(string) string { return "edited" }, s.Apply)
		if err != nil || len(s.Quarantine) != 1 {
			t.Errorf("%v; a board that is over ends a quarantine", err)
		}
		err = flow.Release(&s, flow.Board{SHA: tt.board}, func(string) string { return tt.task }, func(e event.Event) error {
			ends = e.(event.QuarantineEnded).Reason
			return s.Apply(e)
		})
		if err != nil || !strings.HasPrefix(ends, tt.ends) || (ends == "") != (tt.ends == "") {
			t.Errorf("board %s, task %s: %v, the quarantine ends: %q, want %q", tt.board, tt.task, err, ends, tt.ends)
		}
		if e, ok := flow.Next(&s, here).(flow.Spawn); ok != (tt.ends != "") {
			t.Errorf("board %s, task %s: Next = %+v", tt.board, tt.task, e)
		}
	}
	if err := again.Apply(event.Acknowledged{About: event.AboutQuarantine, Choice: event.ReleaseTasks, BoardSHA: "b"}); err != nil {
		t.Fatal(err)
	}
	if e, ok := flow.Next(&again, here).(flow.Spawn); !ok || e.Call != event.TaskCall || len(again.Quarantine) > 0 {
		t.Errorf("after the Lead's word: Next = %+v", e)
	}
}

func checkRests(t *testing.T, s flow.State, b flow.Board, text string) {
	t.Helper()
	if e, ok := flow.Next(&s, b).(flow.Finish); !ok || e.Outcome != event.NeedsPerson || !strings.HasPrefix(e.Text, "LOOP_SUSPECTED: round and round") || !strings.Contains(e.Text, text) {
		t.Errorf("Next = %+v, want %q", e, text)
	}
}

// TestLoopInReview: work that its review sends back again and again is a loop as well, before its
// rounds are over. The Manager is called in the same step.
func TestLoopInReview(t *testing.T) {
	for name, tt := range map[string]struct {
		tree     func(i int) string
		feedback func(i int) string
		at       int // 0: none is suspected
	}{
		"nothing changes":      {func(int) string { return "same" }, func(i int) string { return fmt.Sprint("finding ", i) }, 3},
		"the same is found":    {func(i int) string { return fmt.Sprint(i) }, func(int) string { return "exit status 1 after 12ms" }, 4},
		"without git":          {func(int) string { return "" }, func(int) string { return "no" }, 4},
		"progress":             {func(i int) string { return fmt.Sprint(i) }, func(i int) string { return fmt.Sprint(9-i, " fail") }, 0},
		"progress without git": {func(int) string { return "" }, func(i int) string { return fmt.Sprint(9-i, " fail") }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := after(t, start, one)
			for i := range 6 {
				work, look := attempt(1, event.TaskCall, 2*i+1), attempt(1, event.CommandCall, 2*i+2)
				work.Plan, work.Input, look.Input = &event.Plan{Command: true, Rounds: 9}, json.RawMessage(`{}`), json.RawMessage(`{}`)
				for _, e := range []event.Event{work, event.ReplyAccepted{AttemptRef: work.AttemptRef, Status: "ok"}, look,
					event.ReviewHeld{AttemptRef: look.AttemptRef, Feedback: tt.feedback(i), Finding: event.FindingOf(tt.feedback(i)), Tree: tt.tree(i)}} {
					if err := s.Apply(e); err != nil {
						t.Fatal(err)
					}
				}
				e, suspected := flow.Next(&s, flow.Board{Task: "t1", Role: worker, SHA: "a"}).(flow.SuspectLoop)
				if suspected != (i+1 == tt.at) {
					t.Fatalf("after %d reviews: %+v", i+1, e)
				}
				if suspected {
					checkManagerIsCalled(t, s, e)
					return
				}
			}
		})
	}
}

func checkManagerIsCalled(t *testing.T, s flow.State, e flow.SuspectLoop) {
	t.Helper()
	person := s
	for told, s := range map[bool]*flow.State{true: &s, false: &person} {
		if err := s.Apply(event.LoopSuspected{Step: e.Step, Task: e.Task, Role: e.Role, Told: told, Suspicion: e.Suspicion}); err != nil {
			t.Fatal(err)
		}
	}
	if next, ok := flow.Next(&s, flow.Board{}).(flow.Spawn); !ok || next.Call != event.ManagerCall || next.Step != 1 || s.Step.Anomaly == nil || s.Step.TaskStatus != "blocked" {
		t.Errorf("Next = %+v, want the Manager called in the same step", next)
	}
	if next, ok := flow.Next(&person, flow.Board{}).(flow.Finish); !ok || next.Outcome != event.NeedsPerson {
		t.Errorf("Next = %+v, want a person to decide", next)
	}
	if err := person.Apply(event.RunFinished{Outcome: event.NeedsPerson}); err != nil {
		t.Fatal(err)
	}
	if err := person.Apply(start); err != nil {
		t.Fatal(err)
	}
	if next, ok := flow.Next(&person, flow.Board{}).(flow.Finish); !ok {
		t.Errorf("the next run: Next = %+v, want a person to decide still", next)
	}
	if err := person.Apply(event.QuarantineEnded{Task: "t1", Reason: "edited"}); err != nil {
		t.Fatal(err)
	}
	if next, ok := flow.Next(&person, flow.Board{}).(flow.Spawn); !ok || next.Call != event.TaskCall || next.Round != 0 {
		t.Errorf("after its end: Next = %+v, want the work begun again", next)
	}
}

// TestMisplacedLoops: a task is put into quarantine once, between two steps
// or between work and review.
func TestMisplacedLoops(t *testing.T) {
	for name, tt := range map[string]struct {
		state flow.State
		event event.Event
	}{
		"twice":               {looped(t, true), event.LoopSuspected{Task: "t1"}},
		"in an open step":     {after(t, start, one), event.LoopSuspected{Task: "t1"}},
		"of no step":          {after(t, start), event.LoopSuspected{Step: 1, Task: "t1"}},
		"while it is at work": {after(t, start, one, attempt(1, event.TaskCall, 1)), event.LoopSuspected{Step: 1, Task: "t1"}},
		"an end of none":      {after(t, start), event.QuarantineEnded{Task: "t1"}},
	} {
		if err := tt.state.Apply(tt.event); err == nil {
			t.Errorf("%s: %s was applied", name, tt.event.Kind())
		}
	}
}
