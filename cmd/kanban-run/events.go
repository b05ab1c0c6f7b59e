package main

import (
	"encoding/json"
	"fmt"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/inspect"
	"kanban-run/orchestrator/report"
)

// withEvents shows the events of agents between the entries of a journal.
type withEvents struct {
	report.Watcher
	file  string // path of the board
	step  int    // step of the entry that was shown last
	shown int    // number of lines that were shown from the step's file of events
	err   error
}

// Entry shows the agents' events that came before the entry, then the entry.
func (w *withEvents) Entry(board string, e event.Entry) {
	if step := event.StepOf(e.Event); step != 0 && step != w.step {
		w.note(w.showUntil(e.Time))
		w.step, w.shown = step, 0
	}
	w.note(w.showUntil(e.Time))
	w.Watcher.Entry(board, e)
}

func (w *withEvents) note(err error) {
	if w.err == nil {
		w.err = err
	}
}

// showUntil shows the events of the current step up to a time, without those already shown.
func (w *withEvents) showUntil(at time.Time) error {
	if w.err != nil || w.step == 0 {
		return w.err
	}
	dir, err := inspect.Locate(w.file)
	if err != nil {
		return err
	}
	lines, err := dir.ReadEvents(w.step)
	if err != nil {
		return fmt.Errorf("read what the agents of step %d did: %w", w.step, err)
	}
	for _, line := range lines[min(w.shown, len(lines)):] {
		var s agent.Sign
		if json.Unmarshal(line, &s) == nil {
			if s.Time.After(at) {
				return nil
			}
			w.Agent(w.file, s)
		}
		w.shown++
	}
	return nil
}
