package runner

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"kanban-run/cmd/kanban-run-temporal/fleet"
)

// Runner runs boards on this machine.
type Runner struct {
	Program      string   // path of kanban-run
	Flags        []string // flags that kanban-run gets for every board
	Repositories []string // allowed addresses; one that ends with / allows all below it
	Folder       Folder
	Lease        time.Duration // time without a heartbeat after which the server gives up a run
	Name         string        // name of this worker
	Log          *slog.Logger

	busy sync.Map // mutexes by path of the clone, so that only one run at a time works in a clone
}

// Run runs a board until kanban-run ends, and returns the end of the run. If this worker is not
// allowed to run the board, the error has the type "refused", and no retry mends it. Any other
// error means that the run can succeed later or on another worker.
func (r *Runner) Run(ctx context.Context, call fleet.Call) (fleet.Result, error) {
	if err := r.refuse(call.Job); err != nil {
		return fleet.Result{}, temporal.NewNonRetryableApplicationError(err.Error(), "refused", err)
	}
	stop, cancel := untilStop(ctx)
	defer cancel()
	p := r.startPulse(ctx, call.Board, cancel)
	defer p.end()

	p.say("waits for the end of an earlier run", "")
	dir := r.Folder.of(call.Job)
	busy, _ := r.busy.LoadOrStore(dir, &sync.Mutex{})
	// An earlier run of the board, which the server has given up, might still work in the clone.
	busy.(*sync.Mutex).Lock()
	defer busy.(*sync.Mutex).Unlock()

	r.Log.Info("run", "board", call.Board, "repository", call.Repository)
	result, err := r.runIn(stop, dir, call, p)
	result.Worker = r.Name
	r.Log.Info("ended", "board", call.Board, "outcome", result.Outcome, "text", result.Text, "error", err)
	if ctx.Err() != nil {
		return result, ctx.Err()
	}
	return result, err
}

// refuse returns the reason why this worker is not allowed to run a board, or nil.
func (r *Runner) refuse(job fleet.Job) error {
	if err := job.Check(); err != nil {
		return err
	}
	if !slices.ContainsFunc(r.Repositories, func(allowed string) bool {
		return job.Repository == allowed || strings.HasSuffix(allowed, "/") &&
			strings.HasPrefix(job.Repository, allowed)
	}) {
		return fmt.Errorf("the worker %s may not run boards of %s: it was started for %s", r.Name,
			job.Repository, strings.Join(r.Repositories, ", "))
	}
	return nil
}

// untilStop returns a context that ends when the server stops the run or the worker ends.
func untilStop(ctx context.Context) (context.Context, context.CancelFunc) {
	stop, cancel := context.WithCancel(ctx)
	go func() {
		select {
		case <-activity.GetWorkerStopChannel(ctx):
			cancel()
		case <-stop.Done():
		}
	}()
	return stop, cancel
}

// If the repository rejects the checkpoints of a complete board, the board is run again, at most
// pushTries times, with a pause of pushPause before each run.
const (
	pushPause = 20 * time.Second
	pushTries = 15
)

// runIn runs the board in its clone. It removes the clone if the repository has all checkpoints.
func (r *Runner) runIn(stop context.Context, dir string, call fleet.Call, p *pulse) (fleet.Result, error) {
	p.say("clones "+call.Repository, "")
	if err := r.Folder.clone(stop, call.Job, dir); err != nil {
		if stop.Err() != nil {
			return fleet.Result{Outcome: fleet.Interrupted, Text: "stopped before the run began"}, nil
		}
		return fleet.Result{}, err
	}
	p.say("runs", dir)
	s, err := r.start(stop, dir, call.Job)
	if err == nil && call.Decision != nil {
		s, err = r.decide(stop, dir, call, s)
	}
	for try := 0; err == nil && s.Outcome == fleet.Complete && s.Unpushed != "" && try < pushTries; try++ {
		p.say("waits to bring its checkpoints to the repository: "+s.Text, "")
		if !pause(stop, pushPause) {
			break
		}
		p.say("runs", dir)
		s, err = r.start(stop, dir, call.Job)
	}
	if err != nil {
		return fleet.Result{}, err
	}
	at, err := r.ask(dir, call.Board)
	if err != nil {
		return fleet.Result{}, err
	}
	return r.result(stop, s, at, dir), r.Folder.tidy(context.WithoutCancel(stop), call.Job, dir, s)
}

// pause waits for the time t. It returns false if the context stop ended first.
func pause(stop context.Context, t time.Duration) bool {
	select {
	case <-time.After(t):
		return true
	case <-stop.Done():
		return false
	}
}

// result returns the Result that the server gets. It does not report a board as complete if only
// this worker has the checkpoints, because other workers do not see them.
func (r *Runner) result(stop context.Context, s summary, at standing, dir string) fleet.Result {
	e := s.result(at)
	e.Text = s.refusal + e.Text
	if s.Unsaved {
		e.Text += "; the work since the last checkpoint waits on the worker " + r.Name + ", in " + dir
	}
	if s.Unpushed == "" {
		return e
	}
	e.Text += "; the repository does not take its checkpoints, which wait on the worker " + r.Name + ", in " + dir
	if e.Outcome == fleet.Complete {
		e.Outcome, e.Asks = fleet.NeedsPerson, s.Text
		if stop.Err() != nil {
			e.Outcome = fleet.Interrupted
		}
	}
	return e
}

// decide passes a person's decision to the board and starts the board again. It changes nothing if
// the board no longer asks the question that the person saw. If the decision is rejected, the
// summary holds the reason.
func (r *Runner) decide(stop context.Context, dir string, call fleet.Call, s summary) (summary, error) {
	d := call.Decision
	at, err := r.ask(dir, call.Board)
	if err != nil || !fleet.AsksPerson(s.Outcome) || at.Steps != d.Steps || s.asks() != d.Question {
		return s, err
	}
	if refused := r.acknowledge(stop, dir, call.Board, *d); refused != nil {
		s.refusal = fmt.Sprintf("the decision %q was not taken: %v; ", d.Choice, refused)
		return s, nil
	}
	return r.start(stop, dir, call.Job)
}

// acknowledge passes a decision to kanban-run ack, which journals it. If ack fails, the text of the
// error is the end of ack's output.
func (r *Runner) acknowledge(stop context.Context, dir, board string, d fleet.Decision) error {
	args := []string{"ack"}
	if d.Note != "" {
		args = append(args, "--message="+d.Note)
	}
	args = append(args, "--", board)
	if d.Choice != "" {
		args = append(args, d.Choice)
	}
	out, err := r.command(stop, dir, args...).CombinedOutput()
	if err != nil {
		return errors.New(strings.TrimSpace(tail(string(out), 500)))
	}
	return nil
}

// Name returns the name of this worker: the machine's name and the process ID.
func Name() string {
	host, err := os.Hostname()
	if err != nil {
		host = "worker"
	}
	return fmt.Sprintf("%s/%d", host, os.Getpid())
}
