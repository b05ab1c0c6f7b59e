package event

import (
	"fmt"
	"strings"
)

// JudgeAsked says that an agent is asked the questions of the reboot test about the running
// attempt: seed 000, "5-Question Reboot Test". It works beside that attempt.
type JudgeAsked struct {
	AttemptRef
	Anomaly `text:"free"`
	Judge   string `json:"judge"`   // its role
	Adapter string `json:"adapter"` // of its program
	Command string `json:"command" text:"free"`
	Mark    string `json:"mark"` // of its processes
}

// Kind is the record's type in the journal.
func (JudgeAsked) Kind() string { return "JUDGE_ASKED" }

// Sentence is what a person reads of it.
func (e JudgeAsked) Sentence() Sentence {
	return inStep(e.Step, Warning, "%s judges %s: %s", e.Judge, e.Player(), e.Details)
}

// JudgeAnswered is what the judge came to. Without answers the evidence decides.
type JudgeAnswered struct {
	AttemptRef
	Judge    string    `json:"judge"`
	Adapter  string    `json:"adapter"`
	Command  string    `json:"command" text:"free"`
	Answers  []Answer  `json:"answers,omitempty" text:"free"`
	Advice   string    `json:"advice,omitempty" text:"free"` // for the agent
	Decision Decision  `json:"decision,omitempty"`           // Continue or Assist; "": the test goes on with the answers
	Reason   string    `json:"reason,omitempty" text:"free"` // why there are no answers, or why they are void
	Tries    int       `json:"tries"`                        // 0: none was started
	Millis   int64     `json:"millis"`
	Spent    *Spending `json:"spent,omitempty"` // by all tries; nil: its tool does not tell
}

// Kind is the record's type in the journal.
func (JudgeAnswered) Kind() string { return "JUDGE_ANSWERED" }

// Sentence is what a person reads of it.
func (e JudgeAnswered) Sentence() Sentence {
	return inStep(e.Step, Note, "%s %s%s", e.Judge, e.Verdict(), e.Spent.suffix())
}

// Verdict is what the judge says, in words that follow its name.
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
