package ledger

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/marks"
	"kanban-run/orchestrator/rundir"
	"kanban-run/orchestrator/workspace"
)

// settleFile carries out the Lead's choice about the board's file. It journals the choice last, so
// that the board stays frozen if it cannot be restored.
func (a *arbitration) settleFile(q Question, e event.Acknowledged) (Question, error) {
	q.Diff = a.boardDiff()
	switch e.Choice {
	case "":
		return q, nil
	case event.Accept:
		return a.letStand(q, e)
	}
	before, err := a.beforeTurn()
	if err != nil {
		return q, err
	}
	q.Diff = Unified(a.board, a.before.Source, a.history.State.Frozen.Earlier(), before.Source)
	e.BoardSHA, e.Text = before.SHA, "the board is put back "+a.history.State.Frozen.Earlier()+", as you decided"
	if q.Done = e.Text; a.answer.Ask {
		return q, nil
	}
	if err := rundir.OverwriteFile(a.dir.After(), a.before.Source); err != nil {
		return q, fmt.Errorf("keep the board's bytes: %w", err)
	}
	if err := a.putBackMarks(before); err != nil { // before the board: if the marks are not known, nothing is put back
		return q, err
	}
	if err := a.putBack(before); err != nil {
		return q, err
	}
	return q, a.recordDecision(e)
}

// putBackMarks gives the headers of the tasks of a board the marks that they had as the turn began.
func (a *arbitration) putBackMarks(before *board.Board) error {
	place, err := workspace.PlaceOf(a.path, a.history.State.Workdir, a.before)
	if err != nil {
		return err
	}
	err = marks.Restore(place, a.dir, before.TaskPaths(), a.history.State.Marks)
	if errors.Is(err, marks.ErrUnknown) {
		return &failure.Invalid{Err: err, Fix: "mend the headers of the tasks by hand, then kanban-run ack " + failure.Quote(a.path) + " accept"}
	}
	return err
}

// letStand carries out the Lead's choice to let a frozen board stand as it is. If the board has
// ended with tasks undone, they are not settled by that, and the board says that it is incomplete.
// The task that the choice names counts as done.
func (a *arbitration) letStand(q Question, e event.Acknowledged) (Question, error) {
	task := e.Task
	e.Task, e.Text = "", "the board stands as it is, as you decided"
	s := &a.history.State
	if !a.question.IsUnknown && a.broken == nil {
		e.Dropped = a.lostTasks()
	}
	rest := s.RestAfterStep(workspace.ListAt(a.path, s.Workdir, a.before), e.Dropped...)
	if a.question.IsUnknown || a.broken != nil || !a.before.Terminal() || len(rest.Open) == 0 {
		if q.Done = e.Text; a.answer.Ask {
			return q, nil
		}
		return q, a.recordDecision(e)
	}
	e.Left = flow.IncompleteText + rest.Undone()
	events := []event.Acknowledged{e}
	if task != "" {
		settled := event.Acknowledged{Board: e.Board, Note: e.Note, About: event.AboutEnd, Choice: event.Accept, Task: task,
			Text: event.Accept.Settles(task)}
		rest.Open = slices.DeleteFunc(rest.Open, func(t flow.TaskStatus) bool { return t.Task == task })
		if len(rest.Open) > 0 {
			settled.Left = flow.IncompleteText + rest.Undone()
		}
		events = append(events, settled)
	}
	return a.endAsLeft(q, events)
}

// lostTasks returns the undone tasks that left the list of a frozen board in the turn in which it was
// changed. They are not settled by a person's word that the file stands as it is.
func (a *arbitration) lostTasks() (lost []string) {
	before, err := a.beforeTurn()
	if err != nil {
		return nil // what was on the list is not known any more
	}
	find, s := a.before.Finder(), &a.history.State
	for i, p := range before.TaskPaths() {
		if find(p) < 0 && !before.Entry(i).Done() && !s.IsDone(p) {
			lost = append(lost, p)
		}
	}
	return lost
}

// endAsLeft journals the decisions about a board that stays ended, and then writes onto the board
// what they leave undone.
func (a *arbitration) endAsLeft(q Question, events []event.Acknowledged) (Question, error) {
	q.Left = events[len(events)-1].Left
	after := a.before
	if incomplete := flow.EndedIncomplete; q.Left != "" && a.before.CanWriteEnded() {
		var err error
		if after, err = a.edited(board.Edit{Ended: &incomplete}); err != nil {
			return q, err
		}
	}
	var all []event.Event
	var said []string
	for _, e := range events {
		e.BoardSHA = after.SHA
		all, said = append(all, e), append(said, e.Text)
	}
	if q.Done = strings.Join(said, "; "); a.answer.Ask {
		return q, nil
	}
	if err := a.recordDecision(all...); err != nil || after == a.before {
		return q, err
	}
	return q, board.Save(a.path, after.Source)
}

// putBack restores the board. If the board cannot be read, putBack first removes a link or a folder
// in the place of its file.
func (a *arbitration) putBack(before *board.Board) error {
	if a.broken == nil {
		return board.Save(a.path, before.Source)
	}
	if err := rundir.RemoveForeign(a.path); err != nil {
		return err
	}
	return durable.WriteFile(a.path, before.Source, 0o644)
}

// beforeTurn returns the board as it was before the turn in which it was changed. Errors:
// *failure.Invalid.
func (a *arbitration) beforeTurn() (*board.Board, error) {
	sha := shaBeforeTurn(&a.history)
	if sha == "" || sha == a.before.SHA {
		return a.before, nil // only the marks of tasks were changed
	}
	before, err := board.ReadCopy(a.dir.Before(), a.path, sha)
	if err != nil {
		return nil, &failure.Invalid{
			Err: fmt.Errorf("the bytes of %s as the turn began are not in %s any more", a.board, a.dir.Before()),
			Fix: "mend the board by hand, then kanban-run ack " + failure.Quote(a.path) + " accept",
		}
	}
	return before, nil
}

// shaBeforeTurn returns the SHA-256 of the board before the turn in which it was changed, or "".
func shaBeforeTurn(h *flow.History) string {
	s := &h.State
	if step := s.Step; step != nil && step.Before != nil && (s.Frozen == nil || s.Frozen.By == "") { // the turn was the Manager's
		return step.Before.BoardSHA
	}
	return h.Before
}

// UnknownEnd returns a divergence if a run died in the turn of an agent, and the end of the board
// (see [board.Board.EndChanges]) has changed since that turn began. It returns nil if the turn was
// the Manager's, because the Manager is allowed to end the board. If the board's earlier bytes are
// gone, any change of the board counts. The marks in the headers of other tasks than the one of the
// turn are treated in the same way. place is nil if the work directory cannot be opened.
func UnknownEnd(dir rundir.Dir, name string, now *board.Board, place *board.Place, s *flow.State) *event.StateDiverged {
	step := s.Step
	if step == nil || step.Before != nil {
		return nil
	}
	what := unknownMarks(dir, place, now, s)
	if now.SHA != step.BoardSHA {
		before, err := board.ReadCopy(dir.Before(), name, step.BoardSHA)
		if err != nil {
			what = append(what, "its earlier bytes are gone")
		} else if changes := now.EndChanges(before, before.Spelled(step.Task)); len(changes) > 0 {
			what = append(what, strings.Join(changes, ", "), "earlier bytes: "+dir.Before())
		}
	}
	if len(what) == 0 {
		return nil
	}
	if now.SHA == step.BoardSHA {
		name = "a task of " + name
	}
	return &event.StateDiverged{
		Source: event.SourceBoard,
		Step:   step.Number,
		Task:   step.Task,
		Before: step.BoardSHA,
		After:  now.SHA,
		Policy: event.PolicyAsk,
		Text: fmt.Sprintf("%s has changed since the run died while %s was at work on %s (%s): "+
			"it cannot be told whether the agent or a person ended it", name, step.CallRole(), step.Task, strings.Join(what, "; ")),
	}
}

// UnknownBehind returns the event for a board whose end has changed while the programs that hear of
// the end of its last run may still have been at work, because that run was killed then. It returns
// nil if nothing is unknown.
func UnknownBehind(dir rundir.Dir, name string, now *board.Board, s *flow.State) *event.StateDiverged {
	return UnknownSince(dir, name, now, s.Behind, "has changed since the end of a run that was killed while programs heard of the end")
}

// UnknownSince returns the event for a board whose end has changed since it had the given SHA-256, in
// a time in which agents and persons could have done so. The parameter when says that in words. It
// returns nil if nothing is unknown, or sha is "".
func UnknownSince(dir rundir.Dir, name string, now *board.Board, sha, when string) *event.StateDiverged {
	if sha == "" || now.SHA == sha {
		return nil
	}
	what := "its earlier bytes are gone"
	if before, err := board.ReadCopy(dir.Before(), name, sha); err == nil {
		changes := now.EndChanges(before)
		if len(changes) == 0 {
			return nil
		}
		what = strings.Join(changes, ", ") + "; earlier bytes: " + dir.Before()
	}
	return &event.StateDiverged{
		Source: event.SourceBoard, Task: name, Before: sha, After: now.SHA, Policy: event.PolicyAsk,
		Text: fmt.Sprintf("%s %s (%s): it cannot be told whether an agent or a person changed it", name, when, what),
	}
}

// unknownMarks returns in words the marks in the headers of tasks that have changed since the turn
// in which a run died, without the one of the turn's own task.
func unknownMarks(dir rundir.Dir, place *board.Place, now *board.Board, s *flow.State) []string {
	if place == nil {
		return nil
	}
	changed, known := marks.ChangedSince(place, dir, now.TaskPaths(), s.Marks, s.Step.Task)
	changed = slices.DeleteFunc(changed, s.IsDone)
	switch {
	case !known:
		return []string{"the earlier marks of its tasks are gone"}
	case len(changed) > 0:
		return []string{"the mark in the header of " + event.List(changed, 3)}
	default:
		return nil
	}
}

// IsDone reports whether the journal of a board says that its work on a task replied ok, by the paths of
// their files.
func IsDone(boardPath, file string) bool {
	h, _, err := Fold(rundir.Of(boardPath), nil)
	if err != nil {
		return false // it has no run
	}
	s := &h.State
	same := func(task string) bool { return filepath.Join(s.Workdir, filepath.FromSlash(task)) == file }
	if step := s.Step; step != nil && step.TaskStatus == flow.StatusOK && same(step.Task) {
		return true
	}
	return slices.ContainsFunc(s.Statuses, func(t flow.TaskStatus) bool { return t.IsDone() && same(t.Task) })
}
