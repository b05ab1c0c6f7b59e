package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failpoint"
	"kanban-run/orchestrator/preflight"
	"kanban-run/orchestrator/rundir"
)

// Open takes the folder of a board's run, and its lock. The run has no ledger yet; it has to be closed also after an error.
// Errors: *durable.HeldError if another run has the board.
func Open(stop, kill context.Context, p *preflight.Prepared, slots Slots) (*Run, error) {
	r := &Run{Prepared: p, Stop: stop, Kill: kill, Slots: slots, undo: []func() error{p.Close}}
	if p.DryRun {
		remove, err := p.Workspace.CopyAside()
		r.undo = append(r.undo, remove)
		if err != nil {
			return r, err
		}
	}
	r.Folder = p.Workspace.Dir()
	if err := r.Folder.Ensure(); err != nil {
		return r, err
	}
	failpoint.At("before-lock")
	unlock, err := lockBoard(p.Job, r.Folder)
	r.undo = append(r.undo, unlock)
	if err != nil {
		return r, err
	}
	failpoint.At("lock-held")
	// Under the lock no other run can be writing the board.
	return r, durable.Sweep(p.Workspace.Path)
}

// Close undoes what Open did, in the opposite order.
func (r *Run) Close() error {
	var errs []error
	for _, undo := range slices.Backward(r.undo) {
		errs = append(errs, undo())
	}
	return errors.Join(errs...)
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

// EndLeftovers ends what an earlier run left behind: its agent may still be at work, and two would do the same task.
func (r *Run) EndLeftovers() error {
	if v := r.State().Supervisor; v != nil && v.Mark != "" {
		if err := agent.EndLeftovers(v.Mark); err != nil {
			return err
		}
	}
	step := r.State().Step
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
	return r.KeepStreams(event.AttemptRef{Step: step.Number, Call: step.Call, Attempt: step.Running})
}
