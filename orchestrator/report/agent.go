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

// isTold reports whether an agent's event is in the JSON output and in the log of a CI job. It
// returns false for parts of a model's text, heartbeats, unread lines and output for people. It
// also returns false for messages, because the journal has them.
func isTold(e agent.Event) bool {
	switch e.Kind {
	case agent.Writing, agent.Heartbeat, agent.Printed, agent.Unread,
		agent.Heard, agent.Answered, agent.Echo, agent.Dropped:
		return false
	default:
		return true
	}
}

// describeTool returns a log line about the start of a tool, the failure of a tool, or a wait for
// the provider. For any other sign the line has no text.
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

// describeSign returns a log line about any sign of an agent.
func describeSign(s agent.Sign) event.Sentence {
	return event.Sentence{
		Weight: event.Note,
		Step:   s.Step,
		Text:   s.AttemptRef.Player() + ": " + event.Brief(s.Event.String()),
	}
}

func colonSuffix(text string) string {
	if text == "" {
		return ""
	}
	return ": " + event.Brief(agent.OneLine(text))
}

// DescribeLive describes the activity and the health of an agent at work, in one line.
func DescribeLive(l health.Live, now time.Time) string {
	return strings.Join(describeAgent(l, now), " · ")
}

// describeAgent describes an agent at work in two texts. The first has its activity, and the second
// has its last sign and its health.
func describeAgent(l health.Live, now time.Time) []string {
	text := "working " + event.Elapsed(now.Sub(l.Started))
	if doing := doingLive(l).at(now); doing != "" {
		text += " · " + doing
	}
	sign := "no sign yet · " + l.Health
	switch {
	case !l.LastActivity.IsZero():
		sign = "last sign " + event.Elapsed(now.Sub(l.LastActivity)) + " · " + l.Health
	case l.Health == health.Healthy:
		sign = "silent " + event.Elapsed(now.Sub(l.Started))
	}
	return []string{text, join(" · ", sign, map[bool]string{true: l.IdleStage}[l.IdleStage != "none"])}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
