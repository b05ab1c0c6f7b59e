package orchestrator

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/health"
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

// deliver passes on what was left in the inbox.
func (w *watch) deliver() error {
	if w.run.DryRun {
		return nil
	}
	var errs []error
	for _, m := range inbox.Take(w.run.dir.Inbox()) {
		m.Text = w.run.Redactor.String(m.Text)
		switch {
		case m.Choice == string(flow.ReleaseTasks):
			errs = append(errs, w.release(m))
		case m.Step != w.call.Step:
			errs = append(errs, w.run.ledger.Record(flow.MessageLost{AttemptRef: w.call.AttemptRef, ID: m.ID, Type: flow.Tell, Reason: fmt.Sprintf("it is for step %d", m.Step), Text: m.Text}))
		case m.Choice != "":
			errs = append(errs, w.answerConsent(m))
		default:
			errs = append(errs, w.send(flow.MessageSent{ID: m.ID, Type: flow.Tell, Content: flow.Content{Text: m.Text}}))
		}
	}
	return errors.Join(errs...)
}

// release ends the quarantines, as the Lead says.
func (w *watch) release(m inbox.Message) error {
	var errs []error
	reason := "says the Lead"
	if m.Text != "" {
		reason += ": " + m.Text
	}
	for _, q := range slices.Clone(w.run.ledger.State().Quarantine) {
		errs = append(errs, w.run.ledger.Record(flow.QuarantineEnded{Task: q.Task, Reason: reason, ID: m.ID}))
	}
	if errs == nil {
		return w.run.ledger.Record(flow.MessageLost{AttemptRef: w.call.AttemptRef, ID: m.ID, Reason: "no task is in quarantine"})
	}
	return errors.Join(errs...)
}

// Texts around a message, which keep the agent from ending its turn with an answer: that would be its reply.
const (
	toldBefore = "A person who watches this run tells you:\n\n"
	offered    = "The watch of this run found: "
	goOn       = "\n\nTake it into account and go on with your task. Do not answer this, and do not end your turn because of it."
)

// send journals a message to the agent, and then sends it; or why it cannot be sent.
func (w *watch) send(m flow.MessageSent) error {
	m.AttemptRef = w.call.AttemptRef
	lost := flow.MessageLost{AttemptRef: w.call.AttemptRef, ID: m.ID, Type: m.Type, Reason: "it cannot take one now", Text: m.Content.String()}
	if !w.call.spec.Invocation.Listens {
		lost.Reason = fmt.Sprintf("%s agents cannot be told anything while they work", w.call.player.Adapter.Name())
		return w.run.ledger.Record(lost)
	}
	if err := w.run.ledger.Record(m); err != nil {
		return err
	}
	sent := false
	switch m.Type {
	case flow.HealthCheck:
		sent = w.agent.Ask(m.ID, m.Content.Question)
	case flow.AssistOffer:
		sent = w.agent.Tell(m.ID, offered+m.Content.Details+goOn)
	case flow.Tell:
		sent = w.agent.Tell(m.ID, toldBefore+m.Content.Text+goOn)
	}
	if !sent {
		lost.Text = ""
		return w.run.ledger.Record(lost)
	}
	w.call.unheard = append(w.call.unheard, m)
	return nil
}

// ask asks a silent agent for a sign.
func (w *watch) ask(f health.Finding, urgent bool) error {
	return w.send(flow.MessageSent{ID: agent.NewMessageID(), Type: flow.HealthCheck, Urgent: urgent, Content: health.HealthCheck(f, w.call.Task, urgent)})
}

// offerHelp tells an agent what fails again and again, if the same thing does.
func (w *watch) offerHelp() error {
	obstacle := w.agent.Obstacle()
	if obstacle == "" || !w.call.spec.Invocation.Listens {
		return nil
	}
	return w.send(flow.MessageSent{ID: agent.NewMessageID(), Type: flow.AssistOffer, Content: health.AssistOffer(obstacle, w.call.Task)})
}

// onSign does what follows from a sign of the agent.
func (w *watch) onSign(e agent.Event) error {
	if e.Missing != "" {
		return w.onMissing(e)
	}
	return w.run.recordSign(w.call, e)
}

// recordSign journals the agent's session, what became of a message, or that a tool was not there.
func (r *run) recordSign(c *call, e agent.Event) error {
	if e.Missing != "" {
		_, err := r.noteMissing(c, e, flow.ToolCaveat)
		return err
	}
	if e.Kind == agent.Session {
		return r.ledger.Record(flow.SessionNamed{AttemptRef: c.AttemptRef, Session: e.ID})
	}
	i := slices.IndexFunc(c.unheard, func(m flow.MessageSent) bool { return m.ID == e.ID })
	if i < 0 {
		return nil
	}
	m := c.unheard[i]
	c.unheard = slices.Delete(c.unheard, i, i+1)
	if e.Kind == agent.Dropped {
		return r.ledger.Record(flow.MessageLost{AttemptRef: c.AttemptRef, ID: e.ID, Type: m.Type, Reason: e.Text})
	}
	return r.ledger.Record(flow.MessageHeard{AttemptRef: c.AttemptRef, ID: e.ID, Answer: clip(e.Text)})
}

// endTalk journals what became of the last messages of an attempt that has ended.
func (r *run) endTalk(c *call) error {
	var errs []error
	for len(c.signs) > 0 {
		if sign := <-c.signs; sign.Kind != agent.Session {
			errs = append(errs, r.recordSign(c, sign))
		}
	}
	for _, m := range c.unheard {
		errs = append(errs, r.ledger.Record(flow.MessageLost{AttemptRef: c.AttemptRef, ID: m.ID, Type: m.Type, Reason: "its work ended before"}))
	}
	c.unheard = nil
	return errors.Join(errs...)
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
