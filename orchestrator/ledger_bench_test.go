package orchestrator

import (
	"path/filepath"
	"testing"
	"time"

	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/redact"
)

// BenchmarkNote is what it costs to journal the six events of a step, without the syncs.
func BenchmarkNote(b *testing.B) {
	l := &ledger{board: "kanban.yaml", path: filepath.Join(b.TempDir(), "journal.jsonl"), redactor: redact.New(nil), observer: Silent{},
		onCommit: func(flow.Entry) error { return nil }}
	if err := l.open(time.Now, func(flow.Entry) {}); err != nil {
		b.Fatal(err)
	}
	defer l.close()
	if err := l.take(); err != nil {
		b.Fatal(err)
	}
	const sha = "97cf2c8986a51c9c2a3bb322cf30dc1b240b3f3186c05ced68162061ed489204"
	note := func(e flow.Event) {
		if err := l.note(e); err != nil {
			b.Fatal(err)
		}
	}
	note(flow.RunStarted{Board: "kanban.yaml", Limits: flow.Limits{MaxRetries: 3}})
	task, next := "tasks/000001-implement-thing.md", "tasks/000002-implement-thing.md"
	b.ReportAllocs()
	for b.Loop() {
		n := l.history.State.LastStep + 1
		note(flow.StepStarted{Step: n, Task: task, Role: "Implementor", BoardSHA: sha, Index: n, Of: 1000, Mark: "400021653267dd61"})
		note(flow.AttemptStarted{Step: n, Call: flow.TaskCall, Task: task, Role: "Implementor", Attempt: 1, Adapter: "exec", Command: "agent --task", Digest: sha,
			Input: []byte(`{"task_file":"` + task + `","kanban_file":"kanban.yaml"}`)})
		note(flow.ReplyAccepted{Step: n, Call: flow.TaskCall, Task: task, Role: "Implementor", Attempt: 1, Status: "ok", Message: "done", Millis: 3})
		note(flow.AttemptStarted{Step: n, Call: flow.ManagerCall, Task: task, Role: "Manager", Attempt: 1, Adapter: "exec", Command: "manager full w", Digest: sha,
			Input: []byte(`{"kanban_file":"kanban.yaml","done_task":"` + task + `"}`), SHA: sha, Before: &flow.Baseline{BoardSHA: sha, Current: task}})
		note(flow.ReplyAccepted{Step: n, Call: flow.ManagerCall, Task: task, Role: "Manager", Attempt: 1, Status: "ok", Message: "done", NextTask: &next, SameTasks: true, Millis: 3})
		note(flow.StepFinished{Step: n, Task: task, Role: "Implementor", Status: "ok", Manager: "ok", Message: "done", NextTask: &next, BoardSHA: sha, Millis: 6})
		l.pending = l.pending[:0]
	}
}
