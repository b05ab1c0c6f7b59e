package ledger

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/journal"
	"kanban-run/orchestrator/redact"
	"kanban-run/orchestrator/rundir"
	"kanban-run/orchestrator/workspace"
)

// Question is a decision that the Lead of a board has to make.
type Question struct {
	Text string // why the board stopped; "": there is no decision to make
	Diff string // a diff of the change to decide about, or of the decision's own change; ""

	GoesOn   bool                    // the next run works on without an acknowledgement
	Look     bool                    // a checkpoint stopped the board: Retry repeats that checkpoint
	Way      bool                    // checkpoints would be pushed in another way than before: Accept allows it
	File     bool                    // the board's file was changed: Accept keeps it, Retry restores it
	Open     bool                    // the Lead has to choose, and has not: nothing was written
	Task     string                  // the task that Retry makes current, as the board spells it; "": unknown
	Undone   string                  // the tasks that Accept leaves undone, in words; "": unknown or no task
	Proposal *event.ReassignProposed // of the last run: another agent for its task; nil: no proposal

	Team bool // members never answered the shutdown request: only ForcedFinalize goes on without them
}

// Answer is a decision of the Lead. With Ask it is only checked, and not journaled.
type Answer struct {
	Choice event.Choice // "": acknowledge, or only show the choices if the Lead has to make one
	Note   string
	Ask    bool
}

// Acknowledge journals the Lead's decision. It thaws a frozen board, applies the result of a
// reconciliation, or decides about a board that ended with tasks undone: it removes the board's
// field ended, and with Retry makes the task current again. Errors: *NoRunError, *durable.HeldError
// while a run owns the board, *failure.Invalid for a board that cannot be read or a choice that the
// board does not offer.
func Acknowledge(
	boardPath string, dir rundir.Dir, answer Answer, r *redact.Redactor, now func() time.Time,
) (q Question, err error) {
	b, broken := parseBoard(boardPath)
	ask := answer
	ask.Ask = true
	if _, err := os.Stat(dir.Journal()); err != nil && broken != nil {
		return q, broken
	} else if err != nil && b.EndedWith() == "" {
		return q, &NoRunError{boardPath}
	} else if err != nil && (answer.Ask || answer.Choice == "") {
		return arbitrate(boardPath, dir, b, nil, ask, r, now) // a question must not make the folder
	}
	if err := dir.Ensure(); err != nil {
		return q, err
	}
	lock, err := durable.Acquire(dir.Lock())
	if err != nil {
		return q, err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	b, broken = parseBoard(boardPath) // no run changes it under the lock
	q, err = arbitrate(boardPath, dir, b, broken, ask, r, now)
	if err != nil || answer.Ask || q.Open || q.Text == "" {
		return q, err
	}
	return arbitrate(boardPath, dir, b, broken, answer, r, now)
}

// parseBoard reads the board. If it cannot be read, parseBoard returns a board with the bytes that
// could be read, and *failure.Invalid.
func parseBoard(path string) (*board.Board, error) {
	source, err := board.ReadFile(path)
	if err == nil {
		var b *board.Board
		if b, err = board.Parse(path, source); err == nil {
			return b, nil
		}
	}
	return &board.Board{File: path, Source: source, SHA: board.SHA(source)}, &failure.Invalid{Err: err}
}

// arbitrate returns the question for which a board waits, and journals the Lead's decision about
// it, unless answer.Ask is set or a choice is still to be made (q.Open).
func arbitrate(
	boardPath string, dir rundir.Dir, b *board.Board, broken error, answer Answer,
	r *redact.Redactor, now func() time.Time,
) (q Question, err error) {
	l := New(filepath.Base(boardPath), dir, Silent{}, r, now)
	a := &arbitration{
		Ledger: l,
		path:   boardPath,
		before: b,
		find:   b.Finder(),
		answer: answer,
		broken: broken,
	}
	if err = a.read(); err == nil && broken != nil && !a.isAboutFile() {
		err = broken
	}
	if err == nil {
		q, err = a.decide(event.Acknowledged{Board: l.board, BoardSHA: b.SHA, Note: answer.Note, Choice: answer.Choice})
	}
	if err == nil && a.decided {
		err = l.redraw()
	}
	q.Diff, q.Proposal = r.String(q.Diff), a.proposal
	return q, errors.Join(err, l.Close())
}

// NoRunError is the error for a board without a journal.
type NoRunError struct{ Board string }

func (e *NoRunError) Error() string { return fmt.Sprintf("%s was never run", e.Board) }

// Hint returns the command that runs the board.
func (e *NoRunError) Hint() string { return "kanban-run " + e.Board }

// arbitration is one decision of the Lead about one board.
type arbitration struct {
	*Ledger
	path    string
	before  *board.Board     // as it stands before the decision
	find    func(string) int // the place of a task on the board, see [board.Board.Finder]
	answer  Answer
	began   string        // SHA-256 of the board at the start of the turn that changed it last
	broken  error         // the board cannot be read; before has its bytes only
	unknown []event.Event // about an end by an unknown author; the next run journals them
	decided bool

	proposal *event.ReassignProposed // of the last run
}

// read replays the journal. For a question it does not open the journal for writing, which would
// cut off an unfinished record.
func (a *arbitration) read() (err error) {
	note := func(e event.Entry) {
		switch e := e.Event.(type) {
		case event.StateDiverged:
			if e.Source == event.SourceBoard {
				a.began = e.Before
			}
		case event.RunStarted:
			a.proposal = nil
		case event.ReassignProposed:
			a.proposal = &e
		}
	}
	defer func() {
		if err == nil {
			err = a.foresee()
		}
	}()
	if !a.answer.Ask {
		return a.Open(note)
	}
	a.history, _, err = Fold(a.dir, func(e event.Entry) error { note(e); return nil })
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the journal: %w", err)
	}
	return CheckFile(a.dir, a.history)
}

func (a *arbitration) decide(e event.Acknowledged) (Question, error) {
	text := a.waitsFor()
	switch {
	case a.answer.Choice == event.ForcedFinalize:
		return a.finalize()
	case a.answer.Choice == event.ReleaseTasks && len(a.history.State.Quarantine) == 0:
		return Question{}, &failure.Invalid{
			Err: fmt.Errorf("no task of %s is in quarantine", a.board),
			Fix: "kanban-run inbox " + failure.Quote(a.path),
		}
	case a.answer.Choice == event.ReleaseTasks && a.hasEnded():
		return Question{}, &failure.Invalid{
			Err: fmt.Errorf("%s is over: %s", a.board, text),
			Fix: "kanban-run ack " + failure.Quote(a.path) + " retry makes the task current again",
		}
	case text == "" && len(a.history.State.Teardown.Unanswered()) > 0:
		return Question{Text: neverAnswered(a.history.State.Teardown.Missing), Team: true}, nil
	case text == "":
		return Question{}, nil
	case a.isAboutWay():
		return a.settleWay(e, text)
	case a.isAboutFile():
		return a.settleFile(e, text)
	case a.hasEnded():
		return a.settle(e, text)
	case a.answer.Choice == event.Retry && a.history.State.Supervisor.Waits() != "" && a.history.Standstill() == "":
		e.Text, e.Look = "it is to be looked at anew, says the Lead", true
	case a.answer.Choice == event.Accept && a.history.State.Supervisor.Waits() != "":
		return Question{}, &failure.Invalid{
			Err: fmt.Errorf("%s has not ended, so there is no end to accept: %s", a.board, text),
			Fix: "kanban-run ack " + failure.Quote(a.path) + " goes on in spite of it, " +
				"kanban-run ack " + failure.Quote(a.path) + " retry has it looked at anew",
		}
	case a.answer.Choice == event.Retry:
		return Question{}, &failure.Invalid{
			Err: fmt.Errorf("%s has not ended, so there is no task to make current again: %s", a.board, text),
			Fix: "kanban-run ack " + failure.Quote(a.path),
		}
	case a.history.Custody.Locked != "" || a.history.Contradiction() != "":
		return a.reconcile(e, text)
	}
	q := Question{
		Text: text,
		Look: a.history.State.Supervisor.Waits() != "",
		Diff: a.boardDiff(),
		GoesOn: a.history.Standstill() == "" &&
			(a.history.State.GoesOn() || a.history.State.Outcome == event.Exhausted),
	}
	if a.answer.Ask {
		return q, nil
	}
	return q, a.recordDecision(e)
}

// waitsFor returns why the board waits for its Lead, or "" if it does not wait. It also returns a
// reason for a board that is complete with tasks undone, although that needs no decision.
func (a *arbitration) waitsFor() string {
	s := a.history.State
	switch {
	case len(a.unknown) > 0:
		return a.unknown[len(a.unknown)-1].(event.StateDiverged).Text
	case a.history.Standstill() != "":
		return a.history.Standstill()
	case s.Supervisor.Waits() != "":
		return s.Supervisor.Waits()
	case s.Outcome == event.NeedsPerson && !s.Last.Acknowledged, s.Outcome == event.Exhausted:
		return s.Text
	case len(s.Quarantine) > 0:
		return s.Quarantine[0].Text
	case a.before.EndedWith() == flow.EndedIncomplete:
		return cmp.Or(a.incomplete(), "the board ended incomplete, as it says itself")
	case a.before.EndedWith() != "":
		return "the board ended with status " + a.before.Ended + ", as it says itself"
	case s.Outcome == event.Incomplete && s.Step == nil && a.before.Terminal() && a.isManagers():
		return s.Text
	default:
		return ""
	}
}

// hasEnded reports whether the board is over, so that the Lead has to choose between Accept and
// Retry.
func (a *arbitration) hasEnded() bool {
	return a.history.Standstill() == "" && a.history.State.Step == nil && a.before.Terminal()
}

// settle carries out the Lead's choice about a board that ended. It journals the choice first: if
// the board then cannot be written, its file still says that the board waits for the Lead.
func (a *arbitration) settle(e event.Acknowledged, text string) (Question, error) {
	q := Question{Text: text, Open: a.answer.Choice == "", Task: a.again(), Undone: a.undone()}
	edit := board.Edit{Ended: new(string)}
	switch {
	case q.Open:
		return q, nil
	case a.answer.Choice == event.Retry && q.Task == "":
		return q, &failure.Invalid{
			Err: fmt.Errorf("it cannot be told which task of %s to do again", a.board),
			Fix: "set current to its path, then kanban-run " + failure.Quote(a.path),
		}
	case a.answer.Choice == event.Retry:
		edit.Current, e.Text = &q.Task, q.Task+" is to be done again, says the Lead"
	default:
		e.Text = "accepted by the Lead"
		if q.Undone != "" {
			e.Text += " with " + q.Undone
		}
	}
	after, err := a.edited(edit)
	if err != nil {
		return q, err
	}
	if e.BoardSHA = after.SHA; e.BoardSHA != a.before.SHA {
		q.Diff = unified("before", a.before.Source, a.board, after.Source)
	}
	if a.answer.Ask {
		return q, nil
	}
	if err := a.recordDecision(e); err != nil || e.BoardSHA == a.before.SHA {
		return q, err
	}
	return q, board.Save(a.path, after.Source)
}

// edited returns the board after an edit. Errors: *failure.Invalid if the board refuses the edit,
// or if the edit sets a current task and leaves the board terminal.
func (a *arbitration) edited(edit board.Edit) (*board.Board, error) {
	after, err := a.before.Splice(edit)
	if err != nil {
		return nil, &failure.Invalid{Err: err}
	}
	if edit.Current != nil && after.Terminal() {
		return nil, &failure.Invalid{
			Err: fmt.Errorf("phase is %s, so the board would stay over with a current task", after.Phase),
			Fix: "set phase back to what the work is about, then kanban-run ack " + failure.Quote(a.path) + " retry",
		}
	}
	return after, nil
}

// again returns the task that Retry makes current, as the board spells it: the task that the
// supervisor names, a task in quarantine, or the task at which the Manager ended the board.
// Otherwise it is the first open task, of which those that were not ok come first. Where a Manager
// did not end the board well, it is a task that was never worked on only if that was passed over, and
// else the task at which the board ended. It is "" if nothing is to be done again.
func (a *arbitration) again() string {
	s := a.history.State
	if task := s.Supervisor.Again(); task != "" {
		return a.spelled(task)
	}
	endedWell := s.Last.Status == "" || s.Last.Status == flow.StatusOK
	if len(s.Quarantine) > 0 && endedWell && a.before.EndedWith() == "" {
		return a.spelled(s.Quarantine[0].Task)
	}
	open := a.rest().Open
	last := a.spelled(s.Last.Task)
	is := func(t flow.TaskStatus) bool { return t.Task == last }
	if !endedWell && slices.ContainsFunc(open, is) {
		return last
	}
	for _, t := range open {
		if t.Status != "" && t.Status != flow.StatusDropped {
			return t.Task
		}
	}
	switch {
	case len(open) > 0 && (endedWell || a.find(open[0].Task) < a.find(last) || last == ""):
		return open[0].Task
	case endedWell:
		return ""
	default:
		return last
	}
}

// rest returns what the board leaves undone.
func (a *arbitration) rest() flow.Rest {
	return a.history.State.Rest(workspace.ListAt(a.path, a.history.State.Workdir, a.before))
}

// spelled returns a task as the board spells it.
func (a *arbitration) spelled(task string) string {
	if i := a.find(task); i >= 0 {
		return a.before.TaskPaths()[i]
	}
	return task
}

// isManagers reports whether the board is as the Manager left it, so that no person has since
// marked a task as done or taken it off the list.
func (a *arbitration) isManagers() bool { return a.before.SHA == a.history.State.Last.BoardSHA }

// incomplete returns in words what a board that ended incomplete leaves undone, or "".
func (a *arbitration) incomplete() string {
	if undone := a.rest().Undone(); undone != "" {
		return flow.IncompleteText + undone
	}
	return ""
}

// undone returns the number of undone tasks, such as "2 of 5 tasks undone", or "" if all are done,
// or if no reply was journaled.
func (a *arbitration) undone() string {
	r := a.rest()
	if len(r.Open) == 0 || len(a.history.State.Statuses) == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %s undone", len(r.Open), event.Count(r.Tasks, "task"))
}

// recordDecision journals the Lead's decision. It starts no epoch, since it is not a run.
func (a *arbitration) recordDecision(events ...event.Event) (err error) {
	events = slices.Concat(a.unknown, events)
	a.epoch, err = a.journal.ContinueEpoch()
	if errors.Is(err, journal.ErrNoEpoch) {
		a.epoch, err = a.journal.BeginEpoch()
	}
	if err != nil {
		return err
	}
	for _, e := range events {
		if err := a.Append(e); err != nil {
			return err
		}
	}
	a.decided = true
	return a.Commit()
}

// reconcile journals the Lead's decision about a RECONCILE_LOCK, which ends with the state that was
// rebuilt from the rollback point: seed 002, "Deterministic reconcile procedure", steps 8, 9 and
// 11. The diff shows how the decision changes the state of the work.
func (a *arbitration) reconcile(e event.Acknowledged, text string) (Question, error) {
	was := a.history.State
	rebuilt, point, err := a.outcome()
	if err != nil {
		return Question{}, err
	}
	if err := rebuilt.State.Apply(e); err != nil {
		return Question{}, err
	}
	change := unified("state", stateJSON(was), "state after the rollback", stateJSON(rebuilt.State))
	q := Question{Text: text, Diff: summary(rebuilt, point) + change}
	if a.answer.Ask {
		return q, nil
	}
	events := []event.Event{e, rebuilt.Exit(a.board, event.DecisionLead, text, point)}
	if a.history.Custody.Locked == "" { // no run has found the contradiction yet
		events = slices.Insert(events, 0,
			event.Event(event.StateDiverged{Source: event.SourceJournal, Task: a.board, Text: text}),
			event.Event(event.LockEntered{Board: a.board, Reason: text}))
	}
	return q, a.recordDecision(events...)
}

// outcome returns the state that the reconciliation restores. If there is no rollback point, that
// is the state after the records that could be applied.
func (a *arbitration) outcome() (flow.Rebuilt, flow.Snapshot, error) {
	if len(a.history.Points) != 1 {
		unchanged := flow.Rebuilt{State: a.history.State, Affected: []string{}, Findings: []string{}}
		return unchanged, flow.Snapshot{}, nil
	}
	point := a.history.Points[0]
	rebuilt, err := a.rebuild(point)
	return rebuilt, point, err
}
