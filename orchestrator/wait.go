package orchestrator

import (
	"cmp"
	"context"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/pause"
	"kanban-run/orchestrator/workspace"
)

// sayAgain is the time after which a notice tells that a wait still goes on.
const sayAgain = 30 * time.Minute

// awaitProvider returns the board's turn to call the provider of the next call. It waits while
// another board asks that provider. It also waits after the provider has refused a call of another
// board, if [flow.State.MayShareWait] allows the wait. After a wait, awaitProvider returns no turn,
// but true. The caller then has to read the board again, because the board may have changed. A step
// has to be open, because the wait is journaled with its step.
func (l *loop) awaitProvider(e flow.Spawn, provider string) (t *turn, waited bool, err error) {
	now := l.job.Now()
	t, wait, other := l.shared.refusals.ask(provider, now)
	switch {
	case t != nil:
		return t, false, nil
	case wait == nil:
		return nil, true, cmp.Or(l.rest(func() error { return l.awaitOther(other) }), l.takeEdit())
	case !l.ledger.State().MayShareWait(*wait, now):
		return &turn{providers: l.shared.refusals, provider: provider}, false, nil
	}
	mine := *wait
	mine.Step, mine.Task, mine.Role, mine.Shared, mine.At = e.Step, e.Task, e.Role, true, now
	return nil, true, l.wait(mine)
}

// awaitOther waits until another board has asked the provider, but at most until the time at which
// the run has to end.
func (l *loop) awaitOther(other <-chan struct{}) error {
	stop, cancel := pause.WithDeadline(l.stop, l.job.Now, l.job.Limits.Until)
	defer cancel()
	select {
	case <-other:
	case <-stop.Done():
	}
	return context.Cause(l.stop)
}

// away is a program that has worked in this run and cannot be started now.
type away struct {
	since time.Time // the first of the starts that failed in a row; zero: none did
	tries int
}

// toolPatience is the greatest wait for such a program: a tool that updates itself takes seconds.
const toolPatience = 2 * time.Minute

// awaitTool waits if an attempt failed only because the program of its agent cannot be started now,
// although it has worked in this run. It returns the error err of the attempt if there is nothing to
// wait for, or once toolPatience is used up.
func (l *loop) awaitTool(e flow.Spawn, err error) error {
	tool := ""
	if err != nil {
		tool = l.caller.IsAway(e, err)
	}
	if tool == "" {
		l.away = away{}
		return err
	}
	now := l.job.Now()
	if l.away.since.IsZero() {
		l.away.since = now
	}
	end := l.away.since.Add(toolPatience)
	if until := l.job.Limits.Until; !until.IsZero() && until.Before(end) {
		end = until
	}
	if !now.Before(end) {
		return err
	}
	until := now.Add(time.Second << min(l.away.tries, 4))
	if until.After(end) {
		until = end
	}
	l.away.tries++
	return l.wait(event.ProviderWait{Step: l.ledger.State().Step.Number, Task: e.Task, Call: e.Call, Role: e.Role, Provider: tool,
		Class: event.ClassGone, Since: l.away.since, Until: until, At: now, Tries: l.away.tries})
}

// wait journals a wait for a provider, and waits. A wait that is over has used up what it was
// granted, however late its timer, its records and this process are.
func (l *loop) wait(e event.ProviderWait) error {
	if err := l.ledger.Record(e); err != nil {
		return err
	}
	said := l.job.Now()
	err := l.rest(func() error {
		return pause.Until(l.stop, l.job.Now, e.Until, func() error {
			if now := l.job.Now(); now.Sub(said) >= sayAgain {
				said = now
				l.job.Observer.Notice(l.job.Board, "it still "+e.Waits())
			}
			return l.shared.slots.With(l.ledger.DrawState)
		})
	})
	if err != nil {
		l.cutWait = e.Spent(l.job.Now())
		return err
	}
	err = l.ledger.Record(event.ProviderBack{Step: e.Step, Task: e.Task, Provider: e.Provider, Millis: e.Spent(e.Until)})
	return cmp.Or(err, l.takeEdit())
}

// rest gives up the seat of this board, so that another board can work, and calls the given
// function. The board keeps its lock and its claims.
func (l *loop) rest(wait func() error) error {
	l.shared.slots.Release()
	defer l.shared.slots.Acquire()
	l.shared.seats.Leave()
	defer l.shared.seats.ComeBack()
	defer l.workspace.Forget()
	return wait()
}

// takeEdit adapts the open step to a board that a person edited during a wait. [flow.Reopen] does
// the same between two runs.
func (l *loop) takeEdit() error {
	b, err := l.workspace.Look()
	if err != nil {
		return nil // readBoard reports the error
	}
	view := func() (flow.Board, error) { return l.view(b) }
	return flow.ReopenAfterWait(l.ledger.State(), workspace.Bare(b), view, l.ledger.Record)
}

// waitError returns the error that ends a run whose patience is used up.
func waitError(e flow.GiveUpWaiting) error {
	return &agent.LaterError{Text: e.Text, Reset: e.Until, Busy: e.Busy}
}
