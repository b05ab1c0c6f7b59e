package projection

import (
	"time"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/health"
)

// Now is what a run at work does, as its events tell.
type Now struct {
	Index, Of int // number of the task, counted from 1 (0 if not known); number of all tasks
	Task      string
	Ref       event.AttemptRef // the last attempt
	Adapter   string
	Since     time.Time  // start of the last attempt or of the run
	Asked     time.Time  // time of the health check that the agent has not answered; zero: none
	Health    string     // a word of seed 000; "": no agent is at work
	Doing     Doing      // what the board waits for; zero: nothing
	Used      event.Used // use by the attempts of the run, without those that it goes on with
}

// Doing is an activity, its beginning, and a detail that may be cut.
type Doing struct {
	What   string
	Since  time.Time // beginning of the activity; zero if its age is not shown
	Detail string
}

// ForConsent is the activity of a board whose run waits for a person's consent.
const ForConsent = "waits for your consent"

func (n *Now) begin(e event.StepStarted) {
	n.Index, n.Of, n.Task, n.Doing = e.Index, e.Of, e.Task, Doing{}
}

func (n *Now) beginAttempt(e event.AttemptStarted, at time.Time) {
	n.Ref, n.Adapter, n.Task, n.Since = e.AttemptRef, e.Adapter, e.Task, at
	n.Health, n.Asked, n.Doing = health.Healthy, time.Time{}, Doing{}
}

func (n *Now) endAttempt() { n.Health, n.Doing = "", Doing{} }

// applyWatch applies what the watch noticed and did about the agent at work, and what the run waits for.
func (f *Fold) applyWatch(e event.Entry, _ event.Sentence) (mention, bool) {
	n := &f.Now
	switch ev := e.Event.(type) {
	case event.AnomalyFound:
		n.Health = ev.Severity
	case event.Recovered:
		n.Health, n.Asked = health.Healthy, time.Time{}
	case event.MessageSent:
		if ev.Type == event.HealthCheck {
			n.Asked = e.Time
		}
	case event.MessageHeard:
		if ev.Answer != "" {
			n.Asked = time.Time{}
		}
	case event.ConsentAsked:
		n.Doing = Doing{ForConsent, e.Time, "kanban-run inbox"}
	case event.ConsentGiven:
		n.Doing, n.Health = Doing{}, health.Healthy
	case event.JudgeAsked:
		n.Doing = Doing{"is judged", e.Time, ev.Judge}
	case event.RebootTested:
		if !ev.Decision.Spares() {
			f.count(func(t *Totals) { t.Restarts++ })
			if ev.Call == event.TaskCall {
				f.taskOf(ev.Task).Restarts++
			}
		}
	case event.DuplicateTask:
		n.Task, n.Doing = ev.Task, Doing{What: "waits for " + ev.Owner, Since: e.Time}
	case event.ScopeOverlaps:
		if ev.Waits {
			n.Task, n.Doing = ev.Task, Doing{"waits for " + ev.Owner, e.Time, event.List(ev.Files, 3)}
		}
	case event.ToolUnavailable:
		f.addTool(ev)
	default:
		return ifHeavy, false
	}
	return ifHeavy, true
}
