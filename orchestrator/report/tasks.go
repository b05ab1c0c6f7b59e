package report

import (
	"errors"
	"fmt"

	"github.com/mattn/go-runewidth"

	"kanban-run/orchestrator/console"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/standing"
)

var taskMarks = map[string]string{
	standing.Done:        "✓",
	standing.Before:      "✓",
	standing.Dropped:     "✗",
	standing.NotOK:       "✗",
	standing.Current:     "▸",
	standing.Waiting:     " ",
	standing.Quarantined: "⟳",
}

// A list of more than mostTasks tasks is not shown whole. Only these tasks are shown: the
// quarantined and dropped tasks, the tasks that are not ok, the current task, and the tasks near
// the current task. The constant "neighbours" bounds the number of near tasks on each side.
const (
	mostTasks  = 40
	neighbours = 10
)

func writeTasks(out *console.Printer, tasks []standing.Task) error {
	at, width := 0, 0
	for i, t := range tasks {
		if t.State == standing.Current {
			at = i
		}
	}
	var errs []error
	shown := func(i int) bool {
		return len(tasks) <= mostTasks ||
			tasks[i].State == standing.NotOK || tasks[i].State == standing.Quarantined ||
			tasks[i].State == standing.Dropped ||
			i >= at-neighbours && i <= at+neighbours
	}
	for i, t := range tasks {
		if shown(i) {
			width = max(width, runewidth.StringWidth(t.Task))
		}
	}
	missed := 0
	for i, t := range tasks {
		if !shown(i) {
			missed++
			continue
		}
		name := t.Task
		if about := describeTask(t); about != "" {
			name = runewidth.FillRight(name, width) + about
		}
		errs = append(errs, out.Printf("  %s %s\n", taskMarks[t.State], name))
	}
	if missed > 0 {
		errs = append(errs, out.Printf("  and %s more, which --json lists\n", event.Count(missed, "task")))
	}
	return errors.Join(errs...)
}

func describeTask(t standing.Task) string {
	switch {
	case t.State == standing.Before:
		return "  done before"
	case t.State == standing.Dropped:
		return "  taken off the list undone"
	case t.Status == flow.StatusAccepted:
		return "  accepted by a person"
	case t.Status == flow.StatusSkipped:
		return "  skipped by a person"
	case t.Attempts == 0:
		return ""
	}
	text := fmt.Sprintf("  %s, %s, %s", t.Role, event.Count(t.Attempts, "attempt"), event.Took(t.Millis))
	if t.Status != "" && t.Status != flow.StatusOK {
		text += ", " + t.Status
	}
	return text
}
