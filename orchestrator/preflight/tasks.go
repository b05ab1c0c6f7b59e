package preflight

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/inspect"
	"kanban-run/roles"
)

// tasksAtOnce is the number of tasks that are read at the same time. It is large enough to use all
// processors, and so small that the tasks do not fill the memory.
const tasksAtOnce = 512

// checkTasks checks the listed tasks that are not done. A task without a file causes only a notice,
// because the file can still be written later.
func (p *Prepared) checkTasks(b *board.Board) error {
	var missing nameList
	for from := 0; from < b.Len(); from += tasksAtOnce {
		var open []board.Entry
		for i := from; i < min(from+tasksAtOnce, b.Len()); i++ {
			if e := b.Entry(i); !e.Done() {
				open = append(open, e)
			}
		}
		if err := p.checkEntries(b, open, &missing); err != nil {
			return err
		}
	}
	if missing.count > 0 {
		p.notice("listed tasks without a file: " + missing.String())
	}
	if p.unwritable.count > 0 {
		p.warn("files of tasks that agents cannot write: %s", p.unwritable.String())
	}
	for _, w := range p.oddities.names {
		p.notice(w)
	}
	if more := p.oddities.count - len(p.oddities.names); more > 0 {
		p.notice(fmt.Sprintf("%d more tasks have such a header or entry; kanban-run check names them", more))
	}
	for i := 0; i < b.Len() && !p.byNeeds; i++ {
		if e := b.Entry(i); e.Done() {
			task, err := p.Workspace.Place.ReadTask(e.Path)
			p.byNeeds = err == nil && len(task.Needs) > 0 // the file of a done task may be gone
		}
	}
	if found := p.needs.Check(b); len(found) > 0 {
		return found[0]
	}
	return nil
}

// checkEntries reads some tasks at the same time, and then checks them in the order of the list.
func (p *Prepared) checkEntries(b *board.Board, entries []board.Entry, missing *nameList) error {
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Path
	}
	for i, read := range p.Workspace.Place.ReadTasks(names) {
		if err := p.checkTask(b, entries[i], read, missing); err != nil {
			return err
		}
	}
	return nil
}

// forgive turns an error about a task's header or file into a notice if an agent has worked on the
// task, because the agent may have spoiled or moved the file. The run read the header when the
// task's step began, and does not need it again.
func (p *Prepared) forgive(err error, worked bool) error {
	if err == nil || !worked {
		return err
	}
	p.notice(fmt.Sprintf("%v; it was worked on already", err))
	return nil
}

// isOpen reports whether a step of the task is open in the journal.
func (p *Prepared) isOpen(task string) bool {
	return p.steps()[path.Clean(p.Workspace.Seen(task))] == openStep
}

// wasWorkedOn reports whether the journal has a step of the task, open or finished.
func (p *Prepared) wasWorkedOn(task string) bool {
	return p.steps()[path.Clean(p.Workspace.Seen(task))] != noStep
}

// stepState is the state of a task's step in the journal.
type stepState int

const (
	noStep stepState = iota
	finishedStep
	openStep
)

// steps returns the state of each task's step. It reads the journal only at its first call. It
// ignores an error, because a later check reports the error better.
func (p *Prepared) steps() map[string]stepState {
	if p.stepsOf == nil {
		p.stepsOf = map[string]stepState{}
		h, _, err := inspect.History(p.Board, func(e event.Entry) error {
			if done, ok := e.Event.(event.StepFinished); ok {
				p.stepsOf[path.Clean(done.Task)] = finishedStep
			}
			return nil
		})
		if err == nil && h.State.Step != nil {
			p.stepsOf[path.Clean(h.State.Step.Task)] = openStep
		}
	}
	return p.stepsOf
}

func (p *Prepared) checkTask(b *board.Board, entry board.Entry, read board.TaskResult, missing *nameList) error {
	switch {
	case errors.Is(read.Err, fs.ErrNotExist):
		missing.add(entry.Path)
		return nil
	case read.Err != nil:
		return p.forgive(b.EntryProblem(entry, read.Err), p.wasWorkedOn(entry.Path))
	}
	p.byNeeds = p.byNeeds || len(read.Task.Needs) > 0
	if read.Task.Done() {
		return nil
	}
	p.needs.Add(entry, read.Task)
	if !p.DryRun && durable.CheckWrite(read.Task.Ref.Abs) != nil {
		p.unwritable.add(entry.Path)
	}
	for _, w := range b.Oddities(entry, read.Task) {
		p.oddities.add(w.Error())
	}
	err := p.checkRoleOf(b, read.Task)
	return p.forgive(err, errors.As(err, new(*roles.UnknownError)) && p.wasWorkedOn(entry.Path))
}

// nameList keeps the first five added names, and counts all added names.
type nameList struct {
	names []string
	count int
}

func (l *nameList) add(name string) {
	if l.count++; l.count <= 5 {
		l.names = append(l.names, name)
	}
}

func (l *nameList) String() string {
	if l.count == len(l.names) {
		return strings.Join(l.names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(l.names, ", "), l.count-len(l.names))
}
