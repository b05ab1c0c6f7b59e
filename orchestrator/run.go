package orchestrator

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/failpoint"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/journal"
)

// Result is how a run of one board ended. Err is set for the outcomes invalid, owned, later and failed, and says why.
type Result struct {
	Board   string
	Outcome flow.Outcome
	Text    string
	Steps   int       // steps finished in this run
	Used    flow.Used // by the attempts of this run
	Log     string    // path of supervisor-log.md
	Until   string    // with outcome later: when the provider wants to be asked again, in RFC 3339; "" when it does not say
	Err     error
	Signal  error // with outcome interrupted: the cause of the stop context
	GoesOn  bool  // with outcome needs_person: the next run works on without anybody's word
}

// run is one board's run. One goroutine owns it.
type run struct {
	*ledger
	job     *Job
	setup   *Setup
	place   *board.Place
	path    string // the board that is read and written, without links; of a dry run its private copy
	planned planned
	given   given
	listed  *list
	room    []byte // for the Manager's replies
	kept    string // SHA-256 of the bytes in board.before
	files   files
	reader  *board.Reader
	fresh   *board.Board // as it was read since somebody had a turn; nil: it is to be read
	desk    desk
	stop    context.Context
	kill    context.Context
	logs    *logbook

	over func(end flow.Finish, err error) // ends the run, for whatever reason the loop was left

	loose  []*spool // the streams of replies that are not on disk yet
	steps  int      // finished in this run
	opened time.Time

	used     flow.Used // by the attempts of this run
	accounts agent.Accounts
	warned   bool // that a limit of cost cannot be held
}

// run runs the board until it ends, and releases it. stop ends the run at the next safe point: a running agent is asked to
// end, and the board can go on later. kill ends the agent at once.
func (p *Prepared) run(stop, kill context.Context, res *Result) {
	var r *run
	var a *attempt
	p.desk.apart(func() { r, a = p.begin(stop, kill, res) })
	for a != nil {
		a.talk.Wait() // others work meanwhile
		p.desk.apart(func() { a = r.goOn(a) })
	}
}

// begin takes the board and works until an agent does. It returns the agent's attempt, or nil when the run has ended.
func (p *Prepared) begin(stop, kill context.Context, res *Result) (*run, *attempt) {
	r, release, err := p.open(stop, kill)
	if err != nil {
		res.end(p, stop, err, release())
		return nil, nil
	}
	r.over = func(end flow.Finish, err error) {
		res.Outcome, res.Text, err = r.conclude(end, err)
		res.Steps, res.Used, res.GoesOn = r.steps, r.used, r.history.State.GoesOn()
		res.end(p, stop, err, release())
	}
	return r, r.further(r.start())
}

// goOn works from the end of an agent to the start of another. It returns the attempt of that, or nil when the run has ended.
func (r *run) goOn(a *attempt) *attempt { return r.further(r.acted(r.endTurn(a))) }

// further goes on with the loop unless there was an error, and ends the run unless an agent works.
func (r *run) further(err error) (a *attempt) {
	var end flow.Finish
	if err == nil {
		a, end, err = r.loop()
	}
	if a == nil {
		r.over(end, err)
	}
	return a
}

// end says how the run ended when there was an error.
func (res *Result) end(p *Prepared, stop context.Context, errs ...error) {
	err := errors.Join(errs...)
	res.Board, res.Log = p.job.Board, filesOf(p.path).log()
	switch {
	case err == nil:
	case stop.Err() != nil && errors.Is(err, context.Cause(stop)):
		res.Outcome, res.Text, res.Signal = flow.Interrupted, "interrupted", context.Cause(stop)
	default:
		res.Outcome, res.Text, res.Err = outcomeOf(err), oneLine(err), err
		res.Until = until(res.Outcome, err)
	}
}

// oneLine says each of several joined errors once: a full disk fails whatever is tried.
func oneLine(err error) string {
	var said []string
	for _, line := range strings.Split(err.Error(), "\n") {
		if !slices.Contains(said, line) {
			said = append(said, line)
		}
	}
	return strings.Join(said, "; ")
}

// outcomeOf sorts the errors that end a run.
func outcomeOf(err error) flow.Outcome {
	var held *durable.HeldError
	var invalid *InvalidError
	var frozen *FrozenError
	var later *agent.LaterError
	var limit *agent.LimitError
	switch {
	case errors.As(err, &limit):
		return flow.LimitReached
	case durable.IsShortage(err):
		return flow.Failed // the machine's fault, whatever could not be read because of it
	case errors.As(err, &held):
		return flow.Owned
	case errors.As(err, &frozen):
		return flow.Frozen
	case errors.As(err, &invalid):
		return flow.Invalid
	case errors.As(err, &later):
		return flow.Later
	default:
		return flow.Failed
	}
}

// conclude records how the loop ended. An error of the loop leaves the run resumable.
func (r *run) conclude(end flow.Finish, err error) (flow.Outcome, string, error) {
	if err != nil {
		// A reply that was noted is not lost because something after it failed.
		err = errors.Join(err, r.commit())
	}
	if errors.Is(err, journal.ErrForeignWrite) {
		return "", "", errors.Join(r.splitBrain(err), keepAll(r.loose))
	}
	if err == nil {
		err = r.end(flow.RunFinished{Board: r.job.Board, Outcome: end.Outcome, Text: end.Text, Steps: r.steps})
		return end.Outcome, end.Text, err
	}
	outcome := outcomeOf(err)
	if r.stop.Err() != nil && errors.Is(err, context.Cause(r.stop)) {
		outcome = flow.Interrupted
	}
	note := r.end(flow.RunInterrupted{Board: r.job.Board, Outcome: outcome, Reason: err.Error(), Until: until(outcome, err)})
	return outcome, err.Error(), errors.Join(err, note)
}

// end records how the run ended. In RECONCILE_LOCK that would be an operational write; the lock says it all.
func (r *run) end(e flow.Event) error {
	failpoint.At("run-end")
	mended := r.mendState()
	if r.history.Custody.Locked != "" {
		return errors.Join(mended, r.logs.finish(&r.history))
	}
	err := r.note(e)
	if err == nil {
		err = r.snapshot()
	}
	if err == nil {
		failpoint.At("snapshot-taken")
		err = r.commit()
	}
	return errors.Join(mended, err, r.tidy(err), r.logs.finish(&r.history))
}

// loop is seed 004's supervisor_loop: read the board, decide, act, again. It is left while an agent works, whose attempt it returns, and
// for good when there is nothing more to do.
func (r *run) loop() (a *attempt, end flow.Finish, err error) {
	for {
		b, effect, err := r.decide()
		if err != nil {
			return nil, end, err
		}
		switch effect := effect.(type) {
		case flow.StartAgent:
			if a, err = r.startTurn(effect, b); err == nil {
				return a, end, nil
			}
		case flow.WriteBoard:
			err = r.writeBoard(b)
		case flow.Finish:
			return nil, effect, nil
		}
		if err = r.acted(err); err != nil {
			return nil, end, err
		}
	}
}

// acted is what follows an action.
func (r *run) acted(err error) error {
	if err == nil && r.stop.Err() != nil {
		err = context.Cause(r.stop)
	}
	if err == nil {
		err = r.draw()
	}
	return err
}

// decide reads the board and says what is to be done.
func (r *run) decide() (*board.Board, flow.Effect, error) {
	b, view, err := r.read()
	if err != nil {
		return nil, nil, err
	}
	return b, flow.Next(r.history.State, view), nil
}

// tidy keeps or removes the streams of accepted replies, once it is known whether the replies are on disk.
func (r *run) tidy(committed error) error {
	loose := r.loose
	r.loose = nil
	if committed != nil || r.setup.KeepOutput {
		return keepAll(loose)
	}
	return dropAll(loose)
}

// draw brings state.md up to date, at most once a second.
func (r *run) draw() error {
	if !r.logs.due(r.job.Now()) {
		return nil
	}
	if err := r.mendState(); err != nil {
		return err
	}
	return r.logs.finish(&r.history)
}

// start opens the run in the journal and closes what an earlier run left open and is no longer true. It is on disk with the first
// intent: nothing is done before that.
func (r *run) start() error {
	b, err := r.current()
	if err != nil {
		return err
	}
	withheld, err := r.withheld(b)
	if err != nil {
		return err
	}
	start := flow.RunStarted{Board: r.job.Board, Workdir: r.place.Dir(), Version: r.job.Version, Limits: r.setup.Limits,
		OnDivergence: r.setup.OnDivergence, Tasks: b.Len(), Withheld: withheld}
	if r.history.State.LacksTasks(start.Limits) {
		if start.Uses, err = recount(r.ledger.path); err != nil {
			return err
		}
	}
	if err := r.note(start); err != nil {
		return err
	}
	err = reopen(&r.history.State, b.SHA, func() (flow.Board, error) { return r.view(b) }, r.note)
	if err == nil {
		err = r.missInput(b.SHA)
	}
	return err
}

// reopen tells by which events a new run closes what an earlier one left open and is no longer true.
func reopen(s *flow.State, sha string, view func() (flow.Board, error), note func(flow.Event) error) error {
	if step := s.Step; step != nil && step.Running != 0 {
		gone := flow.AttemptStopped{Step: step.Number, Call: step.Call, Task: step.Task, Role: step.CallRole(), Attempt: step.Running,
			Millis: step.Worked, Spent: step.Paid.Unfinished(), Reason: "the run died before the attempt's end was known; it is started again with the same input"}
		if err := note(gone); err != nil {
			return err
		}
	}
	// The board is not as the last attempt left it, or is there again, and nobody was at work: that was a person.
	if step := s.Step; step != nil && step.Reply == nil && step.Left != sha && (step.Left != "" || step.BoardSHA == "") {
		if err := note(flow.BoardEdited{Step: step.Number, Task: step.Task, BoardSHA: sha}); err != nil {
			return err
		}
	}
	b, err := view()
	if err != nil {
		return err
	}
	if reason := flow.Stale(*s, b); reason != "" {
		return note(flow.StepAbandoned{Step: s.Step.Number, Task: s.Step.Task, Reason: reason})
	}
	return nil
}

// withheld names what agents do not get. A board that is over needs no agent, so it does not matter whether there is one.
func (r *run) withheld(b *board.Board) ([]string, error) {
	p, err := r.player(flow.ManagerRole)
	if err != nil && b.Terminal() && r.history.State.Step == nil {
		return nil, nil
	}
	if err != nil {
		return nil, &InvalidError{Err: err}
	}
	return p.Withheld, nil
}

func (r *run) player(role string) (*Player, error) { return r.setup.Cast.Player(role, r.place.Dir()) }
