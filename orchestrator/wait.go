package orchestrator

import (
	"context"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/pause"
)

// sayAgain is the time after which a wait that goes on is told again.
const sayAgain = 30 * time.Minute

// waitForProvider waits until the provider of the open call is to be asked again, after it refused the call.
func (l *loop) waitForProvider(e flow.Wait) error {
	player, err := l.caller.Player(flow.Spawn{AttemptRef: event.AttemptRef{Step: e.Step, Call: l.ledger.State().Step.Call,
		Task: e.Task, Role: e.Role}})
	if err != nil {
		return err
	}
	l.shared.refusals.refused(player.Provider(), e.ProviderWait)
	return l.wait(e.ProviderWait)
}

// awaitProvider waits if the provider of a call refused one of another board, unless that would take longer than this run's
// patience: then the run asks the provider itself. waited reports that it waited: the board has to be read again. The wait is not
// journaled before a step is open.
func (l *loop) awaitProvider(e flow.Spawn, provider string) (waited bool, err error) {
	may, wait, other := l.shared.refusals.ask(provider, l.job.Now())
	switch {
	case may:
		return false, nil
	case wait == nil:
		return true, l.rest(func() error {
			select {
			case <-other:
				return nil
			case <-l.stop.Done():
				return context.Cause(l.stop)
			}
		})
	case wait.Until.Sub(l.job.Now()) > l.ledger.State().PatienceLeft(wait.Class):
		return false, nil
	}
	mine := *wait
	mine.Step, mine.Task, mine.Role, mine.Shared = e.Step, e.Task, e.Role, true
	return true, l.wait(mine)
}

// wait waits for a provider, with the wait journaled.
func (l *loop) wait(e event.ProviderWait) error {
	if err := l.ledger.Record(e); err != nil {
		return err
	}
	began := l.job.Now()
	said := began
	err := l.rest(func() error {
		return pause.Until(l.stop, e.Until, func() error {
			if now := l.job.Now(); now.Sub(said) >= sayAgain {
				said = now
				l.job.Observer.Notice(l.job.Board, "it still "+e.Waits())
			}
			return l.shared.slots.With(l.ledger.DrawState)
		})
	})
	if err != nil {
		return err
	}
	return l.ledger.Record(event.ProviderBack{Step: e.Step, Task: e.Task, Provider: e.Provider,
		Millis: l.job.Now().Sub(began).Milliseconds()})
}

// rest calls wait while another board of this process has the seat of this one. The board keeps its lock and its claims.
func (l *loop) rest(wait func() error) error {
	l.shared.slots.Release()
	l.shared.seats.Leave()
	err := wait()
	l.shared.seats.ComeBack()
	l.shared.slots.Acquire()
	l.workspace.Forget() // a person may have edited the board
	return err
}

// giveUpWaiting returns the error with which a run ends whose patience is used up.
func giveUpWaiting(e flow.GiveUpWaiting) error {
	return &agent.LaterError{Text: e.Text, Reset: e.Until, Busy: e.Busy}
}
