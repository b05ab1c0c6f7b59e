package ledger

import (
	"fmt"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failure"
)

// isAboutWay reports whether the Lead decides if checkpoints may be pushed in another way (address
// or settings) than before.
func (a *arbitration) isAboutWay() bool {
	f := a.history.Freeze()
	return f != nil && f.Git != nil
}

// settleWay accepts the new way of the checkpoints. A person who does not want the new way changes
// the settings back, and the next run compares them again.
func (a *arbitration) settleWay(e event.Acknowledged, text string) (Question, error) {
	q := Question{Text: text, Way: true, Open: a.answer.Choice == ""}
	switch {
	case a.answer.Choice != "" && a.answer.Choice != event.Accept:
		return q, &failure.Invalid{
			Err: fmt.Errorf("%s is no choice here: %s", a.answer.Choice, text),
			Fix: "kanban-run ack " + failure.Quote(a.path) + " accept, or set it back; then the same command goes on",
		}
	case q.Open || a.answer.Ask:
		return q, nil
	}
	e.Text = "the way of the checkpoints is accepted by the Lead"
	return q, a.recordDecision(e)
}
