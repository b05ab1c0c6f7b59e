// Package standing works out how a board stands from its history and its list of tasks: how its
// last run ended, which tasks are done, and what a person can do. It reads no file, and every view
// of a board prints what it says.
package standing

import (
	"fmt"
	"slices"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
)

// The outcomes of a board whose last run has not ended.
const (
	NeverRun event.Outcome = "not_started"
	Running  event.Outcome = "running"
)

// Standing is how a board stands.
type Standing struct {
	Board   string
	Outcome event.Outcome // of the last run
	Text    string        // why
	Weight  event.Weight  // Routine: it is at work; Success: complete without a remark
	Tasks   []Task        // of the board's list; empty if the board cannot be read
	Steps   int           // finished by all runs

	decided bool // a person has decided about it
	choices flow.Choices
}

// NotRun returns the standing of a board that was never run.
func NotRun(board string, tasks []Task) Standing {
	return Standing{Board: board, Outcome: NeverRun, Text: "it was never run", Weight: event.Note, Tasks: tasks}
}

// Of returns the standing of a board. owned reports whether a run is at work.
func Of(board string, h flow.History, tasks []Task, owned bool) Standing {
	s := Standing{
		Board:   board,
		Outcome: h.State.Outcome,
		Text:    h.State.Text,
		Tasks:   tasks,
		Steps:   h.State.Finished,
		choices: h.State.Choices(),
	}
	switch {
	case owned:
		s.Outcome, s.Text = Running, "a run is at work"
	case h.Standstill() != "":
		s.Outcome, s.Text = h.StandstillOutcome(), h.Standstill()
	case s.Outcome == "":
		s.Outcome, s.Text = event.Interrupted, killed
	case s.Outcome == event.Frozen: // and no longer at a standstill
		s.decided = true
	case s.Outcome == event.NeedsPerson, s.Outcome == event.Incomplete:
		s.decided = h.State.Last.Acknowledged
	}
	if open := NeverWorkedOn(tasks); open != "" && s.Outcome == event.Complete && s.Text == flow.CompleteText {
		s.Text += ", and " + open
	}
	s.Weight = Weigh(s.Outcome, s.Text)
	if s.decided {
		s.Text += " (acknowledged by the Lead)"
	}
	if s.decided && s.Outcome == event.Frozen { // the same command goes on
		s.Weight = event.Warning
	}
	return s
}

// killed says why a run has no end in its journal.
const killed = "stopped without an ending: the run was killed"

// Weigh returns the weight of the end of a run. text says why the run ended.
func Weigh(o event.Outcome, text string) event.Weight {
	switch o {
	case NeverRun:
		return event.Note
	case Running:
		return event.Routine
	case event.Complete:
		if text != flow.CompleteText { // it has a remark
			return event.Warning
		}
		return event.Success
	case event.Incomplete, event.LimitReached, event.Later, event.Interrupted:
		return event.Warning
	default:
		return event.Critical
	}
}

// Headline returns the standing in one line, with the board's name.
func (s *Standing) Headline() string {
	switch s.Outcome {
	case Running:
		return fmt.Sprintf("%s is at work: %s", s.Board, s.Progress())
	case NeverRun:
		return s.Board + " was never run"
	case event.Complete:
		if s.Weight == event.Success {
			return fmt.Sprintf("%s is complete: %s", s.Board, s.Progress())
		}
		return s.Board + ": " + s.Text
	case event.Incomplete:
		return s.Board + " needs you: " + s.Text
	case event.Frozen:
		if s.decided {
			return fmt.Sprintf("%s was frozen: %s", s.Board, s.Text)
		}
		return fmt.Sprintf("%s is frozen: %s", s.Board, s.Text)
	case event.NeedsPerson, event.Exhausted:
		return fmt.Sprintf("%s needs you: %s", s.Board, s.Text)
	case event.Later:
		return fmt.Sprintf("%s waits for its provider: %s", s.Board, s.Text)
	default:
		if s.Text == killed {
			return s.Board + " " + killed
		}
		return fmt.Sprintf("%s stopped (%s): %s", s.Board, s.Outcome.Words(), s.Text)
	}
}

// Progress returns the numbers of tasks that are done, not ok and in quarantine, or of the steps of
// a board whose tasks are unknown.
func (s *Standing) Progress() string {
	if len(s.Tasks) == 0 {
		return event.Count(s.Steps, "step") + " done"
	}
	text := fmt.Sprintf("%d of %s done", s.count(Done)+s.count(Before), event.Count(len(s.Tasks), "task"))
	if n := s.count(NotOK); n > 0 {
		text += fmt.Sprintf(", %d not ok", n)
	}
	if n := s.count(Quarantined); n > 0 {
		text += fmt.Sprintf(", %d quarantined", n)
	}
	return text
}

func (s *Standing) count(state string) (n int) {
	for _, t := range s.Tasks {
		if t.State == state {
			n++
		}
	}
	return n
}

// Said returns the last task that is not ok and has said why, if a person is needed; else nil.
func (s *Standing) Said() *Task {
	if s.Outcome != event.NeedsPerson && s.Outcome != event.Incomplete {
		return nil
	}
	for i := range slices.Backward(s.Tasks) {
		if t := &s.Tasks[i]; t.State == NotOK && t.Said != "" {
			return t
		}
	}
	return nil
}
