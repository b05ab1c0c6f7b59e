package preflight

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"kanban-run/orchestrator/board"
)

// tasksAtOnce is how many tasks are read at a time: enough to use all processors, without all in
// memory.
const tasksAtOnce = 512

// checkTasks checks the listed tasks that are not done. One without a file may be written later: a
// notice names it.
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
	return nil
}

// checkEntries reads some tasks side by side, and reports them in the order of the list.
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

func (p *Prepared) checkTask(b *board.Board, entry board.Entry, read board.TaskResult, missing *nameList) error {
	switch {
	case errors.Is(read.Err, fs.ErrNotExist):
		missing.add(entry.Path)
		return nil
	case read.Err != nil:
		return b.EntryProblem(entry, read.Err)
	case read.Task.Done():
		return nil
	}
	if w := b.IgnoredAssignee(entry, read.Task); w != nil {
		p.notice(w.Error())
	}
	return p.checkRoleOf(b, read.Task)
}

// nameList keeps the first five names, and counts all.
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
