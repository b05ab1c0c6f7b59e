package health

import (
	"fmt"
	"strings"
	"time"

	"kanban-run/orchestrator/event"
)

// Case is the evidence for the reboot test, in addition to the finding.
type Case struct {
	Task        string        // path of the task
	HasText     bool          // the task's file has a line beyond its frontmatter
	Missing     []string      // inputs of the task that do not exist
	Obstacle    string        // the call that fails again and again, in words; "" if there is none
	Expected    time.Duration // expected time for the task; 0 if not known
	Took        time.Duration // time from the start to the last progress
	NoPlan      bool          // the hung call is not work on a task, so there is no plan to change
	Replans     bool          // the Manager can be asked for another plan
	Replanned   int           // number of new plans for this task so far
	Restarts    int           // number of restarts of this call so far
	MaxRestarts int
	LastHung    string // key of the anomaly that led to the last restart

	Judged []event.Answer // a judge's answers to the questions; nil if the evidence answers them
	Advice string         // the judge's advice to the agent
}

// Questions are the questions of the reboot test: seed 000, "5-Question Reboot Test".
var Questions = [...]string{
	"Q1: is the task clearly defined?",
	"Q2: is there enough context?",
	"Q3: is there a technical obstacle?",
	"Q4: does it take over twice the expected time?",
	"Q5: would a restart help?",
}

// Reboot performs seed 000's "5-Question Reboot Test" of a hung agent. The evidence or a judge
// answers the questions. The agent is ended in any case. The first three answers become advice for
// the next attempt. If the call is work on a task and the fourth answer is yes, the Manager is
// asked for a new plan. If the Manager cannot be asked, a person has to plan anew. In all other
// cases the fifth answer decides between a restart and a person. If the evidence is against a
// restart, the judge's fifth answer does not count.
func Reboot(f Finding, c Case) event.RebootTested {
	e := event.RebootTested{Anomaly: Describe(f)}
	ask := func(yes bool, evidence string) event.Answer {
		n := len(e.Answers)
		a := event.Answer{Question: Questions[n], Yes: yes, Evidence: evidence}
		if n < len(c.Judged) {
			a.Yes, a.Evidence = c.Judged[n].Yes, c.Judged[n].Evidence
		}
		e.Answers = append(e.Answers, a)
		return a
	}
	ask(c.HasText, presence(c.HasText, c.Task+" has a text", c.Task+" has no text beyond its frontmatter"))
	ask(len(c.Missing) == 0, presence(len(c.Missing) == 0,
		"no input that the task names is missing", "missing: "+event.List(c.Missing, 5)))
	ask(c.Obstacle != "", presence(c.Obstacle == "", "no call fails again and again in the same way", c.Obstacle))
	advice := c.advice()
	if late := ask(c.isLate()); late.Yes && !c.NoPlan {
		e.Advice, e.Decision, e.Text = "replan", event.Replan, f.Details+"; "+late.Evidence
		switch {
		case !c.Replans:
			e.Decision = event.Stuck
			e.Text += ", and the Manager does not accept anomalies, so that a person has to plan anew"
		case c.Replanned >= max(1, c.MaxRestarts):
			e.Decision = event.Stuck
			e.Text = fmt.Sprintf("%s, and the Manager has planned anew %s already", e.Text, times(c.Replanned))
		default:
			e.Details = e.Text + "." + advice // all that the Manager is told
		}
		return e
	}
	helps, why := c.mayRestart(e.Anomaly)
	if !helps {
		c.Judged = nil
	}
	last := ask(helps, why)
	e.Decision, e.Text = event.Stuck, fmt.Sprintf("%s, and a restart would not help: %s", f.Details, last.Evidence)
	if last.Yes {
		e.Decision, e.Text = event.Restart, "The watch ended your program: "+f.Details+"."+advice
	}
	return e
}

// Diagnose performs the reboot test of an agent that works and fails again and again: seed 000,
// "使用时机". The agent is left alone. A "no" to one of the first two questions, or a "yes" to the
// third, leads to an offer of help. If the fourth answer is yes, another plan is recommended. The
// second result is the offer; its Details are "" if there is none.
func Diagnose(f Finding, c Case) (e event.RebootTested, offer event.Content) {
	e.Anomaly = Describe(f)
	ask := func(yes bool, evidence string) {
		e.Answers = append(e.Answers, event.Answer{Question: Questions[len(e.Answers)], Yes: yes, Evidence: evidence})
	}
	ask(c.HasText, presence(c.HasText, c.Task+" has a text", c.Task+" has no text beyond its frontmatter"))
	ask(len(c.Missing) == 0, presence(len(c.Missing) == 0,
		"no input that the task names is missing", "missing: "+event.List(c.Missing, 5)))
	ask(c.Obstacle != "", presence(c.Obstacle == "", "no call fails again and again in the same way", c.Obstacle))
	late, why := c.isLate()
	ask(late, why)
	ask(false, "it is at work")
	e.Decision, e.Text = event.Continue, f.Details
	if late {
		e.Advice = "replan"
	}
	switch {
	case !c.HasText:
		e.Text = f.Details + "; the task has no text"
		offer = event.Content{Assistance: event.Guidance, Details: strings.TrimSpace(c.advice())}
	case len(c.Missing) > 0:
		e.Decision, e.Text = event.Assist, f.Details+"; missing: "+event.List(c.Missing, 5)
		offer = event.Content{Assistance: event.Resource, Details: strings.TrimSpace(c.advice())}
	case c.Obstacle != "":
		e.Decision, e.Text = event.Assist, c.Obstacle
		offer = offerHelp(c.Obstacle, c.Task)
	}
	return e, offer
}

// ReplanLate returns the decision to plan a task anew after the timeout has ended several attempts
// of the work: seed 000, "REPLAN".
func ReplanLate(r event.AttemptRef, limit time.Duration, attempts int) event.RebootTested {
	text := fmt.Sprintf("%d attempts took the whole time of %s and did not end: the task may be too large for one",
		attempts, event.Span(limit.Milliseconds()))
	return event.RebootTested{AttemptRef: r, Decision: event.Replan, Text: text, Answers: []event.Answer{},
		Anomaly: event.Anomaly{Type: Late.Anomaly(), Check: string(Late), Severity: string(Critical), Details: text, Advice: "replan"}}
}

// advice returns the advice to the next attempt. If a judge has answered, the advice is the judge's.
// Otherwise it follows from the first three answers of the evidence.
func (c Case) advice() (advice string) {
	if c.Judged != nil {
		return strings.TrimRight(" "+c.Advice, " ")
	}
	if !c.HasText {
		advice += " The task has no text: if it is not clear what to do, reply blocked and say what is missing."
	}
	if len(c.Missing) > 0 {
		advice += " The task names inputs that are not there: " + event.List(c.Missing, 5) +
			"; do without them, or reply blocked."
	}
	if c.Obstacle != "" {
		advice += " " + c.Obstacle + ": try another way."
	}
	return advice
}

// Spare returns Continue or Assist if a judge's first three answers let the agent go on with the
// judge's advice: seed 000, "决策映射", the rows of Q1 to Q3. It returns "" if Q4 and Q5 have to
// decide.
func Spare(judged []event.Answer) event.Decision {
	switch {
	case len(judged) < 3:
		return ""
	case !judged[0].Yes:
		return event.Continue
	case !judged[1].Yes, judged[2].Yes:
		return event.Assist
	default:
		return ""
	}
}

// AssistanceOf returns the type of the help that a judge's answers lead to.
func AssistanceOf(judged []event.Answer) string {
	if judged[0].Yes && !judged[1].Yes {
		return event.Resource // the agent lacks context
	}
	return event.Guidance
}

// isLate answers the fourth question from the evidence.
func (c Case) isLate() (yes bool, why string) {
	switch {
	case c.NoPlan:
		return false, "what is expected is about the work on the task"
	case c.Expected == 0:
		return false, "the task names no expected time, or none that can be read"
	case c.Took > 2*c.Expected:
		return true, fmt.Sprintf("it worked for %s, and %s was expected", brief(c.Took), brief(c.Expected))
	default:
		return false, fmt.Sprintf("it worked for %s of the expected %s", brief(c.Took), brief(c.Expected))
	}
}

// mayRestart answers the fifth question from the evidence.
func (c Case) mayRestart(a event.Anomaly) (yes bool, why string) {
	switch {
	case c.MaxRestarts == 0:
		return false, "max_restarts is 0"
	case c.Restarts >= c.MaxRestarts:
		return false, fmt.Sprintf("it was restarted %s already", times(c.Restarts))
	case a.Tool != "" && c.LastHung == a.Key():
		return false, "the last restart was for the same: " + a.Key()
	case c.Restarts == 0:
		return true, "it was not restarted yet"
	default:
		return true, fmt.Sprintf("it was restarted %s", times(c.Restarts))
	}
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

func presence(yes bool, present, missing string) string {
	if yes {
		return present
	}
	return missing
}

// Describe returns a finding as it is journaled: seed 000, "anomaly_report".
func Describe(f Finding) event.Anomaly {
	a := event.Anomaly{
		Type: f.Check.Anomaly(), Check: string(f.Check), Severity: string(f.Severity),
		Details: f.Details, Advice: "continue",
	}
	if f.Call != nil {
		a.Tool = f.Call.Tool
	}
	switch {
	case f.Check == Errors:
		a.Advice = "assist"
	case f.Act || f.Deaf:
		a.Advice = "restart"
	}
	return a
}
