package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/projection"
)

// SupervisorReport returns the report to the Lead about the last run of each board, in the form of
// seed 002, byte for byte.
func SupervisorReport(boards []*projection.Board) string {
	var alerts, actions, requests []string
	var start, end time.Time
	healthy := 0
	for _, b := range boards {
		healthy += b.Healthy
		if start.IsZero() || !b.From.IsZero() && b.From.Before(start) {
			start = b.From
		}
		if end.Before(b.To) {
			end = b.To
		}
		for _, a := range b.Alerts {
			if len(boards) > 1 && a.Task != b.Board { // several boards may list the same task
				a.Task = b.Board + ":" + a.Task
			}
			alerts = append(alerts, alertLine(a))
		}
		for _, a := range b.Actions {
			if line := "- " + a; !slices.Contains(actions, line) {
				actions = append(actions, line)
			}
		}
		request := b.Request()
		if request == "" {
			continue
		}
		for _, p := range b.Proposals {
			requests = append(requests, "- yes -> "+event.OneLine(p.Text))
		}
		requests = append(requests, "- yes -> "+event.OneLine(request))
	}
	lines := []string{
		"SUPERVISOR_REPORT",
		fmt.Sprintf("Window: %s -> %s", instant(start), instant(end)),
		fmt.Sprintf("Healthy: %d", healthy),
		"",
		"Enums:",
		enum("severity", event.AlertSeverities()),
		enum("event_type", event.AlertTypes()),
		enum("action_type", event.AlertActions()),
		"",
		"Alerts:",
	}
	lines = append(append(lines, orNone(alerts, "- none")...), "Actions taken:")
	lines = append(append(lines, orNone(actions, "- none")...), "Needs decision:")
	lines = append(lines, orNone(requests, "- no")...)
	return strings.Join(lines, "\n") + "\n"
}

func alertLine(a projection.Alert) string {
	elapsed := time.Duration(a.Millis) * time.Millisecond
	return fmt.Sprintf("- %s %s task #%s owner=%s elapsed=%s", a.Severity, a.Type, a.Task, a.Owner, elapsed.Round(time.Second))
}

func enum(name string, values []string) string {
	return "- " + name + " ∈ {" + strings.Join(values, ", ") + "}"
}

func orNone(lines []string, none string) []string {
	if len(lines) == 0 {
		return []string{none}
	}
	return lines
}

func instant(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.UTC().Format(time.RFC3339)
}
