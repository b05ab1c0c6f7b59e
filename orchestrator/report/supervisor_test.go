package report

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
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
	add(46*time.Minute, event.IdleBreach{AttemptRef: work, Overdue: event.Overdue{Severity: "CRITICAL", Action: "ESCALATE"}})
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
- INFO IDLE_BREACH task #tasks/1.md owner=Implementor elapsed=15m59s
- CRITICAL IDLE_BREACH task #tasks/1.md owner=Implementor elapsed=45m59s
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

// TestClassify: each event type of the seed's list has its severity, and none that is
// not on the list is an alert.
func TestClassify(t *testing.T) {
	for _, tt := range []struct {
		event          event.Event
		severity, name string
		actions        []string
	}{
		{event.ReviewBreach{Overdue: event.Overdue{Severity: "WARN", Action: "REASSIGN_PROPOSAL"}}, "WARN", "REVIEW_SLA_BREACH", []string{"REASSIGN_PROPOSAL"}},
		{event.LoopSuspected{}, "CRITICAL", "LOOP_SUSPECTED", []string{"ESCALATE"}},
		{event.DuplicateTask{}, "WARN", "DUPLICATE_TASK_KEY", nil},
		{event.ScopeOverlaps{}, "INFO", "OVERLAP_SCOPE", nil},
		{event.RebootTested{Decision: event.Stuck}, "CRITICAL", "STUCK", []string{"ESCALATE"}},
		{event.RebootTested{Decision: event.Restart}, "", "", nil},
		{event.ToolUnavailable{Agents: 1}, "WARN", "TOOL_UNAVAILABLE", nil},
		{event.ToolUnavailable{Agents: 3}, "CRITICAL", "TOOL_UNAVAILABLE", []string{"ESCALATE"}},
		{event.HandoffDuplicate{}, "INFO", "HANDOFF_DUPLICATE", nil},
		{event.HandoffMissing{}, "WARN", "HANDOFF_MISSING", nil},
		{event.SplitBrain{}, "CRITICAL", "SPLIT_BRAIN_DETECTED", []string{"ESCALATE"}},
		{event.ReconcileConflict{}, "CRITICAL", "RECONCILE_CONFLICT", []string{"ESCALATE"}},
		{event.SnapshotNotFound{}, "CRITICAL", "SNAPSHOT_NOT_FOUND", []string{"ESCALATE"}},
		{event.SnapshotConflict{}, "CRITICAL", "SNAPSHOT_CONFLICT", []string{"ESCALATE"}},
		{event.LockEntered{}, "INFO", "RECONCILE_LOCK_ENTER", []string{"RECONCILE_LOCK_ENTER"}},
		{event.LockExited{}, "INFO", "RECONCILE_LOCK_EXIT", []string{"RECONCILE_LOCK_EXIT"}},
		{event.MessageSent{Type: event.HealthCheck}, "", "", []string{"PING"}},
		{event.MessageSent{Type: event.Tell}, "", "", nil},
		{event.ConsentAsked{}, "", "", []string{"ESCALATE"}},
		{event.ReassignProposed{}, "", "", []string{"REASSIGN_PROPOSAL"}},
		{event.MarkerMissing{}, "WARN", "DECISIONS_MARKER_MISSING", nil},
		{event.DecisionsViolated{}, "CRITICAL", "DECISIONS_SCOPE_VIOLATION", []string{"ESCALATE"}},
		{event.TeardownMoved{To: event.Retrying}, "", "", []string{"TEARDOWN_RETRY"}},
		{event.TeardownMoved{To: event.WaitingAcks}, "", "", nil},
		{event.TeardownBlocked{}, "CRITICAL", "TEARDOWN_BLOCKED", []string{"ESCALATE"}},
		{event.ForcedFinalizeCandidate{}, "CRITICAL", "FORCED_FINALIZE_CANDIDATE", []string{"ESCALATE"}},
		{event.ForcedFinalizeAcked{}, "", "", []string{"FORCED_FINALIZE"}},
		{event.StepFinished{}, "", "", nil},
	} {
		severity, name, _, actions := classify(tt.event)
		if severity != tt.severity || name != tt.name || !slices.Equal(actions, tt.actions) {
			t.Errorf("%T: %s %s %v, want %s %s %v", tt.event, severity, name, actions, tt.severity, tt.name, tt.actions)
		}
		if name != "" && (!slices.Contains(EventTypes, name) || !slices.Contains(Severities, severity)) {
			t.Errorf("%T: %s %s is not on the seed's list", tt.event, severity, name)
		}
		for _, a := range actions {
			if !slices.Contains(ActionTypes, a) {
				t.Errorf("%T: action %s is not on the seed's list", tt.event, a)
			}
		}
	}
}

// TestRequest: what a person has to decide, with the command that does it.
func TestRequest(t *testing.T) {
	quarantined := flow.State{Running: true, Quarantine: []flow.Quarantine{{Task: "t", Text: "loop"}}}
	ended := quarantined
	ended.Running, ended.Outcome, ended.Text = false, event.NeedsPerson, "rests"
	blocked := flow.State{Outcome: event.Complete, Teardown: &flow.Teardown{State: event.FailedSafe, Missing: []string{"role:Supervisor"}}}
	for name, tt := range map[string]struct {
		state flow.State
		owned bool
		want  string
	}{
		"nothing":           {flow.State{Outcome: event.Complete}, false, ""},
		"a person":          {flow.State{Outcome: event.NeedsPerson, Text: "why"}, false, "kanban-run inbox b.yaml: why"},
		"a person who knew": {flow.State{Outcome: event.NeedsPerson, Last: flow.Ending{Acknowledged: true}}, false, ""},
		"at work":           {quarantined, true, "kanban-run ack b.yaml release: loop"},
		"tasks not ok":      {flow.State{Outcome: event.Complete, Text: "but one", NotOK: []flow.TaskStatus{{Task: "t", Status: "escalate"}}}, false, "kanban-run inbox b.yaml: but one"},
		"a run that ends":   {ended, true, "kanban-run inbox b.yaml: rests"},
		"after it":          {ended, false, "kanban-run inbox b.yaml: rests"},
		"consent":           {flow.State{Running: true, Step: &flow.Step{Consent: &flow.Consent{Text: "hangs"}}}, true, "kanban-run ack b.yaml restart or continue: hangs"},
		"a killed run":      {quarantined, false, ""},
		"teardown":          {blocked, false, "kanban-run ack b.yaml forced-finalize: role:Supervisor never answered the request to shut down"},
		"teardown, at once": {blocked, true, "kanban-run ack b.yaml forced-finalize: role:Supervisor never answered the request to shut down"},
		"frozen":            {flow.State{Frozen: &flow.Freeze{Text: "cold"}}, false, "kanban-run ack b.yaml: "},
	} {
		if got := Request(flow.History{State: tt.state}, "b.yaml", tt.owned); got != tt.want && !(name == "frozen" && strings.HasPrefix(got, tt.want) && strings.Contains(got, "cold")) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
