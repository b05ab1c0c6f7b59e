package divergence

import (
	"errors"
	"fmt"
	"strings"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/ledger"
)

// During calls the function act, in which the supervisor and persons can change the board. If the
// board's end was changed then, a person decides, and nothing is put back. The parameter when says in
// words when the board was changed.
func (k *Keeper) During(act func() error, when string) error {
	b, err := k.Workspace.Look()
	if err != nil {
		return errors.Join(err, act())
	}
	if err := errors.Join(k.Workspace.KeepBefore(b), act()); err != nil {
		return err
	}
	k.Workspace.Forget()
	now, err := k.Workspace.Look()
	if err != nil {
		return err
	}
	changed := ledger.UnknownSince(k.Folder, k.Board, now, b.SHA, when)
	if changed == nil {
		return nil
	}
	return k.Journal.Record(*changed)
}

// Keep keeps the board as it is at the end of the run, and returns its SHA-256. It returns "" if the
// board cannot be kept, or is frozen: a person decides about that one, with the bytes that are kept.
func (k *Keeper) Keep() string {
	if k.Journal.State().Frozen != nil {
		return ""
	}
	b, err := k.Workspace.Look()
	if err != nil || k.Workspace.KeepBefore(b) != nil {
		return ""
	}
	return b.SHA
}

// MarksBehind puts back what the programs that hear of the end of a run have changed in the headers of
// tasks, and keeps which tasks they gave to another role. while says in words when that was.
func (k *Keeper) MarksBehind(while string) error {
	k.reroled = nil
	if k.before == nil || k.Journal.State().Frozen != nil {
		return nil
	}
	now, err := k.reader.Read(k.before.List())
	if err != nil {
		return err
	}
	err = k.holdHeaders(k.reader.Edits(), while)
	if changed := now.Changed(k.before); len(changed) > 0 {
		err = errors.Join(err, k.Journal.Record(k.putMarksBack(changed, while)))
	}
	return err
}

// PutBackBehind puts back what decides the end of the board if it has changed since the board had the
// given SHA-256, while programs heard of the end. It returns the SHA-256 of the board, and a text that
// tells of the change, or "". while says in words when that was.
func (k *Keeper) PutBackBehind(sha, while string) (left, text string, err error) {
	k.Workspace.Forget()
	now, unreadable := k.Workspace.Look()
	before, lost := k.Workspace.Before(sha)
	if unreadable == nil && (now.SHA == sha || lost != nil) {
		return now.SHA, "", nil
	}
	if unreadable != nil {
		done, err := k.Workspace.PutBackSpoiled(sha)
		return sha, fmt.Sprintf("%s was left so that it cannot be read %s; %s", k.Board, while, done), err
	}
	changes := now.EndChanges(before)
	if len(changes) == 0 {
		return now.SHA, "", nil
	}
	left, done, err := k.Workspace.RestoreEnd(now, before)
	text = fmt.Sprintf("the end of %s changed %s (%s), so %s%s", k.Board, while, strings.Join(changes, ", "), done, k.wayOfEntries(now, before, ""))
	return left, text, err
}

// PutBackEnd does what End does for the board, in a turn that cannot be journaled. Only the run that
// goes on asks a person.
func (k *Keeper) PutBackEnd() error {
	step := k.Journal.State().Step
	if step == nil || step.Before != nil || k.OnDivergence == event.PolicyFreeze {
		return nil
	}
	k.Workspace.Forget()
	before, err := k.Workspace.Before(step.BoardSHA)
	if err != nil {
		return nil
	}
	if now, err := k.Workspace.Look(); err == nil && len(now.EndChanges(before)) == 0 {
		return nil
	}
	return k.Workspace.PutBack(step.BoardSHA)
}
