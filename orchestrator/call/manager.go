package call

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"kanban-run/orchestrator/attempt"
	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/roster"
	"kanban-run/orchestrator/rundir"
	"kanban-run/orchestrator/workspace"
)

// manager is the call in which the Manager decides what follows a task (seed 004, "Manager Spawn
// Template").
type manager struct{}

// Player returns the Manager's agent.
func (manager) Player(role *roster.Player) *roster.Player { return role }

// Prepare tells the Manager the finished task, the list of tasks, and the anomalies of the work.
// The intent of the first attempt records the board, so that the Manager's changes can be found
// later.
func (manager) Prepare(c *Caller, a *Attempt, b *board.Board) error {
	step := c.Journal.State().Step
	if step.Before == nil {
		a.Intent.Before = &event.Baseline{BoardSHA: b.SHA}
		if !b.Current.Null && b.Current.Set { // the board is not over
			a.Intent.Before.Current = c.Workspace.Seen(b.Current.Path)
		}
	}
	return c.setInput(a, func() (contract.Input, error) {
		tasks := c.Workspace.Tasks(b)
		if err := c.Workspace.CheckTasks(tasks); err != nil {
			return contract.Input{}, err
		}
		var anomalies []contract.AnomalyReport
		for _, a := range c.Journal.State().Anomalies() {
			anomalies = append(anomalies, contract.Report(cmp.Or(a.Executor, step.Role), a))
		}
		return contract.ForManager(c.Workspace.KanbanFile(), a.Intent.Task, anomalies, tasks)
	})
}

// reject acts only after the last retry. If the Manager has ended the board without a valid reply,
// reject takes back the end of the board.
func (manager) reject(c *Caller, f *contract.Failure) {
	if step := c.Journal.State().Step; step.Rejected >= c.Journal.State().Limits.MaxRetries {
		f.Reason += c.Workspace.TakeBackEnd(step)
	}
}

// Settle accepts the Manager's reply if it names existing tasks and roles, and agrees with the
// board that the Manager left. If the reply contradicts the board, Settle leaves the board as it
// is, and the run freezes the board after the last retry.
func (m manager) Settle(c *Caller, a *Attempt, e *attempt.Ended) (event.Event, error) {
	reply, step := e.Reply, c.Journal.State().Step
	f, disagreed, err := c.Workspace.Judge(step, workspace.Decision{Given: a.Input.Tasks, Status: reply.Status,
		Next: reply.NextTask, Tasks: reply.Tasks}, c.checkRole)
	switch {
	case err != nil:
		return c.stopped(a, e, err.Error()), err
	case f != nil:
		if !disagreed {
			m.reject(c, f)
		}
		rejected := c.rejected(a, e, *f)
		rejected.Disagreed = disagreed
		return rejected, nil
	}
	accepted := c.accepted(a, e)
	accepted.NextTask = reply.NextTask
	if reply.NextTask == nil && slices.Equal(reply.Tasks, a.Input.Tasks) {
		left, same, err := c.holdOpen(step, a.Input.Tasks)
		if err != nil {
			return c.stopped(a, e, err.Error()), err
		}
		if same {
			accepted.Left, accepted.Again = left, true
		}
	}
	list, err := json.Marshal(reply.Tasks)
	if err == nil && len(list) > contract.MaxInline {
		accepted.TasksSHA, err = c.Folder.Store(list)
	} else {
		accepted.Tasks = reply.Tasks
	}
	if err != nil {
		return nil, err
	}
	return accepted, nil
}

// holdOpen reopens a board that the Manager has ended if there is something that it was not told of: tasks that
// are set aside, or that a person has added meanwhile. See [workspace.Workspace.HoldOpen].
func (c *Caller) holdOpen(step *flow.Step, given []string) (left string, same bool, err error) {
	added := c.Workspace.Added(step.Before.BoardSHA)
	if !c.Journal.State().MayAskAgain(len(added) > 0) {
		return "", false, nil
	}
	return c.Workspace.HoldOpen(step, given, added)
}

// checkRole returns an error for a role that does not exist. It returns nil for a role that exists
// but is set up wrongly, because that is not the Manager's fault.
func (c *Caller) checkRole(role string) error {
	_, err := c.Roster.Player(role)
	if roster.IsUnknown(err) {
		return err
	}
	return nil
}

// Decision returns the Manager's accepted reply and two lists of tasks: the list that the Manager
// was given, and the list in the reply. If the stored file of the given list is lost, Decision
// returns the reply's list as both lists. If the stored file of the reply's list is lost, Decision
// returns the board's list as both lists. In either case the decision is marked as lost, and the list
// on the board stays as the Manager left it.
func (c *Caller) Decision(step *flow.Step, b *board.Board) (d workspace.Decision, err error) {
	reply := step.Reply
	d.Next, d.Status = reply.NextTask, contract.Status(reply.Status)
	in, err := c.restoreInput(step)
	lost := errors.Is(err, rundir.ErrNotStored) || err == nil && in.Tasks == nil
	switch {
	case err != nil && !lost:
		return d, err
	case !lost && reply.TasksSHA != "" && reply.TasksSHA == step.Stored:
		d.Given, d.Tasks = in.Tasks, in.Tasks
		return d, nil
	}
	d.Tasks, err = c.repliedTasks(reply)
	switch {
	case errors.Is(err, rundir.ErrNotStored):
		lost, d.Tasks = true, c.Workspace.Tasks(b)
	case err != nil:
		return d, err
	}
	if d.Given, d.Lost = in.Tasks, lost; lost {
		d.Given = d.Tasks
	}
	return d, nil
}

// repliedTasks returns the list of tasks in an accepted reply. Errors: [rundir.ErrNotStored].
func (c *Caller) repliedTasks(reply *event.ReplyAccepted) ([]string, error) {
	if reply.TasksSHA == "" {
		return reply.Tasks, nil
	}
	text, err := c.Folder.Stored(reply.TasksSHA)
	if err != nil {
		return nil, err
	}
	var paths []string
	if err := json.Unmarshal(text, &paths); err != nil {
		return nil, fmt.Errorf("decode the tasks of the Manager's reply: %w", err)
	}
	return paths, nil
}
