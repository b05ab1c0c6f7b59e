package divergence

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/marks"
)

// Reroled returns the tasks that the last turn has given to another role.
func (k *Keeper) Reroled() []string { return k.reroled }

// endMarks puts back what a turn has marked in the headers of other tasks than its own, and what it
// must not change there. while says in words when that was.
func (k *Keeper) endMarks(step *flow.Step, while string) error {
	if k.before == nil {
		return nil
	}
	claimed := append(k.Others.Claimed(), k.claimed...)
	now, err := k.reader.Read(k.before.List())
	if durable.IsMachineFault(err) {
		return err // the next run looks again
	}
	if err != nil {
		e := k.event(event.PolicyAsk)
		e.Text = fmt.Sprintf("it cannot be told which tasks were marked %s: %v", while, err)
		return k.Journal.Append(e)
	}
	isLeft := func(p string) bool { return k.isTask(p, step) || k.isFile(p, claimed) }
	edits := slices.DeleteFunc(slices.Clone(k.reader.Edits()), func(e marks.Edit) bool { return isLeft(e.Task) })
	if err := k.holdHeaders(edits, while); err != nil {
		return err
	}
	var changed []string
	for _, p := range now.Changed(k.before) {
		switch {
		case isLeft(p):
		case k.Others.IsDone(k.reader.File(p)):
			k.count(k.before.With(p, now.Of(p)))
		default:
			changed = append(changed, p)
		}
	}
	if len(changed) == 0 {
		return nil
	}
	return k.Journal.Append(k.putMarksBack(changed, while))
}

// EndWork decides about the marks of the open step's own task, in its header, as the last look found it,
// and on the board. They count once the work on the task is accepted as ok. While that work is reviewed
// they stay as they are, and otherwise they are put back. Errors: those of the journal, and of writing
// the board.
func (k *Keeper) EndWork(step *flow.Step) error {
	if step == nil || step.Checkpoint != nil || step.Before != nil || k.Journal.State().Frozen != nil {
		return nil
	}
	if err := k.endOwnEntry(step); err != nil {
		return err
	}
	now := k.reader.Last()
	if k.before == nil || now == nil {
		return nil
	}
	own := slices.DeleteFunc(now.Changed(k.before), func(p string) bool { return !k.isTask(p, step) })
	switch {
	case len(own) == 0, step.MayMark() && step.TaskStatus == "":
		return nil
	case !step.MayMark():
		return k.Journal.Append(k.putMarksBack(own, "by work that is not accepted as ok"))
	}
	for _, p := range own {
		k.count(k.before.With(p, now.Of(p)))
	}
	return nil
}

// holdHeaders puts back what a turn has changed in headers and must not, and a header that it left so
// that it cannot be read any more. Another role, and other needs, files or watch, stand and are said;
// where the policy says so, the board is frozen instead.
func (k *Keeper) holdHeaders(edits []marks.Edit, while string) error {
	var errs []error
	for _, e := range edits {
		if !slices.Contains(k.before.List(), e.Task) {
			continue
		}
		if e.From != e.To || e.IsNew {
			k.reroled = append(k.reroled, e.Task)
		}
		if e.IsNew {
			continue
		}
		if e.From != e.To {
			errs = append(errs, k.say(fmt.Sprintf("%s went from the role %s to %s %s", e.Task, named(e.From), named(e.To), while)))
		}
		if fields := board.ChangedFields(e.Task, e.Was, e.Now); len(fields) > 0 && !e.Broken {
			errs = append(errs, k.say(fmt.Sprintf("%s of %s changed %s", strings.Join(fields, ", "), e.Task, while)))
		}
		errs = append(errs, k.holdHeader(e, while))
	}
	return errors.Join(errs...)
}

// say journals a change that stands, unless the policy says that it freezes the board.
func (k *Keeper) say(text string) error {
	d := k.event(event.PolicyAccept)
	if d.Text = text; k.Run.OnDivergence == event.PolicyFreeze {
		d.Policy, d.Text = event.PolicyFreeze, text+"; the board is frozen"
	}
	return k.Journal.Append(d)
}

func (k *Keeper) holdHeader(e marks.Edit, while string) error {
	d := k.event(event.PolicyRestore)
	if e.Linked {
		d.Policy = event.PolicyAsk
		d.Text = fmt.Sprintf("%s became a link %s", e.Task, while)
		return k.Journal.Append(d)
	}
	fields, source, err := k.Place.HoldHeader(e.Task, e.Was)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil // a task without a file is told where it is due
	case durable.IsMachineFault(err):
		return err
	case err == nil && fields == nil:
		return nil
	}
	d.Text = fmt.Sprintf("%s of %s changed %s, so that is put back", strings.Join(fields, ", "), e.Task, while)
	if err != nil {
		d.Policy = event.PolicyAsk
		d.Text = fmt.Sprintf("the header of %s changed %s, and cannot be put back: %v", e.Task, while, err)
	} else if k.Folder.KeepTask(e.Task, []byte(k.redact(string(source)))) == nil {
		d.Text += " (as the file was left: " + k.Folder.TasksAfter() + ")"
	}
	return k.Journal.Append(d)
}

func (k *Keeper) redact(text string) string {
	if k.Redact == nil {
		return text
	}
	return k.Redact(text)
}

func named(role string) string {
	if role == "" {
		return "of the phase"
	}
	return role
}

// isDone reports whether a task is done by its last reply here, or by a person.
func (k *Keeper) isDone(p string) bool {
	state := k.Journal.State()
	return state.IsDone(p) || slices.ContainsFunc(state.Statuses, func(t flow.TaskStatus) bool {
		return t.IsDone() && k.Place.SameTask(t.Task, p)
	})
}

// isTask reports whether a path on the board leads to the task of a step.
func (k *Keeper) isTask(p string, step *flow.Step) bool {
	if step == nil || step.Checkpoint != nil {
		return false
	}
	if path.Clean(p) == path.Clean(step.Task) {
		return true
	}
	file := k.reader.File(p)
	ref, err := k.Place.Resolve(step.Task)
	return file != "" && err == nil && file == ref.Abs
}

// putMarksBack puts the marks of tasks back, and returns the event about that. With the setting
// "on_divergence: freeze" it puts nothing back, and the board is frozen. If the marks cannot be put
// back, a person is asked. how says in words when or by what they were set.
func (k *Keeper) putMarksBack(tasks []string, how string) event.StateDiverged {
	e := k.event(event.PolicyRestore)
	e.Text = fmt.Sprintf("%s %s marked %s %s; a mark in a header is for the task's own work, "+
		"for the Manager or for a person", event.List(tasks, mostNamed), wereOf(len(tasks)), gained(tasks, k.before), how)
	if k.Run.OnDivergence == event.PolicyFreeze {
		_ = k.keepMarks() // an agent may have removed the file; ack reports the error
		e.Policy, e.Text = event.PolicyFreeze, e.Text+"; the board is frozen"
		return e
	}
	where, err := marks.PutBack(k.Place, k.Folder, tasks, k.before, k.redact)
	if err != nil {
		_ = k.keepMarks()
		e.Policy, e.Text = event.PolicyAsk, fmt.Sprintf("%s; %v", e.Text, err)
		return e
	}
	e.Text += ", so that is put back (" + where + ")" + k.wayOfMarks(tasks)
	return e
}

// keepMarks writes the marks that count into the note, in case that they are to be put back.
func (k *Keeper) keepMarks() error {
	if err := k.Kept.Put(marks.Name, k.before); err != nil {
		return err
	}
	return k.Kept.Rewrite()
}

// wayOfMarks returns in words how a person who has set marks that were put back settles their tasks.
func (k *Keeper) wayOfMarks(tasks []string) string {
	set := slices.DeleteFunc(slices.Clone(tasks), func(t string) bool { return k.before.Of(t).Done })
	if len(set) == 0 {
		return ""
	}
	return "; if that was you: " + wayOf(k.Board, event.Accept, set)
}

// event returns an event about the marks, without its text.
func (k *Keeper) event(policy string) event.StateDiverged {
	e := event.StateDiverged{Source: event.SourceTasks, Task: k.Board, Policy: policy}
	if step := k.Journal.State().Step; step != nil {
		e.Step, e.Task, e.Before, e.After = step.Number, step.Task, step.BoardSHA, step.BoardSHA
	}
	return e
}

// mostNamed is the number of tasks that a text names.
const mostNamed = 5

func wereOf(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

// gained returns in words how the marks of tasks have changed.
func gained(tasks []string, before *marks.Marks) string {
	lost := slices.ContainsFunc(tasks, func(t string) bool { return before.Of(t).Done })
	set := slices.ContainsFunc(tasks, func(t string) bool { return !before.Of(t).Done })
	var words []string
	if set {
		words = append(words, "as done")
	}
	if lost {
		words = append(words, "as not done")
	}
	return strings.Join(words, " or ")
}
