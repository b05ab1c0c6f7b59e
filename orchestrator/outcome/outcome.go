// Package outcome journals what attempts came to, and the steps that they make up: what was said,
// how long it took, and what it cost.
package outcome

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"kanban-run/orchestrator/attempt"
	"kanban-run/orchestrator/call"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failpoint"
	"kanban-run/orchestrator/review"
	"kanban-run/orchestrator/roster"
	"kanban-run/orchestrator/run"
	"kanban-run/orchestrator/supervisor"
	"kanban-run/orchestrator/workspace"
)

// Recorder journals the outcomes of one run's attempts.
type Recorder struct {
	run        *run.Run
	supervisor *supervisor.Supervisor

	accounts attempt.Accounts // of the open step's sessions
	watched  attempt.Accounts // of the supervisor's
	accepted []event.Call     // whose streams are emptied once their replies are on disk
	said     string           // by the last task agent, in the open step
	opened   time.Time        // when the open step began; zero if in an earlier run
	paused   time.Duration    // by Ctrl-Z, in the open step
	steps    int              // finished in this run
	warned   bool             // a limit of cost cannot hold; see warnOfCost
	near     []string         // what was said of limits that are nearly used
}

// NewRecorder returns the recorder of a run.
func NewRecorder(r *run.Run, s *supervisor.Supervisor) *Recorder {
	left := []event.Call{event.TaskCall, event.CommandCall, event.ReviewCall, event.ManagerCall, event.ReadyCall, event.CheckpointCall} // by an earlier run
	return &Recorder{run: r, supervisor: s, accounts: attempt.Accounts{}, watched: attempt.Accounts{}, accepted: left}
}

// Record journals how an attempt ended. An accepted reply is on disk with the next commit,
// everything else at once. endTurn looks at what the agent has done to the board, if that is no
// violation of a supervisor's scope.
func (r *Recorder) Record(c *call.Ready, a *attempt.Attempt, endTurn func() error) error {
	out, err := a.Outcome()
	if work := a.Tools(); work != nil {
		err = errors.Join(err, r.run.Ledger.Append(event.ToolsUsed{AttemptRef: c.AttemptRef, ToolWork: *work}))
	}
	e := r.measureAttempt(c, out)
	if violated := r.supervisor.Violations(e.Spawn, e.Player, out.Spawned); violated != nil && err == nil {
		return r.recordViolation(e, violated)
	}
	return errors.Join(endTurn(), r.settle(c, e, out, err))
}

// settle journals what an attempt came to that broke no rule.
func (r *Recorder) settle(c *call.Ready, e ending, out *attempt.Outcome, err error) error {
	switch {
	case err != nil:
		return errors.Join(r.recordStop(e, err.Error()), c.Player.Explain(err))
	case out.Ended:
		return r.recordStop(e, "the watch ended it")
	case out.OutOfTime:
		return r.recordStop(e, "the limit of time is reached")
	case out.Stopped:
		return errors.Join(r.recordStop(e, "the run was stopped"), context.Cause(r.run.Stop))
	case c.Call == event.CommandCall:
		return r.recordCommand(e)
	case out.Failure != nil:
		return r.recordRejection(e, *out.Failure, false)
	case c.Call == event.ReviewCall:
		return r.recordVerdict(e)
	case c.Call == event.ManagerCall:
		return r.recordDecision(e)
	case c.Call == event.ReadyCall:
		return r.recordReady(e)
	case c.Call == event.CheckpointCall:
		return r.recordCheckpoint(e)
	default:
		return r.recordWork(e)
	}
}

// ending is an attempt that has ended, and what it came to.
type ending struct {
	*call.Ready
	out       *attempt.Outcome
	millis    int64
	spent     *event.Spending
	streamErr error // its streams could not be kept
}

// measureAttempt closes the streams of an attempt and accounts for its time and cost.
func (r *Recorder) measureAttempt(c *call.Ready, out *attempt.Outcome) ending {
	took := r.run.Now().Sub(c.Began) - out.Paused
	r.paused += out.Paused
	if out.OutOfTime {
		took = max(took, c.Spec.TimeLimit) // the run's clock may have measured less
	}
	return ending{Ready: c, out: out, millis: took.Milliseconds(), spent: r.charge(c, out, took), streamErr: c.Close()}
}

// recordStop journals an attempt that the run ended, or that failed in a way that no retry mends.
func (r *Recorder) recordStop(e ending, reason string) error {
	stopped := event.AttemptStopped{AttemptRef: e.AttemptRef, Reason: reason, Left: r.run.BoardLeft(), Millis: e.millis,
		Session: e.out.Session, Spent: e.spent}
	return errors.Join(r.run.Ledger.Record(stopped), e.streamErr, r.run.KeepStreams(e.AttemptRef))
}

func (r *Recorder) recordRejection(e ending, f contract.Failure, disagreed bool) error {
	if step := r.run.State().Step; e.Call == event.ManagerCall && !disagreed && step.Rejected >= r.run.Limits.MaxRetries {
		f.Reason += r.run.Workspace.TakeBackEnd(step)
	}
	kept := errors.Join(e.streamErr, r.run.KeepStreams(e.AttemptRef))
	rejected := event.ReplyRejected{AttemptRef: e.AttemptRef, Reason: f.Reason, Exit: e.out.Exit.String(), Left: r.run.BoardLeft(),
		Received: e.out.Received, Stderr: e.out.Stderr, Output: r.run.Folder.Output(e.Step), Disagreed: disagreed, Lost: f.Lost && e.From != "", Died: e.Spec.Resident != nil && !e.Spec.Resident.Runs(),
		Retries: r.run.State().Step.Rejected, Of: r.run.Limits.MaxRetries, Millis: e.millis, Session: e.out.Session, Spent: e.spent}
	return errors.Join(r.run.Ledger.Record(rejected), kept)
}

// recordWork journals a task agent's reply. Its content is not judged: seed 004, "Constraints",
// never interpret agent output content. Work that is to be reviewed needs a session to be reviewed
// in.
func (r *Recorder) recordWork(e ending) error {
	if plan := r.run.State().Step.Plan; plan != nil && plan.Agent && e.out.Session == "" {
		return r.recordRejection(e, contract.Failure{Reason: "the agent named no session, in which its work could be reviewed"}, false)
	}
	accepted := r.replyAccepted(e)
	accepted.Left = r.run.BoardLeft()
	r.said = accepted.Message
	accepted.Unchecked = r.run.State().Step.Plan != nil && e.out.Reply.Status != contract.OK
	r.warnOfTask(e)
	return r.appendAcceptance(e, accepted)
}

// warnOfTask says what the task agent has left of its own task's header, if the next step could not be
// begun with it. Nothing else follows: its reply counts, and the Manager is told.
func (r *Recorder) warnOfTask(e ending) {
	task, err := r.run.Workspace.Task(e.Task)
	if err == nil && task.Role != "" {
		if _, err = r.run.Player(task.Role); err != nil {
			err = task.RoleProblem(err)
		}
	}
	if err != nil {
		r.run.Observer.Notice(r.run.Board, fmt.Sprintf("%s has left its own task like this: %v; its reply counts", e.Role, err))
	}
}

// recordVerdict journals a supervisor's verdict on the work: seed 003, "检测完成标记".
func (r *Recorder) recordVerdict(e ending) error {
	said := e.out.Reply.Message
	held := event.ReviewHeld{AttemptRef: e.AttemptRef, Completed: review.IsCompleted(said), Feedback: event.Clip(r.run.Redactor.String(said)),
		Session: e.out.Session, Left: r.run.BoardLeft(), Millis: e.millis, Spent: e.spent}
	if !held.Completed {
		held.Tree, held.Finding = r.run.ProjectHash(), event.FindingOf(held.Feedback)
	}
	return r.appendAcceptance(e, held)
}

// recordCommand journals what a review command came to. Also one that hangs or prints without end
// says something of the work: it goes back to the agent.
func (r *Recorder) recordCommand(e ending) error {
	end := e.out.Exit.String()
	if e.out.Failure != nil {
		end = e.out.Failure.Reason
	}
	held := event.ReviewHeld{AttemptRef: e.AttemptRef, Completed: e.out.Failure == nil && e.out.Exit.Succeeded(), Left: r.run.BoardLeft(), Millis: e.millis}
	if held.Completed {
		return r.appendAcceptance(e, held)
	}
	held.Feedback = event.Clip(r.run.Redactor.String(review.FormatFailure(e.Player.Shown, end, e.out.Stdout, e.out.Stderr)))
	held.Tree, held.Finding = r.run.ProjectHash(), event.FindingOf(held.Feedback)
	kept := errors.Join(e.streamErr, r.run.KeepStreams(e.AttemptRef))
	return errors.Join(r.run.Ledger.Append(held), kept)
}

// recordDecision journals a Manager's reply, if it names things that exist and agrees with the
// board that the Manager left.
func (r *Recorder) recordDecision(e ending) error {
	reply := e.out.Reply
	step := r.run.State().Step
	f, disagreed, err := r.run.Workspace.Judge(step, workspace.Decision{Given: e.Input.Tasks, Status: reply.Status, Next: reply.NextTask, Tasks: reply.Tasks}, r.isKnown)
	if err != nil {
		return errors.Join(r.recordStop(e, err.Error()), err)
	}
	if f != nil {
		return r.recordRejection(e, *f, disagreed)
	}
	accepted := r.replyAccepted(e)
	accepted.NextTask = reply.NextTask
	list, err := json.Marshal(reply.Tasks)
	if err == nil && len(list) > contract.MaxInline {
		accepted.TasksSHA, err = r.run.Folder.Store(list)
	} else {
		accepted.Tasks = reply.Tasks
	}
	if err != nil {
		return err
	}
	return r.appendAcceptance(e, accepted)
}

// isKnown returns an error for a role that does not exist. One that is set up wrongly is
// no fault of the Manager's.
func (r *Recorder) isKnown(role string) error {
	_, err := r.run.Player(role)
	if roster.IsUnknown(err) {
		return err
	}
	return nil
}

func (r *Recorder) replyAccepted(e ending) event.ReplyAccepted {
	return event.ReplyAccepted{AttemptRef: e.AttemptRef, Status: string(e.out.Reply.Status), Message: event.Clip(r.run.Redactor.String(e.out.Reply.Message)),
		Millis: e.millis, Session: e.out.Session, Spent: e.spent}
}

// appendAcceptance appends an accepted reply. It is on disk with the next commit; the streams are
// not emptied before. An error of theirs counts only where they are to stay.
func (r *Recorder) appendAcceptance(e ending, event event.Event) error {
	r.accepted = append(r.accepted, e.Call)
	err := r.run.Ledger.Append(event)
	failpoint.At("reply-noted")
	if r.run.IsCarried() {
		err = errors.Join(err, r.run.Ledger.Commit())
	}
	if r.run.KeepOutput {
		err = errors.Join(err, e.streamErr, r.run.KeepStreams(e.AttemptRef))
	}
	return err
}

// Sweep removes what this attempt does not need any more: the streams of replies that are on disk
// by now and, with a Manager's first attempt, stored inputs.
func (r *Recorder) Sweep(c *call.Ready) {
	r.EmptyStreams()
	if c.Call == event.ManagerCall && c.Intent.Input != nil {
		r.run.Folder.SweepStored(c.Intent.Stored)
	}
}

// EmptyStreams forgets the streams of accepted replies.
func (r *Recorder) EmptyStreams() {
	for _, call := range r.accepted {
		r.run.Folder.EmptyStreams(string(call))
	}
	r.accepted = nil
}
