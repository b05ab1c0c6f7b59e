package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/flow"
)

// The severities of an alert: seed 002, "Supervisor Report Format".
const (
	Info     = "INFO"
	Warning  = "WARN"
	Critical = "CRITICAL"
)

// The enums of the report, as the seed lists them.
var (
	Severities = []string{Info, Warning, Critical}
	EventTypes = []string{"IDLE_BREACH", "REVIEW_SLA_BREACH", "LOOP_SUSPECTED", "DUPLICATE_TASK_KEY", "OVERLAP_SCOPE", "STUCK", "TOOL_UNAVAILABLE", "HANDOFF_DUPLICATE", "HANDOFF_MISSING",
		"SPLIT_BRAIN_DETECTED", "STATE_DIVERGENCE", "RECONCILE_CONFLICT", "SNAPSHOT_NOT_FOUND", "SNAPSHOT_CONFLICT", "RECONCILE_LOCK_ENTER", "RECONCILE_LOCK_EXIT", "TEARDOWN_BLOCKED",
		"FORCED_FINALIZE_CANDIDATE", "DECISIONS_SCOPE_VIOLATION", "DECISIONS_MARKER_MISSING"}
	ActionTypes = []string{"PING", "NUDGE", "ESCALATE", "REASSIGN_PROPOSAL", "TEARDOWN_RETRY", "RECONCILE_LOCK_ENTER", "RECONCILE_LOCK_EXIT", "FORCED_FINALIZE"}
)

// Alert is an event that the Lead of a board is told of.
type Alert struct {
	Severity string
	Event    string // one of EventTypes
	Task     string
	Owner    string // role, or board
	Elapsed  time.Duration
}

// String is the line of the report.
func (a Alert) String() string {
	return fmt.Sprintf("- %s %s task #%s owner=%s elapsed=%s", a.Severity, a.Event, a.Task, a.Owner, a.Elapsed.Round(time.Second))
}

// SupervisorReport is what the Lead of boards is told of their last runs. Add takes the entries of
// one board after the other.
type SupervisorReport struct {
	end    time.Time
	boards []supervised
}

// supervised is what the report says of a board's last run.
type supervised struct {
	board   string
	start   time.Time
	began   time.Time // of the open step
	owner   string    // its role
	roles   []string  // that were at work
	alerts  []Alert
	actions []string
	request string // a decision that waits
}

// Begin starts the next board.
func (r *SupervisorReport) Begin(board string) { r.boards = append(r.boards, supervised{board: board}) }

// Add takes the next entry of the board.
func (r *SupervisorReport) Add(e event.Entry) {
	b := &r.boards[len(r.boards)-1]
	switch ev := e.Event.(type) {
	case event.HandoffOffered: // the first record of a run
		*b = supervised{board: b.board, start: e.Time}
	case event.StepStarted:
		b.began, b.owner = e.Time, ev.Role
	case event.AttemptStarted:
		b.work(ev.AttemptRef)
	}
	if r.end.Before(e.Time) {
		r.end = e.Time
	}
	b.note(e)
}

func (b *supervised) work(r event.AttemptRef) {
	role := r.Role
	if r.Call == event.ManagerCall {
		role = event.ManagerRole
	}
	if !slices.Contains(b.roles, role) {
		b.roles = append(b.roles, role)
	}
}

// Wait notes a decision of the board that waits for its Lead.
func (r *SupervisorReport) Wait(request string) { r.boards[len(r.boards)-1].request = request }

// Request is the decision that waits for the Lead of a board; "": none does. A run that ends says
// so in its journal, and then lets go of its board.
func Request(h flow.History, board string, owned bool) string {
	s, ack := h.State, "kanban-run ack "+failure.Quote(board)
	atWork := owned && s.Running
	switch {
	case h.Freeze() != nil && h.Freeze().Git != nil:
		return ack + " accept: " + h.Freeze().Text
	case h.Freeze() != nil && h.Freeze().Asks:
		return ack + " accept or retry: " + h.Freeze().Text
	case h.Standstill() != "":
		return ack + ": " + h.Standstill()
	case s.Step != nil && s.Step.Consent != nil && atWork:
		return ack + " restart or continue: " + s.Step.Consent.Text
	case len(s.Quarantine) > 0 && atWork:
		return ack + " release: " + s.Quarantine[0].Text
	case len(s.Teardown.Unanswered()) > 0 && !s.Running:
		return ack + " forced-finalize: " + strings.Join(s.Teardown.Missing, ", ") + " never answered the request to shut down"
	case s.Outcome == event.Complete && len(s.NotOK) > 0 && !s.Last.Acknowledged, s.Outcome == event.NeedsPerson && !s.Last.Acknowledged: // a run that begins takes its outcome back
		return "kanban-run inbox " + failure.Quote(board) + ": " + s.Text
	default:
		return ""
	}
}

// note adds the alert and the action that an event is.
func (b *supervised) note(e event.Entry) {
	severity, name, owner, actions := classify(e.Event)
	b.actions = append(b.actions, actions...)
	if name == "" {
		return
	}
	elapsed := time.Duration(0)
	if !b.began.IsZero() {
		elapsed = e.Time.Sub(b.began)
	}
	b.alerts = append(b.alerts, Alert{severity, name, e.Event.Subject(), cmp.Or(owner, b.owner, b.board), elapsed})
}

// classify is what an event is in the terms of the seed: its severity and type, "" for none, whose
// it is, and the actions that were taken.
func classify(happened event.Event) (severity, name, owner string, actions []string) {
	switch e := happened.(type) {
	case event.IdleBreach:
		return e.Severity, e.Kind(), e.Role, []string{e.Action}
	case event.ReviewBreach:
		return e.Severity, e.Kind(), e.Role, []string{e.Action}
	case event.MessageSent:
		if e.Type == event.HealthCheck {
			return "", "", "", []string{map[bool]string{false: "PING", true: "NUDGE"}[e.Urgent]}
		}
	case event.ConsentAsked:
		return "", "", "", []string{"ESCALATE"}
	case event.RebootTested:
		if e.Decision == event.Stuck {
			return Critical, "STUCK", e.Role, []string{"ESCALATE"}
		}
	case event.LoopSuspected:
		return Critical, e.Kind(), e.Role, []string{"ESCALATE"}
	case event.ReassignProposed:
		return "", "", "", []string{e.Kind()}
	case event.ToolUnavailable:
		if e.Agents >= event.SystemicAgents {
			return Critical, e.Kind(), e.Role, []string{"ESCALATE"}
		}
		return Warning, e.Kind(), e.Role, nil
	case event.DuplicateTask:
		return Warning, e.Kind(), e.Owner, nil
	case event.ScopeOverlaps:
		return Info, e.Kind(), e.Owner, nil
	case event.HandoffDuplicate:
		return Info, e.Kind(), "", nil
	case event.LockEntered, event.LockExited:
		return Info, e.Kind(), "", []string{e.Kind()}
	case event.TeardownMoved:
		if e.To == event.Retrying {
			return "", "", "", []string{"TEARDOWN_RETRY"}
		}
	case event.TeardownBlocked, event.ForcedFinalizeCandidate:
		return Critical, e.Kind(), "", []string{"ESCALATE"}
	case event.ForcedFinalizeAcked:
		return "", "", "", []string{"FORCED_FINALIZE"}
	case event.DecisionsViolated:
		return Critical, e.Kind(), "", []string{"ESCALATE"}
	case event.HandoffMissing, event.StateDiverged, event.MarkerMissing:
		return Warning, e.Kind(), "", nil
	case event.SplitBrain, event.ReconcileConflict, event.SnapshotNotFound, event.SnapshotConflict:
		return Critical, e.Kind(), "", []string{"ESCALATE"}
	}
	return "", "", "", nil
}

// String is the report in the form of the seed, byte for byte.
func (r *SupervisorReport) String() string {
	var alerts, actions, requests []string
	var start time.Time
	healthy := 0
	for _, b := range r.boards {
		if healthy += b.healthy(); start.IsZero() || b.start.Before(start) {
			start = b.start
		}
		for _, a := range b.alerts {
			alerts = append(alerts, a.String())
		}
		for _, a := range b.actions {
			if line := "- " + a; !slices.Contains(actions, line) {
				actions = append(actions, line)
			}
		}
		if b.request != "" {
			requests = append(requests, "- yes -> "+event.OneLine(b.request))
		}
	}
	lines := []string{"SUPERVISOR_REPORT", fmt.Sprintf("Window: %s -> %s", instant(start), instant(r.end)), fmt.Sprintf("Healthy: %d", healthy), "", "Enums:",
		enum("severity", Severities), enum("event_type", EventTypes), enum("action_type", ActionTypes), "", "Alerts:"}
	lines = append(append(lines, orNone(alerts, "- none")...), "Actions taken:")
	lines = append(append(lines, orNone(actions, "- none")...), "Needs decision:")
	lines = append(lines, orNone(requests, "- no")...)
	return strings.Join(lines, "\n") + "\n"
}

// healthy counts the roles of the last run of which there is no alert.
func (b supervised) healthy() (n int) {
	for _, role := range b.roles {
		if !slices.ContainsFunc(b.alerts, func(a Alert) bool { return a.Owner == role && a.Severity != Info }) {
			n++
		}
	}
	return n
}

func enum(name string, values []string) string {
	return "- " + name + " ∈ {" + strings.Join(values, ", ") + "}"
}

func orNone(lines []string, none string) []string {
	if len(lines) == 0 {
		return []string{none}
	}
	return lines
}

func instant(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.UTC().Format(time.RFC3339)
}
