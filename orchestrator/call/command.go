package call

import (
	"kanban-run/orchestrator/attempt"
	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/review"
	"kanban-run/orchestrator/roster"
)

// command is the call in which the role's command reviews a task's work. A review by the supervisor
// comes later.
type command struct{}

// Player returns the role's command.
func (command) Player(role *roster.Player) *roster.Player { return role.Command }

// Prepare tells the command the task.
func (command) Prepare(c *Caller, a *Attempt, _ *board.Board) error {
	return c.setInput(a, func() (contract.Input, error) {
		return contract.ForTask(a.Intent.Task, c.Workspace.KanbanFile(), "")
	})
}

// Settle accepts the work if the command succeeds. The work goes back to its agent if the command
// fails, hangs or prints without end.
func (command) Settle(c *Caller, a *Attempt, e *attempt.Ended) (event.Event, error) {
	end := e.Exit.String()
	if e.Failure != nil {
		end = e.Failure.Reason
	}
	held := event.ReviewHeld{AttemptRef: a.Ref(), Completed: e.Failure == nil && e.Exit.Succeeded(),
		End: event.End{Left: c.boardLeft(), Millis: a.millis, Frozen: a.frozen}}
	if held.Completed {
		if held.Changed = c.Trust.ReviewedBy(a.Player.Role.Name); held.Changed != "" {
			held.Command = a.Player.Shown
		}
		return held, nil
	}
	held.Feedback = event.Clip(c.Redactor.String(review.FormatFailure(a.Player.Shown, end, e.Stdout, e.Stderr)))
	held.Tree, held.Finding = c.projectHash(), event.FindingOf(held.Feedback)
	return held, nil
}
