// Package run takes a board for one run and gives it back.
package run

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/event"
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
	Place  durable.Place  // of the folder, once it is locked
	Anchor *rundir.Anchor // holds the folder; nil before Take has it

	board      string // as the user wrote it
	keepOutput bool   // keep all output of agents
	undo       []func() error
}

// mostAhead bounds the boards whose locks are taken before they are begun. Each has up to three files open,
// and some systems allow a process 256.
const mostAhead = 50

// Ahead is the lock of a board that waits for its turn in a command, or the error of taking it.
type Ahead struct {
	hold *Hold // nil: Take takes the lock
	err  error
}

// LockAhead takes the locks of the boards of a command, so that another run of a board that waits for its
// turn is refused at once. A dry run, and the run of a single board, take their locks as they begin.
func LockAhead(boards []*preflight.Prepared) []Ahead {
	all := make([]Ahead, len(boards))
	if len(boards) < 2 {
		return all
	}
	for i, p := range boards[:min(len(boards), mostAhead)] {
		if p.DryRun {
			continue
		}
		h := newHold(p)
		switch err := h.lockBoard(p); {
		case err == nil:
			all[i].hold = h
		case errors.As(err, new(*durable.HeldError)):
			all[i].hold, all[i].err = h, err
		default: // Take meets it again, or it is over by then
			_ = h.Close()
		}
	}
	return all
}

// Close gives back the lock of a board that is not begun.
func (a Ahead) Close() error {
	if a.hold == nil {
		return nil
	}
	return a.hold.Close()
}

func newHold(p *preflight.Prepared) *Hold {
	return &Hold{board: p.Board, keepOutput: p.Run.KeepOutput, Folder: p.Workspace.Dir()}
}

// lock returns the hold with the lock of the board. A lock of a folder that is not there any more, or is
// another one by now, is taken anew.
func (a Ahead) lock(p *preflight.Prepared) (*Hold, error) {
	h := a.hold
	switch {
	case a.err != nil:
		return h, a.err
	case h != nil && h.Place == h.Folder.Place():
		return h, nil
	case h != nil:
		if err := h.Close(); err != nil {
			return newHold(p), err
		}
	}
	h = newHold(p)
	if p.DryRun {
		remove, err := p.Workspace.CopyAside()
		h.undo = append(h.undo, remove)
		if err != nil {
			return h, err
		}
		h.Folder = p.Workspace.Dir()
	}
	failpoint.At("before-lock")
	return h, h.lockBoard(p)
}

// Take takes the folder of a board's runs and the lock of the board, unless that is taken ahead. A dry run
// takes those of a copy of the board. The caller has to close the hold even after an error. Errors:
// *durable.HeldError if another run has the board.
func Take(p *preflight.Prepared, ahead Ahead) (*Hold, error) {
	h, err := ahead.lock(p)
	if err != nil {
		return h, err
	}
	failpoint.At("lock-held")
	anchor, err := h.Folder.Anchor()
	if err != nil {
		return h, err
	}
	h.Anchor = anchor
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

// KeepOutput keeps output that is not journaled in a folder that no run empties, and returns the path of the folder. It
// returns "" if there is no output.
func (h *Hold) KeepOutput(output map[string][]byte, p *preflight.Prepared) string {
	if len(output) == 0 {
		return ""
	}
	kept, err := h.Anchor.Keep(output, p.Now())
	if err != nil {
		p.Observer.Notice(p.Board, "the output of the last attempt is not kept: "+err.Error())
	}
	return kept
}

// EndLeftovers ends the processes that an earlier run left running, because otherwise two agents
// could do the same task. It finds the processes by the marks in s, the state of that run. It keeps
// the output of the attempt that was cut short, and that of the attempts before it.
func (h *Hold) EndLeftovers(s *flow.State) error {
	end := func(mark string) error { return agent.EndLeftovers(durable.Place(s.Place), h.Place, mark) }
	if v := s.Supervisor; v != nil && v.Mark != "" {
		if err := end(v.Mark); err != nil {
			return err
		}
	}
	step := s.Step
	if step == nil || step.Running == 0 {
		return nil
	}
	failpoint.At("reaping")
	if err := end(step.Mark); err != nil {
		return err
	}
	if step.Judge != nil {
		if err := end(step.Judge.Mark); err != nil {
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
	marks, born, err := ledger.Marks(h.Folder)
	if errors.Is(err, fs.ErrNotExist) {
		return refused
	}
	return errors.Join(refused, err, agent.EndLeftovers(born, h.Place, marks...))
}

// EndLeftovers ends what earlier runs of boards left running, for a start that is refused before it takes
// the boards. It leaves alone a board that another run has, or that was never run.
func EndLeftovers(boards []string) error {
	var errs []error
	for _, name := range boards {
		path, err := filepath.Abs(name)
		h := &Hold{Folder: rundir.Of(durable.RealPath(path))}
		if _, missing := os.Lstat(h.Folder.Journal()); missing != nil || err != nil {
			errs = append(errs, err)
			continue
		}
		lock, err := h.Folder.Acquire()
		if errors.As(err, new(*durable.HeldError)) {
			continue
		}
		if err == nil {
			h.Place = h.Folder.Place()
			err = errors.Join(h.EndAllLeftovers(nil), lock.Release())
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// lockBoard takes the lock of the board. The guardian, the parent process, holds the lock too,
// until no process of this run is left.
func (h *Hold) lockBoard(p *preflight.Prepared) error {
	lock, err := h.Folder.Acquire()
	if err != nil {
		return err
	}
	h.undo = append(h.undo, lock.Release)
	h.Place = h.Folder.Place()
	if _, failed := os.Lstat(h.Folder.Journal()); lock.Alone != nil && failed != nil { // said once, in the first run
		p.Observer.Notice(p.Board, "git clean would remove the board's lock, because the folder .git can have none: "+lock.Alone.Error())
	}
	if p.HoldLock == nil {
		return nil
	}
	for _, f := range lock.Files() {
		release, err := p.HoldLock(f)
		if err != nil {
			return fmt.Errorf("share the lock with the guardian: %w", err)
		}
		h.undo = append(h.undo, release)
	}
	if err := lock.SetHolder(os.Getppid()); err != nil { // the guardian, because a person sends signals to it
		return fmt.Errorf("name the guardian in the lock: %w", err)
	}
	return nil
}

// LeavePlace records that the open work in s was begun in another place, or before a boot, if that is
// so. The result is true if it was another place. See [flow.LeavePlace].
func (h *Hold) LeavePlace(s *flow.State, record func(event.Event) error) (left bool, err error) {
	born := durable.Place(s.Place)
	e := event.PlaceChanged{Board: h.board, Place: string(h.Place), Mark: agent.NewMark(), Booted: born.IsAt(h.Place), Left: s.Running}
	switch {
	case s.Step == nil && s.Supervisor == nil, e.Booted && born.IsInBootOf(h.Place):
		return false, nil
	case e.Booted:
		return false, record(e)
	}
	return true, flow.LeavePlace(s, e, record)
}
