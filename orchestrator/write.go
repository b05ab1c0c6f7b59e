package orchestrator

import (
	"encoding/json"
	"fmt"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/failpoint"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/workspace"
)

// writeBoard writes onto the board what the Manager's reply says and the Manager has not written
// itself, and finishes the step.
func (r *run) writeBoard(b *board.Board) error {
	step := r.ledger.State().Step
	d, err := r.decision(step)
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
	if verdict.Warning == "" {
		verdict.Warning = verdict.Disagreement // a change after the acceptance: the file stands
	}
	return r.finishStep(step, sha, verdict.Warning)
}

// decision is the accepted reply of the step's Manager, with the list in its input.
func (r *run) decision(step *flow.Step) (d workspace.Decision, err error) {
	in, err := r.restoreInput(step)
	if err != nil {
		return d, err
	}
	reply := step.Reply
	d = workspace.Decision{Given: in.Tasks, Next: reply.NextTask, Tasks: in.Tasks}
	switch {
	case reply.SameTasks:
	case reply.TasksSHA == "":
		d.Tasks = contract.NewTaskList(reply.Tasks)
	case reply.TasksSHA != step.Stored:
		text, err := r.dir.Stored(reply.TasksSHA)
		if err != nil {
			return d, err
		}
		var paths []string
		if err := json.Unmarshal(text, &paths); err != nil {
			return d, fmt.Errorf("decode the tasks of the Manager's reply: %w", err)
		}
		d.Tasks = contract.NewTaskList(paths)
	}
	return d, nil
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
	r.steps++
	e := flow.StepFinished{Step: step.Number, Task: step.Task, Role: step.Role, Status: step.TaskStatus, Manager: step.Reply.Status,
		Message: step.Reply.Message, NextTask: step.Reply.NextTask, BoardSHA: sha, Warning: warning}
	if e.Status == "" {
		e.Status = step.Reply.Status
	}
	if !r.opened.IsZero() {
		e.Millis = r.Now().Sub(r.opened).Milliseconds()
	}
	return r.ledger.FinishStep(e)
}
