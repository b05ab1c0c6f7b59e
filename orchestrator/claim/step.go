package claim

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/config"
	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/pause"
)

// Turn has the parts of a run that a [Holder] uses.
type Turn struct {
	Journal   flow.Journal
	Path      string // path of the board's file, without links
	Dir       string // the work directory
	Workspace Workspace
	Notice    func(text string) // gets texts that are not events of the run
	Seat      Seat
	Now       func() time.Time // reads the wall clock
	Stop      context.Context  // when it is done, the wait for another run ends
	Until     time.Time        // time at which the run, and so the wait, has to end; zero: no limit
	Run       config.Run
}

// Workspace reads the tasks of the board.
type Workspace interface {
	// Scope returns the file of a task, and the patterns of the files that the task changes.
	Scope(task string) (file string, changes []string, err error)
	Forget() // after this, the next look at the board reads the board's file
}

// Seat is the run's place among the boards that this process runs at the same time.
type Seat interface {
	Leave()    // gives the seat to another board
	ComeBack() // waits until a seat is free
}

// Holder holds the claim of one run's open step.
type Holder struct {
	Turn
	registry *Registry
	dir      string // work directory, with links resolved

	grant *Grant
	step  int    // the step of the grant; 0: no grant
	task  string // task of that step
	mark  string // mark of that step's agents
}

// NewHolder returns the holder of a run.
func NewHolder(t Turn, g *Registry) *Holder {
	return &Holder{Turn: t, registry: g, dir: durable.RealPath(t.Dir)}
}

func (h *Holder) holds(e flow.Spawn) bool { return h.step == e.Step && h.task == e.Task }

// Mark returns the mark that the claim of a step names. If the step has no claim, it returns a new
// mark.
func (h *Holder) Mark(e flow.Spawn) string {
	if h.holds(e) {
		return h.mark
	}
	return agent.NewMark()
}

// Take claims the task of a step, and the files that the task declares, before any agent works on
// them: seed 002, "Duplicate / Overlap Work". It waits for the end of an earlier step that
// overlaps, but at most until h.Until. If waited is true, the board has to be read again.
func (h *Holder) Take(e flow.Spawn) (waited bool, err error) {
	if h.Run.DryRun || e.Call.IsSupervision() || h.holds(e) {
		return false, nil
	}
	if err := h.Release(); err != nil {
		return false, err
	}
	file, files, err := h.Workspace.Scope(e.Task)
	if err != nil {
		return false, nil // the agent's call, which reads the task again, reports the error
	}
	c := h.claimOf(file, files)
	stop, cancel := pause.WithDeadline(h.Stop, h.Now, h.Until)
	defer cancel()
	left := false // true once this run has left its seat, which the other run might need
	grant, err := h.registry.Take(stop, c, func(x Conflict) {
		if waits := !c.Warn || x.Files == nil; waits && !left {
			h.Seat.Leave()
			left = true
		}
		_ = h.Journal.Record(h.event(e, x, c.Warn)) // a failure is reported by the next commit
	})
	if left {
		h.Seat.ComeBack()
	}
	var taken *TakenError
	switch {
	case errors.As(err, &taken):
		return false, errors.Join(err, h.Journal.Record(h.event(e, taken.Conflict, false)))
	case err != nil && h.Stop.Err() != nil:
		return false, errors.Join(context.Cause(h.Stop), grant.Release())
	case err != nil && stop.Err() != nil:
		return true, grant.Release() // the run has reached its time limit
	case err != nil:
		h.Notice(fmt.Sprintf("other runs do not see what this one works on: %v", err))
	}
	h.grant, h.step, h.task, h.mark = grant, e.Step, e.Task, c.Mark
	if !grant.Waited {
		return false, nil
	}
	h.Workspace.Forget()
	if _, now, _ := h.Workspace.Scope(e.Task); !slices.Equal(now, files) {
		return true, h.Release() // the task now declares other files, which need a new claim
	}
	return true, nil
}

// claimOf returns the claim of a task's file and of the files that the task declares.
func (h *Holder) claimOf(file string, files []string) Claim {
	mark := agent.NewMark()
	if step := h.Journal.State().Step; step != nil {
		mark = step.Mark
	}
	return Claim{Mark: mark, Board: h.Path, Task: durable.RealPath(file), Dir: h.dir, Files: files, Warn: h.Run.OnOverlap == "warn"}
}

// event returns the event about a conflict.
func (h *Holder) event(e flow.Spawn, x Conflict, warn bool) event.Event {
	owner := x.Board
	if rel, err := filepath.Rel(h.Dir, x.Board); err == nil && x.Board != "" &&
		!strings.HasPrefix(rel, "..") {
		owner = filepath.ToSlash(rel)
	}
	if x.Files == nil {
		return event.DuplicateTask{Task: e.Task, Owner: owner}
	}
	return event.ScopeOverlaps{
		Task:      e.Task,
		Owner:     owner,
		OwnerTask: filepath.ToSlash(x.Task),
		Files:     x.Files,
		Waits:     !warn,
	}
}

// File returns the file with the lock of the step's task, which agents inherit, or nil if there is
// none.
func (h *Holder) File() *os.File { return h.grant.File() }

// Release gives back the claim of the step.
func (h *Holder) Release() error {
	grant := h.grant
	h.grant, h.step, h.task, h.mark = nil, 0, "", ""
	return grant.Release()
}
