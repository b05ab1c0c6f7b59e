package event

import (
	"fmt"
	"strings"
)

// JudgeAsked is the start of an attempt of the judge, an agent that answers the questions of the
// reboot test about the agent at work: seed 000, "5-Question Reboot Test". That agent goes on
// meanwhile.
type JudgeAsked struct {
	AttemptRef
	Anomaly
	Judge   string `json:"judge"`               // role of the judge
	Adapter string `json:"adapter" text:"fact"` // adapter of the judge's program
	Command string `json:"command"`
	Try     int    `json:"try"`              // number of the judge's attempt, from 1
	Mark    string `json:"mark" text:"fact"` // mark of the judge's processes
}

func (JudgeAsked) Kind() string { return "JUDGE_ASKED" }

func (e JudgeAsked) Sentence() Sentence {
	return inStep(e.Step, Warning, "%s judges %s: %s", judgeName(e.Judge, e.Try), e.Player(), e.Details)
}

// JudgeAnswered is the end of an attempt of the judge. If the judge gives no answers in its last
// attempt, the evidence decides.
type JudgeAnswered struct {
	AttemptRef
	Judge   string   `json:"judge"`
	Adapter string   `json:"adapter" text:"fact"`
	Command string   `json:"command"`
	Answers []Answer `json:"answers,omitempty"`
	Advice  string   `json:"advice,omitempty"` // advice for the agent
	// Decision is Continue or Assist; "" if the next check of the agent decides.
	Decision Decision `json:"decision,omitempty"`
	// Reason is the reason for void or missing answers; "" for valid answers.
	Reason  string    `json:"reason,omitempty"`
	Try     int       `json:"try"`               // number of the judge's attempt, from 1; 0 if no attempt was started
	Invalid bool      `json:"invalid,omitempty"` // the reply does not have the right format
	Millis  int64     `json:"millis"`
	Spent   *Spending `json:"spent,omitempty"` // use by the attempt; nil if unknown
	// Warning has the faults of an attempt whose reply counts nevertheless; "" if there are none.
	Warning string `json:"warning,omitempty"`
}

func (JudgeAnswered) Kind() string { return "JUDGE_ANSWERED" }

func (e JudgeAnswered) Sentence() Sentence {
	s := inStep(e.Step, Note, "%s %s%s", judgeName(e.Judge, e.Try), e.Verdict(), e.Spent.suffix())
	return End{Warning: e.Warning}.warn(s)
}

// Verdict returns the judge's answers as words that follow the judge's name in a sentence.
func (e JudgeAnswered) Verdict() string {
	var said []string
	for i, a := range e.Answers {
		said = append(said, fmt.Sprintf("Q%d %s", i+1, map[bool]string{true: "yes", false: "no"}[a.Yes]))
	}
	text := "says " + strings.Join(said, ", ")
	switch {
	case e.Invalid:
		return "gave no valid reply: " + Headline(e.Reason)
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

// judgeName returns a name of a judge's attempt as the beginning of a sentence.
func judgeName(judge string, try int) string {
	if try <= 1 {
		return judge
	}
	return fmt.Sprintf("%s, attempt %d,", judge, try)
}
