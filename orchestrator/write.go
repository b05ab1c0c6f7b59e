package orchestrator

import (
	"encoding/json"
	"errors"
	"fmt"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/failpoint"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/rundir"
	"kanban-run/orchestrator/workspace"
)

// writeBoard writes onto the board what the Manager's reply says and the Manager has not written
// itself, and finishes the step.
func (r *run) writeBoard(b *board.Board) error {
	step := r.ledger.State().Step
	d, lost, err := r.decision(step, b)
	if err != nil {
		return err
	}
	verdict := r.Workspace.Compare(b, step, d)
	data, err := r.Workspace.Splice(b, verdict, d)
	if err != nil {
		return err
	}
	sha := b.SHA
	if data != nil {
		r.Workspace.Forget()
		now, err := r.Workspace.Look()
		if err != nil {
			return err
		}
		if now.SHA != b.SHA {
			return r.writeBoard(now) // it was changed since it was read
		}
		if sha, err = r.replaceBoard(step, b, data); err != nil {
			return err
		}
	}
	if lost && !d.Tasks.Is(r.Workspace.Tasks(b).Paths) {
		verdict.Warning = "the list of tasks that the Manager was given is lost, so the board's own list stands, and not the one in the reply"
	}
	if verdict.Warning == "" {
		verdict.Warning = verdict.Disagreement // a change after the acceptance: the file stands
	}
	return r.finishStep(step, sha, verdict.Warning)
}

// decision is the accepted reply of the step's Manager, with the list that it was given. Where that list is
// lost it is taken to be the one in the reply, and where that is lost the board's: then the board's own list
// stands, with all that the Manager did to it.
func (r *run) decision(step *flow.Step, b *board.Board) (d workspace.Decision, lost bool, err error) {
	reply := step.Reply
	d.Next, d.Status = reply.NextTask, contract.Status(reply.Status)
	in, err := r.restoreInput(step)
	lost = errors.Is(err, rundir.ErrNotStored) || err == nil && in.Tasks == nil
	switch {
	case err != nil && !lost:
		return d, false, err
	case !lost && (reply.SameTasks || reply.TasksSHA != "" && reply.TasksSHA == step.Stored):
		d.Given, d.Tasks = in.Tasks, in.Tasks
		return d, false, nil
	}
	d.Tasks, err = r.repliedTasks(reply)
	switch {
	case errors.Is(err, rundir.ErrNotStored) || err == nil && d.Tasks == nil:
		lost, d.Tasks = true, r.Workspace.Tasks(b)
	case err != nil:
		return d, false, err
	}
	if d.Given = in.Tasks; lost {
		d.Given = d.Tasks
	}
	return d, lost, nil
}

// repliedTasks is the list in an accepted reply; nil where it stands in the Manager's input alone. Errors:
// [rundir.ErrNotStored].
func (r *run) repliedTasks(reply *flow.ReplyAccepted) (*contract.TaskList, error) {
	switch {
	case reply.SameTasks:
		return nil, nil
	case reply.TasksSHA == "":
		return contract.NewTaskList(reply.Tasks), nil
	}
	text, err := r.dir.Stored(reply.TasksSHA)
	if err != nil {
		return nil, err
	}
	var paths []string
	if err := json.Unmarshal(text, &paths); err != nil {
		return nil, fmt.Errorf("decode the tasks of the Manager's reply: %w", err)
	}
	return contract.NewTaskList(paths), nil
}

// replaceBoard writes the board, with the intent journaled before and the outcome after.
func (r *run) replaceBoard(step *flow.Step, b *board.Board, data []byte) (sha string, err error) {
	sha = board.SHA(data)
	if err := r.ledger.Record(flow.BoardWriteStarted{Step: step.Number, Task: step.Task, Before: b.SHA, After: sha}); err != nil {
		return "", err
	}
	failpoint.At("board-intent")
	if err := r.Workspace.Save(data); err != nil {
		return "", err
	}
	failpoint.At("board-written")
	return sha, r.ledger.Append(flow.BoardWritten{Step: step.Number, Task: step.Task, BoardSHA: sha})
}

// finishStep appends the end of a step; warning says where board and reply differ.
func (r *run) finishStep(step *flow.Step, sha, warning string) error {
	if step.Checkpoint == nil {
		r.steps++
	}
	e := flow.StepFinished{Step: step.Number, Task: step.Task, Role: step.Role, Status: step.TaskStatus, Manager: step.Reply.Status,
		Message: step.Reply.Message, NextTask: step.Reply.NextTask, BoardSHA: sha, Warning: warning,
		Quarantined: r.quarantined()}
	if step.Checkpoint != nil {
		e.Checkpoint = step.Checkpoint.ID
	} else {
		e.Leaving = r.leaving(step)
	}
	if e.Status == "" {
		e.Status = step.Reply.Status
	}
	if !r.opened.IsZero() {
		e.Millis = (r.Now().Sub(r.opened) - r.paused).Milliseconds()
	}
	return errors.Join(r.ledger.FinishStep(e), r.unclaim())
}
