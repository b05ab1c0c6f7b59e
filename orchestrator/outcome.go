package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/attempt"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/failpoint"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/review"
	"kanban-run/orchestrator/workspace"
)

// recordOutcome journals how an attempt ended. An accepted reply is on disk with the next commit, everything
// else at once.
func (r *run) recordOutcome(c *call, a *attempt.Attempt) error {
	out, err := a.Outcome()
	e := r.measure(c, out)
	switch {
	case err != nil:
		return errors.Join(r.recordStop(e, err.Error()), c.player.Explain(err))
	case out.OutOfTime:
		return r.recordStop(e, "the limit of time is reached")
	case out.Stopped:
		return errors.Join(r.recordStop(e, "the run was stopped"), context.Cause(r.stop))
	case out.Failure != nil:
		return r.recordRejection(e, *out.Failure, false)
	case c.Call == flow.ReviewCall:
		return r.recordVerdict(e)
	case c.Call == flow.ManagerCall:
		return r.recordDecision(e)
	default:
		return r.recordWork(e)
	}
}

// ending is an attempt that has ended, and what it came to.
type ending struct {
	*call
	out    *attempt.Outcome
	millis int64
	spent  *flow.Spending
	unkept error // why its streams could not be kept
}

func (r *run) measure(c *call, out *attempt.Outcome) ending {
	took := r.Now().Sub(c.began)
	if out.OutOfTime {
		took = max(took, c.spec.TimeLimit) // never less than what the limit left, by whatever clock
	}
	return ending{call: c, out: out, millis: took.Milliseconds(), spent: r.charge(c, out, took), unkept: closeStreams(c)}
}

func closeStreams(c *call) error {
	var errs []error
	for _, s := range c.streams {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}

// recordStop journals an attempt that was ended from here, or by an error that no retry mends.
func (r *run) recordStop(e ending, reason string) error {
	stopped := flow.AttemptStopped{AttemptRef: e.AttemptRef, Reason: reason, Left: r.left(), Millis: e.millis,
		Session: e.out.Session, Spent: e.spent}
	return errors.Join(r.ledger.Record(stopped), e.unkept)
}

// left names the board's bytes as the attempt left them.
func (r *run) left() string { return r.Workspace.Left(r.ledger.State().Step) }

func (r *run) recordRejection(e ending, f contract.Failure, disagreed bool) error {
	rejected := flow.ReplyRejected{AttemptRef: e.AttemptRef, Reason: f.Reason, Exit: e.out.Exit.String(), Left: r.left(),
		Received: e.out.Received, Stderr: e.out.Stderr, Output: r.dir.Output(e.Step), Disagreed: disagreed, Lost: f.Lost && e.From != "",
		Retries: r.ledger.State().Step.Rejected, Of: r.Limits.MaxRetries, Millis: e.millis, Session: e.out.Session, Spent: e.spent}
	return errors.Join(r.ledger.Record(rejected), e.unkept)
}

// recordWork journals a task agent's reply as it is: its content is not judged here (seed 004, "Constraints":
// never interpret agent output content). Work that is to be reviewed needs a session to review it in.
func (r *run) recordWork(e ending) error {
	if r.ledger.State().Step.Plan != nil && e.out.Session == "" {
		return r.recordRejection(e, contract.Failure{Reason: "the agent named no session, in which its work could be reviewed"}, false)
	}
	accepted := r.acceptance(e)
	accepted.Left = r.left()
	return r.accept(e, accepted)
}

// recordVerdict journals what a supervisor said of the work: seed 003, "检测完成标记".
func (r *run) recordVerdict(e ending) error {
	said := e.out.Reply.Message
	return r.accept(e, flow.ReviewHeld{AttemptRef: e.AttemptRef, Completed: review.IsCompleted(said), Feedback: clip(r.Redactor.String(said)),
		Session: e.out.Session, Left: r.left(), Millis: e.millis, Spent: e.spent})
}

// recordDecision journals a Manager's reply, if it names things that exist and agrees with the board that the
// Manager left.
func (r *run) recordDecision(e ending) error {
	reply := e.out.Reply
	tasks := e.input.Tasks
	if !tasks.Is(reply.Tasks) {
		tasks = contract.NewTaskList(reply.Tasks)
	}
	step := r.ledger.State().Step
	f, disagreed, err := r.Workspace.Judge(step, workspace.Decision{Given: e.input.Tasks, Next: reply.NextTask, Tasks: tasks})
	if err != nil {
		return errors.Join(r.recordStop(e, err.Error()), err)
	}
	if f != nil {
		return r.recordRejection(e, *f, disagreed)
	}
	accepted := r.acceptance(e)
	accepted.NextTask = reply.NextTask
	if len(tasks.JSON()) <= contract.MaxInline {
		accepted.Tasks = tasks.Paths
	} else if accepted.TasksSHA, err = r.storeTasks(tasks); err != nil {
		return err
	}
	return r.accept(e, accepted)
}

func (r *run) acceptance(e ending) flow.ReplyAccepted {
	return flow.ReplyAccepted{AttemptRef: e.AttemptRef, Status: string(e.out.Reply.Status), Message: clip(r.Redactor.String(e.out.Reply.Message)),
		Millis: e.millis, Session: e.out.Session, Spent: e.spent}
}

// accept appends an event that is on disk with the next commit; the streams are kept until then. That they
// could not be kept matters only where they are to stay.
func (r *run) accept(e ending, event flow.Event) error {
	r.streams = append(r.streams, e.streams...)
	err := r.ledger.Append(event)
	failpoint.At("reply-noted")
	if r.KeepOutput {
		err = errors.Join(err, e.unkept)
	}
	return err
}

// maxMessage is how much of a message is journaled, in bytes: it is a summary, and the work log is in the task
// file.
const maxMessage = 32 << 10

func clip(message string) string {
	if len(message) <= maxMessage {
		return message
	}
	return fmt.Sprintf("%s… (%d bytes in all)", strings.ToValidUTF8(message[:maxMessage], ""), len(message))
}

// charge is what an attempt alone came to, nil where it is not known.
func (r *run) charge(c *call, out *attempt.Outcome, took time.Duration) *flow.Spending {
	spent := r.accounts.Charge(out, c.From).Journaled()
	r.used.Add(took.Milliseconds(), spent)
	if !out.Stopped && (spent == nil || spent.Cost == nil || spent.Partial) {
		r.warnOfCost(c)
	}
	return spent
}

// warnOfCost says once that a limit of cost does not hold an agent that tells no cost: it must not look like a
// limit that is kept.
func (r *run) warnOfCost(c *call) {
	limits := r.Limits.OfCost()
	if len(limits) == 0 || r.warned || r.DryRun {
		return
	}
	r.warned = true
	r.Observer.Notice(r.Board, fmt.Sprintf("%s cannot hold: %s (%s) told no cost of attempt %d in step %d; what nobody tells is not counted",
		strings.Join(limits, " and "), c.Role, c.player.Adapter.Name(), c.Attempt, c.Step))
}

// restoreAccounts makes what an earlier run has journaled of the open step's sessions part of the accounts: a
// tool that counts by the session would charge it again.
func (r *run) restoreAccounts(e flow.Event) {
	var session string
	var spent *flow.Spending
	switch e := e.(type) {
	case flow.StepStarted:
		r.accounts = attempt.Accounts{} // no session outlives its step
	case flow.ReplyAccepted:
		session, spent = e.Session, e.Spent
	case flow.ReplyRejected:
		session, spent = e.Session, e.Spent
	case flow.AttemptStopped:
		session, spent = e.Session, e.Spent
	}
	if session == "" || spent == nil {
		return
	}
	sum := r.accounts[session]
	sum.Add(agent.Spending{Input: spent.Input, Cached: spent.Cached, Output: spent.Output, Cost: spent.Cost})
	r.accounts[session] = sum
}
