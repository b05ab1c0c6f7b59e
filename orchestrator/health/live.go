package health

import (
	"fmt"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/event"
)

// Live is an agent's activity at one moment, for people: seed 002, "Event Monitoring Model".
type Live struct {
	At           time.Time  `json:"at"` // the moment
	Started      time.Time  `json:"started_at"`
	LastActivity time.Time  `json:"last_activity_at,omitzero"`
	LastProgress time.Time  `json:"last_progress_at,omitzero"`
	Activity     string     `json:"activity"`    // model, tool, retry or idle
	WaitReason   string     `json:"wait_reason"` // coding, waiting_review, blocked or waiting_ack
	IdleStage    string     `json:"idle_stage"`  // none, pinged, nudged or escalated, see [Monitor.IdleStage]
	Health       string     `json:"health"`      // healthy, warning or critical; "" in older files
	Open         []LiveCall `json:"open_calls,omitempty"`
}

// LiveAttempt is the activity of an attempt's agent. It is the content of the file live.json.
type LiveAttempt struct {
	event.AttemptRef
	Live
}

// LiveCall is an open call of a tool.
type LiveCall struct {
	Tool  string    `json:"tool"`
	About string    `json:"about,omitempty"`
	Since time.Time `json:"since"`
}

// maxLiveCalls is the greatest number of open calls in a Live.
const maxLiveCalls = 8

// Looked is the result of the last look at an agent.
type Looked struct{ IdleStage, Health string }

// NotLooked returns the result to use before the first look.
func NotLooked() Looked { return Looked{"none", Healthy} }

// Live returns the agent's present activity.
func (t *Trace) Live(now time.Time, last Looked) Live {
	l := Live{
		At:           now,
		Started:      t.Started,
		LastActivity: t.Activity,
		LastProgress: t.Progress,
		Activity:     "idle",
		WaitReason:   "coding",
		IdleStage:    last.IdleStage,
		Health:       last.Health,
	}
	for _, c := range t.Open() {
		if len(l.Open) < maxLiveCalls {
			l.Open = append(l.Open, LiveCall{c.Tool, agent.OneLine(c.Text), c.Since})
		}
	}
	switch t.Waiting() {
	case ForTools:
		l.Activity = "tool"
	case ForProvider:
		l.Activity, l.WaitReason = "retry", "blocked"
	case ForModel:
		l.Activity = "model"
	}
	if last.IdleStage == "pinged" || last.IdleStage == "nudged" {
		l.WaitReason = "waiting_ack"
	}
	return l
}

// Signs returns the signs that are tracked of each active role, in words: seed 002, "Event
// Monitoring Model".
func (l Live) Signs() string {
	at := func(t time.Time) string {
		if t.IsZero() {
			return "none yet"
		}
		return t.UTC().Format(time.RFC3339)
	}
	return fmt.Sprintf("last_activity_at %s, last_progress_at %s, wait_reason %s, idle_stage %s",
		at(l.LastActivity), at(l.LastProgress), l.WaitReason, l.IdleStage)
}

// IdleStage returns the stage that the questions to a silent agent have reached: none, pinged,
// nudged or escalated.
func (m *Monitor) IdleStage() string {
	switch q := &m.inquiry; {
	case m.stage > 1 || !q.urgent.IsZero() && q.isUnanswered(m.last, m.policy.Answer):
		return "escalated"
	case !q.urgent.IsZero():
		return "nudged"
	case !q.asked.IsZero() || m.stage > 0:
		return "pinged"
	default:
		return "none"
	}
}
