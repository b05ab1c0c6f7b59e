package orchestrator

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/workspace"
)

// endTurn looks at the board behind an attempt. Its end is the Manager's or a person's (seed 004,
// "Communication Model": the Manager updates the kanban): what another agent has changed of that is
// put back before anything follows from it, however this run ends. The rest of a change is journaled
// by readBoard. With on_divergence: freeze nothing is put back, and the board is frozen.
func (l *loop) endTurn() error {
	step := l.State().Step
	if step == nil || step.Before != nil || l.State().Frozen != nil {
		return nil
	}
	now, err := l.Workspace.Look()
	if errors.Is(err, fs.ErrNotExist) && l.OnDivergence == flow.PolicyAccept {
		return l.putBackRemoved(step)
	}
	if err != nil || now.SHA == step.BoardSHA {
		return nil // readBoard says what is wrong with it
	}
	before, err := l.Workspace.Before(step.BoardSHA)
	if err != nil {
		return nil // all that can be told is that it differs, which readBoard does
	}
	changes := now.EndChanges(before)
	if len(changes) == 0 {
		return nil
	}
	if l.OnDivergence == flow.PolicyFreeze {
		return l.Ledger.Record(l.divergence(step, now.SHA, nil))
	}
	return l.restoreEnd(step, now, before, changes)
}

// restoreEnd puts the end of the board back, and then journals that: where the run dies in between,
// the next one finds the end that it had.
func (l *loop) restoreEnd(step *flow.Step, now, before *board.Board, changes []string) error {
	sha, whole, err := l.Workspace.RestoreEnd(now, before)
	if err != nil {
		return fmt.Errorf("put back the end of the board, which %s has changed: %w", step.CallRole(), err)
	}
	what := "that is put back"
	if whole {
		what = "all of the file is put back"
	}
	return l.Ledger.Record(l.restored(step, sha, fmt.Sprintf("STATE_DIVERGENCE: %s changed the end of %s while at work on %s (%s); that is the Manager's or a person's, so %s (as it was left: %s)",
		step.CallRole(), l.Board, step.Task, strings.Join(changes, ", "), what, l.Folder.After())))
}

// putBackRemoved puts a board back that an agent removed, and journals that. Without its earlier
// bytes the board is missing.
func (l *loop) putBackRemoved(step *flow.Step) error {
	if _, err := l.Workspace.Before(step.BoardSHA); err != nil {
		return nil
	}
	if err := l.Workspace.PutBack(step.BoardSHA); err != nil {
		return err
	}
	return l.Ledger.Record(l.restored(step, step.BoardSHA, fmt.Sprintf("STATE_DIVERGENCE: %s was removed while %s was at work on %s; its earlier bytes are put back from %s",
		l.Board, step.Role, step.Task, l.Folder.Before())))
}

// endLostTurn is endTurn for the last turn of an earlier run. Where that run died in it, it cannot
// be told who has changed the board since: if its end is another one, the Lead is asked.
func (l *loop) endLostTurn(lost bool) error {
	step := l.State().Step
	if step == nil || step.Before != nil {
		return nil
	}
	now, err := l.Workspace.Look()
	if err != nil || !lost && now.SHA != step.Left {
		return nil // readBoard says what is wrong with it, or a person has edited it
	}
	if _, err := l.Workspace.Before(step.BoardSHA); err == nil && !lost {
		return l.endTurn()
	}
	if e := workspace.UnknownEnd(l.Folder, l.Board, now, step); e != nil {
		return l.Ledger.Record(*e)
	}
	return nil
}

// divergence is a change of the board in another turn than the Manager's, which stands or freezes
// the board.
func (l *loop) divergence(step *flow.Step, sha string, unreadable error) flow.StateDiverged {
	text := fmt.Sprintf("STATE_DIVERGENCE: %s changed while %s was at work on %s; only the Manager's turn may change it (earlier bytes: %s)",
		l.Board, step.Role, step.Task, l.Folder.Before())
	if unreadable != nil {
		text += "; it cannot be read any more"
	}
	e := l.restored(step, sha, text)
	e.Policy = l.OnDivergence
	return e
}

// restored is such a change that is taken back.
func (l *loop) restored(step *flow.Step, sha, text string) flow.StateDiverged {
	return flow.StateDiverged{Source: flow.SourceBoard, Step: step.Number, Task: step.Task, Before: step.BoardSHA, After: sha, Policy: flow.PolicyRestore, Text: text}
}
