package watch

import (
	"errors"
	"slices"

	"kanban-run/orchestrator/event"
)

// Undelivered holds the messages that an earlier run sent in its last attempt and that, according
// to the journal, were neither received nor lost.
type Undelivered []event.MessageSent

// Restore updates the list with an event of an earlier run. The end of an attempt clears the list.
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

// Close journals the loss of the messages, because their attempt died with its run.
func (u *Undelivered) Close(record func(event.Event) error) error {
	var errs []error
	for _, m := range *u {
		errs = append(errs, record(event.MessageLost{AttemptRef: m.AttemptRef, ID: m.ID, Type: m.Type,
			Reason: "the run died, and may have sent it"}))
	}
	*u = nil
	return errors.Join(errs...)
}
