package call

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kanban-run/orchestrator/attempt"
	"kanban-run/orchestrator/briefing"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/event"
)

// TestCheckpoint: seed 001: a verdict counts with its report on disk; a late line of a program is no
// answer, and an error of the supervisor's own is no verdict.
func TestCheckpoint(t *testing.T) {
	says := func(kind, id, verdict string) attempt.Ended {
		return attempt.Ended{Session: "s", Reply: &contract.Reply{Status: contract.OK,
			Checkpoint: &contract.SupervisorReply{Type: kind, ID: id, Verdict: verdict, Score: 0.5, Report: "all seen", Message: "no disk: hunter2hunter2"}}}
	}
	for name, tt := range map[string]struct {
		end    attempt.Ended
		memory event.Memory
		kind   string
		then   event.OnBlock
	}{
		"pass":                    {says("checkpoint_reply", "CHECKPOINT-001", "pass"), event.InProcess, "CHECKPOINT_HELD", ""},
		"block":                   {says("checkpoint_reply", "CHECKPOINT-001", "block"), event.InProcess, "CHECKPOINT_HELD", event.BlockOverride},
		"of another checkpoint":   {says("checkpoint_reply", "CHECKPOINT-000", "pass"), event.InReports, "REPLY_REJECTED", ""},
		"a model that names none": {says("checkpoint_reply", "", "pass"), event.InReports, "CHECKPOINT_HELD", ""},
		"a program that does so":  {says("checkpoint_reply", "", "pass"), event.InProcess, "REPLY_REJECTED", ""},
		"an error of its own":     {says("error", "", ""), event.InProcess, "SUPERVISOR_FAILED", event.BlockOverride},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.open(event.CheckpointCall)
			r.journal.state.Supervisor.Memory, r.journal.state.Supervisor.Plan.OnBlock = tt.memory, event.BlockOverride
			a := r.start(t)
			e := r.end(t, a, tt.end)
			if e.Kind() != tt.kind {
				t.Fatalf("journaled %s, want %s", e.Kind(), tt.kind)
			}
			report := filepath.Join(r.Folder.Path, briefing.ReportName("CHECKPOINT-001"))
			if _, err := os.Stat(report); (err == nil) != (tt.kind == "CHECKPOINT_HELD") {
				t.Errorf("the report: %v", err)
			}
			switch e := e.(type) {
			case event.CheckpointHeld:
				if e.Then != tt.then || e.AttemptRef != a.Ref() || e.Left != r.board.SHA || e.Session != "s" {
					t.Errorf("held %+v", e)
				}
			case event.SupervisorFailed:
				if e.Then != tt.then || e.Errors != 1 || strings.Contains(e.Reason, "hunter2") {
					t.Errorf("failed %+v", e)
				}
			}
		})
	}
	r := newRig(t)
	r.open(event.CheckpointCall)
	a := r.start(t)
	r.Supervisor.Briefing().Dir.Path = filepath.Join(r.dir, "k.yaml", "no folder")
	e := says("checkpoint_reply", "CHECKPOINT-001", "pass")
	if err := r.settle(a, &e, nil); err == nil || r.journal.events[0].Kind() != "ATTEMPT_STOPPED" {
		t.Errorf("a verdict without a report: %v, journaled %+v", err, r.journal.events)
	}
}
