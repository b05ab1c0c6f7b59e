package call

import (
	"os"
	"testing"

	"kanban-run/orchestrator/attempt"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/event"
)

// could not remember.
func TestReady(t *testing.T) {
	says := func(kind, session string) attempt.Ended {
		return attempt.Ended{Session: session, Reply: &contract.Reply{Status: contract.OK, Checkpoint: &contract.CheckpointReply{Type: kind, Message: "no disk"}}}
	}
	for name, tt := range map[string]struct {
		end    attempt.Ended
		memory event.Memory
		reason string
	}{
		"ready":                     {says("ready", "s"), event.InSession, ""},
		"an error":                  {says("error", "s"), event.InSession, "it reports an error: no disk"},
		"no session":                {says("ready", ""), event.InSession, "it named no session, in which it could remember"},
		"none needed for a program": {says("ready", ""), event.InProcess, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.open(event.ReadyCall)
			r.journal.state.Supervisor.Memory = tt.memory
			a := r.start(t)
			switch got := r.end(t, a, tt.end).(type) {
			case event.ReplyAccepted:
				if tt.reason != "" || got.Message == "" {
					t.Errorf("accepted %+v", got)
				}
				if _, err := os.Stat(r.Folder.TeamSession()); err != nil {
					t.Error(err)
				}
			case event.ReplyRejected:
				if got.Reason != tt.reason {
					t.Errorf("rejected for %q, want %q", got.Reason, tt.reason)
				}
			}
		})
	}
}
