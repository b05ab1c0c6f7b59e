package flow

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"kanban-run/orchestrator/event"
)

// Turn is a finished step after which the board named a task on which this run had worked before.
type Turn struct {
	Task string `json:"task"`
	Tree string `json:"tree"` // hash of the work tree as the step left it
}

// The least and the greatest number of tasks that may form a loop by taking turns. Their roles do
// not matter.
const (
	fewTurns  = 2
	mostTurns = 4
)

// takeTurn notes the end of a step. If the state of the work tree is not known, takeTurn forgets
// all turns. The list is copied, because a snapshot may share it.
func (s *State) takeTurn(l *event.Leaving) {
	if l == nil || l.Tree == "" {
		s.Turns = nil
		return
	}
	s.Turns = append(slices.Clip(s.Turns), Turn{Task: path.Clean(s.Step.Task), Tree: l.Tree})
	s.Turns = s.Turns[max(0, len(s.Turns)-mostTurns*sameTreeLimit):]
}

// WasWorkedOn reports whether this run has finished a step of a task.
func (s *State) WasWorkedOn(task string) bool {
	return slices.ContainsFunc(s.Tasks, func(t TaskUse) bool {
		return path.Clean(t.Task) == path.Clean(task) && t.Steps > 0
	})
}

// suspectTurns returns the evidence of a loop among a few tasks that take turns, or nil if there is
// no evidence. A single turn may look like progress, because another task is next.
func (s *State) suspectTurns(b Board) *event.Suspicion {
	for few := fewTurns; few <= mostTurns; few++ {
		n := few * sameTreeLimit
		if len(s.Turns) < n {
			return nil
		}
		last := s.Turns[len(s.Turns)-n:]
		tasks := []string{path.Clean(b.Task)}
		for _, t := range last {
			if t.Tree != last[0].Tree {
				return nil
			}
			if !slices.Contains(tasks, t.Task) {
				tasks = append(tasks, t.Task)
			}
		}
		if len(tasks) <= few {
			return &event.Suspicion{
				Text: fmt.Sprintf(
					"%d steps went to %s and %s by turns and no file changed but the board and the work logs",
					n, strings.Join(tasks[:len(tasks)-1], ", "), tasks[len(tasks)-1]),
				Recommend: event.SwapOwner,
				Reason:    "none of them leaves anything behind",
			}
		}
	}
	return nil
}
