package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/attempt"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/failpoint"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/review"
	"kanban-run/orchestrator/roster"
	"kanban-run/orchestrator/workspace"
)

// recordOutcome journals how an attempt ended. An accepted reply is on disk with the next commit,
// everything else at once.
func (r *run) recordOutcome(c *call, a *attempt.Attempt) error {
	out, err := a.Outcome()
	if work := a.Tools(); work != nil {
		err = errors.Join(err, r.ledger.Append(flow.ToolsUsed{AttemptRef: c.AttemptRef, ToolWork: *work}))
	}
	e := r.measureAttempt(c, out)
	if violated := r.violations(e); violated != nil && err == nil {
		return r.recordViolation(e, violated)
	}
	switch {
	case err != nil:
		return errors.Join(r.recordStop(e, err.Error()), c.player.Explain(err))
	case out.Ended:
		return r.recordStop(e, "the watch ended it")
	case out.OutOfTime:
		return r.recordStop(e, "the limit of time is reached")
	case out.Stopped:
		return errors.Join(r.recordStop(e, "the run was stopped"), context.Cause(r.stop))
	case c.Call == flow.CommandCall:
		return r.recordCommand(e)
	case out.Failure != nil:
		return r.recordRejection(e, *out.Failure, false)
	case c.Call == flow.ReviewCall:
		return r.recordVerdict(e)
	case c.Call == flow.ManagerCall:
		return r.recordDecision(e)
	case c.Call == flow.ReadyCall:
		return r.recordReady(e)
	case c.Call == flow.CheckpointCall:
		return r.recordCheckpoint(e)
	default:
		return r.recordWork(e)
	}
}

// ending is an attempt that has ended, and what it came to.
type ending struct {
	*call
	out       *attempt.Outcome
	millis    int64
	spent     *flow.Spending
	streamErr error // its streams could not be kept
}

// measureAttempt closes the streams of an attempt and accounts for its time and cost.
func (r *run) measureAttempt(c *call, out *attempt.Outcome) ending {
	took := r.Now().Sub(c.began) - out.Paused
	r.paused += out.Paused
	if out.OutOfTime {
		took = max(took, c.spec.TimeLimit) // the run's clock may have measured less
	}
	return ending{call: c, out: out, millis: took.Milliseconds(), spent: r.charge(c, out, took), streamErr: closeStreams(c)}
}

func closeStreams(c *call) error {
	var errs []error
	for _, s := range c.streams {
		errs = append(errs, s.Close())
	}
	errs = append(errs, c.events.Close())
	return errors.Join(errs...)
}

// recordStop journals an attempt that the run ended, or that failed in a way that no retry mends.
func (r *run) recordStop(e ending, reason string) error {
	stopped := flow.AttemptStopped{AttemptRef: e.AttemptRef, Reason: reason, Left: r.boardLeft(), Millis: e.millis,
		Session: e.out.Session, Spent: e.spent}
	return errors.Join(r.ledger.Record(stopped), e.streamErr, r.keepStreams(e.AttemptRef))
}

// boardLeft is the SHA-256 of the board as the attempt left it.
func (r *run) boardLeft() string { return r.Workspace.Left(r.ledger.State().Step) }

func (r *run) recordRejection(e ending, f contract.Failure, disagreed bool) error {
	if step := r.ledger.State().Step; e.Call == flow.ManagerCall && !disagreed && step.Rejected >= r.Limits.MaxRetries {
		f.Reason += r.Workspace.TakeBackEnd(step)
	}
	kept := errors.Join(e.streamErr, r.keepStreams(e.AttemptRef))
	rejected := flow.ReplyRejected{AttemptRef: e.AttemptRef, Reason: f.Reason, Exit: e.out.Exit.String(), Left: r.boardLeft(),
		Received: e.out.Received, Stderr: e.out.Stderr, Output: r.dir.Output(e.Step), Disagreed: disagreed, Lost: f.Lost && e.From != "", Died: e.spec.Resident != nil && !r.resident.Runs(),
		Retries: r.ledger.State().Step.Rejected, Of: r.Limits.MaxRetries, Millis: e.millis, Session: e.out.Session, Spent: e.spent}
	return errors.Join(r.ledger.Record(rejected), kept)
}

// recordWork journals a task agent's reply. Its content is not judged: seed 004, "Constraints",
// never interpret agent output content. Work that is to be reviewed needs a session to be reviewed
// in.
func (r *run) recordWork(e ending) error {
	if plan := r.ledger.State().Step.Plan; plan != nil && plan.Agent && e.out.Session == "" {
		return r.recordRejection(e, contract.Failure{Reason: "the agent named no session, in which its work could be reviewed"}, false)
	}
	accepted := r.replyAccepted(e)
	accepted.Left = r.boardLeft()
	r.said = accepted.Message
	accepted.Unchecked = r.ledger.State().Step.Plan != nil && e.out.Reply.Status != contract.OK
	return r.appendAcceptance(e, accepted)
}

// recordVerdict journals a supervisor's verdict on the work: seed 003, "检测完成标记".
func (r *run) recordVerdict(e ending) error {
	said := e.out.Reply.Message
	held := flow.ReviewHeld{AttemptRef: e.AttemptRef, Completed: review.IsCompleted(said), Feedback: flow.Clip(r.Redactor.String(said)),
		Session: e.out.Session, Left: r.boardLeft(), Millis: e.millis, Spent: e.spent}
	if !held.Completed {
		held.Tree, held.Finding = r.projectHash(), flow.FindingOf(held.Feedback)
	}
	return r.appendAcceptance(e, held)
}

// recordCommand journals what a review command came to. Also one that hangs or prints without end says
// something of the work: it goes back to the agent.
func (r *run) recordCommand(e ending) error {
	end := e.out.Exit.String()
	if e.out.Failure != nil {
		end = e.out.Failure.Reason
	}
	held := flow.ReviewHeld{AttemptRef: e.AttemptRef, Completed: e.out.Failure == nil && e.out.Exit.Succeeded(), Left: r.boardLeft(), Millis: e.millis}
	if held.Completed {
		return r.appendAcceptance(e, held)
	}
	held.Feedback = flow.Clip(r.Redactor.String(review.FormatFailure(e.player.Shown, end, e.out.Stdout, e.out.Stderr)))
	held.Tree, held.Finding = r.projectHash(), flow.FindingOf(held.Feedback)
	kept := errors.Join(e.streamErr, r.keepStreams(e.AttemptRef))
	return errors.Join(r.ledger.Append(held), kept)
}

// recordDecision journals a Manager's reply, if it names things that exist and agrees with the
// board that the Manager left.
func (r *run) recordDecision(e ending) error {
	reply := e.out.Reply
	tasks := e.input.Tasks
	if !tasks.Is(reply.Tasks) {
		tasks = contract.NewTaskList(reply.Tasks)
	}
	step := r.ledger.State().Step
	f, disagreed, err := r.Workspace.Judge(step, workspace.Decision{Given: e.input.Tasks, Status: reply.Status, Next: reply.NextTask, Tasks: tasks}, r.isKnown)
	if err != nil {
		return errors.Join(r.recordStop(e, err.Error()), err)
	}
	if f != nil {
		return r.recordRejection(e, *f, disagreed)
	}
	accepted := r.replyAccepted(e)
	accepted.NextTask = reply.NextTask
	if len(tasks.JSON()) <= contract.MaxInline {
		accepted.Tasks = tasks.Paths
	} else if accepted.TasksSHA, err = r.storeTasks(tasks); err != nil {
		return err
	}
	return r.appendAcceptance(e, accepted)
}

// isKnown returns an error for a role that does not exist. One that is set up wrongly is no fault of
// the Manager's.
func (r *run) isKnown(role string) error {
	_, err := r.Player(role)
	if roster.IsUnknown(err) {
		return err
	}
	return nil
}

func (r *run) replyAccepted(e ending) flow.ReplyAccepted {
	return flow.ReplyAccepted{AttemptRef: e.AttemptRef, Status: string(e.out.Reply.Status), Message: flow.Clip(r.Redactor.String(e.out.Reply.Message)),
		Millis: e.millis, Session: e.out.Session, Spent: e.spent}
}

// appendAcceptance appends an accepted reply. It is on disk with the next commit; the streams are
// not emptied before. An error of theirs counts only where they are to stay.
func (r *run) appendAcceptance(e ending, event flow.Event) error {
	r.accepted = append(r.accepted, e.Call)
	err := r.ledger.Append(event)
	failpoint.At("reply-noted")
	if r.store != nil {
		err = errors.Join(err, r.ledger.Commit())
	}
	if r.KeepOutput {
		err = errors.Join(err, e.streamErr, r.keepStreams(e.AttemptRef))
	}
	return err
}

// charge accounts for an attempt and returns what it alone came to, nil where that is not known.
func (r *run) charge(c *call, out *attempt.Outcome, took time.Duration) *flow.Spending {
	spent := r.accountsOf(c.Call).Charge(out, c.From).Journaled()
	if c.player.Adapter.Tool().Free {
		spent = &flow.Spending{Free: true}
	}
	r.used.Add(took.Milliseconds(), spent)
	if !out.Stopped && !spent.IsPriced() {
		r.warnOfCost(c)
	}
	return spent
}

// warnOfCost warns once that a limit of cost cannot hold an agent whose tool tells no cost.
func (r *run) warnOfCost(c *call) {
	limits := r.Limits.OfCost()
	if len(limits) == 0 || r.warned || r.DryRun {
		return
	}
	r.warned = true
	r.Observer.Notice(r.Board, fmt.Sprintf("%s cannot hold: %s (%s) told no cost of attempt %d in step %d; an unknown cost is not counted",
		strings.Join(limits, " and "), c.Role, c.player.Adapter.Name(), c.Attempt, c.Step))
}

// warnOfLimits says once of each limit that it is nearly used.
func (r *run) warnOfLimits() {
	for _, text := range r.ledger.State().NearLimits() {
		if !slices.Contains(r.near, text) {
			r.near = append(r.near, text)
			r.Observer.Notice(r.Board, text)
		}
	}
}

// accountsOf are those of the sessions in which a call may go on.
func (r *run) accountsOf(c flow.Call) attempt.Accounts {
	if c.IsSupervision() {
		return r.watched
	}
	return r.accounts
}

// restoreAccounts adds what earlier runs journaled of the open step's sessions, and of the supervisor's. Without it a tool
// that counts by the session would be charged for them again.
func (r *run) restoreAccounts(e flow.Event) {
	if _, ok := e.(flow.StepStarted); ok {
		r.accounts = attempt.Accounts{} // no session but the supervisor's outlives its step
	}
	end, ok := flow.EndOf(e)
	if !ok || end.Call.IsReview() || end.Session == "" || end.Spent == nil {
		return
	}
	accounts := r.accountsOf(end.Call)
	sum := accounts[end.Session]
	sum.Add(agent.Spending{Input: end.Spent.Input, Cached: end.Spent.Cached, Output: end.Spent.Output, Cost: end.Spent.Cost})
	accounts[end.Session] = sum
}
