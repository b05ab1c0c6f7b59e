package orchestrator

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
	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/failpoint"
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
		res.Outcome, res.Text, res.Err = outcomeOf(err), oneLine(err), err
	}
	return res
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
	switch {
	case errors.As(err, &held):
		return flow.Owned
	case errors.As(err, &frozen):
		return flow.Frozen
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
	r.logs = newLogbook(r.files, p.job.Board, p.setup.Redactor)
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
	if err != nil {
		return lock.Release, fmt.Errorf("share the lock with the guardian: %w", err)
	}
	return func() error { return errors.Join(lock.Release(), letGo()) }, nil
}

// openLedger replays the journal, ends what an earlier run left behind, and takes the board over.
func (r *run) openLedger() error {
	if err := r.open(r.job.Now, r.logs.replay); err != nil {
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
	if err := r.take(); err != nil {
		return err
	}
	if err := r.mend(); err != nil {
		return err
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
	if b := r.history.Breach; b != nil {
		return r.reconcile(flow.StateDiverged{Source: flow.SourceJournal, Task: b.Task, Text: "STATE_DIVERGENCE: the journal contradicts itself: " + b.Text})
	}
	return r.mendState()
}

// mendState reconciles a state.md that somebody wrote to. What they wrote is kept aside.
func (r *run) mendState() error {
	kept, err := r.logs.setAside()
	if err != nil || kept == "" {
		return err
	}
	text := fmt.Sprintf("STATE_DIVERGENCE: %s was edited by hand; it is made anew from the journal (the edited text: %s)", r.files.state(), kept)
	return r.reconcile(flow.StateDiverged{Source: flow.SourceState, Task: r.ledger.board, Text: text})
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
	if errors.Is(err, journal.ErrForeignWrite) {
		return "", "", r.splitBrain(err)
	}
	if err == nil {
		err = r.end(flow.RunFinished{Board: r.job.Board, Outcome: end.Outcome, Text: end.Text, Steps: r.steps})
		return end.Outcome, end.Text, err
	}
	outcome := outcomeOf(err)
	if r.stop.Err() != nil && errors.Is(err, context.Cause(r.stop)) {
		outcome = flow.Interrupted
	}
	note := r.end(flow.RunInterrupted{Board: r.job.Board, Outcome: outcome, Reason: r.setup.Redactor.String(err.Error())})
	return outcome, err.Error(), errors.Join(err, note)
}

// end records how the run ended. In RECONCILE_LOCK that would be an operational write; the lock says it all.
func (r *run) end(e flow.Event) error {
	failpoint.At("run-end")
	err := r.mendState()
	if r.history.Custody.Locked != "" {
		return errors.Join(err, r.logs.finish(&r.history))
	}
	if err == nil {
		err = r.note(e)
	}
	if err == nil {
		err = r.snapshot()
	}
	if err == nil {
		failpoint.At("snapshot-taken")
		err = r.commit()
	}
	return errors.Join(err, r.logs.finish(&r.history))
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
		switch effect := flow.Next(r.history.State, b).(type) {
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
			err = r.draw()
		}
		if err != nil {
			return flow.Finish{}, err
		}
	}
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
	err = reopen(&r.history.State, b.SHA, func() (flow.Board, error) { return r.view(b) }, r.note)
	return errors.Join(err, r.commit())
}

// reopen tells by which events a new run closes what an earlier one left open and is no longer true.
func reopen(s *flow.State, sha string, view func() (flow.Board, error), note func(flow.Event) error) error {
	if step := s.Step; step != nil && step.Running != 0 {
		gone := flow.AttemptStopped{Step: step.Number, Call: step.Call, Task: step.Task, Role: step.CallRole(), Attempt: step.Running,
			Reason: "the run died before the attempt's end was known; it is started again with the same input"}
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
	if step := r.history.State.Step; step != nil && step.Before == nil && sha != "" && sha != step.BoardSHA {
		if err := r.record(r.diverged(step, sha, err)); err != nil {
			return flow.Board{}, err
		}
	}
	if r.history.State.Frozen != nil {
		return flow.Board{SHA: sha}, nil
	}
	if err != nil {
		return flow.Board{}, err
	}
	return r.view(b)
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
	step := r.history.State.Step
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
