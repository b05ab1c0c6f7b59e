package projection

import (
	"slices"
	"testing"
	"time"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// fold adds events that happened a second apart.
func fold(f *Fold, events ...event.Event) {
	at := start
	if !f.Last.IsZero() {
		at = f.Last.Add(time.Second)
	}
	for i, e := range events {
		f.Add(event.Entry{Time: at.Add(time.Duration(i) * time.Second), Event: e})
	}
}

// folded returns a fold of events that happened a second apart.
func folded(events ...event.Event) *Fold {
	f := &Fold{}
	fold(f, events...)
	return f
}

var work = event.AttemptRef{Step: 1, Call: event.TaskCall, Task: "a.md", Role: "Implementor", Attempt: 1}

// working is a fold in which an agent is at work.
func working() *Fold {
	return folded(event.StepStarted{Step: 1, Task: "a.md", Role: "Implementor"}, event.AttemptStarted{AttemptRef: work})
}

func parse(t *testing.T, text string) *board.Board {
	t.Helper()
	b, err := board.Parse("k.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// listOf returns the list of a board. headed are the tasks whose header says that they are done.
func listOf(t *testing.T, text string, headed ...string) flow.List {
	t.Helper()
	b := parse(t, text)
	return flow.List{
		Paths:  b.TaskPaths(),
		Find:   b.Finder(),
		Marked: func(i int) bool { return b.Entry(i).Done() },
		Done:   func(i int) bool { return slices.Contains(headed, b.Entry(i).Path) },
	}
}

// stateOn is a state whose last run has ended, with the statuses of the first tasks of a list.
func stateOn(l flow.List, o event.Outcome, text string, statuses ...string) flow.State {
	s := flow.State{Workdir: "/w", Outcome: o, Text: text, Spent: true, Last: flow.ManagerReply{Status: "ok", BoardSHA: "s"}}
	for i, status := range statuses {
		s.Statuses = append(s.Statuses, flow.TaskStatus{Task: l.Paths[i], Status: status})
	}
	return s
}

// show returns how a board stands whose journal has these events.
func show(s flow.State, facts Facts, events ...event.Event) Board {
	return folded(events...).Board("k.yaml", &flow.History{State: s}, facts)
}

// book folds events into a state and into a fold, as a run journals them.
type book struct {
	t     *testing.T
	state flow.State
	fold  Fold
}

func (b *book) write(events ...event.Event) {
	b.t.Helper()
	for _, e := range events {
		if err := b.state.Apply(e); err != nil {
			b.t.Fatal(err)
		}
		fold(&b.fold, e)
	}
}

// board returns how the board stands.
func (b *book) board(facts Facts) Board {
	return b.fold.Board("k.yaml", &flow.History{State: b.state}, facts)
}
