package orchestrator

import (
	"errors"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/call"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failpoint"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/result"
	"kanban-run/orchestrator/workspace"
)

// readBoard reads the board, which is the source of truth in every round (seed 004, "Communication
// Model"). It journals a change that was made outside of a Manager's turn. b is nil if the board is
// frozen.
func (l *loop) readBoard() (b *board.Board, view flow.Board, err error) {
	step := l.ledger.State().Step
	b, err = l.workspace.Read(step)
	sha := ""
	if err == nil {
		sha = b.SHA
	} else {
		sha = l.workspace.SHA()
	}
	// known is false if the file could not be read because of a fault of this machine.
	known := sha != "" || result.Of(l.stop, err).Outcome == event.Invalid
	if known {
		if err := l.divergence.Note(b, sha, err); err != nil {
			return nil, view, err
		}
	}
	if l.ledger.State().Frozen != nil {
		return nil, flow.Board{SHA: sha}, nil
	}
	if err != nil {
		return nil, view, err
	}
	view, err = l.view(b)
	// If a checkpoint stops the run, a person has to decide about it before the error counts.
	if err != nil && l.ledger.State().Supervisor.Waits() != "" {
		return b, workspace.Bare(b), nil
	}
	return b, view, err
}

// view returns the facts about the board that package flow needs, with the roles of this run.
func (l *loop) view(b *board.Board) (flow.Board, error) {
	view, err := l.workspace.View(b, l.ledger.State(), func(role string) (string, error) {
		p, err := l.job.Player(role)
		if err != nil {
			return "", err
		}
		return p.Role.Name, nil
	})
	view.Bound = l.member.Bound()
	return view, err
}

// takeEdit adapts the open step to a board that a person edited during a wait. [flow.Reopen] does
// the same between two runs.
func (l *loop) takeEdit() error {
	b, err := l.workspace.Look()
	if err != nil {
		return nil // readBoard reports the error
	}
	if err := l.divergence.Look(b); err != nil || l.ledger.State().Frozen != nil {
		return err
	}
	view := func() (flow.Board, error) { return l.view(b) }
	return flow.ReopenAfterWait(l.ledger.State(), workspace.Bare(b), view, l.ledger.Record)
}

// writeBoard writes the Manager's reply onto the board, except for the part that the Manager has
// written itself, and finishes the step.
func (l *loop) writeBoard(b *board.Board) error {
	step := l.ledger.State().Step
	if step.Walked != nil {
		return l.finishWalked(step, b)
	}
	d, err := l.caller.Decision(step, b)
	if err != nil {
		return err
	}
	decided, err := l.workspace.Decide(b, l.ledger.State(), d)
	if err != nil {
		return err
	}
	if decided.Board != b {
		l.workspace.Forget()
		now, err := l.workspace.Look()
		if err != nil {
			return err
		}
		if now.SHA != b.SHA {
			return nil // the file was changed since b was read, and readBoard has to look at it
		}
		if err := l.replaceBoard(step, b, decided.Board); err != nil {
			return err
		}
	}
	left := call.Left{BoardSHA: decided.Board.SHA, Warning: decided.Warning, Change: decided.Change}
	// If the board was changed after the reply was accepted, the file stays as it is. The event
	// keeps the SHA-256 from before the change, so that the changed board does not count as the
	// Manager's work.
	if decided.Disagreement != "" {
		left.BoardSHA = step.Reply.Left
	}
	return errors.Join(l.caller.FinishStep(step, left), l.claims.Release())
}

// replaceBoard writes the board. It journals the intent before and the outcome afterwards.
func (l *loop) replaceBoard(step *flow.Step, b, after *board.Board) error {
	intent := event.BoardWriteStarted{Step: step.Number, Task: step.Task, Before: b.SHA, After: after.SHA}
	if err := l.ledger.Record(intent); err != nil {
		return err
	}
	failpoint.At("board-intent")
	if err := l.workspace.Save(after); err != nil {
		return err
	}
	failpoint.At("board-written")
	return l.ledger.Append(event.BoardWritten{Step: step.Number, Task: step.Task, BoardSHA: after.SHA})
}
