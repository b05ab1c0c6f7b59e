package call

import (
	"encoding/json"
	"errors"
	"fmt"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/rundir"
	"kanban-run/orchestrator/workspace"
)

// Decision is the accepted reply of the step's Manager, with the list that it was given. Where
// that list is lost it is taken to be the one in the reply, and where that is lost the board's:
// then the board's own list stands, with all that the Manager did to it.
func (c *Caller) Decision(step *flow.Step, b *board.Board) (d workspace.Decision, lost bool, err error) {
	reply := step.Reply
	d.Next, d.Status = reply.NextTask, contract.Status(reply.Status)
	in, err := c.restoreInput(step)
	lost = errors.Is(err, rundir.ErrNotStored) || err == nil && in.Tasks == nil
	switch {
	case err != nil && !lost:
		return d, false, err
	case !lost && reply.TasksSHA != "" && reply.TasksSHA == step.Stored:
		d.Given, d.Tasks = in.Tasks, in.Tasks
		return d, false, nil
	}
	d.Tasks, err = c.repliedTasks(reply)
	switch {
	case errors.Is(err, rundir.ErrNotStored):
		lost, d.Tasks = true, c.run.Workspace.Tasks(b)
	case err != nil:
		return d, false, err
	}
	if d.Given = in.Tasks; lost {
		d.Given = d.Tasks
	}
	return d, lost, nil
}

// repliedTasks is the list in an accepted reply. Errors: [rundir.ErrNotStored].
func (c *Caller) repliedTasks(reply *event.ReplyAccepted) ([]string, error) {
	if reply.TasksSHA == "" {
		return reply.Tasks, nil
	}
	text, err := c.run.Folder.Stored(reply.TasksSHA)
	if err != nil {
		return nil, err
	}
	var paths []string
	if err := json.Unmarshal(text, &paths); err != nil {
		return nil, fmt.Errorf("decode the tasks of the Manager's reply: %w", err)
	}
	return paths, nil
}
