package flow

import (
	"cmp"
	"strings"

	"kanban-run/orchestrator/event"
)

// isDue reports whether a call of the step is due. That is so until a reply of the Manager is
// accepted.
func (s *Step) isDue() bool { return s != nil && s.Reply == nil }

// isExhausted reports whether the due call was rejected, or the session of its work was lost, more
// than MaxRetries times.
func (s *Step) isExhausted(l event.Limits) bool {
	return s.isDue() && (s.Rejected > l.MaxRetries || s.Lost > l.MaxRetries)
}

// isStuck reports whether an agent that hung has stopped the step. If Unsettled has another reason,
// isStuck returns false.
func (s *Step) isStuck() bool { return strings.HasPrefix(s.Unsettled, stuckPrefix) }

const stuckPrefix = "STUCK: "

// AsksOfTool reports whether a missing tool has stopped the step, so that no run goes on with it
// before a person has decided.
func (s *Step) AsksOfTool() bool {
	return s != nil && strings.HasPrefix(s.Unsettled, stuckPrefix+event.ToolStopped)
}

// spawn returns the next attempt of the call that is due. Work that was cut short goes on in its
// session.
func (s *State) spawn() Spawn {
	e := s.Afresh()
	if t := s.Step.GoesOn; t != nil {
		e.From, e.Fork, e.GoesOn = t.Session, false, true
	}
	return e
}

// Afresh returns the next attempt of the due call as if no work had been cut short. A reviewer gets
// a copy of the work's session. Work that was sent back goes on in its own session if it has one.
// The resident supervisor goes on in its own session, too.
func (s *State) Afresh() Spawn {
	step := s.Step
	e := Spawn{AttemptRef: event.AttemptRef{
		Step: step.Number, Call: step.Call, Task: step.Task, Role: step.CallRole(), Attempt: step.Started + 1,
	}}
	if step.Call == event.CheckpointCall {
		if v := s.Supervisor; v != nil && v.Thread != nil {
			e.From = v.Thread.Session
		}
		return e
	}
	if step.Work != nil && step.Call != event.ManagerCall {
		e.Round = step.Round
	}
	if e.Round > 0 && step.Call != event.CommandCall {
		e.From, e.Fork = step.Work.Session, step.Call == event.ReviewCall
	}
	return e
}

// Substitute returns the agent that plays the open call in place of the role's own agent, or "" if
// the role's own agent plays it.
func (s *State) Substitute() string {
	if s.Step == nil || s.Step.Agent == 0 {
		return ""
	}
	if agents := s.substitutes(s.Step.CallRole()); s.Step.Agent <= len(agents) {
		return agents[s.Step.Agent-1]
	}
	return ""
}

func (s *State) substitutes(role string) []string {
	for _, r := range s.Reassign {
		if strings.EqualFold(r.Role, role) {
			return r.Agents
		}
	}
	return nil
}

// isWalked reports whether package walk plays the Manager, in place of a model.
func (s *State) isWalked() bool {
	substitute := ""
	if s.Step != nil && !s.Step.IsWork() {
		substitute = s.Substitute()
	}
	return cmp.Or(substitute, s.Manager) == event.Walker
}

// begin makes call c due. It clears the input, the retries and the watch's notes of the last call.
func (s *Step) begin(c event.Call) {
	s.GoesOn, s.Hung, s.Restarts, s.LastHung, s.Advice = nil, nil, 0, "", ""
	s.Lacks = nil
	s.Fruitless, s.TooLong, s.OwnLimit, s.Declined, s.TimedOut = 0, false, "", "", 0
	s.Call, s.Input, s.Stored, s.Rejected, s.LastReason = c, nil, "", 0, ""
	s.Given, s.GivenBy, s.Command = "", "", ""
	if c == event.ManagerCall {
		s.Agent = 0
	}
}

func (s *Step) callManager() {
	s.begin(event.ManagerCall)
	s.Started = 0
}

// beginWork makes the task call due afresh, in a new session and without earlier rounds and
// reviews.
func (s *Step) beginWork() {
	s.begin(event.TaskCall)
	s.Work, s.Round, s.Feedback, s.Reviews = nil, 0, "", nil
}

// restart begins a new series of attempts of the open call. The attempts start from the board with
// SHA-256 sha, which keeps the changes that earlier Manager attempts made. Work under review is not
// done again.
func (s *Step) restart(sha string) {
	s.Before, s.Input, s.Stored, s.GoesOn = nil, nil, "", nil
	s.Rejected, s.Disagreed, s.Left, s.BoardSHA = 0, false, "", sha
	s.forgetDeclined()
	if s.Work == nil {
		s.Started = 0
	}
}

// accept counts the work of the open step as done, because a person decided so. The Manager is
// called next.
func (s *Step) accept() {
	s.Unsettled, s.TaskStatus = "", StatusOK
	s.callManager()
}

// dropInputForAdvice drops the input of a task call, so that the next input is built with the advice.
func (s *Step) dropInputForAdvice() {
	if s.Advice != "" && s.Call == event.TaskCall {
		s.Input, s.Stored = nil, ""
	}
}

// goOn lets the next run go on from the board as the decision leaves it. An open call starts
// afresh.
func (s *State) goOn(e event.Acknowledged) {
	s.goOnFrom(e)
	if s.Step != nil {
		s.Step.restart(e.BoardSHA)
	}
}

// endAsDecided puts an end in the place of that of the last run.
func (s *State) endAsDecided(o event.Outcome, text string) {
	s.Outcome, s.Text, s.Decided = o, text, true
}

// goOnFrom lets the next run go on after a decision. It leaves the open call as it is.
func (s *State) goOnFrom(e event.Acknowledged) {
	s.Frozen = nil
	s.Last.Acknowledged, s.Last.Accepted = true, ""
	s.endAsDecided(event.Interrupted, e.Text)
}

// cried returns the last words of the task's agent if its program has failed, or "". Those of a Manager or a
// reviewer say nothing of the task, and those behind accepted work are not the last.
func (s *Step) cried() string {
	if !s.Crashed || s.CallRole() != s.Role || s.Work != nil {
		return ""
	}
	return s.Printed
}
