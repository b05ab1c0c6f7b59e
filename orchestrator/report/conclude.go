package report

import (
	"slices"

	"kanban-run/orchestrator/digest"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/standing"
)

// Conclude completes a digest with the standing of its board. The parameter log is the path of the
// supervisor's log.
func Conclude(d *digest.Digest, s *standing.Standing, log string) {
	d.Version = FormVersion
	d.CountOpen()
	d.Outcome, d.Text, d.Weight, d.Advice = s.Outcome, s.Text, s.Weight, s.Advice(log)
	if s.Waits != nil && s.Waits.About == event.AboutAside {
		d.Failed = slices.Clone(s.Waits.Choices[0].Tasks)
	}
	leaves := s.Outcome == event.Incomplete || s.Waits != nil && s.Waits.Offers(event.ReleaseTasks) != nil
	for _, t := range s.Tasks {
		failed := t.State == standing.NotOK && leaves || t.State == standing.Quarantined
		if failed && t.Seen != "" && !slices.Contains(d.Failed, t.Seen) {
			d.Failed = append(d.Failed, t.Seen)
		}
		if t.State == standing.Waiting || t.State == standing.Dropped {
			d.Undone = append(d.Undone, t.Task)
		}
	}
}
