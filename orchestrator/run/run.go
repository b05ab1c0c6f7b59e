// Package run takes a board for one run and gives it back.
package run

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/failpoint"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/ledger"
	"kanban-run/orchestrator/preflight"
	"kanban-run/orchestrator/rundir"
)

// Hold is the hold of a run on a board: the folder of the board's runs, and the board's lock.
type Hold struct {
	Folder rundir.Dir
	Anchor *rundir.Anchor // holds the folder; nil before Take has it

	keepOutput bool // keep all output of agents
	undo       []func() error
}

// Take takes the folder of a board's runs and the lock of the board. A dry run takes those of a
// copy of the board. The caller has to close the hold even after an error. Errors:
// *durable.HeldError if another run has the board.
func Take(p *preflight.Prepared) (*Hold, error) {
	h := &Hold{keepOutput: p.KeepOutput}
	if p.DryRun {
		remove, err := p.Workspace.CopyAside()
		h.undo = append(h.undo, remove)
		if err != nil {
			return h, err
		}
	}
	h.Folder = p.Workspace.Dir()
	failpoint.At("before-lock")
	unlock, err := lockBoard(p, h.Folder)
	h.undo = append(h.undo, unlock)
	if err != nil {
		return h, err
	}
	failpoint.At("lock-held")
	if h.Anchor, err = h.Folder.Anchor(); err != nil {
		return h, err
	}
	h.undo = append(h.undo, h.Anchor.Close)
	// Under the lock no other run can be writing the board.
	if err := durable.Sweep(p.Workspace.Path); err != nil || p.DryRun {
		return h, err
	}
	return h, rehearse(p)
}

// rehearse finds out, before an agent is paid, whether the board can be replaced. It gives a notice
// if the board cannot keep its owner or its group.
func rehearse(p *preflight.Prepared) error {
	lost, err := durable.Rehearse(p.Workspace.Path)
	if lost != "" {
		p.Observer.Notice(p.Board, preflight.LossText(lost))
	}
	if errors.As(err, new(*durable.RefusedError)) {
		err = &failure.Invalid{Err: err}
	}
	if err != nil {
		return fmt.Errorf("write board %s: %w", p.Board, err)
	}
	return nil
}

// Close undoes what Take did, in the opposite order.
func (h *Hold) Close() error {
	var errs []error
	for _, undo := range slices.Backward(h.undo) {
		errs = append(errs, undo())
	}
	return errors.Join(errs...)
}

// EndLeftovers ends the processes that an earlier run left running, because otherwise two agents
// could do the same task. It finds the processes by the marks in s, the state of that run. It keeps
// the output of the attempt that was cut short, and that of the attempts before it.
func (h *Hold) EndLeftovers(s *flow.State) error {
	if v := s.Supervisor; v != nil && v.Mark != "" {
		if err := agent.EndLeftovers(v.Mark); err != nil {
			return err
		}
	}
	step := s.Step
	if step == nil || step.Running == 0 {
		return nil
	}
	failpoint.At("reaping")
	if err := agent.EndLeftovers(step.Mark); err != nil {
		return err
	}
	if step.Judge != nil {
		if err := agent.EndLeftovers(step.Judge.Mark); err != nil {
			return err
		}
	}
	return h.Folder.KeepStreams(rundir.Kept{Step: step.Number, Call: string(step.Call), Attempt: step.Running, All: h.keepOutput})
}

// EndAllLeftovers ends what earlier runs left running, for a run that holds the lock and is refused.
// Otherwise the agents of a dead run would go on with a board that no run takes. The state of the
// board may be unknown, so the marks come from [ledger.Marks]. The result is the error refused, or
// joins it with others.
func (h *Hold) EndAllLeftovers(refused error) error {
	if errors.As(refused, new(*durable.HeldError)) {
		return refused // another run has the journal, and its agents are no leftovers
	}
	marks, err := ledger.Marks(h.Folder)
	if errors.Is(err, fs.ErrNotExist) {
		return refused
	}
	return errors.Join(refused, err, agent.EndLeftovers(marks...))
}

// lockBoard takes the lock of the board. The guardian, the parent process, holds the lock too,
// until no process of this run is left. The result unlock is never nil.
func lockBoard(p *preflight.Prepared, dir rundir.Dir) (unlock func() error, err error) {
	lock, err := dir.Acquire()
	if err != nil {
		return func() error { return nil }, err
	}
	if _, failed := os.Lstat(dir.Journal()); lock.Alone != nil && failed != nil { // said once, in the first run
		p.Observer.Notice(p.Board, "git clean would remove the board's lock, because the folder .git can have none: "+lock.Alone.Error())
	}
	if p.HoldLock == nil {
		return lock.Release, nil
	}
	letGo := func() error { return nil }
	for _, f := range lock.Files() {
		release, err := p.HoldLock(f)
		if err != nil {
			return func() error { return errors.Join(lock.Release(), letGo()) }, fmt.Errorf("share the lock with the guardian: %w", err)
		}
		before := letGo
		letGo = func() error { return errors.Join(before(), release()) }
	}
	unlock = func() error { return errors.Join(lock.Release(), letGo()) }
	if err := lock.SetHolder(os.Getppid()); err != nil { // the guardian, because a person sends signals to it
		return unlock, fmt.Errorf("name the guardian in the lock: %w", err)
	}
	return unlock, nil
}
