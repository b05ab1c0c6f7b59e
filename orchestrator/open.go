package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"os"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/call"
	"kanban-run/orchestrator/claim"
	"kanban-run/orchestrator/decisions"
	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/failpoint"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/gitstore"
	"kanban-run/orchestrator/ledger"
	"kanban-run/orchestrator/outcome"
	"kanban-run/orchestrator/preflight"
	"kanban-run/orchestrator/run"
	"kanban-run/orchestrator/rundir"
	"kanban-run/orchestrator/supervisor"
	"kanban-run/orchestrator/workspace"
)

// open takes the folder, the lock and the journal of the board. release undoes that and is never
// nil. crowded says that other boards are worked on in the same folder.
func open(stop, kill context.Context, p *preflight.Prepared, s shared, crowded bool) (l *loop, release func() error, err error) {
	r := &run.Run{Prepared: p, Stop: stop, Kill: kill, Slots: s.slots}
	l = &loop{Run: r, shared: s, claims: claim.NewHolder(r, s.registry)}
	undo := []func() error{p.Close}
	release = func() error {
		var errs []error
		for i := len(undo) - 1; i >= 0; i-- {
			errs = append(errs, undo[i]())
		}
		return errors.Join(errs...)
	}
	if p.DryRun {
		remove, err := p.Workspace.CopyAside()
		undo = append(undo, remove)
		if err != nil {
			return nil, release, err
		}
	}
	r.Folder = p.Workspace.Dir()
	l.supervisor = supervisor.New(r, crowded)
	l.caller = call.NewCaller(r, l.supervisor)
	l.outcomes = outcome.NewRecorder(r, l.caller, l.supervisor)
	undo = append(undo, l.claims.Release, l.supervisor.Close, l.forgetInbox)
	if err := r.Folder.Ensure(); err != nil {
		return nil, release, err
	}
	failpoint.At("before-lock")
	unlock, err := lockBoard(p.Job, r.Folder)
	undo = append(undo, unlock)
	if err != nil {
		return nil, release, err
	}
	failpoint.At("lock-held")
	// Under the lock no other run can be writing the board.
	if err := durable.Sweep(p.Workspace.Path); err != nil {
		return nil, release, err
	}
	if l.carrier, err = gitstore.Start(r); err != nil {
		return nil, release, err
	}
	l.minutes = decisions.NewMinutes(r)
	r.Ledger = ledger.New(p.Board, r.Folder, l.minutes.Listen(l.supervisor.Listen(p.Observer)), p.Redactor, p.Now)
	r.Ledger.Durable = l.carrier.Save
	undo = append(undo, r.Ledger.Close)
	return l, release, l.takeBoard()
}

func (l *loop) forgetInbox() error {
	l.shared.mail.Forget(l.Folder.Inbox())
	return nil
}

// lockBoard takes the board's lock. The guardian holds it too, as long as a process of this run may
// live. unlock is never nil.
func lockBoard(job *preflight.Job, dir rundir.Dir) (unlock func() error, err error) {
	lock, err := durable.Acquire(dir.Lock())
	if err != nil {
		return func() error { return nil }, err
	}
	if job.HoldLock == nil {
		return lock.Release, nil
	}
	letGo, err := job.HoldLock(lock.File())
	if err == nil {
		err = lock.SetHolder(os.Getppid()) // the guardian, which a person signals
	}
	if err != nil {
		return lock.Release, fmt.Errorf("share the lock with the guardian: %w", err)
	}
	return func() error { return errors.Join(lock.Release(), letGo()) }, nil
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
	if err := l.endLeftovers(); err != nil {
		return err
	}
	return l.Ledger.Own()
}

// endLeftovers ends what an earlier run left behind: its agent may still be at work, and two would do the same task.
func (l *loop) endLeftovers() error {
	if v := l.State().Supervisor; v != nil && v.Mark != "" {
		if err := agent.EndLeftovers(v.Mark); err != nil {
			return err
		}
	}
	step := l.State().Step
	if step == nil || step.Running == 0 {
		return nil
	}
	failpoint.At("reaping")
	if err := agent.EndLeftovers(step.Mark); err != nil {
		return err
	}
	if step.JudgeMark != "" {
		if err := agent.EndLeftovers(step.JudgeMark); err != nil {
			return err
		}
	}
	return l.KeepStreams(flow.AttemptRef{Step: step.Number, Call: step.Call, Attempt: step.Running})
}

// restore takes over what an earlier run has journaled.
func (l *loop) restore(e flow.Entry) {
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
	begun := flow.RunStarted{Board: l.Board, Workdir: l.Dir(), Version: l.Version, Limits: l.Limits,
		OnDivergence: l.OnDivergence, Tasks: b.Len(), Withheld: withheld, Strict: l.Strict, Supervision: supervision, Reassign: l.Reassign}
	if looker != nil {
		begun.Memory, begun.Adapter = looker.Memory(), looker.Adapter.Name()
	}
	if !state.Spent {
		begun.Carried = state.Used
	}
	if err := l.Ledger.Append(begun); err != nil {
		return err
	}
	if err := l.unheard.Close(l.Ledger); err != nil {
		return err
	}
	bare := workspace.Bare(b)
	if err := flow.Release(state, bare, l.Workspace.TaskSHA, l.Ledger.Append); err != nil {
		return err
	}
	if err := flow.Reopen(state, bare, func() (flow.Board, error) { return l.view(b) }, l.Ledger.Append); err != nil {
		return err
	}
	return l.restartWithoutInput(b)
}

// restartWithoutInput starts the open call afresh if its stored input is missing or changed.
func (l *loop) restartWithoutInput(b *board.Board) error {
	step := l.State().Step
	if step == nil || step.Reply != nil || step.Input == nil {
		return nil
	}
	_, err := l.caller.RestoreInput(step)
	if !errors.Is(err, rundir.ErrNotStored) {
		return err
	}
	return l.Ledger.Append(flow.CallRestarted{Step: step.Number, Task: step.Task, BoardSHA: b.SHA, Reason: err.Error()})
}

// withheld names the variables that agents do not get. A board that is over needs no agent: a
// Manager that cannot be started is no error then.
func (l *loop) withheld(b *board.Board) ([]string, error) {
	p, err := l.Player(flow.ManagerRole)
	if err != nil && b.Terminal() && l.State().Step == nil {
		return nil, nil
	}
	if err != nil {
		return nil, &failure.Invalid{Err: err}
	}
	return p.Withheld, nil
}
