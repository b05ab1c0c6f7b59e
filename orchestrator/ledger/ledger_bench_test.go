package ledger

import (
	"path/filepath"
	"testing"
	"time"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/redact"
	"kanban-run/orchestrator/rundir"
)

// BenchmarkAppend is what it costs to journal the six events of a step, without the syncs.
func BenchmarkAppend(b *testing.B) {
	l := New("kanban.yaml", rundir.Of(filepath.Join(b.TempDir(), "kanban.yaml")), Silent{}, redact.New(nil), time.Now)
	if err := l.dir.Ensure(); err != nil {
		b.Fatal(err)
	}
	if err := l.Open(func(event.Entry) {}); err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	if err := l.takeOver(); err != nil {
		b.Fatal(err)
	}
	const sha = "97cf2c8986a51c9c2a3bb322cf30dc1b240b3f3186c05ced68162061ed489204"
	note := func(e event.Event) {
		if err := l.Append(e); err != nil {
			b.Fatal(err)
		}
	}
	note(event.RunStarted{Board: "kanban.yaml", Limits: event.Limits{MaxRetries: 3}})
	task, next := "tasks/000001-implement-thing.md", "tasks/000002-implement-thing.md"
	b.ReportAllocs()
	for b.Loop() {
		n := l.history.State.LastStep + 1
		note(event.StepStarted{Step: n, Task: task, Role: "Implementor", BoardSHA: sha, Index: n, Of: 1000, Mark: "400021653267dd61"})
		note(event.AttemptStarted{AttemptRef: event.AttemptRef{Step: n, Call: event.TaskCall, Task: task, Role: "Implementor", Attempt: 1}, Adapter: "exec", Command: "agent --task", Digest: sha,
			Input: []byte(`{"task_file":"` + task + `","kanban_file":"kanban.yaml"}`)})
		note(event.ReplyAccepted{AttemptRef: event.AttemptRef{Step: n, Call: event.TaskCall, Task: task, Role: "Implementor", Attempt: 1}, Status: "ok", Message: "done", End: event.End{Millis: 3}})
		note(event.AttemptStarted{AttemptRef: event.AttemptRef{Step: n, Call: event.ManagerCall, Task: task, Role: "Manager", Attempt: 1}, Adapter: "exec", Command: "manager full w", Digest: sha,
			Input: []byte(`{"kanban_file":"kanban.yaml","done_task":"` + task + `"}`), Stored: sha, Before: &event.Baseline{BoardSHA: sha, Current: task}})
		note(event.ReplyAccepted{AttemptRef: event.AttemptRef{Step: n, Call: event.ManagerCall, Task: task, Role: "Manager", Attempt: 1}, Status: "ok", Message: "done", NextTask: &next, TasksSHA: sha, End: event.End{Millis: 3}})
		note(event.StepFinished{Step: n, Task: task, Role: "Implementor", Status: "ok", Manager: "ok", Message: "done", NextTask: &next, BoardSHA: sha, Millis: 6})
		l.pending = l.pending[:0]
	}
}
