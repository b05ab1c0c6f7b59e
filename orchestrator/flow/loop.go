package flow

import (
	"fmt"
	"path"
	"slices"

	"kanban-run/orchestrator/event"
)

// The numbers of repetitions at which a loop is suspected (seed 002, "Review Loop").
const (
	RepeatLimit   = 20 // starts of a task in the same role on the same board bytes, in a row
	sameTreeLimit = 6  // starts of a task in the same role on an unchanged work tree, in a row
	roundLimit    = 3  // rounds of work and review that leave the work tree unchanged
	findingLimit  = 4  // reviews in a row with the same finding, on any work tree
)

// Visit is a step, or a review within a step, after which the same task is to be worked on again.
type Visit struct {
	Role    string `json:"role"`
	Tree    string `json:"tree,omitempty"`    // hash of the work tree; "": not known
	Finding string `json:"finding,omitempty"` // hash of the findings, see [event.FindingOf]; "": no findings
}

// Visits are the last steps that followed one another on the same task.
type Visits struct {
	Task string `json:"task"`
	// Work is the first role in these steps that is not the Manager. It does the work, and other
	// roles review.
	Work string  `json:"work"`
	List []Visit `json:"list"`
	Said string  `json:"said,omitempty"` // headline of the last agent's message
}

// mostVisits is the number of visits that are kept. This number is enough for findingLimit rounds
// with four visits each: one visit of the worker and three visits of other roles.
const mostVisits = 4 * findingLimit

// countRepeat counts a start of a task in the same role on the same board.
func (s *State) countRepeat(e event.StepStarted) {
	if s.Repeat.matches(Board{Task: e.Task, Role: e.Role, SHA: e.BoardSHA}) {
		s.Repeat.Count++
	} else {
		s.Repeat = Repeat{Task: e.Task, Role: e.Role, BoardSHA: e.BoardSHA, Count: 1}
	}
}

// leave notes the work tree at the end of a step. l is nil if there is no next task, or if the run
// has not worked on the next task before.
func (s *State) leave(l *event.Leaving) {
	s.takeTurn(l)
	if l == nil || l.Other {
		s.Visits = nil
		return
	}
	task := path.Clean(s.Step.Task)
	next := Visits{Task: task, Said: event.Headline(l.Said)}
	if s.Visits != nil && s.Visits.Task == task {
		next.Work, next.List = s.Visits.Work, slices.Clip(s.Visits.List)
	}
	if next.Work == "" && s.Step.Role != event.ManagerRole {
		next.Work = s.Step.Role
	}
	next.List = append(next.List, Visit{Role: s.Step.Role, Tree: l.Tree, Finding: l.Finding})
	next.List = next.List[max(0, len(next.List)-mostVisits):]
	s.Visits = &next
}

// suspect returns the evidence of a loop in a task that is about to be given to a role again, or
// nil if there is no evidence.
func (s *State) suspect(b Board) *event.Suspicion {
	if s.Repeat.matches(b) && s.Repeat.Count >= RepeatLimit {
		return &event.Suspicion{
			Text: fmt.Sprintf("%s was given to %s %d times in a row and the board never changed",
				b.Task, b.Role, s.Repeat.Count),
			Recommend: event.Clarify,
			Reason:    "the Manager finds the task neither done nor impossible",
		}
	}
	if s.Visits == nil || s.Visits.Task != path.Clean(b.Task) {
		return s.suspectTurns(b)
	}
	all, said := s.Visits.List, s.Visits.Said
	work, reviews := roundsOf(all, s.Visits.Work)
	sameRole := isSame(all, sameTreeLimit, func(v Visit) string { return v.Role }) && all[len(all)-1].Role == b.Role
	switch {
	case sameRole && sameTree(all, sameTreeLimit):
		return &event.Suspicion{
			Text: fmt.Sprintf(
				"%s was given to %s %d times in a row and no file changed but the board and the work log%s",
				b.Task, b.Role, sameTreeLimit, quoted(said)),
			Recommend: event.SwapOwner,
			Reason:    b.Role + " leaves nothing behind",
		}
	case b.Role != s.Visits.Work:
		return nil // the round is not over
	case sameTree(work, roundLimit):
		return &event.Suspicion{
			Text: fmt.Sprintf("%d rounds of work and review of %s changed no file but the board and the work log%s",
				roundLimit, b.Task, quoted(said)),
			Recommend: event.SwapOwner,
			Reason:    b.Role + " does not change what " + reviews[0].Role + " finds",
		}
	case sameFinding(reviews, findingLimit):
		return &event.Suspicion{
			Text: fmt.Sprintf("%s found the same in %d reviews of %s%s",
				reviews[0].Role, findingLimit, b.Task, quoted(said)),
			Recommend: event.TechReview,
			Reason:    "the work changes, and what is found does not",
		}
	default:
		return nil
	}
}

// roundsOf returns the rounds of work and review. The first result has the worker's step of each
// round. The second result has the review of each round. The review is the last step of another
// role before the worker's next step. If a step of the worker has no review, roundsOf drops all
// rounds before that step.
func roundsOf(all []Visit, worker string) (work, reviews []Visit) {
	for i, v := range all {
		last := i+1 == len(all) || all[i+1].Role == worker
		switch {
		case v.Role == worker && last: // a step without a review
			work, reviews = nil, nil
		case v.Role == worker:
			work = append(work, v)
		case last && len(work) > len(reviews):
			reviews = append(reviews, v)
		}
	}
	return work, reviews
}

// suspect returns the evidence of a loop in work that was sent back, or nil if there is no
// evidence.
func (s *Step) suspect() *event.Suspicion {
	if s == nil || s.Call != event.TaskCall || s.Running != 0 || s.Unsettled != "" || s.Rejected > 0 {
		return nil
	}
	switch {
	case len(s.Reviews) >= roundLimit && sameTree(s.Reviews, roundLimit):
		return &event.Suspicion{
			Text: fmt.Sprintf("%d rounds of work and review of %s changed no file but the board and the work log%s",
				roundLimit, s.Task, quoted(event.Headline(s.Feedback))),
			Recommend: event.SwapOwner,
			Reason:    s.Role + " does not change what the review finds",
		}
	case len(s.Reviews) >= findingLimit && sameFinding(s.Reviews, findingLimit):
		return &event.Suspicion{
			Text: fmt.Sprintf("%d reviews of %s found the same%s",
				findingLimit, s.Task, quoted(event.Headline(s.Feedback))),
			Recommend: event.Clarify,
			Reason:    "the work changes, and what is found does not",
		}
	default:
		return nil
	}
}

func quoted(said string) string {
	if said == "" {
		return ""
	}
	return "; the last: " + said
}

// sameTree reports whether the last n visits left the same work tree. It returns false if the work
// tree is not known.
func sameTree(all []Visit, n int) bool {
	return isSame(all, n, func(v Visit) string { return v.Tree })
}

// sameFinding reports whether the last n visits had the same finding. It returns false if there was
// no finding.
func sameFinding(all []Visit, n int) bool {
	return isSame(all, n, func(v Visit) string { return v.Finding })
}

func isSame(all []Visit, n int, of func(Visit) string) bool {
	if len(all) < n {
		return false
	}
	last := of(all[len(all)-1])
	return last != "" && !slices.ContainsFunc(all[len(all)-n:], func(v Visit) bool { return of(v) != last })
}
