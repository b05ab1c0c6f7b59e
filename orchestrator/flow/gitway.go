package flow

import (
	"kanban-run/orchestrator/event"
)

// goBy sets the route by which the run's checkpoints go to their git remote. If the route differs
// from the earlier one, goBy freezes the board until its Lead chooses. Any route is allowed if the
// parameter "elsewhere" is true, because the files come from another clone, or if the run guards it.
func (s *State) goBy(w *event.GitWay, elsewhere bool) {
	if s.Frozen != nil && s.Frozen.Git != nil {
		s.Frozen = nil // compare the routes again
	}
	if w == nil || s.Frozen != nil {
		return
	}
	if s.Git != nil && !elsewhere && !w.Guarded {
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
