package main

import (
	"encoding/json"
	"time"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/journal"
)

// The least number of records in a journal that is written here: the long one, and that of a board with
// a history. The last step is written in full, even if it goes beyond this number.
const (
	longRecords    = 100_000
	historyRecords = 4_000 // 500 steps
)

// historyWriter writes the journal of a long run. It writes the same events in the same order as
// kanban-run, and flow.History has to accept every event.
type historyWriter struct {
	journal *journal.Journal
	history flow.History
	epoch   uint64
	sha     string // SHA-256 of the board
}

// writeHistory writes the journal of a run of many steps on a board of few tasks. sha is the SHA-256 of
// the board as it stands.
func writeHistory(path, board, sha string, records uint64) error {
	j, err := journal.Open(path, time.Now, func(journal.Record) error { return nil })
	if err != nil {
		return err
	}
	s := &historyWriter{journal: j, sha: sha}
	if s.epoch, err = j.BeginEpoch(); err != nil {
		return err
	}
	const owner = "kanban-run@1-0badcafe"
	err = s.write(event.HandoffOffered{Board: board, File: board, Epoch: s.epoch, Owner: owner},
		event.HandoffAcked{Board: board, Epoch: s.epoch, Owner: owner})
	if err == nil {
		err = s.write(s.history.Snapshot(board), event.RunStarted{Board: board, Workdir: "/home/dev/project",
			Version: "dev", Form: event.Form,
			Limits: event.Limits{MaxRetries: 3}, OnDivergence: "accept", Tasks: longTasks})
	}
	for n := 1; err == nil && s.history.Seq < records; n++ {
		err = s.step(n, board)
	}
	if err == nil {
		err = s.write(event.RunFinished{Board: board, Outcome: event.LimitReached, Text: "the limit is reached",
			Steps: s.history.State.Steps})
	}
	if err == nil {
		err = j.Commit()
	}
	if err != nil {
		return err
	}
	return j.Close()
}

const longTasks = 10

// step writes step n of a run that goes through a board of ten tasks again and again.
func (s *historyWriter) step(n int, board string) error {
	var tasks []string
	for i := range longTasks {
		tasks = append(tasks, taskName(i))
	}
	task, next, sha := tasks[n%longTasks], tasks[(n+1)%longTasks], s.sha
	given, err := json.Marshal(map[string]string{"task_file": task, "kanban_file": board})
	if err != nil {
		return err
	}
	list, err := json.Marshal(map[string]any{"kanban_file": board, "done_task": task, "tasks": tasks})
	if err != nil {
		return err
	}
	const role, millis = "Implementor", 61_234
	err = s.write(
		event.StepStarted{Step: n, Task: task, Role: role, BoardSHA: sha, Index: n%longTasks + 1, Of: longTasks,
			Mark: "4000a654b71c032c"},
		event.AttemptStarted{AttemptRef: event.AttemptRef{Step: n, Call: event.TaskCall, Task: task, Role: role,
			Attempt: 1}, Adapter: "claude", Command: "claude -p", Digest: sha, Input: given},
		event.ReplyAccepted{AttemptRef: event.AttemptRef{Step: n, Call: event.TaskCall, Task: task, Role: role,
			Attempt: 1}, Status: "ok", Message: "all tests pass", End: event.End{Millis: millis}},
		event.AttemptStarted{AttemptRef: event.AttemptRef{Step: n, Call: event.ManagerCall, Task: task,
			Role: event.ManagerRole, Attempt: 1}, Adapter: "claude", Command: "claude -p",
			Digest: sha, Input: list, Before: &event.Baseline{BoardSHA: sha, Current: task}},
		event.ReplyAccepted{AttemptRef: event.AttemptRef{Step: n, Call: event.ManagerCall, Task: task,
			Role: event.ManagerRole, Attempt: 1}, Status: "ok", Message: "on with it",
			NextTask: &next, End: event.End{Millis: millis}},
		event.BoardWriteStarted{Step: n, Task: task, Before: sha, After: sha}, event.BoardWritten{Step: n, Task: task,
			BoardSHA: sha},
		event.StepFinished{Step: n, Task: task, Role: role, Status: "ok", Manager: "ok", Message: "on with it",
			NextTask: &next, BoardSHA: sha, Millis: 2 * millis},
	)
	if err != nil || n%64 != 0 {
		return err
	}
	if err := s.write(s.history.Snapshot(board)); err != nil {
		return err
	}
	return s.journal.Commit()
}

func (s *historyWriter) write(events ...event.Event) error {
	for _, e := range events {
		data, err := json.Marshal(e)
		if err != nil {
			return err
		}
		entry := event.Entry{Seq: s.history.Seq + 1, Epoch: s.epoch, Rev: s.history.Rev + 1, Actor: event.Actor(e),
			Event: e}
		if err := s.history.Extend(entry); err != nil {
			return err
		}
		draft := journal.Draft{Type: e.Kind(), TaskID: e.Subject(), Rev: entry.Rev, Actor: entry.Actor, Data: data}
		if _, err := s.journal.Append(draft); err != nil {
			return err
		}
	}
	return nil
}
