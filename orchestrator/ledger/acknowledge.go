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
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/journal"
	"kanban-run/orchestrator/projection"
	"kanban-run/orchestrator/redact"
	"kanban-run/orchestrator/rundir"
	"kanban-run/orchestrator/workspace"
)

// Question is what a board waits for, with the effect of the Lead's decision if there was one.
type Question struct {
	Board    projection.Board
	Diff     string // diff of the change that waits for a decision, or that the decision makes; "": none
	Done     string // effect of the decision, in words; "": there was no decision
	Accepted bool   // the decision completes the board
	Left     string // what the board still waits for after the decision, in words; "": nothing
}

// Answer is a decision of the Lead. If Ask is set, the decision is only checked, and not journaled.
type Answer struct {
	Choice event.Choice // "": only show what the board waits for
	Task   string       // task of the choice; "": the task in the board's offer
	Note   string
	Ask    bool
}

// Acknowledge carries out and journals the Lead's decision about what a board waits for. Without a
// choice it only returns what the board waits for. Errors: *NoRunError, *durable.HeldError while a
// run owns the board, *failure.Invalid for a board that cannot be read or a choice that the board
// does not offer.
func Acknowledge(
	boardPath string, dir rundir.Dir, answer Answer, r *redact.Redactor, now func() time.Time,
) (q Question, err error) {
	b, broken := parseBoard(boardPath)
	answer.Ask = answer.Ask || answer.Choice == ""
	ask := answer
	ask.Ask = true
	if _, err := os.Stat(dir.Journal()); err != nil && broken != nil {
		return q, broken
	} else if err != nil && b.EndedWith() == "" {
		return q, &NoRunError{Board: boardPath}
	} else if err != nil { // ask first, because a refused decision must not make the folder
		if q, err := arbitrate(boardPath, dir, b, nil, ask, r, now); err != nil || answer.Ask {
			return q, err
		}
	}
	lock, err := dir.Acquire()
	if err != nil {
		return q, err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	b, broken = parseBoard(boardPath)                          // no run can change the board now
	q, err = arbitrate(boardPath, dir, b, broken, ask, r, now) // a refused decision must not change the journal
	if err != nil || answer.Ask {
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

// arbitrate returns what a board waits for. Unless answer.Ask is set, it also carries out the
// Lead's decision.
func arbitrate(
	boardPath string, dir rundir.Dir, b *board.Board, broken error, answer Answer,
	r *redact.Redactor, now func() time.Time,
) (q Question, err error) {
	l := New(filepath.Base(boardPath), dir, Silent{}, r, now)
	a := &arbitration{Ledger: l, path: boardPath, before: b, answer: answer, broken: broken}
	if err = a.read(); err == nil {
		q, err = a.decide()
	}
	if err == nil && a.decided {
		l.redraw()
	}
	q.Diff = r.String(q.Diff)
	return q, errors.Join(err, l.Close())
}

// NoRunError is the error for a board without a journal.
type NoRunError struct {
	Board   string
	Archive string // archive of the board's runs; "": it was never run
}

func (e *NoRunError) Error() string {
	if e.Archive != "" {
		return fmt.Sprintf("%s is archived: its runs are in %s", e.Board, e.Archive)
	}
	return fmt.Sprintf("%s was never run", e.Board)
}

// Hint returns the command that runs the board.
func (e *NoRunError) Hint() string { return "kanban-run " + failure.Quote(e.Board) }

// arbitration is one decision of the Lead about one board.
type arbitration struct {
	*Ledger
	path       string
	before     *board.Board // the board before the decision
	answer     Answer
	broken     error // why the board cannot be read, or nil; if set, the field "before" has only bytes
	standing   projection.Board
	question   *projection.Question
	isComplete bool          // see projection.Facts
	unknown    []event.Event // events about an end by an unknown author, not journaled yet
	decided    bool
}

// read replays the journal. If a.answer.Ask is set, it opens the journal only for reading, because
// opening it for writing would cut off an unfinished record.
func (a *arbitration) read() (err error) {
	var work projection.Fold
	if a.answer.Ask {
		a.history, _, err = Fold(a.dir, func(e event.Entry) error { work.Add(e); return nil })
	} else {
		err = a.Open(work.Add)
	}
	switch {
	case a.answer.Ask && errors.Is(err, fs.ErrNotExist):
		err = nil
	case err != nil:
		return fmt.Errorf("read the journal: %w", err)
	case a.answer.Ask:
		err = cmp.Or(CheckFile(a.dir, a.history), RequireForm(a.dir, a.history))
	}
	return errors.Join(err, a.stand(&work))
}

// stand sets a.standing. It returns a.broken for a board that cannot be read, unless the board
// waits for a decision about its file: that decision can restore the board.
func (a *arbitration) stand(work *projection.Fold) error {
	f, err := FactsOf(a.dir, a.path, a.before, a.broken, &a.history, false)
	if err != nil {
		return err
	}
	a.standing, a.question, a.isComplete = work.Board(a.path, &a.history, f), f.Question(&a.history), f.IsComplete(&a.history.State)
	if f.Unknown != "" {
		place, _ := workspace.PlaceOf(a.path, a.history.State.Workdir, a.before)
		a.unknown, err = unknownEnd(a.dir, a.before, place, &a.history)
		if n := len(a.unknown); n > 0 { // n is 0 if a file has changed since the facts were read
			a.history.Before = a.unknown[n-1].(event.StateDiverged).Before
		}
	}
	if w := a.question; a.broken != nil && (w == nil || w.About != event.AboutFile) {
		return a.broken
	}
	return err
}

// decide carries out the Lead's decision, if the board offers it. Without a choice it only returns
// what the board waits for.
func (a *arbitration) decide() (q Question, err error) {
	q.Board = a.standing
	w, word := a.question, a.answer.Choice
	if c := w.Offers(word); c != nil {
		word = c.Word
	}
	if word == event.ForcedFinalize || word == event.Accept && w != nil && w.About == event.AboutTeam {
		return a.finalize(q)
	}
	if a.isOfTask(w, word) {
		return a.settleTask(q, word)
	}
	if word != "" {
		if a.answer.Task, err = a.taskOfChoice(w, word); err != nil {
			return q, err
		}
	}
	if w == nil {
		return q, nil
	}
	e := event.Acknowledged{Board: a.board, BoardSHA: a.before.SHA, Note: a.answer.Note,
		About: a.subjectOf(w.About, word, a.answer.Task), Choice: word, Task: a.answer.Task}
	switch {
	case w.About == event.AboutAside && e.About == event.AboutEnd:
		e.Text = cmp.Or(e.Task, "what is set aside") + " is to be tried again, as you decided"
		e.Task = ""
		return a.record(q, e, a.before)
	case w.About == event.AboutFile:
		return a.settleFile(q, e)
	case w.About == event.AboutJournal:
		return a.reconcile(q, e)
	case word == "":
		return q, nil
	case w.About == event.AboutClone:
		return a.settleClone(q, e)
	case w.About == event.AboutLand:
		e.Text = map[event.Choice]string{event.Accept: "it counts as you decided; kanban-run land acts by that", event.Skip: "it stays out, as you decided"}[word]
		return a.record(q, e, a.before)
	case w.About == event.AboutStep && word == event.Skip, w.About == event.AboutQuarantine && e.Task != "" && word != event.Retry:
		return a.settleTask(q, word)
	case w.About == event.AboutEnd && e.Task != "" && word != event.Retry:
		return a.settleOne(q, e)
	case w.About == event.AboutWay || w.About == event.AboutChanged || w.About == event.AboutStep:
		e.Text = a.textOf(e)
		if w.About == event.AboutChanged && word == event.Skip {
			e.About, e.Text = event.AboutAside, word.Settles(e.Task)
		}
		return a.record(q, e, a.before)
	default:
		return a.settle(q, e)
	}
}

// isOfTask reports whether a decision is about one task of the list, and the board does not wait for it.
func (a *arbitration) isOfTask(w *projection.Question, word event.Choice) bool {
	if a.answer.Task == "" || word != event.Accept && word != event.Skip || a.broken != nil {
		return false
	}
	c := w.Offers(word)
	if c != nil && a.history.State.IsDone(a.answer.Task) || w != nil && w.About == event.AboutChanged {
		return false // it is refused; a task that waits is worked on once the change is accepted
	}
	return c == nil || !slices.ContainsFunc(c.Tasks, func(t string) bool { return a.before.Spelled(t) == a.before.Spelled(a.answer.Task) })
}

// settleTask carries out a decision about a task on which no agent is at work.
func (a *arbitration) settleTask(q Question, word event.Choice) (Question, error) {
	s := &a.history.State
	task := a.before.Spelled(a.answer.Task)
	wrong := ""
	switch {
	case task == "":
		wrong = a.answer.Task + " is not on the list"
	case s.Step != nil && s.Step.Running != 0 && a.before.Spelled(s.Step.Task) == task:
		wrong = "the last run died while " + task + " was worked on"
	case s.IsDone(task):
		wrong = task + " is done"
	}
	if wrong != "" {
		return q, &failure.Invalid{Err: errors.New(wrong), Fix: "kanban-run status " + failure.Quote(a.path)}
	}
	e := event.Acknowledged{Board: a.board, Note: a.answer.Note, About: event.AboutTask, Choice: word, Task: task, Text: word.Settles(task)}
	r := a.rest()
	open := slices.DeleteFunc(r.Open, func(t flow.TaskStatus) bool { return a.before.Spelled(t.Task) == task })
	after := a.before
	if none := ""; s.Step == nil && a.before.Terminal() && len(open) == 0 && a.before.CanWriteEnded() {
		var err error
		if after, err = a.edited(board.Edit{Ended: &none}); err != nil {
			return q, err
		}
	}
	q, err := a.record(q, e, after)
	q.Done += fmt.Sprintf("; %d of %s undone", len(open), event.Count(r.Tasks, "task"))
	return q, err
}

// settleOne carries out a decision about one task of a board that is over. If others are open, the next of
// them becomes current, so that the board goes on.
func (a *arbitration) settleOne(q Question, e event.Acknowledged) (Question, error) {
	r := a.rest()
	open := slices.DeleteFunc(r.Open, func(t flow.TaskStatus) bool { return t.Task == e.Task })
	next := ""
	if at := slices.IndexFunc(open, func(t flow.TaskStatus) bool { return t.Status != flow.StatusDropped }); at >= 0 {
		next = open[at].Task
	}
	after, err := a.edited(board.Edit{Current: &next, Ended: new(string)})
	switch {
	case next != "" && err == nil:
	case e.Choice == event.Skip:
		return a.settleTask(q, e.Choice)
	default:
		return a.settle(q, e)
	}
	e.About, e.BoardSHA, e.Text = event.AboutTask, after.SHA, e.Choice.Settles(e.Task)
	goesOn := event.Acknowledged{Board: a.board, BoardSHA: after.SHA, About: event.AboutEnd, Choice: event.Retry, Task: next, Text: next + " is next"}
	q.Diff = Unified("before", a.before.Source, a.board, after.Source)
	if q.Done = fmt.Sprintf("%s; %d of %s undone, and %s", e.Text, len(open), event.Count(r.Tasks, "task"), goesOn.Text); a.answer.Ask {
		return q, nil
	}
	if err := a.recordDecision(e, goesOn); err != nil {
		return q, err
	}
	return q, board.Save(a.path, after.Source)
}

// subjectOf returns what a decision is about as the journal keeps it. Of a task that is set aside, a retry
// is about the end of the board, because the next run tries all of them.
func (a *arbitration) subjectOf(about event.Subject, word event.Choice, task string) event.Subject {
	switch {
	case about != event.AboutAside || word != event.Retry:
		return about
	case task != "" && a.history.State.Quarantined(task) != nil:
		return event.AboutQuarantine
	default:
		return event.AboutEnd
	}
}

// taskOfChoice returns the task of a choice, as the board spells it, or "" if the choice is not
// about a task. Errors: *failure.Invalid if the board does not offer the choice.
func (a *arbitration) taskOfChoice(w *projection.Question, word event.Choice) (task string, err error) {
	name := failure.Quote(a.path)
	c := w.Offers(word)
	switch {
	case w == nil:
		return "", &failure.Invalid{Err: fmt.Errorf("%s waits for no decision", a.path), Fix: "kanban-run status " + name}
	case c != nil && c.Command != "":
		return "", &failure.Invalid{Err: fmt.Errorf("%s of a board does not settle what waits in the work tree: %s", word, w.Why), Fix: c.Command}
	case c == nil:
		return "", &failure.Invalid{
			Err: fmt.Errorf("%s is no choice about this: %s", word, w.Why),
			Fix: a.standing.Card().Line(),
		}
	case a.answer.Task == "":
		return c.Task, nil
	}
	for _, t := range c.Tasks {
		if filepath.ToSlash(filepath.Clean(t)) == filepath.ToSlash(filepath.Clean(a.answer.Task)) {
			return t, nil
		}
	}
	if len(c.Tasks) == 0 {
		return "", &failure.Invalid{Err: fmt.Errorf("%s is not about a task here", word), Fix: fmt.Sprintf("kanban-run ack %s %s", name, word)}
	}
	return "", &failure.Invalid{
		Err: fmt.Errorf("%s cannot be about %s", word, a.answer.Task),
		Fix: "it can be about " + event.List(c.Tasks, 5),
	}
}

// textOf returns the text that is journaled for a decision that changes no file.
func (a *arbitration) textOf(e event.Acknowledged) string {
	switch {
	case e.About == event.AboutChanged:
		return "the task is worked on, as you decided"
	case e.About == event.AboutWay:
		return "the way of the checkpoints is accepted by you"
	case e.Choice == event.Accept:
		return "the work on " + a.history.State.Step.Task + " counts as done, as you decided"
	default:
		return a.history.State.Step.Task + " is to be tried again, as you decided"
	}
}

// settle carries out a decision about a checkpoint, about a task in quarantine, or about a board
// that is over. It corrects the board's field "ended" if the board was over, and the field
// "current" if a task is to be done next.
func (a *arbitration) settle(q Question, e event.Acknowledged) (Question, error) {
	s := a.history.State
	over := s.Step == nil && a.before.Terminal()
	var edit board.Edit
	switch {
	case e.About == event.AboutCheckpoint:
		e.Text = map[event.Choice]string{
			event.Accept: "it goes on in spite of the checkpoint, as you decided",
			event.Retry:  "it is to be looked at anew, as you decided",
		}[e.Choice]
		if current := s.Supervisor.Block.Current; current != "" && over {
			edit.Current = a.spelled(current)
		}
	case e.Choice == event.Skip || e.About == event.AboutAside:
		e.Text = e.Choice.Settles(e.Task)
	case e.About == event.AboutQuarantine && e.Choice == event.Retry:
		e.Text = e.Task + " leaves quarantine, as you decided"
		if over {
			edit.Current = a.spelled(e.Task)
		}
	case e.Choice == event.Retry:
		edit.Current, e.Text = &e.Task, e.Task+" is current, as you decided"
	case e.Task != "":
		e.Text, e.Left = e.Choice.Settles(e.Task), a.leftWithout(e.Task)
	default:
		e.About, e.Text = event.AboutEnd, "accepted by you"
		if undone := a.undone(); undone != "" {
			e.Text += " with " + undone
		}
	}
	stays := over && e.About == event.AboutCheckpoint && edit.Current == nil && len(a.rest().Open) > 0
	switch incomplete := flow.EndedIncomplete; {
	case stays: // the board may say so again, because it has said that it is blocked
		edit.Ended = &incomplete
	case over && e.Left == "":
		edit.Ended = new(string)
	case over && a.before.CanWriteEnded():
		edit.Ended = &incomplete
	}
	after, err := a.edited(edit)
	if err != nil {
		return q, err
	}
	return a.record(q, e, after)
}

// record first journals a decision, and then writes the board with the changes of the decision. If
// the board cannot be written, its file still shows that the board waits.
func (a *arbitration) record(q Question, e event.Acknowledged, after *board.Board) (Question, error) {
	if e.BoardSHA = after.SHA; e.BoardSHA != a.before.SHA {
		q.Diff = Unified("before", a.before.Source, a.board, after.Source)
	}
	q.Done, q.Left, q.Accepted = e.Text, e.Left, e.About == event.AboutEnd && e.Choice == event.Accept && e.Left == ""
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

// spelled returns a task as the board spells it.
func (a *arbitration) spelled(task string) *string {
	if i := a.before.Finder()(task); i >= 0 {
		task = a.before.TaskPaths()[i]
	}
	return &task
}

// rest returns the part of the board's work that is not done.
func (a *arbitration) rest() flow.Rest {
	return a.history.State.Rest(workspace.ListAt(a.path, a.history.State.Workdir, a.before))
}

// leftWithout returns, in words, the tasks that are undone apart from the given one, or "" if there
// are none.
func (a *arbitration) leftWithout(task string) string {
	r := a.rest()
	r.Open = slices.DeleteFunc(r.Open, func(t flow.TaskStatus) bool { return t.Task == task })
	if len(r.Open) == 0 {
		return ""
	}
	return flow.IncompleteText + r.Undone()
}

// undone returns the number of undone tasks, such as "2 of 5 tasks undone", or "" if all are done
// or no reply was journaled.
func (a *arbitration) undone() string {
	r := a.rest()
	if len(r.Open) == 0 || len(a.history.State.Statuses) == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %s undone", len(r.Open), event.Count(r.Tasks, "task"))
}

// recordDecision journals the Lead's decision. It continues the last epoch, since only a run starts
// a new one. If the journal has no epoch, it starts the first.
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
