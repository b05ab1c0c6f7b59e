package ledger

import (
	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/workspace"
)

// settleClone carries out a decision about a clone that does not stand where the work does. The next run acts by it.
func (a *arbitration) settleClone(q Question, e event.Acknowledged) (Question, error) {
	asks := a.history.State.Clone.Asks
	after := a.before
	switch {
	case asks.Why != event.CloneTakenBack && e.Choice == event.Accept:
		e.Text = "the files of the clone count as they are, as you decided"
	case asks.Why != event.CloneTakenBack:
		e.Text = "the clone is to be made anew, as you decided"
	case e.Choice == event.Retry:
		e.Text, e.BoardSHA = event.List(asks.Tasks, mostNamed)+" is to be done again, as you decided", after.SHA
		if q.Done = e.Text; a.answer.Ask {
			return q, nil
		}
		return q, a.recordDecision(event.WorkUndone{Board: a.board, BoardSHA: after.SHA, Step: asks.Step, Tasks: asks.Tasks}, e)
	default:
		e.Text = event.List(asks.Tasks, mostNamed) + " counts as done, as you decided"
		var err error
		if after, err = a.markDone(); err != nil {
			return q, &failure.Invalid{Err: err, Fix: "mark on the board what is done, and set current; then kanban-run " + failure.Quote(a.path)}
		}
	}
	return a.record(q, e, after)
}

// markDone returns the board with all tasks marked whose work was accepted, and with the task as current that is next.
func (a *arbitration) markDone() (after *board.Board, err error) {
	s := &a.history.State
	list := workspace.ListAt(a.path, s.Workdir, a.before)
	after = a.before
	for _, t := range s.Statuses {
		i := list.Find(t.Task)
		if i < 0 || !t.IsDone() || list.Marked(i) || list.Done(i) {
			continue
		}
		if after, err = after.MarkDone(i); err != nil {
			return nil, err
		}
	}
	next := s.Last.Next
	if s.Step != nil {
		next = s.Step.Task
	}
	if open := a.rest().Open; list.Find(next) < 0 && len(open) > 0 {
		next = open[0].Task
	}
	if list.Find(next) < 0 {
		return after.Splice(board.Edit{Null: true})
	}
	return after.Splice(board.Edit{Current: a.spelled(next)})
}
