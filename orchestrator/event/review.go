package event

import (
	"cmp"
	"strings"
)

// OutputHeading begins the line before the output of a review command in its feedback.
const OutputHeading = "Its last lines on "

// ReviewHeld is the outcome of a review with a verdict: seed 003, "Supervisor Feedback". Every end
// of a review command is a verdict.
type ReviewHeld struct {
	AttemptRef
	Completed bool `json:"completed"`
	// Feedback is the supervisor's message. For a review command it is the way in which the command
	// ended, with its output.
	Feedback string `json:"feedback"`
	// Changed says which files of the command were changed while this task, or an earlier one of the same
	// command of kanban-run, was worked on. Command is then the command.
	Changed string `json:"changed,omitempty"`
	Command string `json:"command,omitempty"`
	// Tree is the hash of the work tree. Finding is the hash of the feedback (see [FindingOf]).
	// Both are "" if the work was accepted.
	Tree    string `json:"tree,omitempty" text:"fact"`
	Finding string `json:"finding,omitempty" text:"fact"`

	End
}

func (ReviewHeld) Kind() string { return "REVIEW_HELD" }

// Sentence returns a sentence with an excerpt of the feedback.
func (e ReviewHeld) Sentence() Sentence { return e.with(e.Excerpt()) }

// Whole returns the sentence with the whole feedback.
func (e ReviewHeld) Whole() Sentence { return e.with(e.Feedback) }

func (e ReviewHeld) with(feedback string) Sentence {
	if e.Completed && e.Changed != "" {
		return e.warn(inStep(e.Step, Note, "the work is accepted by %s (round %d, %s): %s", e.Command, e.Round, Took(e.Millis), e.Changed))
	}
	if e.Completed {
		return e.warn(inStep(e.Step, Success, "%s accepts the work (round %d, %s)%s",
			e.Player(), e.Round, Took(e.Millis), e.Spent.suffix()))
	}
	return e.warn(inStep(e.Step, Warning, "%s is not content (round %d, %s)%s: %s",
		e.Player(), e.Round, Took(e.Millis), e.Spent.suffix(), feedback))
}

// Excerpt shortens the feedback for a line. Of a command's feedback it keeps the first line,
// which reports how the command ended, and the last line of the output.
func (e ReviewHeld) Excerpt() string {
	if e.Call != CommandCall {
		return Brief(e.Feedback)
	}
	end, printed, _ := strings.Cut(e.Feedback, "\n")
	if at := strings.LastIndex(printed, OutputHeading); at >= 0 {
		_, printed, _ = strings.Cut(printed[at:], "\n")
	}
	printed = strings.TrimSpace(printed)
	if last := cmp.Or(LastLine(printed), printed[strings.LastIndex(printed, "\n")+1:]); last != "" {
		end += ": " + last
	}
	return Brief(end)
}
