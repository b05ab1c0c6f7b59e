package report

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kanban-run/orchestrator/event"
)

// The lines of seed 002, "Supervisor Report Format", that are no placeholders.
const seedEnums = `Enums:
- severity ∈ {INFO, WARN, CRITICAL}
- event_type ∈ {IDLE_BREACH, REVIEW_SLA_BREACH, LOOP_SUSPECTED, DUPLICATE_TASK_KEY, OVERLAP_SCOPE, STUCK, TOOL_UNAVAILABLE, HANDOFF_DUPLICATE, HANDOFF_MISSING, SPLIT_BRAIN_DETECTED, STATE_DIVERGENCE, RECONCILE_CONFLICT, SNAPSHOT_NOT_FOUND, SNAPSHOT_CONFLICT, RECONCILE_LOCK_ENTER, RECONCILE_LOCK_EXIT, TEARDOWN_BLOCKED, FORCED_FINALIZE_CANDIDATE, DECISIONS_SCOPE_VIOLATION, DECISIONS_MARKER_MISSING}
- action_type ∈ {PING, NUDGE, ESCALATE, REASSIGN_PROPOSAL, TEARDOWN_RETRY, RECONCILE_LOCK_ENTER, RECONCILE_LOCK_EXIT, FORCED_FINALIZE}
`

// TestSupervisorReport: the report has the seed's form to the byte.
func TestSupervisorReport(t *testing.T) {
	var r SupervisorReport
	quiet := "SUPERVISOR_REPORT\nWindow: never -> never\nHealthy: 0\n\n" + seedEnums + "\nAlerts:\n- none\nActions taken:\n- none\nNeeds decision:\n- no\n"
	if diff := cmp.Diff(quiet, r.String()); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	add := func(after time.Duration, e event.Event) { r.Add(event.Entry{Time: at.Add(after), Event: e}) }
	work := event.AttemptRef{Step: 1, Call: event.TaskCall, Task: "tasks/1.md", Role: "Implementor"}
	manager := event.AttemptRef{Step: 1, Call: event.ManagerCall, Task: "tasks/1.md", Role: "Implementor"}
	r.Begin("one.yaml")
	add(-time.Hour, event.HandoffOffered{})
	add(-time.Hour, event.LoopSuspected{Task: "of an earlier run"})
	add(0, event.HandoffOffered{})
	add(0, event.StateDiverged{Task: "one.yaml"})
	add(0, event.RunStarted{})
	add(time.Second, event.StepStarted{Task: "tasks/1.md", Role: "Implementor"})
	add(time.Second, event.AttemptStarted{AttemptRef: work})
	add(16*time.Minute, event.IdleBreach{AttemptRef: work, Overdue: event.Overdue{Severity: "INFO", Action: "PING"}})
	add(46*time.Minute, event.IdleBreach{AttemptRef: work,
		Overdue: event.Overdue{Severity: "CRITICAL", Action: "ESCALATE"}})
	add(47*time.Minute, event.AttemptStarted{AttemptRef: manager})
	r.Begin("two.yaml")
	add(time.Minute, event.HandoffOffered{})
	add(time.Minute, event.StepStarted{Task: "tasks/2.md", Role: "Architect"})
	add(time.Minute, event.AttemptStarted{AttemptRef: event.AttemptRef{Call: event.TaskCall, Role: "Architect"}})
	add(2*time.Minute, event.MessageSent{Type: event.HealthCheck, Urgent: true})
	r.Wait("look\nat it")
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
- yes -> look at it
`
	if diff := cmp.Diff(want, r.String()); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
