package report

import (
	"slices"

	"kanban-run/orchestrator/digest"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/standing"
)

// Conclude completes a digest with the standing of its board. log is the path of the supervisor
// log.
func Conclude(d *digest.Digest, s *standing.Standing, log string) {
	d.Version = FormVersion
	d.CountOpen()
	d.Outcome, d.Text, d.Weight, d.Advice = s.Outcome, s.Text, s.Weight, s.Advice(log)
	if s.Waits != nil && s.Waits.About == event.AboutAside {
		d.Failed = slices.Clone(s.Waits.Choices[0].Tasks)
	}
	for _, t := range s.Tasks {
		if t.State == standing.NotOK && t.Seen != "" && s.Outcome == event.Incomplete && !slices.Contains(d.Failed, t.Seen) {
			d.Failed = append(d.Failed, t.Seen)
		}
		if t.State == standing.Waiting || t.State == standing.Dropped {
			d.Undone = append(d.Undone, t.Task)
		}
	}
}
