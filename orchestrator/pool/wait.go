package pool

import (
	"cmp"
	"context"
	"time"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/pause"
)

// sayAgain is the time after which a notice tells that a wait still goes on.
const sayAgain = 30 * time.Minute

// AwaitProvider returns the board's permit to call the provider of the next call. It waits while
// another board asks that provider. It also waits after the provider has refused a call of another
// board, if [flow.State.MayShareWait] allows the wait. After a wait, AwaitProvider returns no permit,
// but true. The caller then has to read the board again, because the board may have changed. A step
// has to be open, because the wait is journaled with its step.
func (m *Member) AwaitProvider(e flow.Spawn, provider, model string) (permit *Permit, waited bool, err error) {
	now := m.Now()
	permit, wait, other := m.pool.refused.ask(provider, model, now)
	switch {
	case permit != nil:
		return permit, false, nil
	case wait == nil:
		return nil, true, cmp.Or(m.rest(func() error { return m.awaitOther(other) }), m.TakeEdit())
	case !m.Journal.State().MayShareWait(*wait, now):
		return &Permit{providers: m.pool.refused, call: scope{provider, model}}, false, nil
	}
	mine := *wait
	mine.Step, mine.Task, mine.Role, mine.Shared, mine.At = e.Step, e.Task, e.Role, true, now
	return nil, true, m.Wait(mine)
}

// awaitOther waits until another board has asked the provider, but at most until the time at which
// the run has to end.
func (m *Member) awaitOther(other <-chan struct{}) error {
	stop, cancel := pause.WithDeadline(m.Stop, m.Now, m.Until)
	defer cancel()
	select {
	case <-other:
	case <-stop.Done():
	}
	return context.Cause(m.Stop)
}

// away is a program that has worked in this run and cannot be started now.
type away struct {
	since time.Time // the first of the starts that failed in a row; zero: none did
	tries int
}

// toolPatience is the greatest wait for such a program: a tool that updates itself takes seconds.
const toolPatience = 2 * time.Minute

// AwaitTool waits if an attempt failed only because the program of its agent cannot be started now,
// although it has worked in this run. The parameter tool is its name, or "". AwaitTool returns the
// error err of the attempt if there is nothing to wait for, or once toolPatience is used up.
func (m *Member) AwaitTool(e flow.Spawn, tool string, err error) error {
	if tool == "" {
		m.away = away{}
		return err
	}
	now := m.Now()
	if m.away.since.IsZero() {
		m.away.since = now
	}
	end := m.away.since.Add(toolPatience)
	if until := m.Until; !until.IsZero() && until.Before(end) {
		end = until
	}
	if !now.Before(end) {
		return err
	}
	until := now.Add(time.Second << min(m.away.tries, 4))
	if until.After(end) {
		until = end
	}
	m.away.tries++
	return m.Wait(event.ProviderWait{Step: m.Journal.State().Step.Number, Task: e.Task, Call: e.Call, Role: e.Role, Provider: tool,
		Class: event.ClassGone, Since: m.away.since, Until: until, At: now, Tries: m.away.tries})
}

// Wait journals a wait for a provider, and waits. A wait that is over has used up what it was
// granted, however late its timer, its records and this process are.
func (m *Member) Wait(e event.ProviderWait) error {
	if err := m.Journal.Record(e); err != nil {
		return err
	}
	said := m.Now()
	err := m.rest(func() error {
		return pause.Until(m.Stop, m.Now, e.Until, func() error {
			if now := m.Now(); now.Sub(said) >= sayAgain {
				said = now
				m.Notice("it still " + e.Waits())
			}
			return m.Journal.DrawState()
		})
	})
	if err != nil {
		m.cut = e.Spent(m.Now())
		return err
	}
	err = m.Journal.Record(event.ProviderBack{Step: e.Step, Task: e.Task, Provider: e.Provider, Millis: e.Spent(e.Until)})
	return cmp.Or(err, m.TakeEdit())
}

// CutWait returns how long the run has waited for a provider, in ms, if its end broke off the wait.
func (m *Member) CutWait() int64 { return m.cut }

// rest gives up the seat of this board, so that another board can work, and calls the given
// function. The board keeps its lock and its claims.
func (m *Member) rest(wait func() error) error {
	m.pool.Seats.Leave()
	defer m.pool.Seats.ComeBack()
	defer m.Workspace.Forget()
	return wait()
}
