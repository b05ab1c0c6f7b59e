package call

import (
	"cmp"
	"encoding/json"
	"errors"
	"strings"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failpoint"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/review"
	"kanban-run/orchestrator/rundir"
	"kanban-run/orchestrator/workspace"
)

// setInput gives the first attempt of a call a new input, which the intent records, and each later
// attempt the same bytes: seed 004, "Retry Rule (CRITICAL)".
func (c *Caller) setInput(call *Ready, b *board.Board) (err error) {
	step := c.run.State().Step
	if step.Input != nil {
		call.Input, err = c.restoreInput(step)
		return err
	}
	if call.Input, err = c.newInput(call.Spawn, b); err != nil {
		return err
	}
	inline, rest, err := call.Input.Journaled()
	if err != nil {
		return err
	}
	call.Intent.Input = inline
	if rest != nil {
		if call.Intent.Stored, err = c.run.Folder.Store(rest); err != nil {
			return err
		}
		failpoint.At("input-stored")
	}
	c.input, c.inputOf = call.Input, inputKey(step)
	return nil
}

// newInput is the input of a call's first attempt, on the board as it is. It holds no secret: it is
// journaled, and a redacted retry would get other bytes.
func (c *Caller) newInput(e flow.Spawn, b *board.Board) (contract.Input, error) {
	kanban := c.run.Workspace.KanbanFile()
	if err := workspace.CheckSecrets(c.run.Redactor, e.Task, kanban); err != nil {
		return contract.Input{}, err
	}
	switch {
	case e.Call.IsSupervision():
		return c.supervisor.Input(e, b)
	case e.Call == event.ReviewCall:
		return c.reviewInput(e.Task, kanban)
	case e.From != "":
		return contract.Input{Text: c.run.Redactor.String(review.FormatFeedback(c.run.State().Step.Feedback))}, nil
	case e.Call == event.CommandCall:
		return contract.ForTask(e.Task, kanban, "")
	case e.Call == event.TaskCall:
		return contract.ForTask(e.Task, kanban, c.feedbackFor(e))
	}
	tasks := c.run.Workspace.Tasks(b)
	if err := c.run.Workspace.CheckTasks(tasks); err != nil {
		return contract.Input{}, err
	}
	var anomalies []contract.AnomalyReport
	if step := c.run.State().Step; step.Anomaly != nil {
		anomalies = []contract.AnomalyReport{contract.Report(cmp.Or(step.Anomaly.Executor, step.Role), *step.Anomaly)}
	}
	return contract.ForManager(kanban, e.Task, anomalies, tasks)
}

// feedbackFor is why the work of a task was sent back or its agent was ended, for an agent that
// does not go on in its session.
func (c *Caller) feedbackFor(e flow.Spawn) string {
	player, err := c.playerOf(e)
	step := c.run.State().Step
	if err != nil || !player.Role.Feedback {
		return ""
	}
	text := step.Advice
	if e.Round > 0 {
		text = strings.TrimSpace(step.Feedback + "\n\n" + text)
	}
	return c.run.Redactor.String(text)
}

// reviewInput tells a supervisor what the agent was asked for: its input, and the text of the task
// as it is now. Without a readable task the supervisor still has the session.
func (c *Caller) reviewInput(task, kanban string) (contract.Input, error) {
	in, err := contract.ForTask(task, kanban, "")
	if err != nil {
		return in, err
	}
	asked := []string{string(in.JSON)}
	if text, err := c.run.Workspace.Place.ReadText(task); err == nil {
		asked = append(asked, task+" is now:\n\n"+text)
	}
	return contract.Input{Text: c.run.Redactor.String(review.FormatRequest(asked))}, nil
}

// inputKey names the open call of a step, to which its input belongs.
func inputKey(s *flow.Step) event.AttemptRef {
	return event.AttemptRef{Step: s.Number, Call: s.Call, Round: s.Round}
}

// restoreInput is the input that earlier attempts of the open call got, from memory or from disk.
// Errors: [rundir.ErrNotStored].
func (c *Caller) restoreInput(step *flow.Step) (contract.Input, error) {
	if c.inputOf == inputKey(step) {
		return c.input, nil
	}
	in, err := c.readInput(step.Input, step.Stored)
	if err == nil {
		c.input, c.inputOf = in, inputKey(step)
	}
	return in, err
}

// RestartWithoutInput starts the open call afresh if its stored input is missing or changed.
func (c *Caller) RestartWithoutInput(b *board.Board) error {
	step := c.run.State().Step
	if step == nil || step.Reply != nil || step.Input == nil {
		return nil
	}
	_, err := c.restoreInput(step)
	if !errors.Is(err, rundir.ErrNotStored) {
		return err
	}
	return c.run.Ledger.Append(event.CallRestarted{Step: step.Number, Task: step.Task, BoardSHA: b.SHA, Reason: err.Error()})
}

func (c *Caller) readInput(inline json.RawMessage, stored string) (contract.Input, error) {
	if stored == "" {
		return contract.Restore(inline, nil)
	}
	rest, err := c.run.Folder.Stored(stored)
	if err != nil {
		return contract.Input{}, err
	}
	return contract.Restore(inline, rest)
}
