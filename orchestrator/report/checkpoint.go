package report

import (
	"fmt"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
)

func shorten(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}

// Supervisor is the state of the resident supervisor of a board, for `kanban-run status`.
type Supervisor struct {
	Role    string             `json:"role"`
	Ready   bool               `json:"ready"`
	Memory  event.Memory       `json:"memory"`
	Held    []flow.Held        `json:"held"` // the last verdicts
	Due     []event.Checkpoint `json:"due"`
	Errors  int                `json:"errors"`            // failures of the supervisor's program in the last run
	Blocked string             `json:"blocked,omitempty"` // reason why the board waits for a person, or ""
	Used    flow.Tally         `json:"used"`              // use by the supervisor in all runs; a part of Status.Total
}

func newSupervisor(v *flow.Supervisor) *Supervisor {
	if v == nil || v.Off && len(v.Held) == 0 {
		return nil
	}
	return &Supervisor{
		Role:    v.Plan.Role,
		Ready:   v.Ready,
		Memory:  v.Memory,
		Held:    append([]flow.Held{}, v.Held...),
		Due:     append([]event.Checkpoint{}, v.Due...),
		Errors:  v.Errors,
		Blocked: v.Waits(),
		Used:    flow.Tally{Used: v.Used},
	}
}

// String returns the supervisor in a line: its last verdicts with their trend, the due checkpoint
// and the cost.
func (v Supervisor) String() string {
	const most = 5
	text := v.Role
	if len(v.Held) == 0 {
		text += ", no checkpoint yet"
	}
	for i, h := range v.Held[max(0, len(v.Held)-most):] {
		sep := ", "
		if i == 0 {
			sep = ": "
		}
		text += sep + heldText(h)
	}
	if len(v.Due) > 0 {
		text += ", due " + v.Due[0].ID
	}
	if v.Used.Attempts > 0 {
		text += "; cost " + priced(v.Used)
	}
	return text
}

func heldText(h flow.Held) string {
	if h.Verdict == event.NoVerdict {
		return h.ID + " no verdict"
	}
	text := fmt.Sprintf("%s %s %.2f", h.ID, h.Verdict, h.Score)
	if h.Trend != "" {
		text += " (" + shorten(event.OneLine(h.Trend), 40) + ")"
	}
	return text
}
