package report

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/projection"
)

// The lines of seed 002, "Supervisor Report Format", that are no placeholders.
const seedEnums = `Enums:
- severity ∈ {INFO, WARN, CRITICAL}
- event_type ∈ {IDLE_BREACH, REVIEW_SLA_BREACH, LOOP_SUSPECTED, DUPLICATE_TASK_KEY, OVERLAP_SCOPE, STUCK, TOOL_UNAVAILABLE, HANDOFF_DUPLICATE, HANDOFF_MISSING, SPLIT_BRAIN_DETECTED, STATE_DIVERGENCE, RECONCILE_CONFLICT, SNAPSHOT_NOT_FOUND, SNAPSHOT_CONFLICT, RECONCILE_LOCK_ENTER, RECONCILE_LOCK_EXIT, TEARDOWN_BLOCKED, FORCED_FINALIZE_CANDIDATE, DECISIONS_SCOPE_VIOLATION, DECISIONS_MARKER_MISSING}
- action_type ∈ {PING, NUDGE, ESCALATE, REASSIGN_PROPOSAL, TEARDOWN_RETRY, RECONCILE_LOCK_ENTER, RECONCILE_LOCK_EXIT, FORCED_FINALIZE}
`

// TestSupervisorReport: the report has the seed's form to the byte.
func TestSupervisorReport(t *testing.T) {
	quiet := "SUPERVISOR_REPORT\nWindow: never -> never\nHealthy: 0\n\n" + seedEnums + "\nAlerts:\n- none\nActions taken:\n- none\nNeeds decision:\n- no\n"
	if diff := cmp.Diff(quiet, SupervisorReport(nil)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	var one, two projection.Fold
	add := func(f *projection.Fold, after time.Duration, e event.Event) {
		f.Add(event.Entry{Time: at.Add(after), Event: e})
	}
	work := event.AttemptRef{Step: 1, Call: event.TaskCall, Task: "tasks/1.md", Role: "Implementor"}
	manager := event.AttemptRef{Step: 1, Call: event.ManagerCall, Task: "tasks/1.md", Role: "Implementor"}
	add(&one, -time.Hour, event.HandoffOffered{})
	add(&one, -time.Hour, event.LoopSuspected{Task: "of an earlier run"})
	add(&one, 0, event.HandoffOffered{})
	add(&one, 0, event.StateDiverged{Task: "one.yaml"})
	add(&one, 0, event.RunStarted{})
	add(&one, time.Second, event.StepStarted{Task: "tasks/1.md", Role: "Implementor"})
	add(&one, time.Second, event.AttemptStarted{AttemptRef: work})
	add(&one, 16*time.Minute, event.IdleBreach{AttemptRef: work, Overdue: event.Overdue{Severity: "INFO", Action: "PING"}})
	add(&one, 46*time.Minute, event.IdleBreach{AttemptRef: work,
		Overdue: event.Overdue{Severity: "CRITICAL", Action: "ESCALATE"}})
	add(&one, 47*time.Minute, event.AttemptStarted{AttemptRef: manager})
	add(&two, time.Minute, event.HandoffOffered{})
	add(&two, time.Minute, event.StepStarted{Task: "tasks/2.md", Role: "Architect"})
	add(&two, time.Minute, event.AttemptStarted{AttemptRef: event.AttemptRef{Call: event.TaskCall, Role: "Architect"}})
	add(&two, 2*time.Minute, event.MessageSent{Type: event.HealthCheck, Urgent: true})
	stuck := flow.State{Workdir: "/w", Outcome: event.NeedsPerson, Text: "look\nat it", Spent: true, Step: &flow.Step{Task: "tasks/2.md", Call: event.TaskCall}}
	boards := []*projection.Board{show(&one, "one.yaml", flow.State{Outcome: event.LimitReached}), show(&two, "two.yaml", stuck)}
	want := `SUPERVISOR_REPORT
Window: 2026-01-02T03:04:05Z -> 2026-01-02T03:51:05Z
Healthy: 2

` + seedEnums + `
Alerts:
- WARN STATE_DIVERGENCE task #one.yaml owner=one.yaml elapsed=0s
- INFO IDLE_BREACH task #one.yaml:tasks/1.md owner=Implementor elapsed=15m59s
- CRITICAL IDLE_BREACH task #one.yaml:tasks/1.md owner=Implementor elapsed=45m59s
Actions taken:
- PING
- ESCALATE
- NUDGE
Needs decision:
- yes -> kanban-run ack two.yaml retry, accept or skip: look at it
`
	if diff := cmp.Diff(want, SupervisorReport(boards)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// TestSupervisorReportProposes: what the Lead may decide stands before what the board waits for. A
// proposal of a board that needs no person is not for the Lead (seed 002, "Needs decision").
func TestSupervisorReportProposes(t *testing.T) {
	for _, tt := range []struct {
		outcome event.Outcome
		want    string
	}{
		{event.NeedsPerson, "Needs decision:\n- yes -> give a.md to another agent than R (split task): reassign: {R: [ADAPTER or ROLE]} in .kanban-run.yaml does\n" +
			"- yes -> kanban-run ack k.yaml retry, accept or skip: stuck\n"},
		{event.LimitReached, "Needs decision:\n- no\n"},
	} {
		var f projection.Fold
		for _, e := range []event.Event{event.HandoffOffered{}, event.RunStarted{}, event.ReassignProposed{Task: "a.md", Role: "R", Strategy: event.SplitTask, Evidence: "4 attempts"}} {
			f.Add(event.Entry{Event: e})
		}
		b := show(&f, "k.yaml", flow.State{Outcome: tt.outcome, Text: "stuck", Spent: true, Step: &flow.Step{Task: "a.md", Call: event.TaskCall}})
		text := SupervisorReport([]*projection.Board{b})
		if got := text[len(text)-len(tt.want):]; got != tt.want {
			t.Errorf("%s: %s, want %s", tt.outcome, text, tt.want)
		}
	}
}
