package digest

import (
	"fmt"

	"kanban-run/orchestrator/event"
)

// Checkpoint is a look of the resident supervisor at the board (seed 001).
type Checkpoint struct {
	ID       string   `json:"id"`
	Step     int      `json:"step"`
	Verdict  string   `json:"verdict"` // pass, warn, block or event.NoVerdict
	Score    float64  `json:"score"`   // from 0 to 1
	Trend    string   `json:"quality_trend,omitempty"`
	Findings []string `json:"key_findings,omitempty"`
	Report   string   `json:"report,omitempty"` // path of the report, relative to the board's folder
	Reason   string   `json:"reason,omitempty"` // reason why there is no verdict, or ""
}

// String returns the checkpoint in a few words.
func (c Checkpoint) String() string {
	if c.Verdict == event.NoVerdict {
		return c.ID + " no verdict"
	}
	text := fmt.Sprintf("%s %s (score: %.2f)", c.ID, c.Verdict, c.Score)
	if c.Trend != "" {
		text += ", " + event.OneLine(c.Trend)
	}
	return text
}

// checkpointOf returns the checkpoint that an event ends. It returns false for any other event.
func checkpointOf(e event.Event) (Checkpoint, bool) {
	switch e := e.(type) {
	case event.CheckpointHeld:
		d := e.Data
		return Checkpoint{ID: d.ID, Step: e.Step, Verdict: d.Verdict, Score: d.Score, Trend: e.Trend,
			Findings: d.Findings, Report: d.Report}, true
	case event.SupervisorFailed:
		return Checkpoint{ID: e.Task, Step: e.Step, Verdict: event.NoVerdict, Reason: e.Reason}, true
	case event.ScopeViolated:
		return Checkpoint{ID: e.Task, Step: e.Step, Verdict: event.NoVerdict, Reason: e.Text}, true
	case event.CheckpointMissed:
		return Checkpoint{ID: e.Task, Step: e.Step, Verdict: event.NoVerdict, Reason: e.Reason}, true
	default:
		return Checkpoint{}, false
	}
}

// endCheckpoint ends the step of a checkpoint. A call of the Manager may follow in the same step.
func (s *Step) endCheckpoint(e event.Event, c Checkpoint) {
	s.State, s.Status, s.Message = Done, c.Verdict, c.Reason
	if len(c.Findings) > 0 {
		s.Message = c.Findings[0]
	}
	end, ok := event.EndOf(e)
	if !ok {
		return
	}
	s.update(func(a *Attempt) {
		a.Result, a.Status, a.Message, a.Reason = Accepted, c.Verdict, s.Message, c.Reason
		a.Millis, a.Spent, a.Session = end.Millis, end.Spent, end.Session
	})
}
