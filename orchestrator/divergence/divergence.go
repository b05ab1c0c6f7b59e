// Package divergence keeps the board as its Manager left it while others are at work. Only the
// Manager or a person may end a board (seed 004, "Communication Model"). A change by another agent, by
// the supervisor or by a program that hears of the end is journaled. It is put back, it stands, or a
// person decides about it, see the setting "on_divergence".
package divergence

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/ledger"
	"kanban-run/orchestrator/rundir"
)

// Turn has the parts of a run that a [Keeper] uses.
type Turn struct {
	Board        string // path of the board as the user wrote it
	Journal      Journal
	Workspace    Workspace
	Place        *board.Place
	Folder       rundir.Dir
	OnDivergence string
}

// Journal is the journal of the board.
type Journal interface {
	State() *flow.State
	Record(event.Event) error
}

// Workspace is the board of the run.
type Workspace interface {
	Look() (*board.Board, error)
	Forget()     // after this, the next look at the board reads the board's file
	SHA() string // SHA-256 of the board's bytes
	KeepBefore(*board.Board) error
	Before(sha string) (*board.Board, error)
	RestoreEnd(now, before *board.Board) (sha, done string, err error)
	PutBack(sha string) error
	PutBackSpoiled(sha string) (done string, err error)
}

// Keeper keeps the board of one run.
type Keeper struct{ Turn }

// NewKeeper returns the keeper of a run.
func NewKeeper(t Turn) *Keeper { return &Keeper{t} }

// Note journals a change of the board that was made outside of a Manager's turn. The board has the
// given SHA-256 now; unreadable is the error with which it cannot be read, or nil. Such a board does not
// stand: the step goes on once the earlier bytes are back.
func (k *Keeper) Note(sha string, unreadable error) error {
	step := k.Journal.State().Step
	if step == nil || step.Before != nil || sha == step.BoardSHA || k.Journal.State().Frozen != nil {
		return nil
	}
	d := k.divergence(step, sha, unreadable)
	if unreadable != nil && k.OnDivergence != event.PolicyFreeze {
		d.After = step.BoardSHA
	}
	return k.Journal.Record(d)
}

// EndTurn looks at the board after an attempt. Only the Manager or a person may end a board (seed
// 004, "Communication Model"). If another agent changed the end of the board, removed the file or
// left it unreadable, EndTurn puts the board back before the next act. With the setting
// "on_divergence: freeze" EndTurn freezes the board instead. Note journals any other change.
func (k *Keeper) EndTurn() error {
	step := k.Journal.State().Step
	if step == nil || step.Before != nil || k.Journal.State().Frozen != nil {
		return nil
	}
	now, unreadable := k.Workspace.Look()
	if durable.IsMachineFault(unreadable) || unreadable == nil && now.SHA == step.BoardSHA {
		return nil
	}
	before, err := k.Workspace.Before(step.BoardSHA)
	if err != nil {
		return nil // the earlier bytes are missing, so Note can only report the difference
	}
	switch {
	case k.OnDivergence == event.PolicyFreeze && unreadable != nil:
		return k.Journal.Record(k.divergence(step, k.Workspace.SHA(), unreadable))
	case unreadable != nil:
		return k.putBackSpoiled(step, unreadable)
	}
	changes := now.EndChanges(before)
	switch {
	case len(changes) == 0:
		return nil
	case k.OnDivergence == event.PolicyFreeze:
		return k.Journal.Record(k.divergence(step, now.SHA, nil))
	default:
		return k.restoreEnd(step, now, before, changes)
	}
}

// restoreEnd puts the end of the board back, and then journals the change. If the run dies in
// between, the next run finds a board with the right end.
func (k *Keeper) restoreEnd(step *flow.Step, now, before *board.Board, changes []string) error {
	sha, done, err := k.Workspace.RestoreEnd(now, before)
	if err != nil {
		return fmt.Errorf("put back the end of the board, which %s has changed: %w", step.Player(), err)
	}
	text := fmt.Sprintf("%s changed the end of %s while at work on %s (%s); "+
		"that is the Manager's or a person's, so %s", step.Player(), k.Board, step.Task, strings.Join(changes, ", "), done)
	return k.Journal.Record(diverged(step, sha, event.PolicyRestore, text))
}

// putBackSpoiled puts back a board that an agent removed or left unreadable. It journals the
// change.
func (k *Keeper) putBackSpoiled(step *flow.Step, unreadable error) error {
	what := "was removed"
	if !errors.Is(unreadable, fs.ErrNotExist) {
		what = fmt.Sprintf("was left so that it cannot be read (%v)", unreadable)
	}
	done, err := k.Workspace.PutBackSpoiled(step.BoardSHA)
	if err != nil {
		return err
	}
	return k.Journal.Record(diverged(step, step.BoardSHA, event.PolicyRestore,
		fmt.Sprintf("%s %s while %s was at work on %s; %s",
			k.Board, what, step.Player(), step.Task, done)))
}

// EndLostTurn does the work of EndTurn for the last turn of an earlier run. The parameter lost is
// true if the run died in that turn. In that case it is unknown whether an agent or a person
// changed the board since, so the Lead is asked about a changed end.
func (k *Keeper) EndLostTurn(lost bool) error {
	step := k.Journal.State().Step
	if step == nil || step.Before != nil {
		return nil
	}
	now, err := k.Workspace.Look()
	if err != nil || !lost && now.SHA != step.Left {
		return nil // the next look reports the fault, or a person has edited the board
	}
	if _, err := k.Workspace.Before(step.BoardSHA); err == nil && !lost {
		return k.EndTurn()
	}
	place := k.Place
	if !lost {
		place = nil // a person may have set marks since
	}
	if e := ledger.UnknownEnd(k.Folder, k.Board, now, place, k.Journal.State()); e != nil {
		return k.Journal.Record(*e)
	}
	return nil
}

// divergence returns the event of a change of the board outside of a Manager's turn. The setting
// on_divergence decides whether the change stands or freezes the board.
func (k *Keeper) divergence(step *flow.Step, sha string, unreadable error) event.StateDiverged {
	text := fmt.Sprintf("%s changed while %s was at work on %s; "+
		"only the Manager's turn may change it (earlier bytes: %s)",
		k.Board, step.Role, step.Task, k.Folder.Before())
	if unreadable != nil {
		text += "; it cannot be read any more"
	}
	return diverged(step, sha, k.OnDivergence, text)
}

func diverged(step *flow.Step, sha, policy, text string) event.StateDiverged {
	return event.StateDiverged{Source: event.SourceBoard, Step: step.Number, Task: step.Task, Before: step.BoardSHA,
		After: sha, Policy: policy, Text: text}
}
