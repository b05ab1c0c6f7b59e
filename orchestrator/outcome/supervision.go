package outcome

import (
	"context"
	"errors"

	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failpoint"
)

// recordReady journals that the supervisor is ready.
func (r *Recorder) recordReady(e ending) error {
	if wrong := r.supervisor.CheckReady(e.out.Reply.Checkpoint, e.out.Session); wrong != "" {
		return r.recordRejection(e, contract.Failure{Reason: wrong}, false)
	}
	accepted := r.replyAccepted(e)
	accepted.Message = r.supervisor.Greeting()
	if err := r.appendAcceptance(e, accepted); err != nil {
		return err
	}
	return r.supervisor.SaveSession(e.Spawn)
}

// recordCheckpoint journals the verdict of the supervisor. Its report is written before: what
// the journal names is there.
func (r *Recorder) recordCheckpoint(e ending) error {
	reply := e.out.Reply.Checkpoint
	if reply.Failed() {
		return r.recordFailure(e, reply)
	}
	if wrong := r.supervisor.CheckID(e.Spawn, reply); wrong != "" {
		return r.recordRejection(e, contract.Failure{Reason: wrong}, false)
	}
	if err := r.supervisor.SaveReport(reply); err != nil {
		return errors.Join(r.recordStop(e, err.Error()), err)
	}
	failpoint.At("report-written")
	held := r.supervisor.Verdict(reply)
	held.AttemptRef, held.Left, held.Millis, held.Session, held.Spent = e.AttemptRef, r.run.BoardLeft(), e.millis, e.out.Session, e.spent
	if err := r.appendAcceptance(e, held); err != nil {
		return err
	}
	return r.supervisor.SaveSession(e.Spawn)
}

// recordFailure journals that the supervisor could not judge.
func (r *Recorder) recordFailure(e ending, reply *contract.CheckpointReply) error {
	v := r.run.State().Supervisor
	failed := event.SupervisorFailed{AttemptRef: e.AttemptRef, Reason: event.Clip(r.run.Redactor.String(reply.Message)), Errors: v.Errors + 1, Then: v.Plan.OnBlock,
		Left: r.run.BoardLeft(), Millis: e.millis, Session: e.out.Session, Spent: e.spent}
	return errors.Join(r.appendAcceptance(e, failed), r.supervisor.SaveSession(e.Spawn))
}

// recordViolation journals that a verdict does not count, since the supervisor changed files
// or left processes running.
func (r *Recorder) recordViolation(e ending, files []string) error {
	violated := r.supervisor.Accuse(e.Spawn, files)
	violated.Millis, violated.Session, violated.Spent = e.millis, e.out.Session, e.spent
	err := errors.Join(r.run.Ledger.Record(violated), e.streamErr, r.run.KeepStreams(e.AttemptRef))
	if e.out.Stopped && !e.out.OutOfTime {
		err = errors.Join(err, context.Cause(r.run.Stop))
	}
	return err
}
