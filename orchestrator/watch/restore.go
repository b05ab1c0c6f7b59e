package watch

import (
	"errors"
	"slices"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/ledger"
)

// Unheard are the messages that an earlier run has sent to the attempt that it left open,
// and that were not answered.
type Unheard []event.MessageSent

// Restore notes what an earlier run journaled of messages, as long as their attempt is open.
func (u *Unheard) Restore(e event.Event) {
	switch e := e.(type) {
	case event.MessageSent:
		*u = append(*u, e)
	case event.MessageHeard:
		u.forget(e.ID)
	case event.MessageLost:
		u.forget(e.ID)
	default:
		if _, ended := event.EndOf(e); ended {
			*u = nil
		}
	}
}

func (u *Unheard) forget(id string) {
	*u = slices.DeleteFunc(*u, func(m event.MessageSent) bool { return m.ID == id })
}

// Close journals that they were lost: their attempt died with its run.
func (u *Unheard) Close(l *ledger.Ledger) error {
	var errs []error
	for _, m := range *u {
		errs = append(errs, l.Append(event.MessageLost{AttemptRef: m.AttemptRef, ID: m.ID, Type: m.Type, Reason: "the run died, and may have sent it"}))
	}
	*u = nil
	return errors.Join(errs...)
}
