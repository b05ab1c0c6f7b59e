package orchestrator

import (
	"errors"
	"slices"
	"time"

	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/inbox"
	"kanban-run/orchestrator/rundir"
)

// postDelay is when the inbox is looked at for the first time in an attempt: most stubs are over by then.
const postDelay = 300 * time.Millisecond

// openInbox watches the inbox of the board. Where that cannot be, messages are found with the checks of the watch.
func (r *run) openInbox() {
	if r.inbox != nil || r.DryRun {
		return
	}
	if r.dir.MakeInbox() == nil {
		r.inbox = r.mail.Watch(r.dir.Inbox())
	}
}

func forgetInbox(mail *inbox.Watcher, dir rundir.Dir) func() error {
	return func() error {
		mail.Forget(dir.Inbox())
		return nil
	}
}

// restoreTalk notes what an earlier run journaled of messages, as long as their attempt is open.
func (r *run) restoreTalk(e flow.Event) {
	switch e := e.(type) {
	case flow.MessageSent:
		r.unheard = append(r.unheard, e)
	case flow.MessageHeard:
		r.forgetMessage(e.ID)
	case flow.MessageLost:
		r.forgetMessage(e.ID)
	default:
		if _, ended := flow.EndOf(e); ended {
			r.unheard = nil
		}
	}
}

func (r *run) forgetMessage(id string) {
	r.unheard = slices.DeleteFunc(r.unheard, func(m flow.MessageSent) bool { return m.ID == id })
}

// closeTalk journals that the messages of an attempt were lost that died with its run.
func (r *run) closeTalk() error {
	var errs []error
	for _, m := range r.unheard {
		errs = append(errs, r.ledger.Append(flow.MessageLost{AttemptRef: m.AttemptRef, ID: m.ID, Type: m.Type, Reason: "the run died, and may have sent it"}))
	}
	r.unheard = nil
	return errors.Join(errs...)
}
