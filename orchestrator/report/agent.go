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
// it failed. It has no text for all else.
func describeTool(s agent.Sign) (said event.Sentence) {
	said = event.Sentence{Weight: event.Note, Step: s.Step}
	switch {
	case s.Class == agent.ReplyTool:
	case s.Kind == agent.ToolStarted:
		said.Text = fmt.Sprintf("%s uses %s%s", s.AttemptRef.Player(), s.Tool, colonSuffix(s.Text))
	case s.Kind == agent.ToolEnded && s.Failed:
		said.Text = fmt.Sprintf("%s failed%s", cmp.Or(s.Tool, "a tool"), colonSuffix(s.Text))
	case s.Kind == agent.Retry:
		said.Text = fmt.Sprintf("%s waits for its provider%s", s.AttemptRef.Player(), colonSuffix(s.Text))
	}
	return said
}

// describeSign is a line about anything else that an agent did.
func describeSign(s agent.Sign) event.Sentence {
	return event.Sentence{Weight: event.Note, Step: s.Step, Text: s.AttemptRef.Player() + ": " + event.Brief(s.Event.String())}
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
