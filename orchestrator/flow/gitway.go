package flow

import (
	"kanban-run/orchestrator/event"
)

// goBy sets the way of the run's checkpoints, or freezes the board for its Lead where that differs
// from the way before. In a fresh clone it is the clone's own.
func (s *State) goBy(w *event.GitWay, elsewhere bool) {
	if s.Frozen != nil && s.Frozen.Git != nil {
		s.Frozen = nil // it is looked at anew
	}
	if w == nil || s.Frozen != nil {
		return
	}
	if s.Git != nil && !elsewhere {
		if changes := w.ChangesSince(s.Git); changes != "" {
			s.Frozen = &Freeze{
				Text: "checkpoints would go another way than before: " + changes +
					"; nothing is sent there before a person has looked at it",
				Asks: true,
				Git:  w,
			}
			return
		}
	}
	s.Git = w
}
