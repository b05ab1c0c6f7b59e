package event

// Alert is the part of an event that a SUPERVISOR_REPORT shows: seed 002, "Supervisor Report
// Format". An event with the zero Alert is not reported.
type Alert struct {
	Severity string   // INFO, WARN or CRITICAL
	Type     string   // one of AlertTypes; "" if the event adds only Actions
	Owner    string   // a role or a board; "" for the role of the open step
	Actions  []string // the actions that were taken, from AlertActions
	Proposal string   // decision that the Lead may make; "" for none

	// LastCall is true for a failure of the call that was made last: the alert is about its task, and the role that played it.
	LastCall bool
	// Once is true for an alert that says nothing new where one of its type about the same task and owner, and no lighter, stands.
	Once bool
}

// The severities of an alert.
const (
	AlertInfo     = "INFO"
	AlertWarning  = "WARN"
	AlertCritical = "CRITICAL"
)

// escalate is the action "tell the Lead".
const escalate = "ESCALATE"

// AlertSeverities returns the severities of the report, in the order of seed 002.
func AlertSeverities() []string { return []string{AlertInfo, AlertWarning, AlertCritical} }

// AlertTypes returns the types of alerts, in the order of seed 002.
func AlertTypes() []string {
	return []string{
		"IDLE_BREACH", "REVIEW_SLA_BREACH", "LOOP_SUSPECTED", "DUPLICATE_TASK_KEY", "OVERLAP_SCOPE",
		"STUCK", "TOOL_UNAVAILABLE",
		"HANDOFF_DUPLICATE", "HANDOFF_MISSING", "SPLIT_BRAIN_DETECTED", "STATE_DIVERGENCE",
		"RECONCILE_CONFLICT", "SNAPSHOT_NOT_FOUND", "SNAPSHOT_CONFLICT",
		"RECONCILE_LOCK_ENTER", "RECONCILE_LOCK_EXIT",
		"TEARDOWN_BLOCKED", "FORCED_FINALIZE_CANDIDATE",
		"DECISIONS_SCOPE_VIOLATION", "DECISIONS_MARKER_MISSING",
	}
}

// AlertActions returns the actions of the report, in the order of seed 002.
func AlertActions() []string {
	return []string{
		"PING", "NUDGE", escalate, "REASSIGN_PROPOSAL", "TEARDOWN_RETRY",
		"RECONCILE_LOCK_ENTER", "RECONCILE_LOCK_EXIT", "FORCED_FINALIZE",
	}
}

// alert returns the sentence with an Alert. The parameter "kind" is one of AlertTypes.
func (s Sentence) alert(severity, kind, owner string, actions ...string) Sentence {
	s.Alert = Alert{Severity: severity, Type: kind, Owner: owner, Actions: actions}
	return s
}

// alertOfEnd returns the sentence with the Alert of an end for which a person acts. An end that was told before, such as that of
// a loop or of an agent that nothing helped, has none.
func (s Sentence) alertOfEnd(e RunFinished) Sentence {
	switch {
	case e.Outcome == Frozen:
		s = s.alert(AlertCritical, "STATE_DIVERGENCE", e.Board, escalate)
	case e.Outcome == Incomplete, e.By == BySetAside, e.Outcome == NeedsPerson && e.By == ByCheckpoint:
		s = s.alert(AlertCritical, "STUCK", e.Board, escalate)
	case e.Outcome == Exhausted, e.Outcome == NeedsPerson && e.By == ByReview:
		s = s.alert(AlertCritical, "STUCK", "", escalate)
		s.Alert.LastCall = true
	}
	s.Alert.Once = true
	return s
}

// did returns the sentence with the given action as the only action of its Alert.
func (s Sentence) did(action string) Sentence {
	s.Alert.Actions = []string{action}
	return s
}
