package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/journal"
)

// Result is how a run of one board ended. Err is set for the outcomes invalid, owned and failed, and says why.
type Result struct {
	Board   string
	Outcome flow.Outcome
	Text    string
	Steps   int    // steps finished in this run
	Log     string // path of supervisor-log.md
	Err     error
	Signal  error // with outcome interrupted: the cause of the stop context
}

// run is one board's run. One goroutine owns it.
type run struct {
	*ledger
	job     Job
	setup   *Setup
	place   *board.Place
	path    string // the board that is read and written, without links; of a dry run its private copy
	planned planned
	given   given
	kept    string // SHA-256 of the bytes in board.before
	files   files
	reader  *board.Reader
	stop    context.Context
	kill    context.Context
	logs    *logbook

	players map[string]*Player // by role, as far as they were needed

	steps  int // finished in this run
	opened time.Time
}

// Run runs the board until it ends, and releases it. stop ends the run at the next safe point: a running agent is asked to
// end, and the board can go on later. kill ends the agent at once.
func (p *Prepared) Run(stop, kill context.Context) Result {
	res := Result{Board: p.job.Board, Log: filesOf(p.path).log()}
	r, release, err := p.open(stop, kill)
	if err == nil {
		res.Outcome, res.Text, err = r.play()
		res.Steps = r.steps
	}
	err = errors.Join(err, release(), p.place.Close())
	switch {
	case err == nil:
	case stop.Err() != nil && errors.Is(err, context.Cause(stop)):
		res.Outcome, res.Text, res.Signal = flow.Interrupted, "interrupted", context.Cause(stop)
	default:
		res.Outcome, res.Text, res.Err = outcomeOf(err), err.Error(), err
	}
	return res
}

// outcomeOf sorts the errors that end a run.
func outcomeOf(err error) flow.Outcome {
	var held *durable.HeldError
	var invalid *InvalidError
	switch {
	case errors.As(err, &held):
		return flow.Owned
	case errors.As(err, &invalid):
		return flow.Invalid
	default:
		return flow.Failed
	}
}

// open takes the board: its folder, its lock, its journal. The returned function gives all of it back and is never nil.
func (p *Prepared) open(stop, kill context.Context) (*run, func() error, error) {
	r := &run{job: p.job, setup: p.setup, place: p.place, players: map[string]*Player{}, path: p.path, files: filesOf(p.path), stop: stop, kill: kill}
	var undo []func() error
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
	lock, err := durable.Acquire(r.files.lock())
	if err != nil {
		return nil, release, err
	}
	undo = append(undo, lock.Release)
	// Under the lock nobody else can be writing the board.
	if err := durable.Sweep(r.path); err != nil {
		return nil, release, err
	}
	r.reader = board.NewReader(r.path, p.job.Board)
	r.logs = newLogbook(r.files, p.job.Board, p.setup.Redactor)
	closeJournal, err := r.openLedger(r.files.journal())
	undo = append(undo, closeJournal)
	return r, release, err
}

// openLedger replays the journal into the state and takes the next epoch.
func (r *run) openLedger(path string) (func() error, error) {
	r.ledger = &ledger{board: r.job.Board, observer: r.job.Observer, redactor: r.setup.Redactor, onCommit: r.logs.follow}
	j, err := journal.Open(path, r.job.Now, func(rec journal.Record) error {
		e, err := decode(rec)
		if err != nil {
			return err
		}
		r.logs.replay(e)
		if err := r.state.Apply(e.Event); err != nil {
			return fmt.Errorf("record %d: %w", rec.Seq, err)
		}
		return nil
	})
	if err != nil {
		return func() error { return nil }, fmt.Errorf("open the journal: %w", err)
	}
	r.journal = j
	if kept, n := j.Repaired(); n > 0 {
		r.job.Observer.Notice(r.job.Board, fmt.Sprintf("the journal ended in a torn record; its %d bytes are kept in %s", n, kept))
	}
	if _, err := j.BeginEpoch(); err != nil {
		return j.Close, err
	}
	return j.Close, r.logs.catchUp(path)
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

// play runs the loop and records how it ended. An error of the loop leaves the run resumable.
func (r *run) play() (flow.Outcome, string, error) {
	end, err := r.loop()
	if err == nil {
		err = r.record(flow.RunFinished{Board: r.job.Board, Outcome: end.Outcome, Text: end.Text, Steps: r.steps})
		return end.Outcome, end.Text, errors.Join(err, r.logs.finish(r.state))
	}
	outcome := outcomeOf(err)
	if r.stop.Err() != nil && errors.Is(err, context.Cause(r.stop)) {
		outcome = flow.Interrupted
	}
	note := r.record(flow.RunInterrupted{Board: r.job.Board, Outcome: outcome, Reason: r.setup.Redactor.String(err.Error())})
	return outcome, err.Error(), errors.Join(err, note, r.logs.finish(r.state))
}

// loop is seed 004's supervisor_loop: read the board, decide, act, again.
func (r *run) loop() (flow.Finish, error) {
	if err := r.begin(); err != nil {
		return flow.Finish{}, err
	}
	for {
		b, err := r.read()
		if err != nil {
			return flow.Finish{}, err
		}
		switch effect := flow.Next(r.state, b).(type) {
		case flow.StartAgent:
			err = r.turn(effect)
		case flow.WriteBoard:
			err = r.writeBoard()
		case flow.Finish:
			return effect, nil
		}
		if err == nil && r.stop.Err() != nil {
			err = context.Cause(r.stop)
		}
		if err == nil {
			err = r.logs.draw(r.state, r.job.Now())
		}
		if err != nil {
			return flow.Finish{}, err
		}
	}
}

// begin opens the run in the journal and closes what an earlier run left open and is no longer true.
func (r *run) begin() error {
	b, err := r.current()
	if err != nil {
		return err
	}
	withheld, err := r.withheld(b)
	if err != nil {
		return err
	}
	start := flow.RunStarted{Board: r.job.Board, Workdir: r.place.Dir(), Version: r.job.Version, Limits: r.setup.Limits,
		OnDivergence: r.setup.OnDivergence, Tasks: len(b.Tasks), Withheld: withheld}
	if err := r.note(start); err != nil {
		return err
	}
	if step := r.state.Step; step != nil && step.Running != 0 {
		// Its agent may be at work still, and two would do the same task.
		if err := agent.EndLeftovers(step.Mark); err != nil {
			return err
		}
		gone := flow.AttemptStopped{Step: step.Number, Call: step.Call, Task: step.Task, Role: step.Role, Attempt: step.Running,
			Reason: "the run died before the attempt's end was known; it is started again with the same input"}
		if err := r.note(gone); err != nil {
			return err
		}
	}
	if err := r.noticeEdit(b); err != nil {
		return err
	}
	view, err := r.view(b)
	if err != nil {
		return errors.Join(err, r.commit())
	}
	if reason := flow.Stale(r.state, view); reason != "" {
		if err := r.note(flow.StepAbandoned{Step: r.state.Step.Number, Task: r.state.Step.Task, Reason: reason}); err != nil {
			return err
		}
	}
	return r.commit()
}

// noticeEdit tells a person's change from an agent's: the board is not as the last attempt left it, and nobody was at work.
func (r *run) noticeEdit(b *board.Board) error {
	step := r.state.Step
	if step == nil || step.Reply != nil || step.Left == "" || step.Left == b.SHA {
		return nil
	}
	return r.note(flow.BoardEdited{Step: step.Number, Task: step.Task, BoardSHA: b.SHA})
}

// withheld names what agents do not get. A board that is over needs no agent, so it does not matter whether there is one.
func (r *run) withheld(b *board.Board) ([]string, error) {
	p, err := r.player(flow.ManagerRole)
	if err != nil && b.Terminal() && r.state.Step == nil {
		return nil, nil
	}
	if err != nil {
		return nil, &InvalidError{Err: err}
	}
	return p.Withheld, nil
}

// player is who plays a role. It stays the same for the whole run: every attempt of a call has the same command.
func (r *run) player(role string) (*Player, error) {
	if p := r.players[role]; p != nil {
		return p, nil
	}
	p, err := r.setup.Cast.Player(role, r.place.Dir())
	if err != nil {
		return nil, err
	}
	r.players[role] = p
	return p, nil
}

// read reads the board again, the source of truth in every round (seed 004, "Communication Model"), and notices a change that
// was made in somebody else's turn than the Manager's.
func (r *run) read() (flow.Board, error) {
	var sha string
	b, err := r.current()
	if err == nil {
		sha = b.SHA
	} else {
		sha = r.sha()
	}
	if step := r.state.Step; step != nil && step.Before == nil && sha != "" && sha != step.BoardSHA {
		if err := r.record(r.diverged(step, sha, err)); err != nil {
			return flow.Board{}, err
		}
	}
	if r.state.Frozen != nil {
		return flow.Board{SHA: sha}, nil
	}
	if err != nil {
		return flow.Board{}, err
	}
	return r.view(b)
}

func (r *run) diverged(step *flow.Step, sha string, unreadable error) flow.BoardDiverged {
	text := fmt.Sprintf("STATE_DIVERGENCE: %s changed while %s was at work on %s; only the Manager's turn may change it (earlier bytes: %s)",
		r.job.Board, step.Role, step.Task, r.files.before())
	if unreadable != nil {
		text += "; it cannot be read any more"
	}
	return flow.BoardDiverged{Step: step.Number, Task: step.Task, Before: step.BoardSHA, After: sha, Policy: r.setup.OnDivergence, Text: text}
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
	if err != nil && r.state.Step != nil && r.state.Step.Before != nil && r.state.Step.Reply == nil {
		if back := r.putBack(); back == nil {
			b, err = r.lookAtBoard()
		}
	}
	if err != nil {
		return nil, &InvalidError{Err: err}
	}
	return b, nil
}

// lookAtBoard reads the board, which must still be the file that it was when the run was prepared: agents and the runner would
// speak of different files otherwise, and the runner would write to one outside.
func (r *run) lookAtBoard() (*board.Board, error) {
	if real, err := filepath.EvalSymlinks(r.job.Board); !r.job.DryRun && err == nil {
		if real, err = filepath.Abs(real); err == nil && real != r.path {
			return nil, &board.FileError{Op: "read board", File: r.job.Board, Err: fmt.Errorf("it leads to %s now", real), Fix: "put the file back in the link's place"}
		}
	}
	return r.reader.Read()
}

// view is the board as flow looks at it. Once a Manager attempt was started, only bytes and ending count: whose task is next
// is the Manager's to say.
func (r *run) view(b *board.Board) (flow.Board, error) {
	v := flow.Board{Terminal: b.Terminal(), SHA: b.SHA}
	step := r.state.Step
	if v.Terminal || step != nil && (step.Before != nil || step.Reply != nil) {
		return v, nil
	}
	if !b.Current.Set {
		return v, &InvalidError{Err: b.MissingCurrent()}
	}
	task, err := r.place.ReadTask(b.Current.Path)
	if err != nil {
		return v, &InvalidError{Err: b.CurrentProblem(err)}
	}
	player, err := r.player(board.RoleFor(b, task))
	if err != nil {
		return v, &InvalidError{Err: task.RoleProblem(err)}
	}
	v.Task, v.Role = task.Ref.Path, player.Role.Name
	return v, nil
}
