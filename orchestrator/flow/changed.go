package flow

import (
	"slices"

	"kanban-run/orchestrator/event"
)

// Changed is a change of a file that decides, while an agent worked. No person has accepted it yet.
type Changed struct {
	event.ChangedFile
	Board string      `json:"board"` // board of the task
	Task  string      `json:"task"`  // tasks that were worked on when the file was changed last
	Reach event.Reach `json:"reach"` // of the agent that had the turn
}

// mostChanged bounds the changes that a State keeps. The earliest ones go first.
const mostChanged = 200

func (s *State) applyFilesChanged(e event.FilesChanged) error {
	s.Changed = slices.Clone(s.Changed)
	for _, f := range e.Files {
		s.forgetChanged(f)
		s.Changed = append(s.Changed, Changed{f, e.Board, e.Task, e.Reach})
	}
	s.Changed = s.Changed[max(0, len(s.Changed)-mostChanged):]
	return nil
}

func (s *State) applyFilesSettled(e event.FilesSettled) error {
	s.Changed = slices.Clone(s.Changed)
	for _, f := range e.Files {
		s.forgetChanged(f)
	}
	return nil
}

// forgetChanged removes the change of a file from a list that no other State shares.
func (s *State) forgetChanged(f event.ChangedFile) {
	s.Changed = slices.DeleteFunc(s.Changed, func(c Changed) bool { return c.Is(f) })
}

// settleGiven has the tasks wait no more that were given to a role with a secret: the Manager has decided
// since.
func (s *State) settleGiven() {
	s.Changed = slices.DeleteFunc(slices.Clone(s.Changed), func(c Changed) bool { return c.By == event.TaskRole })
}

// settleChanged carries out a person's decision to accept the changes.
func (s *State) settleChanged(e event.Acknowledged) error {
	if len(s.Changed) == 0 {
		return refuse(e, "no file that decides was changed")
	}
	rest := slices.DeleteFunc(slices.Clone(s.Changed), func(c Changed) bool { return c.By == event.TaskRole || !c.Asks })
	s.Changed, s.AsksOf = rest, false
	s.endAsDecided(event.Interrupted, e.Text)
	return nil
}
