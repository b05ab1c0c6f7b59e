package event

import (
	"fmt"
	"strings"
)

// JudgeAsked is the start of an agent that answers the questions of the reboot test about the
// running attempt: seed 000, "5-Question Reboot Test". It works beside that attempt.
type JudgeAsked struct {
	AttemptRef
	Anomaly `text:"free"`
	Judge   string `json:"judge"`   // its role
	Adapter string `json:"adapter"` // of its program
	Command string `json:"command" text:"free"`
	Mark    string `json:"mark"` // of its processes
}

// Kind implements [Event].
func (JudgeAsked) Kind() string { return "JUDGE_ASKED" }

// Sentence implements [Event].
func (e JudgeAsked) Sentence() Sentence {
	return inStep(e.Step, Warning, "%s judges %s: %s", e.Judge, e.Player(), e.Details)
}

// JudgeAnswered is the answer of the judge. If there are no answers, the evidence decides.
type JudgeAnswered struct {
	AttemptRef
	Judge    string    `json:"judge"`
	Adapter  string    `json:"adapter"`
	Command  string    `json:"command" text:"free"`
	Answers  []Answer  `json:"answers,omitempty" text:"free"`
	Advice   string    `json:"advice,omitempty" text:"free"` // for the agent
	Decision Decision  `json:"decision,omitempty"`           // Continue or Assist; "": the answers decide
	Reason   string    `json:"reason,omitempty" text:"free"` // why there are no answers, or why they are void
	Tries    int       `json:"tries"`                        // 0: the judge was never started
	Millis   int64     `json:"millis"`
	Spent    *Spending `json:"spent,omitempty"` // by all tries; nil: its tool does not tell
}

// Kind implements [Event].
func (JudgeAnswered) Kind() string { return "JUDGE_ANSWERED" }

// Sentence implements [Event].
func (e JudgeAnswered) Sentence() Sentence {
	return inStep(e.Step, Note, "%s %s%s", e.Judge, e.Verdict(), e.Spent.suffix())
}

// Verdict returns the judge's answers in words that follow its name.
func (e JudgeAnswered) Verdict() string {
	var said []string
	for i, a := range e.Answers {
		said = append(said, fmt.Sprintf("Q%d %s", i+1, map[bool]string{true: "yes", false: "no"}[a.Yes]))
	}
	text := "says " + strings.Join(said, ", ")
	switch {
	case len(e.Answers) == 0:
		return "has not judged: " + Headline(e.Reason)
	case e.Reason != "":
		return text + ", which is void: " + e.Reason
	case e.Decision != "":
		text += fmt.Sprintf("; %s is left alone (%s)", e.Role, e.Decision)
	}
	if e.Advice != "" {
		text += ": " + Headline(e.Advice)
	}
	return text
}
