package event

import "strings"

// ReviewHeld is the outcome of a review that came to a verdict: seed 003, "Supervisor Feedback". A
// command comes to one however it ends.
type ReviewHeld struct {
	AttemptRef
	Completed bool   `json:"completed"`
	Feedback  string `json:"feedback" text:"free"` // the supervisor's final message, or what the command came to
	Tree      string `json:"tree,omitempty"`       // of a review that is not content, as in a [Visit], and
	Finding   string `json:"finding,omitempty"`    // see [FindingOf]

	End `text:"free"`
}

func (ReviewHeld) Kind() string { return "REVIEW_HELD" }

// Sentence is what a person reads of it.
func (e ReviewHeld) Sentence() Sentence {
	if e.Completed {
		return inStep(e.Step, Success, "%s accepts the work (round %d, %s)%s", e.Player(), e.Round, Took(e.Millis), e.Spent.suffix())
	}
	return inStep(e.Step, Warning, "%s is not content (round %d, %s)%s: %s", e.Player(), e.Round, Took(e.Millis), e.Spent.suffix(), e.excerpt())
}

// excerpt is what an agent is told of its work, for a terminal: of a command how it ended, and the
// last line that it printed.
func (e ReviewHeld) excerpt() string {
	if e.Call != CommandCall {
		return Brief(e.Feedback)
	}
	end, printed, _ := strings.Cut(e.Feedback, "\n")
	if last := lastLine(printed); last != "" {
		end += ": " + last
	}
	return Brief(end)
}
