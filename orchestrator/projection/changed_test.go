package projection

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
)

// TestChanged: a board tells what was changed while agents worked and waits for nobody, each file with its last
// moment. A value that is back is none, what waits is told elsewhere, and what a review reads is a remark.
func TestChanged(t *testing.T) {
	prompt := func(was, sha string) event.ChangedFile {
		return event.ChangedFile{By: event.RoleFile, File: ".kanban-run/roles/Manager.md", Field: "prompt", Roles: []string{"Manager"}, Was: was, SHA: sha}
	}
	field := func(name, was, sha string) event.ChangedFile {
		return event.ChangedFile{By: event.SettingsFile, File: ".kanban-run.yaml", Field: name, Was: was, SHA: sha}
	}
	asks := field("env.pass", "", "1")
	asks.Asks = true
	changed := func(task string, files ...event.ChangedFile) event.Event {
		return event.FilesChanged{Task: task, Files: files}
	}
	review := event.ChangedFile{By: event.ReviewFile, File: "check.sh", SHA: "1"}
	f := folded(
		changed("a.md", prompt("0", "1"), field("timeout", "", "1"), field("model", "", "1"), asks, review),
		changed("b.md", prompt("1", "2"), field("model", "1", "")),
		event.FilesChanged{Task: "c.md", While: "while ./tell.sh ran", Files: []event.ChangedFile{field("limits", "0", "1")}})
	want := []string{"timeout in .kanban-run.yaml changed while a.md was worked on", "the prompt of Manager changed while b.md was worked on",
		"limits in .kanban-run.yaml changed while ./tell.sh ran"}
	if diff := cmp.Diff(want, f.Board("k.yaml", &flow.History{}, Facts{}).Changed); diff != "" {
		t.Errorf("what was changed (-want +got):\n%s", diff)
	}
}
