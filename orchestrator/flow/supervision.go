package flow

import (
	"cmp"
	"fmt"
	"slices"

	"kanban-run/orchestrator/event"
)

func (s *State) applyCheckpointHeld(e event.CheckpointHeld) error {
	if err := s.endCheckpoint(e, e.AttemptRef, e.Millis, e.Spent, e.Session, e.Left); err != nil {
		return err
	}
	c, d := *s.Step.Checkpoint, e.Data
	s.Supervisor.hold(Held{ID: c.ID, Verdict: d.Verdict, Score: d.Score, Trend: e.Trend, Report: d.Report, SHA: e.ReportSHA})
	s.Supervisor.Kept = e.Kept
	if d.Verdict == "block" {
		s.block(c, blockText(e))
	} else {
		s.Step = nil
	}
	return nil
}

func (s *State) applySupervisorFailed(e event.SupervisorFailed) error {
	if err := s.endCheckpoint(e, e.AttemptRef, e.Millis, e.Spent, e.Session, e.Left); err != nil {
		return err
	}
	s.Supervisor.Errors++
	s.missCheckpoint(e.Reason)
	return nil
}

func (s *State) applyScopeViolated(e event.ScopeViolated) error {
	if err := s.endCheckpoint(e, e.AttemptRef, e.Millis, e.Spent, e.Session, e.Left); err != nil {
		return err
	}
	v := s.Supervisor
	v.Block = &Block{Text: e.Text, BoardSHA: s.Step.BoardSHA}
	if c := s.Step.Checkpoint; c != nil { // nil: the supervisor was only getting ready
		v.hold(Held{ID: c.ID, Verdict: event.NoVerdict})
		v.Block.Checkpoint = *c
	}
	s.Step = nil
	return nil
}

// endCheckpoint ends the attempt of the open checkpoint and keeps the supervisor's session. A scope
// violation ends the attempt of a ready call, too. Any other event is refused if no checkpoint is
// open.
func (s *State) endCheckpoint(
	e event.Event, r event.AttemptRef, millis int64, spent *event.Spending, session, left string,
) error {
	if !r.Call.IsSupervision() || s.Supervisor == nil || s.Step == nil {
		return refuse(e, "no checkpoint is open")
	}
	_, violated := e.(event.ScopeViolated)
	if !violated && (r.Call != event.CheckpointCall || s.Step.Checkpoint == nil) {
		return refuse(e, "no checkpoint is open")
	}
	if err := s.endAttempt(e, r, millis, spent, session); err != nil {
		return err
	}
	s.Supervisor = s.Supervisor.clone()
	s.Supervisor.Deaths = 0
	s.keepThread(session)
	if left != "" {
		s.Step.BoardSHA = left
	}
	return nil
}

// applyCheckpointMissed ends the open checkpoint without a verdict, and the plan's OnBlock applies.
// The event without an open checkpoint means that the supervisor has failed to start. In this case
// the board goes on with BlockOverride. The board is blocked with any other OnBlock, even with
// BlockRevise, because the Manager cannot mend the supervisor.
func (s *State) applyCheckpointMissed(e event.CheckpointMissed) error {
	if s.Supervisor == nil || s.Step != nil && (!s.Step.Call.IsSupervision() || s.Step.Running != 0) {
		return refuse(e, "no checkpoint is open")
	}
	s.Supervisor = s.Supervisor.clone()
	v, step := s.Supervisor, s.Step
	v.Deaths = 0
	if step != nil && step.Checkpoint != nil {
		if v.Memory == event.InSession { // the next checkpoint gets a new session, with the earlier reports
			v.Ready, v.Thread = false, nil
		}
		s.missCheckpoint(e.Reason)
		return nil
	}
	s.Step, v.Gone = nil, true
	if v.Plan.OnBlock == event.BlockOverride {
		return nil
	}
	v.Block = &Block{
		Text:     "the supervisor cannot be had: " + event.Headline(e.Reason),
		Ends:     v.Plan.OnBlock == event.BlockAbort,
		BoardSHA: e.BoardSHA,
	}
	return nil
}

func (s *State) applySupervisorLost(e event.SupervisorLost) error {
	if s.Supervisor == nil {
		return refuse(e, "there is no supervisor")
	}
	s.Supervisor = s.Supervisor.clone()
	s.Supervisor.Deaths++
	s.Supervisor.Crashed = true
	s.forgetSupervisor()
	return nil
}

func (s *State) applySupervisorDismissed(e event.SupervisorDismissed) error {
	if s.Supervisor == nil {
		return refuse(e, "there is no supervisor")
	}
	s.Supervisor = s.Supervisor.clone()
	s.Supervisor.Ready = false
	return nil
}

func (s *State) applyCheckpointReopened(e event.CheckpointReopened) error {
	if s.Supervisor == nil || s.Supervisor.Block == nil {
		return refuse(e, "no checkpoint stops the board")
	}
	if e.Later {
		s.Supervisor = s.Supervisor.clone()
		s.Supervisor.settle(event.Retry)
		return nil
	}
	s.lookAnew()
	return nil
}

// openSupervision makes the new step a step of the supervisor. It refuses e if there is no
// supervisor.
func (s *State) openSupervision(e event.StepStarted) error {
	if s.Supervisor == nil {
		return refuse(e, "there is no supervisor")
	}
	s.Supervisor = s.Supervisor.clone()
	s.Step.Call, s.Step.Checkpoint = e.Call, e.Checkpoint
	if e.Checkpoint != nil {
		s.Supervisor.openCheckpoint(*e.Checkpoint)
	}
	return nil
}

// startSupervisor notes the mark of the supervisor's program. It bears the mark of the step in which
// it gets ready, also if that is the step of a checkpoint, which a program that died has left open.
func (s *State) startSupervisor() {
	if s.Supervisor != nil && s.Supervisor.Memory == event.InProcess {
		s.Supervisor = s.Supervisor.clone()
		s.Supervisor.Mark = s.Step.Mark
	}
}

// acceptReady notes that the supervisor is ready. The step goes on with its checkpoint, or ends if
// it has none.
func (s *State) acceptReady(e event.ReplyAccepted) error {
	if s.Supervisor == nil {
		return refuse(e, "there is no supervisor")
	}
	s.Supervisor = s.Supervisor.clone()
	s.Supervisor.Ready, s.Supervisor.Started, s.Supervisor.Crashed, s.Supervisor.Excused = true, true, false, false
	s.keepThread(e.Session)
	if s.Step.Checkpoint == nil {
		s.Step = nil
		return nil
	}
	s.Step.begin(event.CheckpointCall)
	return nil
}

// loseSupervisor notes that the supervisor's session is lost or its program died. The supervisor is
// recovered before the checkpoint is tried again.
func (s *State) loseSupervisor(e event.ReplyRejected) {
	s.Supervisor = s.Supervisor.clone()
	s.Supervisor.Crashed = true
	if e.Died {
		s.Supervisor.Deaths++
	}
	// The field Lost bounds the number of recoveries. The field Rejected cannot bound it, because
	// each recovery resets Rejected.
	if e.Lost || e.Call == event.CheckpointCall {
		s.Step.Lost++
	}
	s.Step.Fruitless = 0
	s.forgetSupervisor()
}

// stopSupervisor notes that an attempt was stopped. If it was the supervisor's, and its memory was in
// it, the supervisor has to get ready again.
func (s *State) stopSupervisor(c event.Call) {
	if v := s.Supervisor; c.IsSupervision() && v != nil && (v.Memory == event.InProcess || v.mustRecover()) {
		s.Supervisor = s.Supervisor.clone()
		s.forgetSupervisor()
	}
}

// superviseTask notes that the step of a task is finished, so that checkpoints after it become due.
func (s *State) superviseTask() {
	if s.Supervisor != nil && !s.Supervisor.Off && s.Step.Role != event.ManagerRole {
		s.Supervisor = s.Supervisor.clone()
		s.Supervisor.endTask(cmp.Or(s.Step.Path, s.Step.Task), s.unfinished())
	}
}

// finishRevision ends the step of a checkpoint whose block the Manager had to resolve. If the
// Manager ended the board, the checkpoint is noted as passed over.
func (s *State) finishRevision(e event.StepFinished) error {
	if v := s.Supervisor.clone(); v != nil {
		if e.NextTask == nil {
			v.passOver(s.Step.Checkpoint.ID)
		} else if v.Plan.Every == 0 { // no regular checkpoint follows, so this one is held again
			v.lookAgain(*s.Step.Checkpoint)
		}
		s.Supervisor = v
	}
	s.change(e.Dropped, e.Renamed)
	s.Last = ManagerReply{Status: e.Manager, Message: e.Message, BoardSHA: e.BoardSHA, Task: s.Step.Task, Next: e.Next()}
	s.Step = nil
	return nil
}

// putOffCheckpoint makes the checkpoint of the open step due again, because the step is abandoned.
func (s *State) putOffCheckpoint() {
	if c, v := s.Step.Checkpoint, s.Supervisor.clone(); c != nil && v != nil && !v.Off {
		v.Due = append([]event.Checkpoint{*c}, v.Due...)
		s.Supervisor = v
	}
}

// noteEndWritten notes that the run has finished that wrote onto the board the end by a checkpoint.
func (s *State) noteEndWritten() {
	if v := s.Supervisor.clone(); v.Waits() != "" && v.Block.Ended != "" {
		block := *v.Block
		block.Written, v.Block, s.Supervisor = true, &block, v
	}
}

// undoCheckpoints notes that the work on some tasks does not count any more, so that their checkpoints
// are held again. If the open step does not count either, nothing is due and nothing stops the board.
func (s *State) undoCheckpoints(gone func(task string) bool, withStep bool) {
	v := s.Supervisor.clone()
	if v == nil {
		return
	}
	v.Since = slices.DeleteFunc(slices.Clone(v.Since), gone)
	for _, at := range v.Plan.At {
		if gone(at.After) {
			v.lookAgain(event.Checkpoint{ID: at.ID})
		}
	}
	if withStep {
		v.Due, v.Block = nil, nil
	}
	s.Supervisor = v
}

// giveUpSupervisor ends the open checkpoint of a supervisor that is given up, or returns nil.
func (s *State) giveUpSupervisor(Board) Effect {
	if !s.isSupervisorLost() {
		return nil
	}
	return GiveUpCheckpoint{Reason: s.lossOfSupervisor()}
}

// isSupervisorLost reports whether the supervisor is given up: the retries of its call are used up,
// its program died too often, its provider declined the call, or the watch stopped it for good.
func (s *State) isSupervisorLost() bool {
	v := s.Supervisor
	if v == nil || v.Off || s.Step != nil && !s.Step.Call.IsSupervision() {
		return false
	}
	return v.Deaths >= maxDeaths || s.Step.isExhausted(s.Limits) || s.Step != nil && (s.Step.Unsettled != "" || s.Step.Declined != "")
}

func (s *State) lossOfSupervisor() string {
	step := s.Step
	switch {
	case s.Supervisor.Deaths >= maxDeaths,
		s.Supervisor.Deaths > 0 && step.Unsettled == "" && step.Declined == "" && step.Rejected == 0:
		text := fmt.Sprintf("its program ended %s in a row", event.Count(s.Supervisor.Deaths, "time"))
		if step != nil && step.LastReason != "" {
			text += "; the last: " + step.LastReason
		}
		return text
	case step.Unsettled != "":
		return step.Unsettled
	case step.Declined != "":
		return "its provider declines it: " + step.Declined
	case step.Rejected == 0:
		return fmt.Sprintf("its session was lost %s: %s", event.Count(step.Lost, "time"), step.LastReason)
	default:
		return fmt.Sprintf("no valid reply in %s; the last: %s", event.Count(step.Rejected, "attempt"), step.LastReason)
	}
}

// waitForPerson returns the effect that ends a run, if a checkpoint stops it, and else nil. If the board is
// over or is to end, the effect is first [EndBoard], also if the board says that it is incomplete,
// because --lenient would excuse that. There is no [EndBoard] if the board's author uses the field
// "ended" for another value.
func (s *State) waitForPerson(b Board) Effect {
	v := s.Supervisor
	if v.Waits() == "" {
		return nil
	}
	if (v.Block.Ends || b.Terminal) && (b.Ended == "" || b.Ended == EndedIncomplete) && !b.Taken {
		return EndBoard{Text: v.Block.Text}
	}
	return Finish{Outcome: event.NeedsPerson, By: event.ByCheckpoint, Text: v.Block.Text}
}

// beginSupervision returns the first attempt of the supervisor's next step, the end of the run if a
// limit is reached, or nil if no step of the supervisor is due.
func (s *State) beginSupervision(b Board) Effect {
	e, due := s.supervise(b)
	if !due {
		return nil
	}
	if text := s.Reached(e.Task); text != "" {
		return Finish{Outcome: event.LimitReached, Text: text}
	}
	return e
}

// supervise returns the first attempt of the supervisor's next step on board b, or false if no step
// is due. After the last task a checkpoint looks at the tasks in Since.
func (s *State) supervise(b Board) (Spawn, bool) {
	v := s.Supervisor
	if v == nil || v.Off {
		return Spawn{}, false
	}
	e := Spawn{AttemptRef: event.AttemptRef{
		Step: s.LastStep + 1, Call: event.CheckpointCall, Role: v.Plan.Role, Attempt: 1,
	}}
	absent := v.mustRecover()
	switch {
	case len(v.Due) > 0:
		e.Checkpoint = &v.Due[0]
	case (b.Terminal || s.isTried(b)) && v.looksAtEnd():
		c := v.next()
		e.Checkpoint = &c
	case absent && !v.Gone && !b.Terminal && !s.isTried(b):
		e.Task, e.Call = v.Plan.Role, event.ReadyCall
		return e, true
	default:
		return Spawn{}, false
	}
	e.Task = e.Checkpoint.ID
	if absent {
		e.Call = event.ReadyCall
	} else {
		e.From = v.session()
	}
	return e, true
}

// settleCheckpoint carries out a person's decision to let a board go on after a checkpoint has stopped
// it. With Retry a new checkpoint looks at the work first.
func (s *State) settleCheckpoint(e event.Acknowledged) error {
	if s.Supervisor.Waits() == "" {
		return refuse(e, "no checkpoint stops the board")
	}
	s.Last.BoardSHA = e.BoardSHA
	if e.Choice == event.Retry {
		s.lookAnew()
	} else {
		s.Supervisor = s.Supervisor.clone()
		s.Supervisor.settle(event.Accept)
	}
	s.goOn(e)
	return nil
}

// superviseNoMore takes away what is due, because a person has accepted the end of the board.
func (s *State) superviseNoMore() {
	if s.Supervisor != nil {
		s.Supervisor = s.Supervisor.clone()
		s.Supervisor.Due, s.Supervisor.Since = nil, nil
	}
}

// staleness returns why a step of the supervisor no longer fits the run, or "" if it fits.
func (v *Supervisor) staleness(step *Step) string {
	switch {
	case v == nil || v.Off:
		return "the board has no supervisor any more"
	case step.Call.IsSupervision() && step.Role != v.Plan.Role:
		return "the supervisor is " + v.Plan.Role + " now"
	default:
		return ""
	}
}
