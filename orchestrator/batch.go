package orchestrator

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/claim"
	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/gitstore"
	"kanban-run/orchestrator/health"
	"kanban-run/orchestrator/inbox"
	"kanban-run/orchestrator/journal"
	"kanban-run/orchestrator/preflight"
	"kanban-run/orchestrator/rundir"
)

// Result is how a run of one board ended. Err is set for the outcomes invalid, owned, later and
// failed, and says why.
type Result struct {
	Board   string
	Outcome flow.Outcome
	Text    string
	Said    string    // with outcome needs_person: the reply of the last task's agent, if this run had one
	Steps   int       // steps finished in this run
	Used    flow.Used // by the attempts of this run
	Log     string    // path of supervisor-log.md
	Until   string    // with outcome later: when the provider wants to be asked again, in RFC 3339; "" when it does not say
	Err     error
	Signal  error     // with outcome interrupted: the cause of the stop context
	Ways    flow.Ways // with outcome needs_person: what a person can do

	Unpushed string // the branch whose checkpoints the remote does not have; "" where it has them, or is to have none
	Unsaved  bool   // the last checkpoint could not be made: what came after the one before is in this clone only
}

// RunAll runs the boards, n at a time, each a sequential loop of its own, and returns their results
// in the boards' order. The end of stop ends the runs at their next safe point: running agents are
// asked to end, and the boards can go on later; a board that was not started yet is reported as
// interrupted. The end of kill kills the agents.
func RunAll(stop, kill context.Context, boards []*preflight.Prepared, n int) []Result {
	results := make([]Result, len(boards))
	next, all := make(chan int), shared{make(slots, maxAtWork), &inbox.Watcher{}, &health.Crowd{}, claim.NewDesk(claim.System{Hold: holdLock(boards), IsAtWork: agent.IsAtWork, IsWithin: agent.IsWithin})}
	var wg sync.WaitGroup
	for range min(max(n, 1), len(boards)) {
		wg.Go(func() {
			for i := range next {
				results[i] = runBoard(stop, kill, boards[i], all, n > 1 && isCrowded(boards, i))
			}
		})
	}
	for i := range boards {
		next <- i
	}
	close(next)
	wg.Wait()
	_ = all.mail.Close() // nothing is left to be told
	_ = all.desk.Close() // all is given back
	return results
}

// shared is what the runs of this process have together.
type shared struct {
	slots slots
	mail  *inbox.Watcher
	crowd *health.Crowd
	desk  *claim.Desk
}

// holdLock has the guardian hold a file; nil: there is none.
func holdLock(boards []*preflight.Prepared) func(*os.File) (func() error, error) {
	if len(boards) == 0 {
		return nil
	}
	return boards[0].HoldLock
}

// isCrowded says whether another board's work directory is that of a board, or one of them lies in the other.
func isCrowded(boards []*preflight.Prepared, i int) bool {
	own := boards[i].Dir() + string(filepath.Separator)
	for k, p := range boards {
		if other := p.Dir() + string(filepath.Separator); k != i && (strings.HasPrefix(own, other) || strings.HasPrefix(other, own)) {
			return true
		}
	}
	return false
}

// maxAtWork is how many runs work at the same time while the agents of all others do. A run that waits for
// the disk takes a thread of the system: a thousand runs would take a thousand.
const maxAtWork = 2

// slots bound how many runs work at the same time.
type slots chan struct{}

func (s slots) acquire() { s <- struct{}{} }
func (s slots) release() { <-s }

// runBoard runs one board until it ends, and releases it. It holds a slot but while it waits for an agent.
// crowded says that other boards are worked on in the same folder.
func runBoard(stop, kill context.Context, p *preflight.Prepared, s shared, crowded bool) Result {
	s.slots.acquire()
	defer s.slots.release()
	res := Result{Board: p.Board, Log: rundir.Of(p.Workspace.Path).Log()}
	if stop.Err() != nil {
		res.Outcome, res.Text, res.Signal = flow.Interrupted, "not started", context.Cause(stop)
		if err := p.Close(); err != nil {
			res.Outcome, res.Err = flow.Failed, err
		}
		return res
	}
	r, release, err := open(stop, kill, p, s)
	if err == nil {
		r.crowded = crowded
		var end flow.Finish
		if err = r.start(); err == nil {
			end, err = r.loop()
		}
		err = errors.Join(err, r.dismissSupervisor())
		res.Outcome, res.Text, err = r.conclude(end, err)
		res.Unpushed, res.Unsaved = r.unpushed(), r.storeErr != nil
		res.Steps, res.Used, res.Ways = r.steps, r.used, r.ledger.State().Ways()
		if res.Outcome == flow.NeedsPerson && !strings.Contains(res.Text, r.said) {
			res.Said = r.said
		}
	}
	res.explain(stop, errors.Join(err, release()))
	return res
}

// explain sets the outcome of a run that ended with an error.
func (res *Result) explain(stop context.Context, err error) {
	switch {
	case err == nil:
	case stop.Err() != nil && errors.Is(err, context.Cause(stop)):
		res.Outcome, res.Text, res.Signal = flow.Interrupted, "interrupted", context.Cause(stop)
	default:
		res.Outcome, res.Text, res.Err = outcomeOf(err), oneLine(err), err
		res.Until = until(res.Outcome, err)
	}
}

// oneLine joins the texts of joined errors, each once: a full disk fails several acts alike.
func oneLine(err error) string {
	var said []string
	for line := range strings.SplitSeq(err.Error(), "\n") {
		if !slices.Contains(said, line) {
			said = append(said, line)
		}
	}
	return strings.Join(said, "; ")
}

// conclude journals how the loop ended. After an error of the loop the run stays resumable. What was
// appended is committed first: an accepted reply must not be lost to a later failure.
func (r *run) conclude(end flow.Finish, err error) (flow.Outcome, string, error) {
	uncommitted := r.ledger.Commit()
	if uncommitted == nil {
		r.emptyStreams()
	}
	err = errors.Join(err, uncommitted)
	if errors.Is(err, journal.ErrForeignWrite) {
		return "", "", r.ledger.ResolveForeignWrite(err)
	}
	if err == nil {
		r.warnOfUnheld(end)
		if p := r.ledger.State().Proposal(end); p != nil {
			err = r.ledger.Append(*p)
		}
		err = errors.Join(err, r.writeDecisions(), r.ledger.Finish(flow.RunFinished{Board: r.Board, Outcome: end.Outcome, Text: end.Text, Steps: r.steps}))
		if err == nil {
			r.noteEnd()
		}
		return end.Outcome, end.Text, err
	}
	outcome := outcomeOf(err)
	if r.stop.Err() != nil && errors.Is(err, context.Cause(r.stop)) {
		outcome = flow.Interrupted
	}
	note := r.ledger.Finish(flow.RunInterrupted{Board: r.Board, Outcome: outcome, Reason: err.Error(), Until: until(outcome, err), Quarantined: r.quarantined()})
	return outcome, err.Error(), errors.Join(err, note)
}

// outcomeOf is the outcome of a run that an error ended.
func outcomeOf(err error) flow.Outcome {
	switch {
	case errors.As(err, new(*agent.LimitError)):
		return flow.LimitReached
	case durable.IsOutOfResources(err):
		return flow.Failed // first: a lack of files or memory makes other errors
	case errors.As(err, new(*gitstore.SecretError)):
		return flow.NeedsPerson
	case errors.As(err, new(*gitstore.UnfitError)):
		return flow.Invalid
	case errors.As(err, new(*durable.HeldError)), errors.As(err, new(*claim.TakenError)), errors.As(err, new(*gitstore.AheadError)):
		return flow.Owned
	case errors.As(err, new(*failure.Frozen)):
		return flow.Frozen
	case errors.As(err, new(*failure.Invalid)):
		return flow.Invalid
	case errors.As(err, new(*agent.LaterError)):
		return flow.Later
	default:
		return flow.Failed
	}
}

// until is the time from which the provider accepts calls again, in RFC 3339; "" where it names
// none or did not end the run.
func until(o flow.Outcome, err error) string {
	var later *agent.LaterError
	if o != flow.Later || !errors.As(err, &later) || later.Reset.IsZero() {
		return ""
	}
	return later.Reset.UTC().Format(time.RFC3339)
}
