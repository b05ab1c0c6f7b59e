package report

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/health"
)

// isTold says whether an event is told to programs: neither each part of what a model writes nor
// what the agent's program prints for people.
func isTold(e agent.Event) bool {
	switch e.Kind {
	case agent.Writing, agent.Heartbeat, agent.Printed, agent.Unread, agent.Heard, agent.Answered, agent.Echo, agent.Dropped: // the journal tells of messages
		return false
	default:
		return true
	}
}

// describeTool is a line about the tool that an agent uses, for a log: its start, and its end where
// it failed. "" for all else.
func describeTool(s agent.Sign) string {
	switch {
	case s.Class == agent.ReplyTool:
		return ""
	case s.Kind == agent.ToolStarted:
		return fmt.Sprintf("step %d: %s uses %s%s", s.Step, Player(s.AttemptRef), s.Tool, colonSuffix(s.Text))
	case s.Kind == agent.ToolEnded && s.Failed:
		return fmt.Sprintf("step %d: %s failed%s", s.Step, cmp.Or(s.Tool, "a tool"), colonSuffix(s.Text))
	case s.Kind == agent.Retry:
		return fmt.Sprintf("step %d: %s waits for its provider%s", s.Step, Player(s.AttemptRef), colonSuffix(s.Text))
	default:
		return ""
	}
}

// describeSign is a line about anything else that an agent did.
func describeSign(s agent.Sign) string {
	return fmt.Sprintf("step %d: %s: %s", s.Step, Player(s.AttemptRef), brief(s.Event.String()))
}

func colonSuffix(text string) string {
	if text == "" {
		return ""
	}
	return ": " + brief(agent.OneLine(text))
}

// silence is after what time a model that writes nothing is shown as one that is waited for.
const silence = 2 * time.Second

// describeTrace is what an agent does at a time: its open calls, or how long it has waited and for
// what, and what it said last.
func describeTrace(t *health.Trace, now time.Time) string {
	since := func(at time.Time) string { return elapsed(now.Sub(at)) }
	doing, said := "", ""
	switch t.Waiting() {
	case health.ForTools:
		var calls []string
		for _, c := range t.Open() {
			calls = append(calls, strings.TrimSpace(since(c.Since)+" "+c.Tool+" "+agent.OneLine(c.Text)))
		}
		return strings.Join(calls, " · ")
	case health.ForProvider:
		return "waiting for the provider " + since(t.Failed.Time) + colonSuffix(t.Failed.Text)
	case health.ForModel:
		if quiet := now.Sub(t.Asked()); quiet >= silence {
			doing = "waiting for the model " + elapsed(quiet)
		}
	}
	if last := t.Last; !last.Time.IsZero() && (last.Kind == agent.Text || last.Kind == agent.Printed) {
		said = since(last.Time) + " ago: " + last.String()
	}
	return strings.Trim(doing+" · "+said, " ·")
}

// DescribeLive says what an agent at work does.
func DescribeLive(l health.Live, now time.Time) string {
	since := func(at time.Time) string { return elapsed(now.Sub(at)) }
	text := "working " + since(l.Started)
	for _, c := range l.Open {
		text += fmt.Sprintf(" · %s %s", c.Tool, since(c.Since))
	}
	switch {
	case l.Activity == "model":
		text += " · waiting for the model " + since(later(l.LastActivity, l.Started))
	case l.Activity == "retry":
		text += " · waiting for the provider"
	case l.LastActivity.IsZero():
		return text + " · no sign yet"
	default:
		text += " · last sign " + since(l.LastActivity)
	}
	if l.IdleStage != "none" {
		text += " (" + l.IdleStage + ")"
	}
	return text
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
