package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/claim"
	"kanban-run/orchestrator/flow"
)

// claimTask takes the task of a step, and the files that it declares, before any agent works on them: seed 002, "Duplicate / Overlap
// Work". Where another board's step has them in this process, or has the files in another, it waits for the end of that step, and the
// board is to be read again.
func (r *run) claimTask(e flow.Spawn) (waited bool, err error) {
	if r.DryRun || e.Call.IsSupervision() || r.claimed.isOf(e) {
		return false, nil
	}
	if err := r.unclaim(); err != nil {
		return false, err
	}
	ref, err := r.Workspace.Place.Resolve(e.Task)
	if err != nil {
		return false, nil // the call says so
	}
	mark := agent.NewMark()
	if step := r.ledger.State().Step; step != nil {
		mark = step.Mark
	}
	c := claim.Claim{Mark: mark, Board: r.Workspace.Path, Task: real(ref.Abs), Dir: real(r.Dir()), Files: r.Workspace.Place.ReadBrief(e.Task).Files, Warn: r.OnOverlap == "warn"}
	r.slots.release()
	held, err := r.desk.Take(r.stop, c, func(x claim.Conflict) {
		r.slots.acquire()
		defer r.slots.release()
		waited = waited || !c.Warn || x.Files == nil
		_ = r.ledger.Record(r.conflict(e, x, c.Warn)) // the next commit says so, if the journal cannot be written
	})
	r.slots.acquire()
	var taken *claim.TakenError
	switch {
	case errors.As(err, &taken):
		return false, errors.Join(err, r.ledger.Record(r.conflict(e, taken.Conflict, false)))
	case err != nil && r.stop.Err() != nil:
		return false, context.Cause(r.stop)
	case err != nil:
		r.Observer.Notice(r.Board, fmt.Sprintf("other runs do not see what this one works on: %v", err))
	}
	r.held, r.claimed = held, claimed{e.Step, e.Task, mark}
	if waited {
		r.Workspace.Forget()
	}
	return waited, nil
}

// claimed is what a claim is for.
type claimed struct {
	step int
	task string
	mark string // of the agents that are to work on it
}

func (c claimed) isOf(e flow.Spawn) bool { return c.step == e.Step && c.task == e.Task }

// real is a path without links; one that leads nowhere stays as it is.
func real(path string) string {
	if p, err := filepath.EvalSymlinks(path); err == nil {
		return p
	}
	return path
}

// conflict is the event about a claim in the way.
func (r *run) conflict(e flow.Spawn, x claim.Conflict, warn bool) flow.Event {
	owner := x.Board
	if rel, err := filepath.Rel(r.Dir(), x.Board); err == nil && x.Board != "" && !strings.HasPrefix(rel, "..") {
		owner = filepath.ToSlash(rel)
	}
	if x.Files == nil {
		return flow.DuplicateTask{Task: e.Task, Owner: owner}
	}
	return flow.ScopeOverlaps{Task: e.Task, Owner: owner, OwnerTask: filepath.ToSlash(x.Task), Files: x.Files, Waits: !warn}
}

// unclaim gives the task of the step back.
func (r *run) unclaim() error {
	held := r.held
	r.held, r.claimed = nil, claimed{}
	return held.Release()
}
