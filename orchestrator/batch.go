package orchestrator

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/claim"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/health"
	"kanban-run/orchestrator/inbox"
	"kanban-run/orchestrator/preflight"
	"kanban-run/orchestrator/result"
	"kanban-run/orchestrator/run"
	"kanban-run/orchestrator/rundir"
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
	return newShared(boards, bounds).runAll(stop, kill, boards, bounds)
}

// newShared returns the parts that the runs of the boards share.
func newShared(boards []*preflight.Prepared, bounds Bounds) shared {
	return shared{run.NewDiskSlots(), newSeats(max(bounds.Jobs, 1)), &bill{most: bounds.MaxCost}, &providers{all: map[string]*refusal{}}, &inbox.Watcher{}, &health.Crowd{},
		claim.NewRegistry(claim.System{Hold: holdLock(boards), IsAtWork: agent.IsAtWork, IsWithin: agent.IsWithin, End: agent.EndLeftovers})}
}

func (all shared) runAll(stop, kill context.Context, boards []*preflight.Prepared, bounds Bounds) []result.Result {
	results := make([]result.Result, len(boards))
	var wg sync.WaitGroup
	for i := range boards {
		all.seats.take()
		wg.Go(func() {
			defer all.seats.Leave()
			runBoard(stop, kill, boards[i], all, bounds.Jobs > 1 && isCrowded(boards, i), &results[i])
		})
	}
	wg.Wait()
	_ = all.mail.Close()     // all runs have ended, so none waits for its inbox
	_ = all.registry.Close() // all runs have ended, so none holds a claim
	return results
}

// shared has the parts that all runs of this process use together.
type shared struct {
	slots    run.DiskSlots
	seats    *seats
	bill     *bill
	refusals *providers
	mail     *inbox.Watcher
	crowd    *health.Crowd
	registry *claim.Registry
}

// holdLock returns the function with which the guardian holds a lock file together with this
// process. It returns nil if there is no guardian.
func holdLock(boards []*preflight.Prepared) func(*os.File) (func() error, error) {
	if len(boards) == 0 {
		return nil
	}
	return boards[0].HoldLock
}

// isCrowded reports whether the work directory of another board is the same as that of board i,
// contains it, or lies in it.
func isCrowded(boards []*preflight.Prepared, i int) bool {
	own := boards[i].Dir() + string(filepath.Separator)
	for k, p := range boards {
		other := p.Dir() + string(filepath.Separator)
		if k != i && (strings.HasPrefix(own, other) || strings.HasPrefix(other, own)) {
			return true
		}
	}
	return false
}

// runBoard runs one board until the run ends, releases the board, and sets res. The run holds a
// slot for the use of the disk, but not while an agent works. The parameter "crowded" is true if
// another board of this process can be at work in the same folder at the same time, see isCrowded.
func runBoard(stop, kill context.Context, p *preflight.Prepared, s shared, crowded bool, res *result.Result) {
	s.slots.Acquire()
	defer s.slots.Release()
	*res = result.Result{Board: p.Board, Log: rundir.Of(p.Workspace.Path).Log()}
	if stop.Err() != nil {
		res.Outcome, res.Text, res.Signal = event.Interrupted, "not started", context.Cause(stop)
		return
	}
	l, release, err := open(stop, kill, p, s, crowded)
	if err == nil {
		err = l.runInto(res)
	}
	res.Explain(stop, errors.Join(err, release()))
}
