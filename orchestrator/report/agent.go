package report

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/event"
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
		return fmt.Sprintf("step %d: %s uses %s%s", s.Step, s.AttemptRef.Player(), s.Tool, colonSuffix(s.Text))
	case s.Kind == agent.ToolEnded && s.Failed:
		return fmt.Sprintf("step %d: %s failed%s", s.Step, cmp.Or(s.Tool, "a tool"), colonSuffix(s.Text))
	case s.Kind == agent.Retry:
		return fmt.Sprintf("step %d: %s waits for its provider%s", s.Step, s.AttemptRef.Player(), colonSuffix(s.Text))
	default:
		return ""
	}
}

// describeSign is a line about anything else that an agent did.
func describeSign(s agent.Sign) string {
	return fmt.Sprintf("step %d: %s: %s", s.Step, s.AttemptRef.Player(), event.Brief(s.Event.String()))
}

func colonSuffix(text string) string {
	if text == "" {
		return ""
	}
	return ": " + event.Brief(agent.OneLine(text))
}

// DescribeLive says what an agent at work does.
func DescribeLive(l health.Live, now time.Time) string {
	return strings.Join(describeAgent(l, now), " · ")
}

// describeAgent says what an agent at work does, and how it is.
func describeAgent(l health.Live, now time.Time) []string {
	text := "working " + event.Elapsed(now.Sub(l.Started))
	if doing := doingLive(l).at(now); doing != "" {
		text += " · " + doing
	}
	sign := "no sign yet"
	if !l.LastActivity.IsZero() {
		sign = "last sign " + event.Elapsed(now.Sub(l.LastActivity))
	}
	return []string{text, join(" · ", sign, l.Health, map[bool]string{true: l.IdleStage}[l.IdleStage != "none"])}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
