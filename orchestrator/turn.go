package orchestrator

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/call"
	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/ledger"
	"kanban-run/orchestrator/preflight"
	"kanban-run/orchestrator/rundir"
)

// endTurn looks at the board after an attempt. Only the Manager or a person may end a board (seed
// 004, "Communication Model"). If another agent changed the end of the board, removed the file or
// left it unreadable, endTurn puts the board back before the next act. With the setting
// "on_divergence: freeze" endTurn freezes the board instead. readBoard journals any other change.
func (l *loop) endTurn() error {
	step := l.ledger.State().Step
	if step == nil || step.Before != nil || l.ledger.State().Frozen != nil {
		return nil
	}
	now, unreadable := l.workspace.Look()
	if durable.IsMachineFault(unreadable) || unreadable == nil && now.SHA == step.BoardSHA {
		return nil
	}
	before, err := l.workspace.Before(step.BoardSHA)
	if err != nil {
		return nil // the earlier bytes are missing, so readBoard can only report the difference
	}
	switch {
	case l.job.OnDivergence == event.PolicyFreeze && unreadable != nil:
		return l.ledger.Record(l.divergence(step, l.workspace.SHA(), unreadable))
	case unreadable != nil:
		return l.putBackSpoiled(step, unreadable)
	}
	changes := now.EndChanges(before)
	switch {
	case len(changes) == 0:
		return nil
	case l.job.OnDivergence == event.PolicyFreeze:
		return l.ledger.Record(l.divergence(step, now.SHA, nil))
	default:
		return l.restoreEnd(step, now, before, changes)
	}
}

// restoreEnd puts the end of the board back, and then journals the change. If the run dies in
// between, the next run finds a board with the right end.
func (l *loop) restoreEnd(step *flow.Step, now, before *board.Board, changes []string) error {
	sha, done, err := l.workspace.RestoreEnd(now, before)
	if err != nil {
		return fmt.Errorf("put back the end of the board, which %s has changed: %w", step.Player(), err)
	}
	text := fmt.Sprintf("STATE_DIVERGENCE: %s changed the end of %s while at work on %s (%s); "+
		"that is the Manager's or a person's, so %s", step.Player(), l.job.Board, step.Task, strings.Join(changes, ", "), done)
	return l.ledger.Record(diverged(step, sha, event.PolicyRestore, text))
}

// putBackSpoiled puts back a board that an agent removed or left unreadable. It journals the
// change.
func (l *loop) putBackSpoiled(step *flow.Step, unreadable error) error {
	what := "was removed"
	if !errors.Is(unreadable, fs.ErrNotExist) {
		what = fmt.Sprintf("was left so that it cannot be read (%v)", unreadable)
	}
	done, err := l.workspace.PutBackSpoiled(step.BoardSHA)
	if err != nil {
		return err
	}
	return l.ledger.Record(diverged(step, step.BoardSHA, event.PolicyRestore,
		fmt.Sprintf("STATE_DIVERGENCE: %s %s while %s was at work on %s; %s",
			l.job.Board, what, step.Player(), step.Task, done)))
}

// endLostTurn does the work of endTurn for the last turn of an earlier run. The parameter lost is
// true if the run died in that turn. In that case it is unknown whether an agent or a person
// changed the board since, so the Lead is asked about a changed end.
func (l *loop) endLostTurn(lost bool) error {
	step := l.ledger.State().Step
	if step == nil || step.Before != nil {
		return nil
	}
	now, err := l.workspace.Look()
	if err != nil || !lost && now.SHA != step.Left {
		return nil // readBoard reports the fault, or a person has edited the board
	}
	if _, err := l.workspace.Before(step.BoardSHA); err == nil && !lost {
		return l.endTurn()
	}
	place := l.workspace.Place
	if !lost {
		place = nil // a person may have set marks since
	}
	if e := ledger.UnknownEnd(l.folder, l.job.Board, now, place, l.ledger.State()); e != nil {
		return l.ledger.Record(*e)
	}
	return nil
}

// divergence returns the event of a change of the board outside of a Manager's turn. The setting
// on_divergence decides whether the change stands or freezes the board.
func (l *loop) divergence(step *flow.Step, sha string, unreadable error) event.StateDiverged {
	text := fmt.Sprintf("STATE_DIVERGENCE: %s changed while %s was at work on %s; "+
		"only the Manager's turn may change it (earlier bytes: %s)",
		l.job.Board, step.Role, step.Task, l.folder.Before())
	if unreadable != nil {
		text += "; it cannot be read any more"
	}
	return diverged(step, sha, l.job.OnDivergence, text)
}

func diverged(step *flow.Step, sha, policy, text string) event.StateDiverged {
	return event.StateDiverged{Source: event.SourceBoard, Step: step.Number, Task: step.Task, Before: step.BoardSHA,
		After: sha, Policy: policy, Text: text}
}

// noteRoles passes on which roles the turn of an attempt has given to other tasks: those whose header
// it has changed, and those that it has added to the list.
func (l *loop) noteRoles(a *call.Attempt) (err error) {
	step := l.ledger.State().Step
	if step == nil || step.Before != nil {
		return nil
	}
	reach := l.trust.Reach(a.Player)
	for _, t := range l.marks.Reroled() {
		err = errors.Join(err, l.trust.GiveTask(a.Ref().Task, a.Ref().Player(), reach, t.Task, l.roleOf(t.Task)))
	}
	now, readable := l.workspace.Look()
	if readable != nil || now.SHA == step.BoardSHA {
		return err
	}
	before, known := l.workspace.Before(step.BoardSHA)
	if known != nil {
		return err
	}
	for _, task := range now.TaskPaths() {
		if !slices.Contains(before.TaskPaths(), task) {
			err = errors.Join(err, l.trust.GiveTask(a.Ref().Task, a.Ref().Player(), reach, task, l.roleOf(task)))
		}
	}
	return err
}

// roleOf returns the role that a task is for: the one that it names, or that of the phase. It returns ""
// if the task cannot be read.
func (l *loop) roleOf(task string) string {
	b, err := l.workspace.Look()
	if err != nil {
		return ""
	}
	t, err := l.workspace.Place.ReadTask(task)
	if err != nil {
		return ""
	}
	return board.RoleFor(b, t)
}

// supervisorOf returns the role of the board's resident supervisor, or "".
func supervisorOf(p *preflight.Prepared) string {
	if p.Supervision == nil {
		return ""
	}
	return p.Supervision.Role
}

// siblings returns what the journals of the other boards in the folder of runs have of changed files.
func (l *loop) siblings() (all []flow.Changed) {
	for _, dir := range rundir.Others(filepath.Dir(l.folder.Path), l.folder) {
		if h, _, err := ledger.Fold(dir, nil); err == nil {
			all = append(all, h.State.Changed...)
		}
	}
	return all
}
