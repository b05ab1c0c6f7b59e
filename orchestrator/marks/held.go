package marks

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
)

// Reroled returns the tasks that the last turn has given to another role.
func (k *Keeper) Reroled() []string { return k.reroled }

// holdHeaders puts back what the turn of a step has changed in the headers of other tasks and must
// not: needs, files and watch, and a header that cannot be read any more. Another role stands, and is
// named; where the policy says so, the board is frozen instead.
func (k *Keeper) holdHeaders(step *flow.Step) error {
	edits := slices.DeleteFunc(slices.Clone(k.reader.edits), func(e edit) bool { return k.isTask(e.task, step) || k.isOthers(e.task) })
	return k.hold(edits, fmt.Sprintf("%s, at work on %s,", step.Player(), step.Task))
}

func (k *Keeper) hold(edits []edit, who string) error {
	k.reroled = nil
	var errs []error
	for _, e := range edits {
		if !slices.Contains(k.before.list, e.task) {
			continue
		}
		if e.from != e.to || e.isNew {
			k.reroled = append(k.reroled, e.task)
		}
		if e.from != e.to && !e.isNew {
			d := k.event(event.PolicyAccept)
			d.Text = fmt.Sprintf("%s gave %s to the role %s instead of %s", who, e.task, named(e.to), named(e.from))
			if k.OnDivergence == event.PolicyFreeze {
				d.Policy, d.Text = event.PolicyFreeze, d.Text+"; the board is frozen"
			}
			errs = append(errs, k.Journal.Record(d))
		}
		if !e.isNew {
			errs = append(errs, k.holdHeader(e, who))
		}
	}
	return errors.Join(errs...)
}

// Behind puts back what the programs that hear of the end of a run have changed in the headers of
// tasks, and keeps which tasks they gave to another role. who names these programs.
func (k *Keeper) Behind(who string) error {
	if k.before == nil || k.DryRun || k.Journal.State().Frozen != nil {
		return nil
	}
	now, err := k.look(k.before.list)
	if err != nil {
		return err
	}
	err = k.hold(k.reader.edits, who)
	if changed := now.Changed(k.before); len(changed) > 0 {
		err = errors.Join(err, k.Journal.Record(k.divergence(changed, who)))
	}
	return err
}

func (k *Keeper) holdHeader(e edit, who string) error {
	d := k.event(event.PolicyRestore)
	if e.linked {
		d.Policy = event.PolicyAsk
		d.Text = fmt.Sprintf("%s put a link in the place of %s", who, e.task)
		return k.Journal.Record(d)
	}
	fields, source, err := k.Place.HoldHeader(e.task, e.text)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil // a task without a file is told where it is due
	case durable.IsMachineFault(err):
		return err
	case err == nil && fields == nil:
		return nil
	}
	d.Text = fmt.Sprintf("%s changed %s of %s, so that is put back", who, strings.Join(fields, ", "), e.task)
	if err != nil {
		d.Policy = event.PolicyAsk
		d.Text = fmt.Sprintf("%s changed the header of %s, which cannot be put back: %v", who, e.task, err)
	} else if k.Folder.KeepTask(e.task, []byte(k.redact(string(source)))) == nil {
		d.Text += " (as the file was left: " + k.Folder.TasksAfter() + ")"
	}
	return k.Journal.Record(d)
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

// isOthers reports whether an agent of another board is at work on the task, or was in this turn.
func (k *Keeper) isOthers(task string) bool {
	done, atWork := k.elsewhere(task, k.otherTurns())
	return done || atWork
}
