package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
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
		res.Steps, res.Used = r.steps, r.used
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
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE), errors.Is(err, syscall.ENOMEM):
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
	// The board is not as the last attempt left it, and nobody was at work: that was a person.
	if step := s.Step; step != nil && step.Reply == nil && step.Left != "" && step.Left != sha {
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

// read looks at the board, the source of truth in every round (seed 004, "Communication Model"), and notices a change that was made
// in somebody else's turn than the Manager's. The board is nil where it cannot be read and the run is frozen.
func (r *run) read() (b *board.Board, view flow.Board, err error) {
	var sha string
	b, err = r.current()
	if err == nil {
		sha = b.SHA
	} else {
		sha = r.sha()
	}
	if step := r.history.State.Step; step != nil && step.Before == nil && sha != "" && sha != step.BoardSHA {
		if err := r.record(r.diverged(step, sha, err)); err != nil {
			return nil, view, err
		}
	}
	if r.history.State.Frozen != nil {
		return nil, flow.Board{SHA: sha}, nil
	}
	if err != nil {
		return nil, view, err
	}
	view, err = r.view(b)
	return b, view, err
}

func (r *run) diverged(step *flow.Step, sha string, unreadable error) flow.StateDiverged {
	text := fmt.Sprintf("STATE_DIVERGENCE: %s changed while %s was at work on %s; only the Manager's turn may change it (earlier bytes: %s)",
		r.job.Board, step.Role, step.Task, r.files.before())
	if unreadable != nil {
		text += "; it cannot be read any more"
	}
	return flow.StateDiverged{Source: flow.SourceBoard, Step: step.Number, Task: step.Task, Before: step.BoardSHA, After: sha, Policy: r.setup.OnDivergence, Text: text}
}

// sha names the board's bytes as they are, also when they make no board; "" when there are none.
func (r *run) sha() string {
	source, err := board.ReadFile(r.path)
	if err != nil {
		return ""
	}
	return board.SHA(source)
}

// current is the board as it is on disk now. A board that a dying Manager left unreadable is put back first.
func (r *run) current() (*board.Board, error) {
	b, err := r.lookAtBoard()
	if err != nil && r.history.State.Step != nil && r.history.State.Step.Before != nil && r.history.State.Step.Reply == nil {
		if back := r.putBack(); back == nil {
			b, err = r.lookAtBoard()
		}
	}
	if err != nil {
		return nil, &InvalidError{Err: err}
	}
	return b, nil
}

// lookAtBoard reads the board once after every turn, an agent's or the runner's own: between turns only a person could change it, who
// is then heard after the next one. The board must still be the file that it was when the run was prepared: agents and the runner would
// speak of different files otherwise, and the runner would write to one outside.
func (r *run) lookAtBoard() (*board.Board, error) {
	if r.fresh != nil {
		return r.fresh, nil
	}
	if err := r.ledElsewhere(); err != nil {
		return nil, err
	}
	b, err := r.reader.Read()
	r.fresh = b
	return b, err
}

// ledElsewhere is an error when the user's name of the board leads to another file now. Links are followed only where the name itself is
// one, or does not plainly mean the same file.
func (r *run) ledElsewhere() error {
	if r.job.DryRun {
		return nil
	}
	if named, err := os.Lstat(r.job.Board); err == nil && named.Mode().IsRegular() {
		if known, err := os.Lstat(r.path); err == nil && os.SameFile(named, known) {
			return nil
		}
	}
	real, err := filepath.EvalSymlinks(r.job.Board)
	if err == nil {
		real, err = filepath.Abs(real)
	}
	if err == nil && real != r.path {
		return &board.FileError{Op: "read board", File: r.job.Board, Err: fmt.Errorf("it leads to %s now", real), Fix: "put the file back in the link's place"}
	}
	return nil
}

// rest is for the time of a turn, in which nobody looks at the board: of so many that run side by side none is kept in memory.
func (r *run) rest() {
	if r.desk.isOnly() {
		r.reader.Forget()
		r.fresh, r.listed = nil, nil
	}
}

// lookAgain reads the board although nobody had a turn.
func (r *run) lookAgain() (*board.Board, error) {
	r.fresh = nil
	return r.lookAtBoard()
}

// view is the board as flow looks at it, with the roles of this run.
func (r *run) view(b *board.Board) (flow.Board, error) {
	if err := r.setup.noSecretIn(b.Current.Path); err != nil {
		return flow.Board{}, err
	}
	return look(b, &r.history.State, r.place, func(role string) (string, error) {
		p, err := r.player(role)
		if err != nil {
			return "", err
		}
		return p.Role.Name, nil
	})
}

// look is a board as flow looks at it. Once a Manager attempt was started, only bytes and ending count: whose task is next is
// the Manager's to say. roleOf names the role that a task, or the phase, spells in its own way.
func look(b *board.Board, s *flow.State, place *board.Place, roleOf func(string) (string, error)) (flow.Board, error) {
	v := flow.Board{Terminal: b.Terminal(), SHA: b.SHA}
	if v.Terminal || s.Step != nil && (s.Step.Before != nil || s.Step.Reply != nil) {
		return v, nil
	}
	if !b.Current.Set {
		return v, &InvalidError{Err: b.MissingCurrent()}
	}
	task, err := place.ReadTask(b.Current.Path)
	if err != nil {
		return v, &InvalidError{Err: b.CurrentProblem(err)}
	}
	v.Task = task.Ref.Path
	if v.Role, err = roleOf(board.RoleFor(b, task)); err != nil {
		return v, &InvalidError{Err: task.RoleProblem(err)}
	}
	return v, nil
}
