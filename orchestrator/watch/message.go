package watch

import (
	"errors"
	"fmt"
	"path"
	"slices"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/health"
	"kanban-run/orchestrator/inbox"
)

// mostMessages is the greatest number of messages that are read from the inbox in an attempt. There
// is a limit because any process of the user, even the agent, can write messages into the inbox.
const mostMessages = 100

// Deliver reads and removes the messages in the inbox. It sends texts to the agent, and carries out
// a person's decisions.
func (w *Watch) Deliver() error {
	if w.Run.DryRun {
		return nil
	}
	messages, unread := inbox.Take(w.Folder.Inbox(), mostMessages-w.taken)
	w.taken += len(messages)
	var errs []error
	if unread > 0 && !w.flooded {
		w.flooded = true
		errs = append(errs, w.Journal.Record(event.MessageLost{AttemptRef: w.agent.AttemptRef, Type: event.Tell,
			Reason: fmt.Sprintf("more than %d messages were left while this agent works; the others are removed unread",
				mostMessages)}))
	}
	for _, m := range messages {
		given, text := m.Text, w.Redactor.String(m.Text)
		m.Text = text
		switch {
		case m.Choice == string(event.ReleaseTasks) && m.Step >= w.agent.Step-1:
			// A message for the previous step counts, too, because that step might have ended just
			// now.
			errs = append(errs, w.release(m))
		case (m.Choice == string(event.Accept) || m.Choice == string(event.Skip)) && m.Step >= w.agent.Step-1:
			errs = append(errs, w.settleTask(m))
		case m.Step != w.agent.Step:
			errs = append(errs, w.Journal.Record(event.MessageLost{AttemptRef: w.agent.AttemptRef, ID: m.ID,
				Type: event.Tell, Reason: fmt.Sprintf("it is for step %d", m.Step), Text: m.Text}))
		case m.Choice != "":
			errs = append(errs, w.answerConsent(m))
		default:
			errs = append(errs, w.send(event.MessageSent{ID: m.ID, Type: event.Tell,
				Content: event.Content{Text: m.Text}, Hidden: text != given}))
		}
	}
	return errors.Join(errs...)
}

// release carries out the Lead's decision to end the quarantine of the message's task, or of all
// tasks if the message names no task.
func (w *Watch) release(m inbox.Message) error {
	var errs []error
	reason := "you decided"
	if m.Text != "" {
		reason += ": " + m.Text
	}
	for _, q := range slices.Clone(w.Journal.State().Quarantine) {
		if m.Task != "" && path.Clean(m.Task) != path.Clean(q.Task) {
			continue
		}
		errs = append(errs, w.Journal.Record(event.QuarantineEnded{Task: q.Task, Reason: reason, ID: m.ID}))
	}
	if errs == nil {
		return w.Journal.Record(event.MessageLost{AttemptRef: w.agent.AttemptRef, ID: m.ID,
			Reason: "no task is in quarantine"})
	}
	return errors.Join(errs...)
}

// settleTask carries out the Lead's decision about a task that is not in turn.
func (w *Watch) settleTask(m inbox.Message) error {
	task := w.Listed(m.Task)
	lost := event.MessageLost{AttemptRef: w.agent.AttemptRef, ID: m.ID, Type: event.Tell, Text: m.Text}
	switch {
	case task == "":
		lost.Reason = m.Task + " is not on the list"
		return w.Journal.Record(lost)
	case path.Clean(task) == path.Clean(w.agent.Task):
		lost.Reason = "an agent is at work on " + task
		return w.Journal.Record(lost)
	case m.Choice == string(event.Skip) && w.Journal.State().IsDone(task):
		lost.Reason = task + " is done"
		return w.Journal.Record(lost)
	}
	choice := event.Choice(m.Choice)
	return w.Journal.Record(event.Acknowledged{Board: w.Board, Note: m.Text, About: event.AboutTask,
		Choice: choice, Task: task, Text: choice.Settles(task), ID: m.ID})
}

// Texts around a message to an agent. They ask the agent not to answer, because the last text of
// the agent's turn counts as its reply.
const (
	toldBefore = "A person who watches this run tells you:\n\n"
	offered    = "The watch of this run found: "
	goOn       = "\n\nTake it into account and go on with your task. Do not answer this, " +
		"and do not end your turn because of it."
)

// send journals a message and sends it to the agent. If the agent cannot take the message, send
// journals the loss of the message and the reason.
func (w *Watch) send(m event.MessageSent) error {
	m.AttemptRef = w.agent.AttemptRef
	lost := event.MessageLost{AttemptRef: w.agent.AttemptRef, ID: m.ID, Type: m.Type,
		Reason: "it cannot take one now", Text: m.Content.String()}
	if !w.agent.Listens {
		lost.Reason = fmt.Sprintf("%s agents cannot be told anything while they work", w.agent.Player.Adapter.Name())
		return w.Journal.Record(lost)
	}
	if err := w.Journal.Record(m); err != nil {
		return err
	}
	sent := false
	switch m.Type {
	case event.HealthCheck:
		sent = w.agent.Program.Ask(m.ID, m.Content.Question)
	case event.AssistOffer:
		sent = w.agent.Program.Tell(m.ID, offered+m.Content.Details+goOn)
	case event.Tell:
		sent = w.agent.Program.Tell(m.ID, toldBefore+m.Content.Text+goOn)
	}
	if !sent {
		lost.Text = ""
		return w.Journal.Record(lost)
	}
	w.undelivered = append(w.undelivered, m)
	return nil
}

// ask sends a question to a silent agent. The parameter urgent is true if the agent is asked for
// the second time.
func (w *Watch) ask(f health.Finding, urgent bool) error {
	return w.send(event.MessageSent{ID: agent.NewMessageID(), Type: event.HealthCheck, Urgent: urgent,
		Content: health.HealthCheck(f, w.agent.Task, urgent)})
}

// OnSign journals a sign of the agent. If the sign reports a missing tool, OnSign acts on it.
func (w *Watch) OnSign(e *agent.Event) error {
	if e.Missing != "" {
		return w.onMissing(*e, false)
	}
	return w.recordSign(*e)
}

// recordSign journals the agent's session, or the receipt, the answer or the loss of a message.
func (w *Watch) recordSign(e agent.Event) error {
	if e.Kind == agent.Session {
		return w.Journal.Record(event.SessionNamed{AttemptRef: w.agent.AttemptRef, Session: e.ID})
	}
	i := slices.IndexFunc(w.undelivered, func(m event.MessageSent) bool { return m.ID == e.ID })
	if i < 0 {
		return nil
	}
	m := w.undelivered[i]
	w.undelivered = slices.Delete(w.undelivered, i, i+1)
	if e.Kind == agent.Dropped {
		return w.Journal.Record(event.MessageLost{AttemptRef: w.agent.AttemptRef, ID: e.ID, Type: m.Type,
			Reason: e.Text})
	}
	err := w.Journal.Record(event.MessageHeard{AttemptRef: w.agent.AttemptRef, ID: e.ID, Answer: event.Clip(e.Text)})
	if asked := health.HelpAsked(e.Text); e.Kind == agent.Answered && asked != nil {
		err = errors.Join(err, w.Journal.Record(event.AnomalyFound{AttemptRef: w.agent.AttemptRef, Anomaly: *asked}))
	}
	return err
}

// End journals what is open after the end of the agent: the verdict of a judge, the last signs, the
// loss of the messages that the agent never got, and that the Manager plans anew.
func (w *Watch) End() error {
	w.noteFrozen()
	var errs []error
	if w.judge != nil {
		errs = append(errs, w.OnJudgement(<-w.Judged))
	}
	for len(w.agent.Signs) > 0 {
		switch sign := <-w.agent.Signs; {
		case sign.Missing != "":
			errs = append(errs, w.onMissing(*sign, true))
		case sign.Kind != agent.Session:
			errs = append(errs, w.recordSign(*sign))
		}
	}
	for _, m := range w.undelivered {
		errs = append(errs, w.Journal.Record(event.MessageLost{AttemptRef: w.agent.AttemptRef, ID: m.ID, Type: m.Type,
			Reason: "its work ended before"}))
	}
	w.undelivered = nil
	return errors.Join(append(errs, w.replanLate())...)
}
