package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/failpoint"
	"kanban-run/orchestrator/flow"
)

// open takes the board: its folder, its lock, its journal. The returned function gives all of it back and is never nil.
func (p *Prepared) open(stop, kill context.Context) (*run, func() error, error) {
	r := &run{job: p.job, setup: p.setup, place: p.place, path: p.path, files: filesOf(p.path), desk: p.desk, stop: stop, kill: kill}
	undo := []func() error{p.place.Close}
	release := func() error {
		var errs []error
		for i := len(undo) - 1; i >= 0; i-- {
			errs = append(errs, undo[i]())
		}
		return errors.Join(errs...)
	}
	if p.job.DryRun {
		remove, err := r.privateCopy()
		undo = append(undo, remove)
		if err != nil {
			return nil, release, err
		}
	}
	if err := r.files.ensure(); err != nil {
		return nil, release, err
	}
	failpoint.At("before-lock")
	unlock, err := p.lock(r.files)
	undo = append(undo, unlock)
	if err != nil {
		return nil, release, err
	}
	failpoint.At("lock-held")
	// Under the lock nobody else can be writing the board.
	if err := durable.Sweep(r.path); err != nil {
		return nil, release, err
	}
	r.reader = board.NewReader(r.path, p.job.Board)
	r.reader.Know(p.board)
	r.listed = p.list
	p.board, p.list, p.players, p.file = nil, nil, nil, nil
	r.logs = newLogbook(r.files, p.job.Board)
	r.ledger = &ledger{board: p.job.Board, path: r.files.journal(), observer: p.job.Observer, redactor: p.setup.Redactor, onCommit: r.logs.follow}
	undo = append(undo, func() error { return r.ledger.close() })
	return r, release, r.openLedger()
}

// lock takes the board's lock, and has it held for as long as anything that this run starts may live. The returned function
// gives it back and is never nil.
func (p *Prepared) lock(f files) (func() error, error) {
	lock, err := durable.Acquire(f.lock())
	if err != nil {
		return func() error { return nil }, err
	}
	if p.job.HoldLock == nil {
		return lock.Release, nil
	}
	letGo, err := p.job.HoldLock(lock.File())
	if err == nil {
		err = lock.Describe(os.Getppid()) // the one that takes signals
	}
	if err != nil {
		return lock.Release, fmt.Errorf("share the lock with the guardian: %w", err)
	}
	return func() error { return errors.Join(lock.Release(), letGo()) }, nil
}

// openLedger replays the journal, ends what an earlier run left behind, and takes the board over.
func (r *run) openLedger() error {
	each := func(e flow.Entry) {
		r.logs.replay(e)
		r.recall(e.Event)
	}
	if err := r.open(r.job.Now, each); err != nil {
		return err
	}
	failpoint.At("journal-open")
	if step := r.history.State.Step; step != nil && step.Running != 0 {
		// Its agent may be at work still, and two would do the same task.
		failpoint.At("reaping")
		if err := agent.EndLeftovers(step.Mark); err != nil {
			return err
		}
	}
	err := r.take()
	if err == nil {
		err = r.mend()
	}
	if err != nil {
		return errors.Join(err, r.logs.redraw(&r.history))
	}
	if len(r.history.Points) == 0 {
		if err := r.snapshot(); err != nil {
			return err
		}
	}
	return r.logs.catchUp(r.ledger.path)
}

// mend reconciles what was changed by others than the runner since the last run.
func (r *run) mend() error {
	if text := r.history.Contradiction(); text != "" {
		task := r.ledger.board
		if b := r.history.Breach; b != nil {
			task, text = b.Task, b.Text
		}
		return r.reconcile(flow.StateDiverged{Source: flow.SourceJournal, Task: task, Text: "STATE_DIVERGENCE: the journal contradicts itself: " + text})
	}
	return r.mendState()
}

// mendState reconciles a state.md that somebody wrote to. What they wrote is kept aside.
func (r *run) mendState() error {
	kept, err := r.logs.edited()
	if err != nil || kept == "" {
		return err
	}
	text := fmt.Sprintf("STATE_DIVERGENCE: %s was edited by hand; it is made anew from the journal (the edited text: %s)", r.files.state(), kept)
	err = r.reconcile(flow.StateDiverged{Source: flow.SourceState, Task: r.ledger.board, Text: text})
	return errors.Join(err, os.Rename(r.files.state(), kept)) // only now: a crash before it must not hide the edit
}

// privateCopy moves a dry run's board and state into a folder of its own, so that nothing of the project is touched.
func (r *run) privateCopy() (remove func() error, err error) {
	dir, err := os.MkdirTemp("", "kanban-run-dry-")
	if err != nil {
		return func() error { return nil }, err
	}
	remove = func() error { return os.RemoveAll(dir) }
	source, err := board.ReadFile(r.path)
	if err != nil {
		return remove, err
	}
	r.path = filepath.Join(dir, filepath.Base(r.path))
	r.files = filesOf(r.path)
	return remove, os.WriteFile(r.path, source, 0o600)
}
