package flow

import (
	"path"
	"slices"

	"kanban-run/orchestrator/event"
)

// Rewind finds out whether a board stands again as it did before work that the journal calls done:
// in a fresh checkout beside an old journal, for example, the marks and the files of that work are
// gone. It is a fold over the events of the journal.
type Rewind struct {
	SHA string // of the board as it is now

	history History
	step    int          // the first step that began with this board; 0: none
	before  []TaskStatus // the statuses of tasks before that step
	proven  bool         // a later record has another board, so the board was written since
	last    string       // the last board that the journal names
}

// Add adds the next event of the journal.
func (r *Rewind) Add(e event.Entry) {
	before := r.history.State
	r.history.Add(e)
	if s := r.history.State.Step; r.step == 0 && s != nil && s.Number > before.LastStep && s.BoardSHA == r.SHA {
		r.step, r.before = s.Number, before.Statuses
	}
	if sha := event.BoardAt(e.Event); sha != "" {
		r.last, r.proven = sha, r.proven || r.step > 0 && sha != r.SHA
	}
}

// Undone returns the event about the steps that do not count, or nil if all of them count.
func (r *Rewind) Undone(board string) *event.WorkUndone {
	if !r.proven || r.last == r.SHA {
		return nil
	}
	e := &event.WorkUndone{Board: board, BoardSHA: r.SHA, Step: r.step, Tasks: []string{}}
	for _, t := range r.history.State.Statuses {
		if !slices.ContainsFunc(r.before, func(o TaskStatus) bool { return o.Task == t.Task && o.Status == t.Status }) {
			e.Tasks = append(e.Tasks, t.Task)
		}
	}
	return e
}

// LostFiles returns the event about the open step if the files that its work left are gone. The
// board is as the step found it, so only the files tell of a fresh checkout.
func (s *State) LostFiles(board, sha string, areGone func([]event.LeftFile) bool) *event.WorkUndone {
	if s.Frozen != nil || s.Step == nil || len(s.Step.Files) == 0 || !areGone(s.Step.Files) {
		return nil
	}
	return &event.WorkUndone{Board: board, BoardSHA: sha, Step: s.Step.Number, Gone: event.GoneFiles, Tasks: []string{s.Step.Task}}
}

// IsElsewhere reports whether the board with this digest is not the one that the journal knows, so
// that it is worth a [Rewind].
func (s *State) IsElsewhere(sha string) bool {
	step := s.Step
	return s.Frozen == nil && s.Last.BoardSHA != sha && (step == nil || step.BoardSHA != sha && step.Left != sha)
}

// MayHaveWritten reports whether an agent may have written the board since the last record, so that
// the board can stand as it did before without a checkout: it is a turn other than the work's, such
// as the Manager's, in which the board may well come back to an earlier form, or an attempt was
// running when the run died.
func (s *State) MayHaveWritten() bool {
	return s.Step != nil && (s.Step.Running != 0 || !s.Step.IsWork())
}

// LostMarks returns the event about tasks whose marks package walk has set, and which the list l
// marks as done no more, or nil if there are none. The marks that were lost in the turn of an agent
// are put back instead, unless isCommitted reports that the board is as the last commit has it: then
// it was checked out, and the open step does not count either.
func (s *State) LostMarks(board, sha string, l List, isCommitted func() bool) *event.WorkUndone {
	if s.Frozen != nil || s.Step != nil && s.Step.Left == sha {
		return nil
	}
	var lost []string
	for _, t := range s.Statuses {
		if !t.Marked || t.Status != StatusOK {
			continue
		}
		if i := l.Find(t.Task); i >= 0 && !l.Marked(i) && !l.Done(i) {
			lost = append(lost, t.Task)
		}
	}
	if lost == nil {
		return nil
	}
	e := &event.WorkUndone{Board: board, BoardSHA: sha, Tasks: lost}
	switch {
	case s.Step == nil:
	case isCommitted():
		e.Step, e.Gone = s.Step.Number, event.GoneMarks
	case s.Step.Running != 0:
		return nil
	}
	return e
}

func (s *State) applyWorkUndone(e event.WorkUndone) error {
	if s.Step != nil && s.Step.Running != 0 {
		return refuse(e, "an attempt is running")
	}
	gone := func(task string) bool {
		return slices.ContainsFunc(e.Tasks, func(t string) bool { return path.Clean(t) == path.Clean(task) })
	}
	s.Statuses = slices.DeleteFunc(slices.Clone(s.Statuses), func(t TaskStatus) bool { return gone(t.Task) })
	s.undoCheckpoints(gone, e.Step > 0)
	if e.Step == 0 {
		return nil
	}
	s.Step, s.Last, s.Marks, s.Session = nil, ManagerReply{BoardSHA: e.BoardSHA}, "", ""
	s.endAsDecided(event.Interrupted, e.Sentence().Text)
	s.Refused, s.Waiting, s.BlockedBy = nil, nil, ""
	s.Repeat, s.Visits, s.Turns, s.Quarantine = Repeat{}, nil, nil, nil
	s.Aside, s.Dropped, s.Replanned = nil, nil, nil
	return nil
}
