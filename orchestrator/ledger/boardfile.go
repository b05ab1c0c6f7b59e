package ledger

import (
	"fmt"
	"strings"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/rundir"
)

// settleFile carries out the Lead's choice about the board's file. It journals the choice last, so
// that the board stays frozen if it cannot be restored.
func (a *arbitration) settleFile(q Question, e event.Acknowledged) (Question, error) {
	q.Diff = a.boardDiff()
	switch e.Choice {
	case "":
		return q, nil
	case event.Accept:
		e.Text = "the board stands as it is, says the Lead"
		if q.Done = e.Text; a.answer.Ask {
			return q, nil
		}
		return q, a.recordDecision(e)
	}
	before, err := a.beforeTurn()
	if err != nil {
		return q, err
	}
	q.Diff = unified(a.board, a.before.Source, "as the turn began", before.Source)
	e.BoardSHA, e.Text = before.SHA, "the board is put back as the turn began, says the Lead"
	if q.Done = e.Text; a.answer.Ask {
		return q, nil
	}
	if err := rundir.OverwriteFile(a.dir.After(), a.before.Source); err != nil {
		return q, fmt.Errorf("keep the board's bytes: %w", err)
	}
	if err := a.putBack(before); err != nil {
		return q, err
	}
	return q, a.recordDecision(e)
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
	sha := a.shaBefore
	if step := a.history.State.Step; step != nil && step.Before != nil { // the turn was the Manager's
		sha = step.Before.BoardSHA
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

// UnknownEnd returns a divergence if a run died in the turn of an agent, and the end of the board
// (see [board.Board.EndChanges]) has changed since that turn began. It returns nil if the turn was
// the Manager's, because the Manager is allowed to end the board. If the board's earlier bytes are
// gone, any change of the board counts.
func UnknownEnd(dir rundir.Dir, name string, now *board.Board, step *flow.Step) *event.StateDiverged {
	if step == nil || step.Before != nil || now.SHA == step.BoardSHA {
		return nil
	}
	what := "its earlier bytes are gone"
	if before, err := board.ReadCopy(dir.Before(), name, step.BoardSHA); err == nil {
		changes := now.EndChanges(before)
		if len(changes) == 0 {
			return nil
		}
		what = strings.Join(changes, ", ") + "; earlier bytes: " + dir.Before()
	}
	return &event.StateDiverged{
		Source: event.SourceBoard,
		Step:   step.Number,
		Task:   step.Task,
		Before: step.BoardSHA,
		After:  now.SHA,
		Policy: event.PolicyAsk,
		Text: fmt.Sprintf("STATE_DIVERGENCE: %s has changed since the run died while %s was at work on %s (%s): "+
			"it cannot be told whether the agent or a person ended it", name, step.CallRole(), step.Task, what),
	}
}
