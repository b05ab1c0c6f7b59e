package flow_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
)

// dice make journals: mostly of what Next asks for, with any outcome, and
// now and then of any event.
type dice struct{ *rand.Rand }

func pick[T any](d dice, from ...T) T { return from[d.IntN(len(from))] }

func (d dice) board() flow.Board {
	return flow.Board{Terminal: d.IntN(12) == 0, Task: pick(d, "t1", "t1", "t2"), Role: pick(d, "Implementor", "Implementor", "Architect", "Manager"), SHA: pick(d, "a", "a", "b")}
}

func (d dice) spent() *event.Spending { return pick(d, nil, &event.Spending{Input: 5}, spending(7)) }

func (d dice) plan() *event.Plan {
	return pick(d, nil, &event.Plan{Agent: true, Rounds: d.IntN(3)}, &event.Plan{Agent: true, Rounds: 1})
}

// outcome is one of any kind, as often as not of the attempt.
func (d dice) outcome(r event.AttemptRef) event.Event {
	millis, spent, session, left := int64(d.IntN(9)), d.spent(), pick(d, "", "s1", "s2"), pick(d, "", "a", "b")
	accepted := event.ReplyAccepted{AttemptRef: r, Status: pick(d, "ok", "blocked"), End: event.End{Left: left, Millis: millis, Session: session, Spent: spent}}
	held := event.ReviewHeld{AttemptRef: r, Completed: d.IntN(2) == 0, Feedback: "more", End: event.End{Session: session, Left: left, Millis: millis, Spent: spent}}
	if r.Call == event.ReviewCall && d.IntN(3) > 0 {
		return held
	}
	return pick[event.Event](d, accepted, accepted, accepted, held,
		event.ReplyRejected{AttemptRef: r, Reason: "no", End: event.End{Left: left, Millis: millis, Session: session, Spent: spent}, Disagreed: d.IntN(4) == 0, Lost: d.IntN(3) == 0},
		event.AttemptStopped{AttemptRef: r, End: event.End{Left: left, Millis: millis, Session: session, Spent: spent}})
}

// next follows what Next asks for in state s.
func (d dice) next(s flow.State) event.Event {
	limits := event.Limits{MaxRetries: d.IntN(3), MaxSteps: d.IntN(40), MaxCost: int64(d.IntN(200)), MaxTaskMillis: int64(d.IntN(300))}
	switch step := s.Step; {
	case !s.Running:
		return event.RunStarted{Limits: limits}
	case step != nil && step.Running != 0:
		return d.outcome(event.AttemptRef{Step: step.Number, Call: step.Call, Task: step.Task, Role: step.Role, Attempt: step.Running, Round: step.Round})
	}
	switch e := flow.Next(&s, d.board()).(type) {
	case flow.Spawn:
		if s.Step == nil {
			return event.StepStarted{Step: e.Step, Task: e.Task, Role: e.Role, BoardSHA: pick(d, "a", "b")}
		}
		started := event.AttemptStarted{AttemptRef: e.AttemptRef, Input: json.RawMessage(`{}`), From: e.From, Fork: e.Fork, Plan: d.plan()}
		if e.Call == event.ManagerCall {
			started.Before = &event.Baseline{BoardSHA: "a"}
		}
		return started
	case flow.WriteBoard:
		if s.Step.Writing == nil && d.IntN(2) == 0 {
			return event.BoardWriteStarted{Step: e.Step, Before: "a", After: "b"}
		}
		return event.StepFinished{Step: e.Step, Manager: pick(d, "ok", "blocked"), BoardSHA: pick(d, "a", "b")}
	case flow.Finish:
		return pick[event.Event](d, event.RunFinished{Outcome: e.Outcome, Text: e.Text}, event.RunInterrupted{Outcome: event.Interrupted})
	default:
		panic(fmt.Sprintf("Next = %v", e))
	}
}

// any is an event that may or may not be possible.
func (d dice) any() event.Event {
	n, call := d.IntN(4), pick(d, event.TaskCall, event.ReviewCall, event.ManagerCall)
	r := event.AttemptRef{Step: n, Call: call, Task: "t1", Role: "Implementor", Attempt: d.IntN(4), Round: d.IntN(3)}
	return pick[event.Event](d, d.outcome(r), d.outcome(r),
		event.AttemptStarted{AttemptRef: r, Input: pick(d, nil, json.RawMessage(`{}`)), Plan: d.plan()},
		event.RunStarted{Limits: event.Limits{MaxRetries: n}}, event.StepStarted{Step: n, Task: "t1", Role: "Implementor"},
		event.StepFinished{Step: n}, event.StepAbandoned{Step: n}, event.BoardWriteStarted{Step: n}, event.BoardWritten{Step: n},
		event.CallRestarted{Step: n, BoardSHA: "b"},
		event.StateDiverged{Source: pick(d, event.SourceBoard, event.SourceState), After: "b", Policy: pick(d, "accept", "accept", "freeze"), Text: "changed"},
		event.Acknowledged{About: event.AboutEnd, Choice: event.Accept, BoardSHA: "b"}, event.Acknowledged{About: event.AboutFile, Choice: event.Retry, BoardSHA: "a"},
		event.Acknowledged{About: event.AboutStep, Choice: event.Accept, BoardSHA: "a"}, event.Acknowledged{About: event.AboutQuarantine, Choice: event.ReleaseTasks},
		event.Acknowledged{About: event.AboutJournal, Choice: event.Accept}, event.Acknowledged{About: event.AboutCheckpoint, Choice: event.Override}, event.RunInterrupted{Outcome: event.Later, Until: "soon"},
		event.RunFinished{Outcome: pick(d, event.Complete, event.Frozen), Text: "done"}, event.SnapshotNotFound{Text: "none"})
}

func (d dice) event(s flow.State) event.Event {
	if d.IntN(6) == 0 {
		return d.any()
	}
	return d.next(s)
}

// TestAnyJournal: DESIGN, "Decide, journal, act": crash recovery is the same fold. Whatever a
// journal holds, it is folded or refused, there is a next effect, and what was folded once does
// not change with what comes later.
func TestAnyJournal(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(40) {
		d := dice{rand.New(rand.NewPCG(seed, 3))}
		var s flow.State
		var applied []event.Event
		var states []flow.State
		var encoded []string
		for range 120 {
			e := d.event(s)
			was := encode(t, s)
			if err := s.Apply(e); err != nil {
				if now := encode(t, s); now != was {
					t.Fatalf("seed %d: the refused %s left\n%s, was\n%s", seed, e.Kind(), now, was)
				}
				continue
			}
			applied, states, encoded = append(applied, e), append(states, s), append(encoded, encode(t, s))
			for _, b := range []flow.Board{{Task: "t1", Role: "Implementor", SHA: "a"}, {Task: "t9", Role: "Manager"}, {Terminal: true}} {
				effect := flow.Next(&s, b)
				if effect == nil {
					t.Fatalf("seed %d: Next of %s is nil", seed, encode(t, s))
				}
				seen[fmt.Sprintf("%T", effect)]++
				checkSpawn(t, s, effect)
			}
			if encode(t, s) != encoded[len(encoded)-1] {
				t.Fatalf("seed %d: Next changed the state", seed)
			}
			if s.Step != nil {
				seen[string(s.Step.Call)]++
			}
		}
		for i, s := range states {
			if encode(t, s) != encoded[i] {
				t.Fatalf("seed %d: event %d changed with a later one", seed, i)
			}
			var decoded flow.State
			if err := json.Unmarshal([]byte(encoded[i]), &decoded); err != nil || !cmp.Equal(s, decoded) {
				t.Fatalf("seed %d: the snapshot is not the state: %v\n%s", seed, err, cmp.Diff(s, decoded))
			}
		}
		if n := d.IntN(len(applied)); encode(t, after(t, applied[:n+1]...)) != encoded[n] {
			t.Errorf("seed %d: the first %d events lead to another state without the rest", seed, n+1)
		}
	}
	for _, what := range []string{"flow.Spawn", "flow.WriteBoard", "flow.Finish", "task", "review", "manager"} {
		if seen[what] < 100 {
			t.Errorf("%s was met %d times only", what, seen[what])
		}
	}
}

// checkSpawn holds what is true of every spawn of an open step.
func checkSpawn(t *testing.T, s flow.State, effect flow.Effect) {
	t.Helper()
	e, ok := effect.(flow.Spawn)
	if !ok || s.Step == nil {
		return
	}
	switch {
	case e.Call != s.Step.Call || e.Step != s.Step.Number || e.Attempt != s.Step.Started+1:
		t.Fatalf("%+v is not the next attempt of %s", e, encode(t, s.Step))
	case (e.Call == event.ReviewCall) != e.Fork:
		t.Fatalf("%+v: a review looks at a fork, and nothing else does", e)
	case e.Call == event.ManagerCall && (e.Round != 0 || e.From != "" || e.Role != event.ManagerRole):
		t.Fatalf("%+v: the Manager goes on in no session", e)
	case e.Call == event.ReviewCall && (s.Step.Work == nil || e.From != s.Step.Work.Session || e.Round < 1):
		t.Fatalf("%+v is no review of %s", e, encode(t, s.Step))
	}
}

// TestAnyHistory: a rollback to any snapshot leads to the state that the whole journal leads to,
// and a record that would break a rule is refused and changes nothing.
func TestAnyHistory(t *testing.T) {
	for seed := range uint64(25) {
		d := dice{rand.New(rand.NewPCG(seed, 4))}
		b := newBook(t).own("r1")
		for range 80 {
			e := b.entry(d.event(b.State))
			if isAboutTheJournal(e.Event) {
				continue
			}
			switch d.IntN(12) {
			case 0:
				e = b.entry(b.Snapshot("b"))
			case 1:
				e.Epoch, e.Rev = e.Epoch+uint64(d.IntN(2)), e.Rev+uint64(d.IntN(2))
			}
			was := encode(t, b.History)
			if err := b.Extend(e); err != nil {
				if now := encode(t, b.History); now != was {
					t.Fatalf("seed %d: the refused %s left\n%s, was\n%s", seed, e.Event.Kind(), now, was)
				}
				continue
			}
			b.entries = append(b.entries, e)
		}
		if b.Breach != nil || len(b.Points) != 1 {
			t.Fatalf("seed %d: breach %v, %d rollback points", seed, b.Breach, len(b.Points))
		}
		if r := flow.Rebuild(b.Points[0], b.after()); !r.Same(&b.History) {
			t.Errorf("seed %d: rebuilt with conflict %q; -history +rebuilt\n%s", seed, r.Conflict, cmp.Diff(b.State, r.State))
		}
	}
}

// isAboutTheJournal says of an event that a rebuild passes it over, though it may freeze the board.
func isAboutTheJournal(e event.Event) bool {
	_, missing := e.(event.SnapshotNotFound)
	d, diverged := e.(event.StateDiverged)
	return missing || diverged && d.Source != event.SourceBoard
}
