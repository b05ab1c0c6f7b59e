package orchestrator

import (
	"errors"
	"path"
	"slices"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/failpoint"
	"kanban-run/orchestrator/flow"
)

// writeBoard performs WriteBoard: what the Manager's reply says and the Manager did not write itself goes onto the board, and
// the step is over.
func (r *run) writeBoard(b *board.Board) error {
	step := r.history.State.Step
	reply := step.Reply
	given, tasks, lost, err := r.lists(b)
	if err != nil {
		return err
	}
	next := ""
	if reply.NextTask != nil {
		next = r.seen(*reply.NextTask)
	}
	verdict := flow.Reconcile(r.baseline(given), r.fields(b), next, tasks.clean)
	sha := b.SHA
	data, changes, err := r.plan(b, verdict, next, tasks.paths)
	if err == nil && changes {
		var now *board.Board
		if now, err = r.lookAgain(); err == nil && now.SHA != b.SHA {
			return r.writeBoard(now) // somebody wrote to it since the reply was judged
		}
		if err == nil {
			sha, err = r.replace(b, data)
		}
	}
	if err != nil {
		return err
	}
	if verdict.Warning == "" {
		verdict.Warning = verdict.Disagreement // somebody changed the board after the reply was accepted; the file stands
	}
	if lost && !slices.Equal(tasks.clean, r.listOf(b).clean) {
		verdict.Warning = "the list of tasks that the Manager was given is lost, so the board's own list stands, and not the one in the reply"
	}
	status := step.TaskStatus
	if status == "" {
		status = reply.Status
	}
	r.steps++
	err = r.note(flow.StepFinished{Step: step.Number, Task: step.Task, Role: step.Role, Status: status, Manager: reply.Status,
		Message: reply.Message, NextTask: reply.NextTask, BoardSHA: sha, Warning: verdict.Warning, Millis: r.sinceOpened()})
	if err != nil || step.Number%snapshotEvery != 0 {
		return err
	}
	return r.snapshot()
}

// lists are the list that the Manager of the open step was given and the one that it replied with. Where the first is lost, it is taken
// to be the second: then the board's own list stands, whatever the Manager did to it.
func (r *run) lists(b *board.Board) (given, replied *list, lost bool, err error) {
	reply := r.history.State.Step.Reply
	in, err := r.sameInput()
	lost = errors.Is(err, errInputLost)
	switch {
	case err != nil && !lost:
		return nil, nil, false, err
	case reply.SameTasks && lost:
		return r.listOf(b), r.listOf(b), true, nil
	case reply.SameTasks:
		return in.list, in.list, false, nil
	}
	replied = newList(reply.Tasks)
	if lost {
		return replied, replied, true, nil
	}
	return in.list, replied, false, nil
}

// plan is the board as the verdict wants it. It is made before a reply is accepted, because a list that cannot be written must
// be asked for again, and used when the reply is recorded.
func (r *run) plan(b *board.Board, v flow.Verdict, next string, tasks []string) (data []byte, changes bool, err error) {
	if !v.WriteCurrent && !v.WriteTasks {
		return nil, false, nil
	}
	if p := r.planned; p.step == r.history.State.Step.Number && p.board == b.SHA {
		return p.data, true, nil
	}
	if data, err = b.Splice(r.edit(b, v, next, tasks)); err != nil {
		return nil, false, err
	}
	r.planned = planned{step: r.history.State.Step.Number, board: b.SHA, data: data}
	return data, true, nil
}

// planned is a board that was spliced and not written yet.
type planned struct {
	step  int
	board string // SHA-256 of the board that it was made from
	data  []byte
}

// edit is the change to make. Paths are written as the author wrote them wherever the author wrote them.
func (r *run) edit(b *board.Board, v flow.Verdict, next string, tasks []string) board.Edit {
	written := func(p string) string { return p }
	if !r.place.Flat() {
		authors := map[string]string{}
		spelled := b.TaskPaths()
		for i, seen := range r.listOf(b).clean {
			authors[seen] = spelled[i]
		}
		written = func(p string) string {
			if own, ok := authors[path.Clean(p)]; ok {
				return own
			}
			return p
		}
	}
	var e board.Edit
	if v.WriteCurrent && next == "" {
		e.Null = true
	} else if v.WriteCurrent {
		current := written(next)
		e.Current = &current
	}
	if v.WriteTasks {
		e.SetTasks = true
		for _, t := range tasks {
			e.Tasks = append(e.Tasks, written(t))
		}
	}
	return e
}

// replace writes the board, with the intent journaled before and the outcome after.
func (r *run) replace(b *board.Board, data []byte) (sha string, err error) {
	r.planned, r.fresh = planned{}, nil
	step := r.history.State.Step
	sha = board.SHA(data)
	if err := r.record(flow.BoardWriteStarted{Step: step.Number, Task: step.Task, Before: b.SHA, After: sha}); err != nil {
		return "", err
	}
	failpoint.At("board-intent")
	if err := board.Save(r.path, data); err != nil {
		return "", err
	}
	failpoint.At("board-written")
	return sha, r.note(flow.BoardWritten{Step: step.Number, Task: step.Task, BoardSHA: sha})
}

// sinceOpened is how long the open step took in this run, in milliseconds.
func (r *run) sinceOpened() int64 {
	if r.opened.IsZero() {
		return 0
	}
	return r.job.Now().Sub(r.opened).Milliseconds()
}
