package watch

import (
	"errors"
	"slices"

	"kanban-run/orchestrator/event"
)

// Undelivered are the messages that an earlier run has sent to the attempt that it left open,
// and that were not answered.
type Undelivered []event.MessageSent

// Restore notes what an earlier run journaled of messages, as long as their attempt is open.
func (u *Undelivered) Restore(e event.Event) {
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

func (u *Undelivered) forget(id string) {
	*u = slices.DeleteFunc(*u, func(m event.MessageSent) bool { return m.ID == id })
}

// Close journals that they were lost: their attempt died with its run.
func (u *Undelivered) Close(record func(event.Event) error) error {
	var errs []error
	for _, m := range *u {
		errs = append(errs, record(event.MessageLost{AttemptRef: m.AttemptRef, ID: m.ID, Type: m.Type,
			Reason: "the run died, and may have sent it"}))
	}
	*u = nil
	return errors.Join(errs...)
}
