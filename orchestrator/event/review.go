package event

import "strings"

// ReviewHeld is the outcome of a review with a verdict: seed 003, "Supervisor Feedback". A command
// gives one however it ends.
type ReviewHeld struct {
	AttemptRef
	Completed bool   `json:"completed"`
	Feedback  string `json:"feedback" text:"free"` // the supervisor's message, or the command's end and output
	Tree      string `json:"tree,omitempty"`       // of a review that is not content, as in a [Visit], and
	Finding   string `json:"finding,omitempty"`    // see [FindingOf]

	End `text:"free"`
}

func (ReviewHeld) Kind() string { return "REVIEW_HELD" }

// Sentence implements [Event].
func (e ReviewHeld) Sentence() Sentence {
	if e.Completed {
		return inStep(e.Step, Success, "%s accepts the work (round %d, %s)%s",
			e.Player(), e.Round, Took(e.Millis), e.Spent.suffix())
	}
	return inStep(e.Step, Warning, "%s is not content (round %d, %s)%s: %s",
		e.Player(), e.Round, Took(e.Millis), e.Spent.suffix(), e.excerpt())
}

// excerpt shortens the feedback for a terminal. Of a command's feedback it keeps how the command ended,
// and the last line of its output.
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
