package workspace

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/flow"
)

// Decision is the part of a Manager's reply that is about the board.
type Decision struct {
	Given  []string // the list of tasks that the Manager was given
	Status contract.Status
	Next   *string // the reply's next_task; nil: there is none
	Tasks  []string
	Lost   bool // one of the two lists is not known any more, so the board's own list stands for it
}

// ended returns the text to write into the board's field "ended". The text is the status of the
// reply if the reply ends the board and the status is not ok. Otherwise the text is "".
func (d Decision) ended() string {
	if d.Next != nil || d.Status == contract.OK {
		return ""
	}
	return string(d.Status)
}

// Judge checks a Manager's reply whose JSON is valid. A next_task must be a task with a known role,
// the reply must agree with the board that the Manager left, and the board must be able to hold the
// reply. Otherwise the result f gives the reason. The result disagreed is true if the reply
// contradicts the board. Judge restores a board that was left unreadable. The function isKnown
// returns an error for an unknown role. Errors: a shortage of this machine, such as of open files.
func (w *Workspace) Judge(
	step *flow.Step, d Decision, isKnown func(role string) error,
) (f *contract.Failure, disagreed bool, err error) {
	next, f, err := w.checkPaths(step, d)
	if f != nil || err != nil {
		return f, false, err
	}
	b, err := w.Look()
	if err != nil {
		f, err = w.rejectUnreadable(step, err)
		return f, false, err
	}
	verdict := w.compare(b, step, d)
	if verdict.Disagreement != "" {
		return &contract.Failure{Reason: verdict.Disagreement}, true, nil
	}
	if _, err := w.splice(b, verdict, d); err != nil {
		return &contract.Failure{Reason: "the reply cannot be written onto the board: " + err.Error()}, false, nil
	}
	if next == nil {
		return nil, false, nil
	}
	if err := isKnown(board.RoleFor(b, next)); err != nil {
		return &contract.Failure{Reason: "next_task: " + next.RoleProblem(err).Error()}, false, nil
	}
	return nil, false, nil
}

// checkPaths returns the next task, or nil at the end of the work. It refuses a task that does not
// exist, or whose header cannot be read, because the run would end in the next round. It refuses
// secrets in paths, because paths are journaled and written onto the board. It skips an unchanged
// list, which was checked before the turn.
func (w *Workspace) checkPaths(step *flow.Step, d Decision) (*board.Task, *contract.Failure, error) {
	if !slices.Equal(d.Tasks, d.Given) && slices.ContainsFunc(d.Tasks, w.Redactor.Changes) {
		return nil, &contract.Failure{Reason: "tasks holds a secret"}, nil
	}
	if d.Next == nil {
		return nil, nil, nil
	}
	if w.Redactor.Changes(*d.Next) {
		return nil, &contract.Failure{Reason: "next_task holds a secret"}, nil
	}
	if w.isOwn(*d.Next) {
		reason := "next_task: " + *d.Next + " is a file of kanban-run's own or the board, and no task"
		return nil, &contract.Failure{Reason: reason}, nil
	}
	task, err := w.Task(*d.Next)
	switch {
	case durable.IsMachineFault(err):
		return nil, nil, err
	case errors.Is(err, fs.ErrNotExist) && w.isOutOfSight(*d.Next, step.Task):
		return nil, nil, outOfSight(step, *d.Next, err)
	case err != nil:
		return nil, &contract.Failure{Reason: "next_task: " + err.Error()}, nil
	}
	return task, nil, nil
}

// isOwn reports whether a path leads to the board, or to files of runs or settings.
func (w *Workspace) isOwn(p string) bool {
	clean := path.Clean(filepath.ToSlash(p))
	return clean == w.Place.KanbanFile() || slices.Contains(strings.Split(clean, "/"), ".kanban-run")
}

// rejectUnreadable restores a board that the Manager left unreadable, and returns the reply's
// failure. If err is a shortage of this machine, it only returns err, since the board may be sound.
func (w *Workspace) rejectUnreadable(step *flow.Step, err error) (*contract.Failure, error) {
	if durable.IsMachineFault(err) {
		return nil, err
	}
	before := w.Dir().Before()
	reason := fmt.Sprintf("the Manager left the board unreadable: %v; "+
		"its earlier bytes were put back from %s", err, before)
	if back := w.PutBack(step.Before.BoardSHA); back != nil {
		reason = fmt.Sprintf("the Manager left the board unreadable: %v; "+
			"its earlier bytes are in %s and could not be put back: %v", err, before, back)
	}
	return &contract.Failure{Reason: reason}, nil
}

// TakeBackEnd restores a board that a Manager has ended without a valid reply, because a clone
// without the journal would consider the board complete. It returns a note for the message about
// the Manager, or "" if the board did not have to be restored.
func (w *Workspace) TakeBackEnd(step *flow.Step) string {
	b, err := w.Look()
	if err != nil || !b.Terminal() || b.EndedWith() != "" || step.Before.Current == "" {
		return ""
	}
	before := w.Dir().Before()
	if err := w.PutBack(step.Before.BoardSHA); err != nil {
		return fmt.Sprintf("; it ended the board without a valid reply, "+
			"and the earlier bytes in %s could not be put back: %v", before, err)
	}
	return fmt.Sprintf("; it ended the board without a valid reply: the earlier bytes were put back from %s", before)
}

// HoldOpen reopens a board that the Manager has ended, because the Manager is asked once more. It
// returns the SHA-256 of the resulting board, and true. If more than the tasks that were added meanwhile
// differs on the list, or if the board's earlier bytes are gone, HoldOpen does not change the board, and
// returns "" and false.
func (w *Workspace) HoldOpen(step *flow.Step, given, added []string) (left string, same bool, err error) {
	b, err := w.Look()
	if err != nil {
		return "", false, err
	}
	tasks, paths := w.Tasks(b), b.TaskPaths()
	var known []string
	for i, task := range tasks {
		if !slices.Contains(added, paths[i]) {
			known = append(known, task)
		}
	}
	if !slices.Equal(given, known) {
		return "", false, nil
	}
	if !b.Terminal() || step.Before.Current == "" {
		return b.SHA, true, nil
	}
	before, err := w.Before(step.Before.BoardSHA)
	if err != nil {
		return "", false, nil // the board stands as the Manager left it
	}
	w.Forget()
	left, _, err = w.RestoreEnd(b, before)
	return left, err == nil, err
}

// Decided is the board with a decision of the Manager.
type Decided struct {
	Board        *board.Board // the one that was decided about, if it shows the decision already
	Change       flow.Change  // the decision's change of the list
	Disagreement string       // contradiction between the decision and the board, which then stands; "": none
	Warning      string       // "": none
}

// Decide returns the board with a decision of the Manager about the open step. Errors: the board
// cannot hold the decision.
func (w *Workspace) Decide(b *board.Board, s *flow.State, d Decision) (after Decided, err error) {
	v := w.compare(b, s.Step, d)
	after = Decided{Disagreement: v.Disagreement, Warning: v.Warning}
	if after.Board, err = w.splice(b, v, d); err != nil {
		return after, err
	}
	if v.Disagreement == "" {
		if after.Board, after.Change, err = w.leave(s, after.Board, d); err != nil {
			return after, err
		}
	}
	if d.Lost && !slices.Equal(d.Tasks, w.Tasks(b)) {
		after.Warning = "the list of tasks that the Manager was given is lost, so the board's own list stands, " +
			"and not the one in the reply"
	}
	after.Warning = cmp.Or(after.Warning, w.missingNeeds(after.Board, s, d.Next), v.Disagreement)
	return after, nil
}

// compare returns the parts of a Manager's decision that the board does not show yet, and any
// contradiction between the decision and the board.
func (w *Workspace) compare(b *board.Board, step *flow.Step, d Decision) flow.Verdict {
	before := flow.Fields{Current: step.Before.Current, Tasks: d.Given}
	return flow.Reconcile(before, w.fields(b), w.next(d), d.Tasks, d.ended())
}

func (w *Workspace) fields(b *board.Board) flow.Fields {
	f := flow.Fields{
		Terminal: b.Terminal(),
		Tasks:    w.Tasks(b),
		Ended:    b.Ended,
		Taken:    !b.CanWriteEnded(),
		Over:     b.PhaseEnds(),
	}
	if b.Current.Set && !b.Current.Null {
		f.Current = w.Seen(b.Current.Path)
	}
	return f
}

// next returns the next task in the spelling in which paths are compared, or "" at the end of the
// work.
func (w *Workspace) next(d Decision) string {
	if d.Next == nil {
		return ""
	}
	return w.Seen(*d.Next)
}

// splice returns the board with the decision, or b itself if b shows the decision already. It
// returns an error if the board cannot hold the decision.
func (w *Workspace) splice(b *board.Board, v flow.Verdict, d Decision) (*board.Board, error) {
	if !v.WriteCurrent && !v.WriteTasks && !v.WriteEnded {
		return b, nil
	}
	return b.Splice(w.edit(b, v, d))
}

// edit returns the change that writes the decision onto the board. A path that is already on the
// board keeps the spelling of its author.
func (w *Workspace) edit(b *board.Board, v flow.Verdict, d Decision) board.Edit {
	written := w.authorsSpelling(b)
	var e board.Edit
	if next := w.next(d); v.WriteCurrent && next == "" {
		e.Null = true
	} else if v.WriteCurrent {
		current := written(next)
		e.Current = &current
	}
	if v.WriteEnded {
		ended := d.ended()
		e.Ended = &ended
	}
	if v.WriteTasks {
		e.SetTasks = true
		for _, t := range d.Tasks {
			e.Tasks = append(e.Tasks, written(t))
		}
	}
	return e
}

// authorsSpelling returns a function. The function takes a path in the spelling that agents see,
// and returns the path in its spelling on the board.
func (w *Workspace) authorsSpelling(b *board.Board) func(string) string {
	if w.Place.HoldsBoard() {
		return func(p string) string { return p }
	}
	authors := map[string]string{}
	spelled := b.TaskPaths()
	for i, seen := range w.Tasks(b) {
		authors[path.Clean(seen)] = spelled[i]
	}
	return func(p string) string {
		if own, ok := authors[path.Clean(p)]; ok {
			return own
		}
		return p
	}
}

// leave returns the board that a reply of the Manager leaves, and the reply's changes of the list.
// The parameter after is the board with the reply. If the reply ends the board with the status ok
// although tasks are undone, leave sets the field "ended" to "incomplete". It does not change a
// board whose author uses this field.
func (w *Workspace) leave(s *flow.State, after *board.Board, d Decision) (*board.Board, flow.Change, error) {
	before, lost := w.Before(s.Step.Before.BoardSHA)
	marked := func(task string) bool {
		if lost == nil {
			if i := before.Finder()(task); i >= 0 && before.Entry(i).Done() {
				return true
			}
		}
		t, err := w.Place.ReadTask(task)
		return err == nil && t.Done()
	}
	gone := func(task string) bool {
		_, err := w.Place.ReadTask(task)
		return errors.Is(err, fs.ErrNotExist)
	}
	change := s.ChangeOf(d.Given, w.Tasks(after), marked, gone)
	if !after.Terminal() || d.ended() != "" || !after.CanWriteEnded() ||
		!s.LeavesOpen(ListOf(after, w.Place.ReadTask), change) {
		return after, change, nil
	}
	incomplete := flow.EndedIncomplete
	after, err := after.Splice(board.Edit{Ended: &incomplete})
	return after, change, err
}

// Save writes an edited board to the board's file.
func (w *Workspace) Save(b *board.Board) error {
	w.Forget()
	w.reader.SetLast(b)
	w.Count(b)
	return board.Save(w.Path, b.Source)
}

// End returns the board as a checkpoint ends it: terminal, and with the field "ended" set to
// "blocked".
func (w *Workspace) End(b *board.Board) (*board.Board, error) {
	ended := "blocked"
	return b.Splice(board.Edit{Null: !b.Terminal(), Ended: &ended})
}
