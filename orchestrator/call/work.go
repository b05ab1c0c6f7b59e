package call

import (
	"fmt"
	"strings"

	"kanban-run/orchestrator/attempt"
	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/review"
	"kanban-run/orchestrator/roster"
)

// work is the call of a task's own agent (seed 004, "Standard Spawn Template (Architect /
// Implementor)").
type work struct{}

// Player returns the role's own agent.
func (work) Player(role *roster.Player) *roster.Player { return role }

// Prepare tells the agent the task. If the work was sent back, the agent goes on in its session,
// and is told only the feedback.
func (work) Prepare(c *Caller, a *Attempt, _ *board.Board) error {
	a.Intent.Plan = a.Player.Plan()
	return c.setInput(a, func() (contract.Input, error) {
		if a.Intent.From != "" {
			return contract.Input{Text: c.Redactor.String(review.FormatFeedback(c.Journal.State().Step.Feedback))}, nil
		}
		return contract.ForTask(a.Intent.Task, c.Workspace.KanbanFile(), c.feedbackFor(a))
	})
}

// feedbackFor returns the feedback of a review and the reason of a restart, for an agent that
// begins in a new session. It returns "" if the agent's role takes no feedback.
func (c *Caller) feedbackFor(a *Attempt) string {
	if !a.Player.Role.Feedback {
		return ""
	}
	step := c.Journal.State().Step
	text := step.Advice
	if a.Intent.Round > 0 {
		text = strings.TrimSpace(step.Feedback + "\n\n" + text)
	}
	return c.Redactor.String(text)
}

// Settle accepts the agent's reply without a look at its content, as seed 004, "Constraints",
// demands. If an agent is to review the work, the reply needs a session, because the review takes
// place in a fork of that session.
func (work) Settle(c *Caller, a *Attempt, e *attempt.Ended) (event.Event, error) {
	plan := c.Journal.State().Step.Plan
	if plan != nil && plan.Agent && e.Session == "" {
		return c.rejected(a, e,
			contract.Failure{Reason: "the agent named no session, in which its work could be reviewed"}), nil
	}
	accepted := c.accepted(a, e)
	accepted.Left, accepted.Files = c.boardLeft(), c.filesLeft()
	accepted.Unchecked = plan != nil && e.Reply.Status != contract.OK
	c.warnOfTask(a.Ref())
	return accepted, nil
}

// warnOfTask gives a notice if the agent's own task now has a header that cannot be read, or a role
// that cannot be used. The reply still counts, and the Manager is called.
func (c *Caller) warnOfTask(r event.AttemptRef) {
	task, err := c.Workspace.Task(r.Task)
	if err == nil && task.Role != "" {
		if _, err = c.Roster.Player(task.Role); err != nil {
			err = task.RoleProblem(err)
		}
	}
	if err != nil {
		c.Observer.Notice(c.Board, fmt.Sprintf("%s has left its own task like this: %v; its reply counts", r.Role, err))
	}
}
