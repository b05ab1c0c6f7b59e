package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/attempt"
	"kanban-run/orchestrator/briefing"
	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/failpoint"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/ledger"
	"kanban-run/orchestrator/preflight"
	"kanban-run/orchestrator/rundir"
)

// open takes the folder, the lock and the journal of the board. release undoes that and is never
// nil.
func open(stop, kill context.Context, p *preflight.Prepared, s shared) (r *run, release func() error, err error) {
	r = &run{Prepared: p, stop: stop, kill: kill, slots: s.slots, mail: s.mail, crowd: s.crowd, desk: s.desk, accounts: attempt.Accounts{}, watched: attempt.Accounts{}}
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
	undo = append(undo, r.unclaim, r.endResident)
	r.dir = p.Workspace.Dir()
	undo = append(undo, forgetInbox(s.mail, r.dir))
	if err := r.dir.Ensure(); err != nil {
		return nil, release, err
	}
	failpoint.At("before-lock")
	unlock, err := lockBoard(p.Job, r.dir)
	undo = append(undo, unlock)
	if err != nil {
		return nil, release, err
	}
	failpoint.At("lock-held")
	// Under the lock no other run can be writing the board.
	if err := durable.Sweep(p.Workspace.Path); err != nil {
		return nil, release, err
	}
	if err := r.openStore(); err != nil {
		return nil, release, err
	}
	observer := p.Observer
	if p.Supervision != nil {
		r.briefing = briefing.New(r.dir, p.Workspace.Place, p.Redactor)
		observer = briefed{p.Observer, r.briefing}
	}
	if path := r.decisionsPath(); path != "" {
		r.minutes = &minutes{Observer: observer, path: path}
		observer = r.minutes
		p.Workspace.Ignored = append(p.Workspace.Ignored, path, real(path))
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			p.Observer.Notice(p.Board, "decisions: "+path+" is not there, so nothing is noted in it")
		}
	}
	r.ledger = ledger.New(p.Board, r.dir, observer, p.Redactor, p.Now)
	r.ledger.Durable = r.carry
	undo = append(undo, func() error { return r.ledger.Close() })
	return r, release, r.takeBoard()
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
func (r *run) takeBoard() error {
	if err := r.ledger.Open(r.restore); err != nil {
		return err
	}
	failpoint.At("journal-open")
	if r.elsewhere { // its processes, on this machine or another, belong to that run: it may be at work
		return r.own()
	}
	if v := r.ledger.State().Supervisor; v != nil && v.Mark != "" {
		if err := agent.EndLeftovers(v.Mark); err != nil {
			return err
		}
	}
	if step := r.ledger.State().Step; step != nil && step.Running != 0 {
		// Its agent may still be at work, and two would do the same task.
		failpoint.At("reaping")
		if err := agent.EndLeftovers(step.Mark); err != nil {
			return err
		}
		if step.JudgeMark != "" {
			if err := agent.EndLeftovers(step.JudgeMark); err != nil {
				return err
			}
		}
		if err := r.keepStreams(flow.AttemptRef{Step: step.Number, Call: step.Call, Attempt: step.Running}); err != nil {
			return err
		}
	}
	return r.own()
}

// own becomes the board's owner.
func (r *run) own() error {
	r.accepted = []flow.Call{flow.TaskCall, flow.CommandCall, flow.ReviewCall, flow.ManagerCall, flow.ReadyCall, flow.CheckpointCall}
	return r.ledger.Own()
}

// restore takes over what an earlier run has journaled.
func (r *run) restore(e flow.Entry) {
	r.restoreAccounts(e.Event)
	r.restoreTalk(e.Event)
	r.restoreMinutes(e)
	if r.briefing != nil {
		r.briefing.Add(e)
	}
}
