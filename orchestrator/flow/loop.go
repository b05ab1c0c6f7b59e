package flow

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// How often work may come to the same before a loop is suspected: seed 002, "Review Loop".
const (
	RepeatLimit   = 20 // starts of a task in the same role on the same board bytes, in a row
	sameTreeLimit = 6  // starts of a task in the same role on an unchanged work tree, in a row
	roundLimit    = 3  // rounds of work and review that leave the work tree unchanged
	findingLimit  = 4  // reviews that find the same, on any work tree
)

// Visit is a step, or a review within a step, behind which the same task is to be worked on again.
type Visit struct {
	Role    string `json:"role"`
	Tree    string `json:"tree,omitempty"`    // hash of the work tree; "": not known
	Finding string `json:"finding,omitempty"` // hash of what was found, without what differs each time; "": nothing
}

// Visits are the last steps on one task, in a row.
type Visits struct {
	Task string  `json:"task"`
	Work string  `json:"work"` // the role of the first of all that is not the Manager: it works, and others review
	List []Visit `json:"list"`
	Said string  `json:"said,omitempty"` // by the agent of the last one
}

// mostVisits is as many as the longest rule looks at, with up to three other roles in a round.
const mostVisits = 4 * findingLimit

// Leaving is how a step leaves the work tree, where a task is next that was worked on lately.
type Leaving struct {
	Other   bool   `json:"other,omitempty"` // it is not the task of the step
	Tree    string `json:"tree,omitempty"`
	Finding string `json:"finding,omitempty"`          // of what the agent said and logged, see [FindingOf]
	Said    string `json:"said,omitempty" text:"free"` // by the agent
}

// leave notes the end of a step; nil: a task is next that was not worked on lately.
func (s *State) leave(l *Leaving) {
	s.takeTurn(l)
	if l == nil || l.Other {
		s.Visits = nil
		return
	}
	task := path.Clean(s.Step.Task)
	next := Visits{Task: task, Said: headline(l.Said)}
	if s.Visits != nil && s.Visits.Task == task {
		next.Work, next.List = s.Visits.Work, slices.Clip(s.Visits.List)
	}
	if next.Work == "" && s.Step.Role != ManagerRole {
		next.Work = s.Step.Role
	}
	next.List = append(next.List, Visit{Role: s.Step.Role, Tree: l.Tree, Finding: l.Finding})
	next.List = next.List[max(0, len(next.List)-mostVisits):]
	s.Visits = &next
}

// What differs each time that the same is said: what a command took, moments, addresses and
// identifiers. What was measured, a place in a file and the date in a name may be what was found.
var (
	duration = regexp.MustCompile(`(\b(?:in|took|after|elapsed:?|duration:?)\s|\(|\t)\d+(?:\.\d+)?\s?(?:ns|µs|us|ms|s|sec|seconds|m|min)\b`)
	moment   = regexp.MustCompile(`\b\d{4}-\d\d-\d\d[t ]\d\d:\d\d(:\d\d(\.\d+)?)?z?|\b\d\d:\d\d:\d\d(\.\d+)?\b`)
	hexWord  = regexp.MustCompile(`\b0x[0-9a-f]+\b|\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b[0-9a-f]{7,}\b|\b[0-9]{10,}\b`)
)

// isIdentifier says whether a word of hexadecimal digits is one: digits and letters, or a number
// that is too long to be a date.
func isIdentifier(word string) bool {
	return strings.ContainsAny(word, "0123456789") && (strings.ContainsAny(word, "abcdefx") || len(word) >= 10)
}

// FindingOf is the hash of what a review found, once what differs each time is
// taken out; "" for nothing.
func FindingOf(said string) string {
	said = moment.ReplaceAllString(duration.ReplaceAllString(strings.ToLower(said), "$1#"), "#")
	said = hexWord.ReplaceAllStringFunc(said, func(word string) string {
		if isIdentifier(word) {
			return "#"
		}
		return word
	})
	said = strings.Join(strings.Fields(said), " ")
	if said == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(said))
	return hex.EncodeToString(sum[:8])
}

// Suspicion is why work on a task is suspected to go round in circles, and what may help: seed
// 002, "Review Loop", actions 3 and 4.
type Suspicion struct {
	Text      string    `json:"text" text:"free"` // the evidence
	Recommend Recommend `json:"recommend"`
	Reason    string    `json:"reason" text:"free"` // of the recommendation
}

// String is the evidence with the recommendation.
func (s Suspicion) String() string {
	return fmt.Sprintf("%s (recommended: %s, since %s)", s.Text, s.Recommend, s.Reason)
}

// Recommend is what is proposed against a loop: seed 002, "Review Loop".
type Recommend string

// The values of Recommend.
const (
	Clarify    Recommend = "clarify acceptance criteria"
	SwapOwner  Recommend = "swap owner"
	TechReview Recommend = "schedule Tech Lead checkpoint"
)

// suspect looks at a task that is about to be given to a role again; nil:
// nothing speaks for a loop.
func (s *State) suspect(b Board) *Suspicion {
	if s.Repeat.matches(b) && s.Repeat.Count >= RepeatLimit {
		return &Suspicion{fmt.Sprintf("%s was given to %s %d times in a row and the board never changed", b.Task, b.Role, s.Repeat.Count),
			Clarify, "the Manager finds the task neither done nor impossible"}
	}
	if s.Visits == nil || s.Visits.Task != path.Clean(b.Task) {
		return s.suspectTurns(b)
	}
	all, said := s.Visits.List, s.Visits.Said
	work, reviews := roundsOf(all, s.Visits.Work)
	switch {
	case isSame(all, sameTreeLimit, func(v Visit) string { return v.Role }) && all[len(all)-1].Role == b.Role && sameTree(all, sameTreeLimit):
		return &Suspicion{fmt.Sprintf("%s was given to %s %d times in a row and no file changed but the board and the work log%s", b.Task, b.Role, sameTreeLimit, quoted(said)),
			SwapOwner, b.Role + " leaves nothing behind"}
	case b.Role != s.Visits.Work:
		return nil // in the middle of a round
	case sameTree(work, roundLimit):
		return &Suspicion{fmt.Sprintf("%d rounds of work and review of %s changed no file but the board and the work log%s", roundLimit, b.Task, quoted(said)),
			SwapOwner, b.Role + " does not change what " + reviews[0].Role + " finds"}
	case sameFinding(reviews, findingLimit):
		return &Suspicion{fmt.Sprintf("%s found the same in %d reviews of %s%s", reviews[0].Role, findingLimit, b.Task, quoted(said)),
			TechReview, "the work changes, and what is found does not"}
	default:
		return nil
	}
}

// roundsOf are the rounds of work and review: a step in the role that works, and the last one in
// another role before it works again.
func roundsOf(all []Visit, worker string) (work, reviews []Visit) {
	for i, v := range all {
		last := i+1 == len(all) || all[i+1].Role == worker
		switch {
		case v.Role == worker && last: // without a review
			work, reviews = nil, nil
		case v.Role == worker:
			work = append(work, v)
		case last && len(work) > len(reviews):
			reviews = append(reviews, v)
		}
	}
	return work, reviews
}

// suspect looks at work that was sent back; nil: nothing speaks for a loop.
func (s *Step) suspect() *Suspicion {
	if s == nil || s.Call != TaskCall || s.Running != 0 || s.Unsettled != "" || s.Rejected > 0 {
		return nil
	}
	switch {
	case len(s.Reviews) >= roundLimit && sameTree(s.Reviews, roundLimit):
		return &Suspicion{fmt.Sprintf("%d rounds of work and review of %s changed no file but the board and the work log%s", roundLimit, s.Task, quoted(headline(s.Feedback))),
			SwapOwner, s.Role + " does not change what the review finds"}
	case len(s.Reviews) >= findingLimit && sameFinding(s.Reviews, findingLimit):
		return &Suspicion{fmt.Sprintf("%d reviews of %s found the same%s", findingLimit, s.Task, quoted(headline(s.Feedback))),
			Clarify, "the work changes, and what is found does not"}
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

// sameTree says whether the last visits left the same work tree, and it is known.
func sameTree(all []Visit, n int) bool {
	return isSame(all, n, func(v Visit) string { return v.Tree })
}

// sameFinding says whether the last visits found the same.
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
