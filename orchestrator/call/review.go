package call

import (
	"kanban-run/orchestrator/attempt"
	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/review"
	"kanban-run/orchestrator/roster"
)

// reviewing is the call in which the supervisor looks at a task's work (seed 003). It takes place
// in a fork of the session in which the agent did the work.
type reviewing struct{}

// Player returns the role's supervisor.
func (reviewing) Player(role *roster.Player) *roster.Player { return role.Supervisor }

// Prepare tells the supervisor what the agent was asked: the agent's input, and the text of the
// task as it is now. If the task cannot be read, the supervisor gets only the agent's input.
func (reviewing) Prepare(c *Caller, a *Attempt, _ *board.Board) error {
	return c.setInput(a, func() (contract.Input, error) {
		in, err := contract.ForTask(a.Intent.Task, c.Workspace.KanbanFile(), "")
		if err != nil {
			return in, err
		}
		asked := []string{string(in.JSON)}
		if text, err := c.Workspace.ReadText(a.Intent.Task); err == nil {
			asked = append(asked, a.Intent.Task+" is now:\n\n"+text)
		}
		return contract.Input{Text: c.Redactor.String(review.FormatRequest(asked))}, nil
	})
}

// Settle returns the verdict. A text without the marker of completion is feedback, with which the
// work goes back to its agent (seed 003, "检测完成标记").
func (reviewing) Settle(c *Caller, a *Attempt, e *attempt.Ended) (event.Event, error) {
	said := e.Reply.Message
	held := event.ReviewHeld{AttemptRef: a.Ref(), Completed: review.IsCompleted(said),
		Feedback: event.Clip(c.Redactor.String(said)),
		End:      c.end(a, e)}
	if !held.Completed {
		held.Tree, held.Finding = c.projectHash(), event.FindingOf(held.Feedback)
	}
	return held, nil
}
