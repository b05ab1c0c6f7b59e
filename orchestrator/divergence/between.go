package divergence

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/marks"
	"kanban-run/orchestrator/turns"
)

// lookBetween takes the board and the marks as they are between two turns of this board. What decides
// the board's end and came in an open turn of another board of the command does not count: lookBetween
// returns the event that asks a person, and takes nothing. Behind a turn of the Manager it takes the
// Manager's marks, and returns the event about them, or nil.
func (k *Keeper) lookBetween(b *board.Board, open []turns.Turn, look turns.Look) (e event.Event, err error) {
	claimed := k.Others.Claimed()
	now, err := k.reader.Read(b.TaskPaths())
	if err != nil {
		return nil, err
	}
	var theirs []string
	switch {
	case k.managers && k.before != nil:
		k.managers = false
		if e = k.managersMarks(now); e != nil {
			if now, err = k.reader.Read(b.TaskPaths()); err != nil {
				return e, err
			}
		}
	case k.before != nil && len(open) > 0:
		what, left := k.cameBetween(b, now, open, append(claimed, k.claimed...))
		if theirs = left; len(what) > 0 {
			return k.ask(b, what, open)
		}
		for _, edit := range k.reader.Edits() {
			at := k.reader.ChangedAt(edit.Task)
			if listed := marks.ChangedAt(k.Path); edit.IsNew && at.Before(listed) {
				at = listed // the file of a task may be older than its entry on the board
			}
			if (edit.IsNew || edit.From != edit.To) && len(turns.During(open, at, k.look)) > 0 {
				err = errors.Join(err, k.Give(edit.Task, open))
			}
		}
	}
	k.adopt(now, theirs...)
	k.Workspace.Count(b)
	k.look, k.claimed = look, claimed
	return e, err
}

// cameBetween returns in words what decides the end of the board and has come since the last look while
// turns of other boards were open. The result theirs has the tasks that other boards work on.
func (k *Keeper) cameBetween(b *board.Board, now *marks.Marks, open []turns.Turn, claimed []string) (what, theirs []string) {
	add := func(at time.Time, words ...string) {
		if len(turns.During(open, at, k.look)) > 0 { // else a person was it, while no agent was at work
			what = append(what, words...)
		}
	}
	if k.spoiled {
		what = append(what, "it cannot be read any more")
	}
	if before := k.Workspace.Counted(); before != nil && before.SHA != b.SHA {
		if changes := b.EndChanges(before); len(changes) > 0 {
			add(marks.ChangedAt(k.Path), changes...)
		}
	}
	step := k.Journal.State().Step
	for _, p := range now.Changed(k.before) {
		switch {
		case k.isTask(p, step), k.isDone(p), k.Others.IsDone(k.reader.File(p)):
		case k.isFile(p, claimed):
			theirs = append(theirs, p)
		default:
			add(k.reader.ChangedAt(p), "the mark in the header of "+p)
		}
	}
	return what, theirs
}

// ask returns the event that asks a person about what came between two turns. It keeps the board and
// the marks that count, for the case that they are to be put back. It names all turns that were open since
// the last look: what the clock says of a file may be of a later change.
func (k *Keeper) ask(b *board.Board, what []string, by []turns.Turn) (event.Event, error) {
	before := k.Workspace.Counted()
	if err := k.Workspace.KeepBefore(before); err != nil {
		return nil, err
	}
	if err := k.keepMarks(); err != nil {
		return nil, err
	}
	e := k.event(event.PolicyAsk)
	e.Source, e.Before, e.After, e.Marks, e.By = event.SourceBoard, before.SHA, b.SHA, k.sha, event.ByMark
	e.Text = fmt.Sprintf("what decides the end of %s came %s (%s)", k.Board, turns.While(k.Path, by), event.List(what, mostNamed))
	if !k.spoiled {
		e.Text += "; if that was you: kanban-run ack " + failure.Quote(k.Board) + " accept"
	}
	return e, nil
}

// managersMarks puts back what a Manager has marked whose reply does not count. It returns the event
// about that, or about tasks that the Manager has marked as done without work here, or nil.
func (k *Keeper) managersMarks(now *marks.Marks) event.Event {
	step := k.Journal.State().Step
	changed := slices.DeleteFunc(now.Changed(k.before), func(p string) bool {
		return k.isTask(p, step) || k.isDone(p) || k.isFile(p, k.claimed)
	})
	if step == nil || step.Before == nil || step.Reply != nil {
		changed = slices.DeleteFunc(changed, func(p string) bool { return !now.Of(p).Done })
		if len(changed) == 0 {
			return nil
		}
		e := k.event(event.PolicyAccept)
		e.Text = fmt.Sprintf("%s %s marked as done without work here in the Manager's turn", event.List(changed, mostNamed), wereOf(len(changed)))
		return e
	}
	if len(changed) == 0 {
		return nil
	}
	return k.putMarksBack(changed, "in the turn of the Manager, whose reply does not count")
}

// adopt makes marks count, but for those of the given tasks. The mark of the open step's task stays as
// it was before the step, too, until the work on it is accepted as ok.
func (k *Keeper) adopt(now *marks.Marks, but ...string) {
	for _, p := range but {
		now = now.With(p, k.before.Of(p))
	}
	step := k.Journal.State().Step
	if k.before != nil && step != nil && step.Started > 0 && step.TaskStatus != flow.StatusOK {
		for _, p := range now.Changed(k.before) {
			if k.isTask(p, step) {
				now = now.With(p, k.before.Of(p))
			}
		}
	}
	k.count(now)
}

// count makes marks the ones that count.
func (k *Keeper) count(m *marks.Marks) {
	if m != k.before {
		k.before, k.sha = m, m.SHA()
	}
}
