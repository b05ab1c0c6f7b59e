package ledger

import (
	"fmt"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/rundir"
)

// isAboutFile says whether the Lead decides which bytes of the board's file stand: it was frozen since
// they changed. Where it cannot be told who ended the board, there is no other decision.
func (a *arbitration) isAboutFile() bool {
	f := a.history.State.Frozen
	if f == nil || f.Git != nil || a.history.Custody.Locked != "" || a.history.Contradiction() != "" {
		return false
	}
	return f.Asks || a.answer.Choice == flow.Accept || a.answer.Choice == flow.Retry
}

// settleFile does what the Lead chose. The board is put back before the choice is journaled: where
// that fails, it is still frozen.
func (a *arbitration) settleFile(e flow.Acknowledged, text string) (Question, error) {
	q := Question{Text: text, File: true, Open: a.answer.Choice == "", Diff: a.boardDiff()}
	if a.answer.Choice == flow.Accept {
		e.Text = "the board stands as it is, says the Lead"
	}
	if a.answer.Choice != flow.Retry {
		if q.Open || a.answer.Ask {
			return q, nil
		}
		return q, a.recordDecision(e)
	}
	before, err := a.beforeTurn()
	if err != nil {
		return q, err
	}
	q.Diff = unified(a.board, a.before.Source, "as the turn began", before.Source)
	if a.answer.Ask {
		return q, nil
	}
	if err := rundir.OverwriteFile(a.dir.After(), a.before.Source); err != nil {
		return q, fmt.Errorf("keep the board's bytes: %w", err)
	}
	if err := board.Save(a.path, before.Source); err != nil {
		return q, err
	}
	e.BoardSHA, e.Text = before.SHA, "the board is put back as the turn began, says the Lead"
	return q, a.recordDecision(e)
}

// beforeTurn is the board as the turn began in which it was changed. Errors: *failure.Invalid.
func (a *arbitration) beforeTurn() (*board.Board, error) {
	sha := a.began
	if step := a.history.State.Step; step != nil && step.Before != nil { // the Manager's
		sha = step.Before.BoardSHA
	}
	source, err := board.ReadFile(a.dir.Before())
	if err != nil || board.SHA(source) != sha {
		return nil, &failure.Invalid{Err: fmt.Errorf("the bytes of %s as the turn began are not in %s any more", a.board, a.dir.Before()),
			Fix: "mend the board by hand, then kanban-run ack " + a.path + " accept"}
	}
	return board.Parse(a.path, source)
}
