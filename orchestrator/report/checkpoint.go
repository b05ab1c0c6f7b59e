package report

import (
	"fmt"
	"strings"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
)

// tag stands in front of each line of the resident supervisor: seed 001, "Output Tag".
const tag = "[supervisor] "

// describeSupervision is of what the resident supervisor does.
func describeSupervision(e event.Event) []line {
	switch e := e.(type) {
	case event.CheckpointHeld:
		return describeCheckpoint(e)
	case event.CheckpointMissed:
		return follows([]line{{bad, fmt.Sprintf("%s%s: no verdict: %s", tag, e.Task, brief(oneLine(e.Reason)))}}, e.Then)
	case event.SupervisorFailed:
		lines := []line{{bad, fmt.Sprintf("%s%s: no verdict, it reports an error: %s", tag, e.Task, brief(oneLine(e.Reason)))}}
		if e.Errors >= flow.MaxErrors {
			lines = append(lines, line{bad, fmt.Sprintf("%sALERT: %s of its own in this run; it stays", tag, event.Count(e.Errors, "error"))})
		}
		return follows(lines, e.Then)
	case event.ScopeViolated:
		return []line{{bad, tag + e.Text}}
	case event.SupervisorLost:
		return []line{{warn, fmt.Sprintf("%sits program has died (%s)", tag, brief(oneLine(e.Reason)))}}
	case event.SupervisorDismissed:
		if e.Approved {
			return []line{{calm, tag + "shut down"}}
		}
		return []line{{warn, tag + "has not answered the request to shut down, and was ended"}}
	case event.CheckpointReopened:
		return []line{{calm, fmt.Sprintf("%sthe board was edited since %s stopped it: it is looked at anew", tag, e.Task)}}
	case event.BoardEnded:
		return []line{{bad, fmt.Sprintf("%s ends the board: it says ended: blocked", e.Task)}}
	default:
		return nil
	}
}

// describeCheckpoint is seed 001's "Step 9: Report to Coordinator".
func describeCheckpoint(e event.CheckpointHeld) []line {
	d, found := e.Data, "none"
	if len(d.Findings) > 0 {
		found = strings.Join(d.Findings, ", ")
	}
	m := map[string]mark{"pass": good, "warn": warn, "block": bad}[d.Verdict]
	lines := []line{{m, fmt.Sprintf("%s complete.", d.ID)},
		{calm, fmt.Sprintf("Verdict: %s (score: %.2f) in %s%s", d.Verdict, d.Score, Took(e.Millis), spentSuffix(e.Spent))},
		{calm, "Findings: " + brief(oneLine(found))},
		{calm, fmt.Sprintf("Risks: %d logged", len(e.Risks))},
		{calm, "Quality trend: " + brief(oneLine(e.Trend))},
		{calm, "Artifact: " + d.Report}}
	for i := range lines {
		lines[i].text = tag + lines[i].text
	}
	return follows(lines, e.Then)
}

// follows says what follows from a checkpoint that is not content.
func follows(lines []line, then event.OnBlock) []line {
	switch then {
	case event.BlockOverride:
		return append(lines, line{warn, tag + "the run goes on in spite of it (on_block: override)"})
	case event.BlockRevise:
		return append(lines, line{warn, tag + "the Manager plans anew (on_block: revise)"})
	default:
		return lines
	}
}

func shorten(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// describeOpening says what step of the supervisor begins.
func describeOpening(e event.StepStarted) string {
	if e.Checkpoint == nil {
		return fmt.Sprintf("step %d: %s gets ready", e.Step, e.Role)
	}
	return fmt.Sprintf("step %d: %s looks at %s: %s", e.Step, e.Role, e.Checkpoint.ID, strings.Join(e.Checkpoint.Scope, ", "))
}

// Supervisor is where the resident supervisor of a board stands, for `kanban-run status`.
type Supervisor struct {
	Role    string             `json:"role"`
	Ready   bool               `json:"ready"`
	Memory  event.Memory       `json:"memory"`
	Held    []flow.Held        `json:"held"` // the last verdicts
	Due     []event.Checkpoint `json:"due"`
	Errors  int                `json:"errors"`            // of its own, in the last run
	Blocked string             `json:"blocked,omitempty"` // why the board waits for a person
	Used    flow.Tally         `json:"used"`              // by all runs; it is a part of theirs
}

func newSupervisor(v *flow.Supervisor) *Supervisor {
	if v == nil || v.Off && len(v.Held) == 0 {
		return nil
	}
	return &Supervisor{Role: v.Plan.Role, Ready: v.Ready, Memory: v.Memory, Held: append([]flow.Held{}, v.Held...), Due: append([]event.Checkpoint{}, v.Due...),
		Errors: v.Errors, Blocked: v.Waits(), Used: flow.Tally{Used: v.Used}}
}

// String is the supervisor in a line: its last verdicts, of which it remembers the trend.
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
		text += " (" + shorten(oneLine(h.Trend), 40) + ")"
	}
	return text
}
