package event

import (
	"fmt"
	"strings"
)

// JudgeAsked is the start of the judge, an agent that answers the questions of the reboot test
// about the running attempt: seed 000, "5-Question Reboot Test". The attempt goes on meanwhile.
type JudgeAsked struct {
	AttemptRef
	Anomaly `text:"free"`
	Judge   string `json:"judge"`   // role of the judge
	Adapter string `json:"adapter"` // adapter of the judge's program
	Command string `json:"command" text:"free"`
	Mark    string `json:"mark"` // mark of the judge's processes
}

// Kind implements [Event].
func (JudgeAsked) Kind() string { return "JUDGE_ASKED" }

// Sentence implements [Event].
func (e JudgeAsked) Sentence() Sentence {
	return inStep(e.Step, Warning, "%s judges %s: %s", e.Judge, e.Player(), e.Details)
}

// JudgeAnswered is the answer of the judge. Without answers the evidence decides.
type JudgeAnswered struct {
	AttemptRef
	Judge   string   `json:"judge"`
	Adapter string   `json:"adapter"`
	Command string   `json:"command" text:"free"`
	Answers []Answer `json:"answers,omitempty" text:"free"`
	Advice  string   `json:"advice,omitempty" text:"free"` // advice for the agent
	// Decision is Continue or Assist; "" if the next check of the agent decides.
	Decision Decision `json:"decision,omitempty"`
	// Reason is the reason for void or missing answers; "" for valid answers.
	Reason string    `json:"reason,omitempty" text:"free"`
	Tries  int       `json:"tries"` // attempts of the judge; 0 if it was never started
	Millis int64     `json:"millis"`
	Spent  *Spending `json:"spent,omitempty"` // use by all tries; nil if unknown
}

// Kind implements [Event].
func (JudgeAnswered) Kind() string { return "JUDGE_ANSWERED" }

// Sentence implements [Event].
func (e JudgeAnswered) Sentence() Sentence {
	return inStep(e.Step, Note, "%s %s%s", e.Judge, e.Verdict(), e.Spent.suffix())
}

// Verdict returns the judge's answers as words that follow the judge's name in a sentence.
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
