package ledger

import (
	"context"
	"fmt"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/journal"
	"kanban-run/orchestrator/rundir"
	"kanban-run/orchestrator/workspace"
)

// Files tells of the files of a board's project, see package worktree.
type Files struct {
	AreGone     func([]event.LeftFile) bool // none of these files is there as it was left
	IsCommitted func() bool                 // the board is as the last commit has it
}

// RefuseCheckout returns an error if the files were checked out as they were before work that the
// given branch has. Otherwise the work would be done and paid again at each checkout. Errors:
// *failure.Invalid.
func (l *Ledger) RefuseCheckout(stop context.Context, w *workspace.Workspace, branch string) error {
	b, err := w.Read(l.State().Step)
	if err != nil {
		return err
	}
	e, err := l.FindUndone(stop, w, b)
	if err != nil || e == nil || !w.IsCommitted(stop) {
		return err
	}
	return &failure.Invalid{
		Err: fmt.Errorf("the files were checked out as they were before work that is on the branch %s", branch),
		Fix: fmt.Sprintf("git merge %s brings it here, and so does a run in a fresh clone; then the same command goes on",
			failure.Quote(branch)),
	}
}

// FindUndone returns the event about work of earlier runs that does not count any more, see the
// function [FindUndone].
func (l *Ledger) FindUndone(stop context.Context, w *workspace.Workspace, b *board.Board) (*event.WorkUndone, error) {
	files := Files{
		AreGone:     func(files []event.LeftFile) bool { return w.AreGone(stop, files) },
		IsCommitted: func() bool { return w.IsCommitted(stop) },
	}
	if l.State().Clone == nil {
		return FindUndone(l.dir, l.State(), l.board, b, workspace.ListOf(b, w.Place.ReadTask), files)
	}
	files.AreGone = func([]event.LeftFile) bool { return false } // they were never at home
	e, err := FindUndone(l.dir, l.State(), l.board, b, workspace.ListOf(b, w.Place.ReadTask), files)
	if err == nil && e != nil && e.Step > 0 && e.Gone == "" {
		return nil, &TakenBackError{Step: e.Step, Tasks: e.Tasks, BoardSHA: e.BoardSHA}
	}
	return e, err // a person has taken a mark off
}

// TakenBackError is the error for a board whose agents work in a clone, and whose bytes are those of an earlier step, such as
// by a stash: its work is in commits all the same, so that it would be done and paid twice.
type TakenBackError struct {
	Step  int
	Tasks []string

	BoardSHA string
}

func (e *TakenBackError) Error() string {
	return fmt.Sprintf("the board stands as it did before step %d again, and the work of %s is in the commits of its clone",
		e.Step, event.List(e.Tasks, mostNamed))
}

// AsksOfClone says that a person may decide.
func (e *TakenBackError) AsksOfClone() event.CloneAsks {
	return event.CloneAsks{Why: event.CloneTakenBack, Step: e.Step, Tasks: e.Tasks, BoardSHA: e.BoardSHA}
}

// Hint names the ways to continue.
func (e *TakenBackError) Hint() string {
	return "bring the board and its tasks back: git stash pop, git switch"
}

// mostNamed bounds the names in a text.
const mostNamed = 5

// FindUndone returns the event about work that does not count any more, because the board b stands
// as it did before the work, or lacks marks that a run set, or because the files of the open step
// are gone. It returns nil if all work counts. l is the board's list of tasks.
func FindUndone(dir rundir.Dir, s *flow.State, name string, b *board.Board, l flow.List, f Files) (*event.WorkUndone, error) {
	if s.IsElsewhere(b.SHA) {
		r := flow.Rewind{SHA: b.SHA}
		_, err := journal.Read(dir.Journal(), func(record journal.Record) error {
			e, err := decode(record)
			if err == nil {
				r.Add(e)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		if e := r.Undone(name); e != nil && (!s.MayHaveWritten() || f.IsCommitted()) {
			return e, nil
		}
	}
	if e := s.LostMarks(name, b.SHA, l, f.IsCommitted); e != nil {
		return e, nil
	}
	return s.LostFiles(name, b.SHA, f.AreGone), nil
}
