package health

import (
	"fmt"
	"strings"
	"time"

	"kanban-run/orchestrator/flow"
)

// Case is what the reboot test looks at beside the finding.
type Case struct {
	Task        string        // path of the task
	HasText     bool          // the task's file has a line beyond its frontmatter
	Missing     []string      // files that the task names as its inputs, and that are not there
	Obstacle    string        // what its calls fail with again and again; "" for nothing
	Expected    time.Duration // of the task; 0: not known
	Took        time.Duration // from the start to the last progress
	Replans     bool          // the Manager can be asked for another plan
	Replanned   int           // of this task so far
	Restarts    int           // of this call so far
	MaxRestarts int
	LastHung    string // what the last restart was for
}

// Reboot is seed 000's "5-Question Reboot Test" for an agent that cannot be asked: the answers
// from the evidence, and the decision. For a critical anomaly no answer may leave a dead agent
// running, so the advice of the first four goes into the next attempt, and the fifth decides.
func Reboot(f Finding, c Case) flow.RebootTested {
	e := flow.RebootTested{Anomaly: Describe(f)}
	advice := ""
	ask := func(question string, yes bool, evidence string) {
		e.Answers = append(e.Answers, flow.Answer{Question: question, Yes: yes, Evidence: evidence})
	}
	ask("Q1: is the task clearly defined?", c.HasText, presence(c.HasText, c.Task+" has a text", c.Task+" has no text beyond its frontmatter"))
	if !c.HasText {
		advice += " The task has no text: if it is not clear what to do, reply blocked and say what is missing."
	}
	ask("Q2: is there enough context?", len(c.Missing) == 0, presence(len(c.Missing) == 0, "no input that the task names is missing", "missing: "+strings.Join(c.Missing, ", ")))
	if len(c.Missing) > 0 {
		advice += " The task names inputs that are not there: " + strings.Join(c.Missing, ", ") + "; do without them, or reply blocked."
	}
	ask("Q3: is there a technical obstacle?", c.Obstacle != "", presence(c.Obstacle == "", "no call fails again and again in the same way", c.Obstacle))
	if c.Obstacle != "" {
		advice += " " + c.Obstacle + ": try another way."
	}
	late, pace := c.isLate()
	ask("Q4: does it take over twice the expected time?", late, pace)
	if late {
		e.Advice, e.Decision, e.Text = "replan", flow.Replan, f.Details+"; "+pace
		switch {
		case !c.Replans:
			e.Decision, e.Text = flow.Stuck, e.Text+", and the Manager does not accept anomalies, so that a person has to plan anew"
		case c.Replanned >= max(1, c.MaxRestarts):
			e.Decision, e.Text = flow.Stuck, fmt.Sprintf("%s, and the Manager has planned anew %s already", e.Text, times(c.Replanned))
		default:
			e.Details = e.Text + "." + advice // all that the Manager is told
		}
		return e
	}
	helps, why := c.wouldHelp(e.Anomaly)
	ask("Q5: would a restart help?", helps, why)
	e.Decision, e.Text = flow.Stuck, fmt.Sprintf("%s, and a restart would not help: %s", f.Details, why)
	if helps {
		e.Decision, e.Text = flow.Restart, "The watch ended your program: "+f.Details+"."+advice
	}
	return e
}

// isLate answers the fourth question.
func (c Case) isLate() (yes bool, why string) {
	switch {
	case c.Expected == 0:
		return false, "the task names no expected time, or none that can be read"
	case c.Took > 2*c.Expected:
		return true, fmt.Sprintf("it worked for %s, and %s was expected", brief(c.Took), brief(c.Expected))
	default:
		return false, fmt.Sprintf("it worked for %s of the expected %s", brief(c.Took), brief(c.Expected))
	}
}

// wouldHelp answers the fifth question.
func (c Case) wouldHelp(a flow.Anomaly) (yes bool, why string) {
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

// Describe is a finding as it is journaled: seed 000, "anomaly_report".
func Describe(f Finding) flow.Anomaly {
	a := flow.Anomaly{Type: f.Check.Anomaly(), Check: string(f.Check), Severity: string(f.Severity), Details: f.Details, Advice: "continue"}
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
