package orchestrator

import (
	"context"
	"errors"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/call"
	"kanban-run/orchestrator/claim"
	"kanban-run/orchestrator/decisions"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failpoint"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/gitstore"
	"kanban-run/orchestrator/ledger"
	"kanban-run/orchestrator/outcome"
	"kanban-run/orchestrator/preflight"
	"kanban-run/orchestrator/run"
	"kanban-run/orchestrator/supervisor"
	"kanban-run/orchestrator/workspace"
)

// open takes the folder, the lock and the journal of the board. release undoes that and is never
// nil. crowded says that other boards are worked on in the same folder.
func open(stop, kill context.Context, p *preflight.Prepared, s shared, crowded bool) (l *loop, release func() error, err error) {
	r, err := run.Open(stop, kill, p, s.slots)
	if err != nil {
		return nil, r.Close, err
	}
	l = &loop{Run: r, shared: s, claims: claim.NewHolder(r, s.registry), supervisor: supervisor.New(r, crowded)}
	l.caller = call.NewCaller(r, l.supervisor)
	l.outcomes = outcome.NewRecorder(r, l.supervisor)
	if l.carrier, err = gitstore.Start(r); err != nil {
		return nil, r.Close, err
	}
	l.minutes = decisions.NewMinutes(r)
	r.Ledger = ledger.New(p.Board, r.Folder, l.minutes.Listen(l.supervisor.Listen(p.Observer)), p.Redactor, p.Now)
	r.Ledger.Durable = l.carrier.Save
	return l, l.close, l.takeBoard()
}

// close gives all back that the run of the board has taken.
func (l *loop) close() error {
	err := l.Ledger.Close()
	l.shared.mail.Forget(l.Folder.Inbox())
	return errors.Join(err, l.supervisor.Close(), l.claims.Release(), l.Run.Close())
}

// takeBoard replays the journal, ends what an earlier run left behind, and becomes the board's
// owner.
func (l *loop) takeBoard() error {
	if err := l.Ledger.Open(l.restore); err != nil {
		return err
	}
	failpoint.At("journal-open")
	if l.carrier.IsElsewhere() {
		return l.Ledger.Own()
	}
	if err := l.EndLeftovers(); err != nil {
		return err
	}
	return l.Ledger.Own()
}

// restore takes over what an earlier run has journaled.
func (l *loop) restore(e event.Entry) {
	l.outcomes.Restore(e.Event)
	l.unheard.Restore(e.Event)
	l.minutes.Restore(e)
	l.supervisor.Restore(e)
}

// start opens the run in the journal, and closes what an earlier run left open that no longer fits
// the board. All of it is on disk with the first intent, before any act.
func (l *loop) start() error {
	state := l.State()
	b, err := l.Workspace.Read(state.Step)
	if err != nil {
		return err
	}
	withheld, err := l.withheld(b)
	if err != nil {
		return err
	}
	supervision, looker, err := l.supervisor.Plan()
	if err != nil {
		return err
	}
	begun := event.RunStarted{Board: l.Board, Workdir: l.Dir(), Version: l.Version, Form: flow.Form(), Limits: l.Limits,
		OnDivergence: l.OnDivergence, Tasks: b.Len(), Withheld: withheld, Strict: l.Strict, Supervision: supervision, Reassign: l.Reassign}
	begun.Git, begun.Elsewhere, begun.Allowed = l.carrier.Way(), l.carrier.IsElsewhere(), l.Git.Allow
	if manager, err := l.Player(event.ManagerRole); err == nil {
		begun.Manager = manager.Adapter.Name()
	}
	if looker != nil {
		begun.Memory, begun.Adapter = looker.Memory(), looker.Adapter.Name()
	}
	if !state.Spent {
		begun.Carried = state.Used
	}
	if err := l.Ledger.Append(begun); err != nil {
		return err
	}
	if state.Frozen != nil { // checkpoints would go another way
		return nil
	}
	if err := l.unheard.Close(l.Ledger); err != nil {
		return err
	}
	bare := workspace.Bare(b)
	if err := flow.Release(state, bare, l.Workspace.TaskSHA, l.Ledger.Append); err != nil {
		return err
	}
	if b, err = l.endLastTurn(b); err != nil || state.Frozen != nil {
		return err
	}
	bare = workspace.Bare(b)
	if err := flow.Reopen(state, bare, func() (flow.Board, error) { return l.view(b) }, l.Ledger.Append); err != nil {
		return err
	}
	return l.caller.RestartWithoutInput(b)
}

// endLastTurn closes the attempt in which an earlier run died, and returns the board as that turn is
// to leave it.
func (l *loop) endLastTurn(b *board.Board) (*board.Board, error) {
	lost, err := flow.CloseAttempt(l.State(), l.Ledger.Append)
	if err != nil {
		return nil, err
	}
	if err := l.endLostTurn(lost); err != nil || l.State().Frozen != nil {
		return b, err
	}
	return l.Workspace.Read(l.State().Step)
}

// withheld names the variables that agents do not get. A board that is over needs no agent: a
// Manager that cannot be started is no error then.
func (l *loop) withheld(b *board.Board) ([]string, error) {
	p, err := l.Player(event.ManagerRole)
	if err != nil && b.Terminal() && l.State().Step == nil {
		return nil, nil
	}
	if err != nil {
		return nil, &failure.Invalid{Err: err}
	}
	return p.Withheld, nil
}
