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

// waitForProvider waits after the provider of the open call has refused it. It returns when the
// provider is to be asked again.
func (l *loop) waitForProvider(e flow.Wait) error {
	player, err := l.caller.Player(flow.Spawn{AttemptRef: event.AttemptRef{Step: e.Step, Call: l.ledger.State().Step.Call,
		Task: e.Task, Role: e.Role}})
	if err != nil {
		return err
	}
	l.shared.refusals.refused(player.Provider(), e.ProviderWait)
	return l.wait(e.ProviderWait)
}

// awaitProvider waits while another board asks the provider of the next call. It also waits after
// the provider has refused a call of another board, if [flow.State.MayShareWait] allows the wait.
// After a wait, awaitProvider returns true. The caller then has to read the board again, because
// the board may have changed. A step has to be open, because the wait is journaled with its step.
func (l *loop) awaitProvider(e flow.Spawn, provider string) (waited bool, err error) {
	may, wait, other := l.shared.refusals.ask(provider, l.job.Now())
	switch {
	case may:
		return false, nil
	case wait == nil:
		_, err := l.rest(func() error {
			select {
			case <-other:
				return nil
			case <-l.stop.Done():
				return context.Cause(l.stop)
			}
		})
		return true, cmp.Or(err, l.takeEdit())
	case !l.ledger.State().MayShareWait(*wait, l.job.Now()):
		return false, nil
	}
	mine := *wait
	mine.Step, mine.Task, mine.Role, mine.Shared = e.Step, e.Task, e.Role, true
	return true, l.wait(mine)
}

// wait journals a wait for a provider, and waits.
func (l *loop) wait(e event.ProviderWait) error {
	if err := l.ledger.Record(e); err != nil {
		return err
	}
	said := l.job.Now()
	took, err := l.rest(func() error {
		return pause.Until(l.stop, l.job.Now, e.Until, func() error {
			if now := l.job.Now(); now.Sub(said) >= sayAgain {
				said = now
				l.job.Observer.Notice(l.job.Board, "it still "+e.Waits())
			}
			return l.shared.slots.With(l.ledger.DrawState)
		})
	})
	if err != nil {
		l.cutWait = took
		return err
	}
	err = l.ledger.Record(event.ProviderBack{Step: e.Step, Task: e.Task, Provider: e.Provider, Millis: took.Milliseconds()})
	return cmp.Or(err, l.takeEdit())
}

// rest gives up the seat of this board, so that another board can work, and calls the given
// function. The board keeps its lock and its claims. The result took is the duration of that call,
// without the time until the board has a seat again.
func (l *loop) rest(wait func() error) (took time.Duration, err error) {
	l.shared.slots.Release()
	l.shared.seats.Leave()
	began := l.job.Now()
	err = wait()
	took = l.job.Now().Sub(began)
	l.shared.seats.ComeBack()
	l.shared.slots.Acquire()
	l.workspace.Forget()
	return took, err
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
