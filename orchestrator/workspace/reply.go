package workspace

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/flow"
)

// Decision is the part of a Manager's reply that is about the board.
type Decision struct {
	Given  *contract.TaskList // the list that it was given
	Status contract.Status
	Next   *string // next_task
	Tasks  *contract.TaskList
}

// ended is the status that the board has to show: one that needs a person, where it ends the board.
func (d Decision) ended() string {
	if d.Next != nil || d.Status == contract.OK {
		return ""
	}
	return string(d.Status)
}

// Judge checks a Manager's reply whose JSON is valid. next_task must be a task that a known role can
// be given, the reply must agree with the board that the Manager left, and the board must be able to
// hold it; else f says why not. isKnown says whether there is such a role. disagreed: the reply
// contradicts the board. Errors: a shortage of this machine, such as of open files.
func (w *Workspace) Judge(step *flow.Step, d Decision, isKnown func(role string) error) (f *contract.Failure, disagreed bool, err error) {
	if f, err := w.checkPaths(d); f != nil || err != nil {
		return f, false, err
	}
	b, err := w.Look()
	if err != nil {
		f, err = w.rejectUnreadable(step, err)
		return f, false, err
	}
	verdict := w.Compare(b, step, d)
	if verdict.Disagreement != "" {
		return &contract.Failure{Reason: verdict.Disagreement}, true, nil
	}
	if _, err := w.Splice(b, verdict, d); err != nil {
		return &contract.Failure{Reason: "the reply cannot be written onto the board: " + err.Error()}, false, nil
	}
	f, err = w.checkNext(b, d, isKnown)
	return f, false, err
}

// checkNext refuses a next task whose header cannot be read, or that no known role can be given: the
// run would end in the next round.
func (w *Workspace) checkNext(b *board.Board, d Decision, isKnown func(role string) error) (*contract.Failure, error) {
	if d.Next == nil {
		return nil, nil
	}
	task, err := w.Place.ReadTask(*d.Next)
	if err == nil {
		if err = isKnown(board.RoleFor(b, task)); err != nil {
			err = task.RoleProblem(err)
		}
	}
	if err == nil || durable.IsOutOfResources(err) {
		return nil, err
	}
	return &contract.Failure{Reason: "next_task: " + err.Error()}, nil
}

// checkPaths refuses a next_task that does not exist, and secrets in paths: they would be journaled
// and written onto the board. The list that the Manager was given was checked before.
func (w *Workspace) checkPaths(d Decision) (*contract.Failure, error) {
	if !d.Given.Is(d.Tasks.Paths) && slices.ContainsFunc(d.Tasks.Paths, w.Redactor.Changes) {
		return &contract.Failure{Reason: "tasks holds a secret"}, nil
	}
	if d.Next == nil {
		return nil, nil
	}
	if w.Redactor.Changes(*d.Next) {
		return &contract.Failure{Reason: "next_task holds a secret"}, nil
	}
	ref, err := w.Place.Resolve(*d.Next)
	switch {
	case durable.IsOutOfResources(err):
		return nil, err
	case err != nil:
		return &contract.Failure{Reason: "next_task: " + err.Error()}, nil
	case isOwn(ref.Path) || ref.Abs == w.Path:
		return &contract.Failure{Reason: "next_task: " + *d.Next + " is a file of kanban-run's own or the board, and no task"}, nil
	}
	return nil, nil
}

// isOwn says whether a path from the work directory leads to files of runs or settings.
func isOwn(p string) bool {
	return slices.Contains(strings.Split(path.Clean(p), "/"), ".kanban-run")
}

// rejectUnreadable puts back a board that the Manager left unreadable. A lack of open files says
// nothing about the board: it is returned as the error.
func (w *Workspace) rejectUnreadable(step *flow.Step, err error) (*contract.Failure, error) {
	if durable.IsOutOfResources(err) {
		return nil, err
	}
	before := w.Dir().Before()
	reason := fmt.Sprintf("the Manager left the board unreadable: %v; its earlier bytes were put back from %s", err, before)
	if back := w.PutBack(step.Before.BoardSHA); back != nil {
		reason = fmt.Sprintf("the Manager left the board unreadable: %v; its earlier bytes are in %s and could not be put back: %v", err, before, back)
	}
	return &contract.Failure{Reason: reason}, nil
}

// Compare says what is left to write of a Manager's decision, and whether it contradicts the board.
func (w *Workspace) Compare(b *board.Board, step *flow.Step, d Decision) flow.Verdict {
	before := flow.Fields{Current: step.Before.Current, Tasks: d.Given.Clean}
	return flow.Reconcile(before, w.fields(b), w.next(d), d.Tasks.Clean, d.ended())
}

func (w *Workspace) fields(b *board.Board) flow.Fields {
	f := flow.Fields{Terminal: b.Terminal(), Tasks: w.Tasks(b).Clean, Ended: b.Ended, Taken: !b.HoldsEnded()}
	if b.Current.Set && !b.Current.Null {
		f.Current = w.Seen(b.Current.Path)
	}
	return f
}

// next is the next task in the spelling in which paths are compared; "" at the end of the work.
func (w *Workspace) next(d Decision) string {
	if d.Next == nil {
		return ""
	}
	return w.Seen(*d.Next)
}

// Splice is the board's new bytes, nil when there is nothing to write. Errors: the board cannot
// hold the decision.
func (w *Workspace) Splice(b *board.Board, v flow.Verdict, d Decision) ([]byte, error) {
	if !v.WriteCurrent && !v.WriteTasks && !v.WriteEnded {
		return nil, nil
	}
	return b.Splice(w.edit(b, v, d))
}

// edit is the change to make. A path that is on the board keeps its author's spelling.
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
		for _, t := range d.Tasks.Paths {
			e.Tasks = append(e.Tasks, written(t))
		}
	}
	return e
}

// authorsSpelling turns a path as agents see it into what the board's author wrote.
func (w *Workspace) authorsSpelling(b *board.Board) func(string) string {
	if w.Place.HoldsBoard() {
		return func(p string) string { return p }
	}
	authors := map[string]string{}
	spelled := b.TaskPaths()
	for i, seen := range w.Tasks(b).Clean {
		authors[seen] = spelled[i]
	}
	return func(p string) string {
		if own, ok := authors[path.Clean(p)]; ok {
			return own
		}
		return p
	}
}

// Save replaces the board's file.
func (w *Workspace) Save(data []byte) error {
	w.Forget()
	return board.Save(w.Path, data)
}
