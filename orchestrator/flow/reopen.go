package flow

import "kanban-run/orchestrator/event"

// The reasons in the event AttemptStopped for an attempt whose run died.
const (
	lostRun    = "the run died before the attempt's end was known; it is started again with the same input"
	stuckRun   = "the run died before the end of the attempt that hung was known"
	resumedRun = "the run died before the attempt's end was known; the work goes on in its session"
)

// CloseAttempt records the end of an attempt that died with its run. lost reports whether there was
// such an attempt. Errors: those of the function record.
func CloseAttempt(s *State, record func(event.Event) error) (lost bool, err error) {
	if e := s.closeJudge(); e != nil {
		if err := record(e); err != nil {
			return true, err
		}
	}
	e := s.closeAttempt()
	if e == nil {
		return false, nil
	}
	return true, record(*e)
}

// Reopen adapts the open work of an earlier run to a board that a person has edited since that run.
// A checkpoint that stopped the board is held again, the open call starts afresh, and a step that
// no longer fits the board is abandoned. b is the board without roles. The function view returns
// the board with roles. It is called after the first events are recorded. Errors: those of the
// functions view and record.
func Reopen(s *State, b Board, view func() (Board, error), record func(event.Event) error) error {
	if v := s.Supervisor; v.Waits() != "" && v.Block.isEdited(b) {
		if err := record(event.CheckpointReopened{Task: v.Subject(), Later: v.Block.Ended != ""}); err != nil {
			return err
		}
	}
	if e := s.Step.restartEdited(b.SHA); e != nil {
		if err := record(e); err != nil {
			return err
		}
	}
	return abandonStale(s, view, record)
}

// ReopenAfterWait is like Reopen, for a board that a person edited while the open call waited for
// its provider. If the Manager has made an attempt in the open step, the open call starts afresh.
// Otherwise the open call keeps its session.
func ReopenAfterWait(s *State, b Board, view func() (Board, error), record func(event.Event) error) error {
	step := s.Step
	if !step.isDue() || step.Before == nil && step.BoardSHA == b.SHA || step.Before != nil && step.Left == b.SHA {
		return nil
	}
	text := "the board was edited while " + step.CallRole() + " waited for its provider"
	var e event.Event = event.CallRestarted{Step: step.Number, Task: step.Task, BoardSHA: b.SHA, Reason: text}
	if step.Before == nil {
		e = event.StateDiverged{Source: event.SourceBoard, Step: step.Number, Task: step.Task, Before: step.BoardSHA,
			After: b.SHA, Policy: event.PolicyAccept, Text: text}
	}
	if err := record(e); err != nil {
		return err
	}
	return abandonStale(s, view, record)
}

// abandonStale gives up the open step if it no longer fits the board.
func abandonStale(s *State, view func() (Board, error), record func(event.Event) error) error {
	seen, err := view()
	if err != nil {
		return err
	}
	reason, named := s.staleness(seen)
	if reason == "" {
		return nil
	}
	return record(event.StepAbandoned{Step: s.Step.Number, Task: s.Step.Task, Reason: reason, Named: named})
}

// closeAttempt returns the end of an attempt that died with its run, or nil if no attempt was
// running.
func (s *State) closeAttempt() *event.AttemptStopped {
	step := s.Step
	if step == nil || step.Running == 0 {
		return nil
	}
	ref := s.spawn().AttemptRef
	ref.Attempt = step.Running
	e := event.AttemptStopped{AttemptRef: ref, Reason: lostRun}
	if step.At != nil && step.At.Session != "" {
		e.Session, e.Reason = step.At.Session, resumedRun
	}
	if step.Hung != nil && step.Hung.Decision == event.Stuck {
		e.Reason = stuckRun
	}
	return &e
}

// restartEdited returns the restart of the open call if a person changed the board between two
// runs. It returns nil if there is nothing to restart.
func (s *Step) restartEdited(sha string) event.Event {
	if !s.isDue() || s.Left == sha || s.Left == "" && s.BoardSHA != "" {
		return nil
	}
	return event.CallRestarted{
		Step: s.Number, Task: s.Task, BoardSHA: sha, Reason: "the board was edited since the last run",
	}
}

// staleness returns why the open step no longer fits board b, or "". The result named is the task that
// a person has named in place of the task of the step, or "". A step survives a restart as
// long as the board names the step's task for the step's role. After the Manager's first attempt
// the step survives any change, because the Manager is allowed to change the board.
func (s *State) staleness(b Board) (reason, named string) {
	step := s.Step
	switch {
	case step == nil || step.Before != nil:
		return "", ""
	case step.Call.IsSupervision() || step.Checkpoint != nil:
		return s.Supervisor.staleness(step), ""
	case b.Terminal:
		return "the board was completed by hand", ""
	case b.Task != step.Task:
		return "the board now names " + b.Task, b.Task
	case step.Call != event.ManagerCall && b.Role != step.Role:
		return step.Task + " is now a task for " + b.Role, ""
	default:
		return "", ""
	}
}
