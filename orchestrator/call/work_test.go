package call

import (
	"strings"
	"testing"

	"kanban-run/orchestrator/attempt"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/event"
)

// TestWork: seed 004, "Constraints": a reply counts whatever it says. One that is to be reviewed needs
// a session.
func TestWork(t *testing.T) {
	r := newRig(t)
	a := r.start(t)
	ended := replied("blocked by hunter2hunter2")
	ended.Reply.Status = contract.Blocked
	got := r.end(t, a, ended).(event.ReplyAccepted)
	if got.Status != "blocked" || strings.Contains(got.Message, "hunter2") || got.Left != r.board.SHA || got.Unchecked || r.journal.committed != 0 {
		t.Errorf("accepted %+v, %d on disk", got, r.journal.committed)
	}

	r = newRig(t)
	r.players.reviewed = true
	r.write(t, "a.md", "---\nrole: Nobody\n---\n")
	a = r.start(t)
	r.journal.state.Step.Plan.Agent = true
	if got := r.end(t, a, attempt.Ended{Reply: ended.Reply}).(event.ReplyRejected); !strings.Contains(got.Reason, "named no session") {
		t.Errorf("work without a session is rejected for %q", got.Reason)
	}
	a = r.start(t)
	if got := r.end(t, a, ended).(event.ReplyAccepted); !got.Unchecked {
		t.Error("work that is not ok is reviewed")
	}
	if len(r.notices.told) != 1 || !strings.Contains(r.notices.told[0], "Implementor has left its own task like this") {
		t.Errorf("told %q, want what is wrong with the task's header", r.notices.told)
	}
}
