package health

import (
	"fmt"
	"math"

	"kanban-run/orchestrator/event"
)

// HealthCheck returns the message that asks a silent agent for a sign: seed 000, "健康询问". Its words
// are from seed 002, "Ping / Nudge Templates".
func HealthCheck(f Finding, task string, urgent bool) event.Content {
	c := event.Content{Reason: "idle_detected", IdleDuration: math.Round(f.For.Minutes()*1000) / 1000,
		Question: fmt.Sprintf("Quick ping on task #%s: if still in progress, send 1-line status + ETA.", task),
		Options:  []string{"go on", "need help", "have a problem"}}
	if f.Check == ProgressStale {
		c.Reason = "progress_stale"
	}
	if urgent {
		c.Question = fmt.Sprintf(
			"I see a pause on task #%s. What's the smallest next step you can close in 15-20 minutes?", task)
	}
	return c
}

// Recovery returns the message about the task of a silent agent that makes progress again: seed
// 002, "Ping / Nudge Templates".
func Recovery(task string) string {
	return fmt.Sprintf("Thanks, task #%s is moving again. I updated state and cleared idle alert.", task)
}

// offerHelp returns the message that offers help to an agent whose calls fail again and again in
// the same way: seed 000, "协助提供".
func offerHelp(obstacle, task string) event.Content {
	return event.Content{Assistance: event.Guidance, Details: fmt.Sprintf(
		"%s. Try another way. For task #%s, what unblocks you fastest: missing context, Tech Lead decision, "+
			"or task split? If nothing does, reply blocked and say what is missing.", obstacle, task)}
}

// OfferSuccessor returns the message to an agent that is given up: the agent "to" takes its task
// over.
func OfferSuccessor(to, task string) event.Content {
	return event.Content{Assistance: event.NewMember, Details: fmt.Sprintf(
		"%s takes over task #%s from you. If you can, write into the task's work log where you are.", to, task)}
}

// Describe returns the event that reports the stage of a task's agent: seed 002, "Ping / Nudge
// Templates" and "Idle / No-response".
func (s Stage) Describe(task string, review bool) event.Overdue {
	b := event.Overdue{Millis: s.For.Milliseconds()}
	silent := "no progress for " + brief(s.For)
	switch {
	case s.Number == 1 && review:
		b.Severity, b.Action = "INFO", "PING"
		b.Text = fmt.Sprintf("%s. Reminder: review pending for task #%s. If delayed, share ETA; "+
			"otherwise I'll propose backup reviewer routing.", silent, task)
	case s.Number == 1:
		b.Severity, b.Action = "INFO", "PING"
		b.Text = fmt.Sprintf("%s. Quick ping on task #%s: if still in progress, send 1-line status + ETA.",
			silent, task)
	case s.Number == 2:
		b.Severity, b.Action, b.Text = "WARN", "ESCALATE", silent+"; a person should look at it"
	default:
		b.Severity, b.Action = "CRITICAL", "REASSIGN_PROPOSAL"
		b.Text = silent + "; another agent should take the task over: " +
			"stop the run, and name another agent for the role"
	}
	return b
}
