package divergence

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/guard"
	"kanban-run/orchestrator/ledger"
	"kanban-run/orchestrator/rundir"
	"kanban-run/orchestrator/turns"
)

// Note does what [Keeper.Look] does, and journals a change of the board that was made outside of a
// Manager's turn. The board has the given SHA-256 now; unreadable is the error with which it cannot be
// read, or nil.
func (k *Keeper) Note(b *board.Board, sha string, unreadable error) error {
	if unreadable == nil {
		if err := k.Look(b); err != nil {
			return err
		}
	}
	step := k.Journal.State().Step
	if step == nil || step.Before != nil || sha == step.BoardSHA || k.Journal.State().Frozen != nil {
		return nil
	}
	d := k.divergence(step, sha, unreadable)
	if unreadable != nil && k.Run.OnDivergence != event.PolicyFreeze {
		d.After = step.BoardSHA // it does not stand: the step goes on once the earlier bytes are back
	}
	return k.Journal.Append(d)
}

// KeepBefore keeps the board as it is before the waits for a turn, unless the turn is one of the
// Manager's, or Begin has to look first at what came between two turns.
func (k *Keeper) KeepBefore(b *board.Board) error {
	step, counted := k.Journal.State().Step, k.Workspace.Counted()
	if step != nil && step.Before != nil || counted != nil && counted.SHA != b.SHA {
		return nil
	}
	return k.Workspace.KeepBefore(b)
}

// endBoard looks at the board after a turn. If its end was changed, the file was removed or left
// unreadable, endBoard puts the board back before the next act. With the setting "on_divergence:
// freeze" it freezes the board instead, unless it was programs that work for us (step is nil). Note
// journals any other change. while says in words when the change was made.
func (k *Keeper) endBoard(step *flow.Step, while string) error {
	defer k.countBoard()
	sha, freezes := k.boardSHA, false
	if step != nil {
		sha, freezes = step.BoardSHA, k.Run.OnDivergence == event.PolicyFreeze
	}
	now, unreadable := k.Workspace.Look()
	if durable.IsMachineFault(unreadable) || unreadable == nil && now.SHA == sha {
		return nil
	}
	before, err := k.Workspace.Before(sha)
	if err != nil {
		return nil // the earlier bytes are missing, so Note can only report the difference
	}
	switch {
	case freezes && unreadable != nil:
		return k.Journal.Append(k.divergence(step, k.Workspace.SHA(), unreadable))
	case unreadable != nil:
		return k.putBackSpoiled(step, before, while, unreadable)
	}
	var own []string
	if step != nil {
		own = append(own, before.Spelled(step.Task))
		k.noteTick(step, now, before, own[0])
	}
	changes := now.EndChanges(before, own...)
	switch {
	case len(changes) == 0:
		return nil
	case freezes:
		return k.Journal.Append(k.divergence(step, now.SHA, nil))
	default:
		text := fmt.Sprintf("the end of %s changed %s (%s); that is the Manager's or a person's",
			k.Board, while, strings.Join(changes, ", "))
		return k.restoreEnd(step, now, before, text, own...)
	}
}

// wayOfEntries returns in words how a person who has marked entries, or taken them off, settles their
// tasks.
func (k *Keeper) wayOfEntries(now, before *board.Board, own ...string) string {
	set, _, lost := now.EntryChanges(before, own...)
	var ways []string
	if len(set) > 0 {
		ways = append(ways, wayOf(k.Board, event.Accept, set))
	}
	if len(lost) > 0 {
		ways = append(ways, wayOf(k.Board, event.Skip, lost))
	}
	if len(ways) == 0 {
		return ""
	}
	return "; if that was you: " + strings.Join(ways, ", ")
}

// wayOf returns the command with which a person settles tasks.
func wayOf(board string, word event.Choice, tasks []string) string {
	command := "kanban-run ack " + failure.Quote(board) + " " + string(word)
	for _, t := range tasks {
		command += " " + failure.Quote(t)
	}
	return command
}

// countBoard makes the board count as it stands.
func (k *Keeper) countBoard() {
	if b, err := k.Workspace.Look(); err == nil {
		k.Workspace.Count(b)
	}
}

// restoreEnd puts the end of the board back, but for a mark of its own entry, and then journals the
// change. If the run dies in between, the next run finds a board with the right end. text tells of the
// change.
func (k *Keeper) restoreEnd(step *flow.Step, now, before *board.Board, text string, own ...string) error {
	sha, done, err := k.Workspace.RestoreEnd(now, before, own...)
	if err != nil {
		return fmt.Errorf("%s, and is to be put back: %w", text, err)
	}
	return k.Journal.Append(k.diverged(step, before.SHA, sha, event.PolicyRestore, text+", so "+done+k.wayOfEntries(now, before, own...)))
}

// noteTick notes the board before a mark that has come onto the entry of the step's own task, and reports
// whether it has come now.
func (k *Keeper) noteTick(step *flow.Step, now, before *board.Board, own string) bool {
	if k.tickedIn != step.Number {
		k.unticked, k.tickedIn = nil, step.Number
	}
	set, _, _ := now.EntryChanges(before)
	ticked := slices.Contains(set, own)
	if ticked && k.unticked == nil {
		k.unticked = before
	}
	return ticked
}

// endOwnEntry decides about a mark that has come onto the entry of the open step's own task: it stands
// once the work on the task is accepted as ok, and while that work is reviewed. Otherwise it is put back.
func (k *Keeper) endOwnEntry(step *flow.Step) error {
	now, err := k.Workspace.Look()
	if err != nil || k.Run.OnDivergence == event.PolicyFreeze || now.SHA == step.BoardSHA && k.tickedIn != step.Number {
		return nil
	}
	if k.tickedIn != step.Number {
		k.unticked = nil
	}
	own, ticked := now.Spelled(step.Task), false
	if before, err := k.Workspace.Before(step.BoardSHA); err == nil {
		ticked = k.noteTick(step, now, before, own)
	}
	before := k.unticked
	if step.MayMark() && step.TaskStatus != "" || !step.MayMark() {
		k.unticked = nil // it is decided
	}
	switch {
	case step.MayMark() && ticked:
		return k.Journal.Append(k.diverged(step, step.BoardSHA, now.SHA, event.PolicyOwn, step.Task+" is marked as done on the board by the work on it"))
	case step.MayMark() || before == nil:
		return nil
	}
	text := fmt.Sprintf("the entry of %s was marked as done by work that is not accepted as ok", step.Task)
	after, err := now.Unmarked(before, own)
	switch {
	case err != nil:
		return k.Journal.Append(k.diverged(step, step.BoardSHA, now.SHA, event.PolicyAccept, fmt.Sprintf("%s, and cannot be put back: %v", text, err)))
	case after.SHA == now.SHA:
		return nil
	}
	err = k.Workspace.Save(after) // without a copy, which would replace the one that endBoard may have kept
	return errors.Join(err, k.Journal.Append(k.diverged(step, step.BoardSHA, after.SHA, event.PolicyRestore, text+", so that is put back")))
}

// putBackSpoiled puts back a board that an agent removed or left unreadable. It journals the
// change.
func (k *Keeper) putBackSpoiled(step *flow.Step, before *board.Board, while string, unreadable error) error {
	what := "was removed"
	if !errors.Is(unreadable, fs.ErrNotExist) {
		what = fmt.Sprintf("was left so that it cannot be read (%v)", unreadable)
	}
	done, err := k.Workspace.PutBackSpoiled(before.SHA)
	if err != nil {
		return err
	}
	return k.Journal.Append(k.diverged(step, before.SHA, before.SHA, event.PolicyRestore,
		fmt.Sprintf("%s %s %s; %s", k.Board, what, while, done)))
}

// Resume does the work of endBoard for the last turn of an earlier run. isCut reports that the run died in
// that turn. Then it is unknown whether an agent or a person changed the board since, so the Lead is asked
// about a changed end.
func (k *Keeper) Resume(step *flow.Step, isCut bool, _ rundir.Note) error {
	k.isCut = isCut
	if step == nil || step.Before != nil {
		return nil
	}
	now, err := k.Workspace.Look()
	if err != nil || !isCut && now.SHA != step.Left {
		return nil // the next look reports the fault, or a person has edited the board
	}
	if _, err := k.Workspace.Before(step.BoardSHA); err == nil && !isCut {
		return k.endBoard(step, k.whileOf(step))
	}
	place := k.Place
	if !isCut {
		place = nil // a person may have set marks since
	}
	if e := ledger.UnknownEnd(k.Folder, k.Board, now, place, k.Journal.State()); e != nil {
		return k.Journal.Append(*e)
	}
	return nil
}

// PutBackEnd does what End does for the board and the marks of other tasks, in a turn that cannot be
// journaled. Only the run that goes on asks a person.
func (k *Keeper) PutBackEnd() error {
	step := k.Journal.State().Step
	if step == nil || step.Before != nil || k.Run.OnDivergence == event.PolicyFreeze {
		return nil
	}
	err := k.unmark(step)
	k.Workspace.Forget()
	before, lost := k.Workspace.Before(step.BoardSHA)
	if lost != nil {
		return err
	}
	if now, unreadable := k.Workspace.Look(); unreadable == nil && len(now.EndChanges(before)) == 0 {
		return err
	}
	return errors.Join(err, k.Workspace.PutBack(step.BoardSHA))
}

// unmark puts back the marks of other tasks than that of a step, and keeps no copy of their files.
func (k *Keeper) unmark(step *flow.Step) (err error) {
	if k.before == nil {
		return nil
	}
	now, err := k.reader.Read(k.before.List())
	if err != nil {
		return err
	}
	claimed := append(k.Others.Claimed(), k.claimed...)
	for _, task := range now.Changed(k.before) {
		if !k.isTask(task, step) && !k.isFile(task, claimed) && !k.Others.IsDone(k.reader.File(task)) {
			_, failed := k.Place.SetMark(task, k.before.Of(task))
			err = errors.Join(err, failed)
		}
	}
	return err
}

// divergence returns the event of a change of the board outside of a Manager's turn. The setting
// on_divergence decides whether the change stands or freezes the board.
func (k *Keeper) divergence(step *flow.Step, sha string, unreadable error) event.StateDiverged {
	text := fmt.Sprintf("%s changed %s (earlier bytes: %s)", k.Board, k.whileOf(step), k.Folder.Before())
	if unreadable != nil {
		text += "; it cannot be read any more"
	}
	return k.diverged(step, step.BoardSHA, sha, k.Run.OnDivergence, text)
}

// diverged returns the event of a change of the board; step is nil if it came in no step's turn.
func (k *Keeper) diverged(step *flow.Step, before, after, policy, text string) event.StateDiverged {
	e := event.StateDiverged{Source: event.SourceBoard, Task: k.Board, Before: before, After: after, Policy: policy, Text: text}
	if step != nil {
		e.Step, e.Task = step.Number, step.Task
	}
	return e
}

// whileOf says in words when the turn of a step was open: of one in which an earlier run died it is not known
// when it ended.
func (k *Keeper) whileOf(step *flow.Step) string {
	while := turns.While(k.Path, []turns.Turn{guard.Of(step, k.Board, k.Path)})
	if k.isCut {
		return "since the run died " + while
	}
	return while
}
