package digest

import (
	"slices"
	"time"

	"kanban-run/orchestrator/event"
)

// add folds an entry into the step. An entry that does not belong to the step changes nothing.
func (s *Step) add(e event.Entry) {
	addUse(&s.Used.Used, e.Event)
	s.keepWords(e.Event)
	switch ev := e.Event.(type) {
	case event.AttemptStarted:
		s.beginAttempt(ev, e.Time)
	case event.ToolsUsed:
		s.update(func(a *Attempt) { a.Tools = &ev.ToolWork })
	case event.SessionNamed:
		s.update(func(a *Attempt) { a.Session = ev.Session })
	case event.ReplyAccepted:
		s.accept(ev)
	case event.ReplyRejected:
		s.update(func(a *Attempt) {
			a.Result, a.Millis, a.Reason, a.Exit = Rejected, ev.Millis, ev.Reason, ev.Exit
			a.Received, a.Stderr, a.Output = ev.Received, ev.Stderr, ev.Output
			a.Session, a.Spent = ev.Session, ev.Spent
		})
	case event.AttemptStopped:
		s.update(func(a *Attempt) {
			a.Result, a.Millis, a.Reason, a.Stderr = Stopped, ev.Millis, ev.Reason, ev.Stderr
			a.Session, a.Spent = ev.Session, ev.Spent
			if ev.Millis == 0 { // the run died, and the journal lacks the time of the attempt
				a.Millis = (s.took - s.attemptBegan).Milliseconds()
			}
		})
	case event.ManagerWalked:
		s.Manager, s.Message, s.walked = ev.Status, ev.Message, ev.Sentence().Text
	case event.ReviewHeld:
		s.update(func(a *Attempt) {
			a.Result, a.Millis, a.Message, a.SentBack = Accepted, ev.Millis, ev.Feedback, !ev.Completed
			a.Session, a.Spent = ev.Session, ev.Spent
		})
	case event.JudgeAnswered:
		s.addJudge(ev, e.Time)
		s.note(ev)
	case event.TaskSetAside:
		s.Aside = ev.Reason
		s.note(ev)
	case event.StepFinished:
		s.finish(ev)
	case event.StepAbandoned:
		s.State = Abandoned
		s.note(ev)
	case event.StepStarted, event.BoardWriteStarted, event.BoardWritten:
	case event.CheckpointHeld, event.CheckpointMissed, event.SupervisorFailed, event.ScopeViolated:
		if c, ok := checkpointOf(ev); ok && ev.Subject() == s.Task {
			s.endCheckpoint(ev, c)
		}
	default:
		if !s.note(ev) {
			return
		}
	}
	s.addSign(e)
	if s.State == Open || s.Ended.Before(e.Time) {
		s.Ended = e.Time
	}
}

// keepWords keeps the sentence about the end of the last attempt, and the warning about its reply.
func (s *Step) keepWords(e event.Event) {
	end, ok := event.EndOf(e)
	if !ok || end.Step != s.Step {
		return
	}
	s.update(func(a *Attempt) { a.Said = e.Sentence().Text })
	if end.Warning != "" {
		s.Notes = append(s.Notes, end.Warning)
	}
}

func (s *Step) beginAttempt(e event.AttemptStarted, at time.Time) {
	s.attemptBegan = s.took
	s.Attempts = append(s.Attempts, Attempt{Call: e.Call, Role: e.Role, Attempt: e.Attempt, Round: e.Round, Adapter: e.Adapter,
		Command: e.Command, GoesOn: e.GoesOn, Began: at, Result: Pending, Told: toldOf(e), Said: e.Sentence().Text})
}

// note adds the sentence of an event to the step's notes for a person, and returns true. The
// sentence must belong to the step or its task, and weigh at least event.Note. Otherwise note adds
// nothing and returns false.
func (s *Step) note(e event.Event) bool {
	said := e.Sentence()
	of := said.Step == s.Step || e.Subject() == s.Task
	if !of || said.Weight < event.Note {
		return false
	}
	s.Notes = append(s.Notes, said.Whole())
	return true
}

// addJudge inserts the attempt of a judge before the attempt that it judged, because the judged
// attempt has to stay the last. A judge that was not started has no attempt.
func (s *Step) addJudge(e event.JudgeAnswered, at time.Time) {
	if e.Try == 0 {
		return
	}
	a := Attempt{
		Call: event.JudgeCall, Role: e.Judge, Attempt: e.Try, Adapter: e.Adapter, Command: e.Command,
		Began: at.Add(-time.Duration(e.Millis) * time.Millisecond), Millis: e.Millis,
		Result: Accepted, Status: "ok", Message: e.Verdict(), Spent: e.Spent,
		Said: e.Sentence().Text,
	}
	if e.Invalid {
		a.Result, a.Status, a.Message, a.Reason = Rejected, "", "", e.Reason
	} else if e.Reason != "" {
		a.Result, a.Status, a.Message, a.Reason = Stopped, "", "", e.Reason
	}
	s.Attempts = slices.Insert(s.Attempts, max(0, len(s.Attempts)-1), a)
}

// update changes the last attempt.
func (s *Step) update(change func(*Attempt)) {
	if n := len(s.Attempts); n > 0 {
		change(&s.Attempts[n-1])
	}
}

func (s *Step) accept(e event.ReplyAccepted) {
	s.update(func(a *Attempt) {
		a.Result, a.Millis, a.Status, a.Message = Accepted, e.Millis, e.Status, e.Message
		a.Session, a.Spent = e.Session, e.Spent
	})
	s.Message = e.Message
	switch e.Call {
	case event.ManagerCall:
		s.Manager = e.Status
	case event.ReadyCall:
		if s.State, s.Status = Done, "ready"; s.checkpoint {
			s.State = Open
		}
	default:
		s.Status = e.Status
	}
}

func (s *Step) finish(e event.StepFinished) {
	s.State, s.Manager, s.NextTask = Done, e.Manager, e.NextTask
	if e.Checkpoint == "" { // not the step of a checkpoint, whose status stays the verdict
		s.Status, s.Message = e.Status, e.Message
	}
	if e.Warning != "" {
		s.Notes = append(s.Notes, e.Warning)
	}
}

// Walked returns the decision that package walk made as the Manager, or "" if there is no such
// decision. A decision of package walk has no attempt.
func (s *Step) Walked() string { return s.walked }

// Rejections returns the number of replies that did not have the right format.
func (s *Step) Rejections() int {
	n := 0
	for _, a := range s.Attempts {
		if a.Result == Rejected {
			n++
		}
	}
	return n
}

// SentBack returns the number of reviews that sent the work back.
func (s *Step) SentBack() int {
	n := 0
	for _, a := range s.Attempts {
		if a.SentBack {
			n++
		}
	}
	return n
}

// Last returns the last attempt, or nil if there is no attempt.
func (s *Step) Last() *Attempt {
	if len(s.Attempts) == 0 {
		return nil
	}
	return &s.Attempts[len(s.Attempts)-1]
}
