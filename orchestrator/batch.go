package orchestrator

import (
	"context"
	"errors"
	"os"
	"sync"

	"kanban-run/orchestrator/divergence"
	"kanban-run/orchestrator/pool"
	"kanban-run/orchestrator/preflight"
	"kanban-run/orchestrator/result"
	"kanban-run/orchestrator/run"
	"kanban-run/orchestrator/trust"
)

// Bounds are the limits of all runs of one command taken together.
type Bounds struct {
	Jobs    int   // greatest number of boards at work at the same time, at least 1
	MaxCost int64 // limit of the total cost that agents report, in millionths of a US dollar; 0: none
}

// RunAll runs the boards, each in a sequential loop of its own, and returns their results in the
// boards' order. When the context stop is done, running agents are asked to end, and their boards
// can go on later. A board that was not started yet has the outcome [event.Interrupted]. When the
// context kill is done, running agents are killed.
func RunAll(stop, kill context.Context, boards []*preflight.Prepared, bounds Bounds) []result.Result {
	var holdLock func(*os.File) (func() error, error)
	if len(boards) > 0 {
		holdLock = boards[0].HoldLock // of the one guardian; nil if there is none
	}
	return runAll(stop, kill, boards, bounds, pool.New(bounds.Jobs, bounds.MaxCost, holdLock))
}

func runAll(stop, kill context.Context, boards []*preflight.Prepared, bounds Bounds, all *pool.Pool) []result.Result {
	results := make([]result.Result, len(boards))
	ahead, begun := run.LockAhead(boards), run.NoteBegin(boards, all)
	trees := newTrees(stop, boards)
	var wg sync.WaitGroup
	for i := range boards {
		all.Seats.Take()
		wg.Go(func() {
			defer all.Seats.Leave()
			runBoard(stop, kill, boards[i], ahead[i], begun[i], all, trees.Of(boards[i].Workspace.HomeDir()), &results[i])
		})
	}
	wg.Wait()
	_ = all.Close() // all runs have ended, so none waits for its inbox or holds a claim
	trees.Close()
	return results
}

// runBoard runs one board until the run ends, releases the board, and sets res.
func runBoard(stop, kill context.Context, p *preflight.Prepared, ahead run.Ahead, begun *divergence.Begun, all *pool.Pool, tree *trust.Tree, res *result.Result) {
	*res = result.Result{Board: p.Board, Command: p.Command()}
	if stop.Err() != nil && !begun.HasChanged(p.Workspace) {
		res.Explain(stop, context.Cause(stop))
		res.End.Reason = "not started"
		_ = ahead.Close() // nothing was written
		return
	}
	l, release, err := open(stop, kill, p, ahead, begun, all, tree)
	if err == nil {
		err = l.runInto(res)
	}
	if late := release(); late != nil || !res.Journaled {
		res.Explain(stop, errors.Join(err, late))
	}
}

// newTrees returns what knows the files that decide as the command begins; nil in a dry run.
func newTrees(stop context.Context, boards []*preflight.Prepared) *trust.Trees {
	var of []trust.Board
	for _, p := range boards {
		if p.DryRun {
			return nil
		}
		of = append(of, trust.Board{Dir: p.Workspace.HomeDir(), Roster: p.Roster, Resident: p.SupervisorRole(), Way: p.Run.Git.On, Files: p.Workspace.Files(),
			Redact: p.Redactor.String, Notice: func(text string) { p.Observer.Notice("", text) }})
	}
	return trust.NewTrees(stop, of)
}
