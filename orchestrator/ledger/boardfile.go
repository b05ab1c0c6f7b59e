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

// isAboutFile reports whether the Lead chooses between the old and the new bytes of the board's
// file. There is such a choice if their change froze the board, or if either an agent or a person
// has ended the board, and the journal cannot tell which of them.
func (a *arbitration) isAboutFile() bool {
	if a.unknown != nil {
		return true
	}
	f := a.history.Freeze()
	return f != nil && f.Git == nil &&
		(f.Asks || a.answer.Choice == event.Accept || a.answer.Choice == event.Retry)
}

// foresee checks whether an unknown author has ended the board, if the last run died in the turn of
// an agent. The next run would begin with this check, too, but the Lead can then decide about the
// end before that run.
func (a *arbitration) foresee() error {
	s := a.history.State
	if a.history.Standstill() != "" || a.broken != nil {
		return nil
	}
	var events []event.Event
	lost, err := flow.CloseAttempt(&s, func(e event.Event) error {
		events = append(events, e)
		return s.Apply(e)
	})
	if err != nil || !lost {
		return err
	}
	if e := UnknownEnd(a.dir, a.board, a.before, s.Step); e != nil {
		a.unknown, a.began = append(events, *e), e.Before
	}
	return nil
}

// settleFile carries out the Lead's choice about the board's file. It restores the board before it
// journals the choice: if the restoring fails, the board is still frozen.
func (a *arbitration) settleFile(e event.Acknowledged, text string) (Question, error) {
	q := Question{Text: text, File: true, Open: a.answer.Choice == "", Diff: a.boardDiff()}
	switch {
	case q.Open:
		return q, nil
	case a.answer.Choice == event.Accept && a.broken != nil:
		return q, &failure.Invalid{
			Err: a.broken,
			Fix: "kanban-run ack " + failure.Quote(a.path) + " retry puts it back as the turn began",
		}
	case a.answer.Choice == event.Accept && a.answer.Ask:
		return q, nil
	case a.answer.Choice == event.Accept:
		e.Text = "the board stands as it is, says the Lead"
		return q, a.recordDecision(e)
	case a.answer.Choice != event.Retry:
		return q, &failure.Invalid{
			Err: fmt.Errorf("%s is no choice here: %s", a.answer.Choice, text),
			Fix: "kanban-run ack " + failure.Quote(a.path) + " shows the choices",
		}
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
	if err := a.putBack(before); err != nil {
		return q, err
	}
	e.BoardSHA, e.Text = before.SHA, "the board is put back as the turn began, says the Lead"
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

// beforeTurn returns the board at the start of the turn in which it was changed. Errors:
// *failure.Invalid.
func (a *arbitration) beforeTurn() (*board.Board, error) {
	sha := a.began
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

// UnknownEnd returns the divergence of a board whose end was changed after its run died in the turn
// of an agent. It returns nil if the end is unchanged, or if the turn was the Manager's. If the
// board's earlier bytes are gone, any change of the board counts.
func UnknownEnd(dir rundir.Dir, name string, now *board.Board, step *flow.Step) *event.StateDiverged {
	if step == nil || step.Before != nil || now.SHA == step.BoardSHA { // a Manager may end the board
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
