package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"kanban-run/orchestrator/event"
)

// Alert is an event in a SupervisorReport.
type Alert struct {
	Severity string
	Event    string // one of event.AlertTypes
	Task     string
	Owner    string // the agent's role, or the board if there is no role
	Elapsed  time.Duration
}

// String returns the line of the report.
func (a Alert) String() string {
	return fmt.Sprintf("- %s %s task #%s owner=%s elapsed=%s",
		a.Severity, a.Event, a.Task, a.Owner, a.Elapsed.Round(time.Second))
}

// SupervisorReport is the report to the Lead about the last run of each board. It reads one board
// after another: Begin starts a board, and Add reads an entry of that board.
type SupervisorReport struct {
	end    time.Time
	boards []supervised
}

// supervised is the part of the report about a board's last run.
type supervised struct {
	board   string
	start   time.Time
	began   time.Time // start of the open step
	owner   string    // role of the open step
	roles   []string  // roles that were at work
	alerts  []Alert
	actions []string
	request string // decision for which the board waits, or ""

	proposals []string // proposals to the Lead; the board waits for no answer
}

// Begin starts the next board.
func (r *SupervisorReport) Begin(board string) { r.boards = append(r.boards, supervised{board: board}) }

// Add reads the next entry of the last begun board.
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

// Wait notes the decision that the last begun board waits for. The parameter request is "" if the
// board waits for no decision.
func (r *SupervisorReport) Wait(request string) { r.boards[len(r.boards)-1].request = request }

// note adds the alert and the actions of an event.
func (b *supervised) note(e event.Entry) {
	is := e.Event.Sentence().Alert
	b.actions = append(b.actions, is.Actions...)
	if is.Proposal != "" && !slices.Contains(b.proposals, is.Proposal) {
		b.proposals = append(b.proposals, is.Proposal)
	}
	if is.Type == "" {
		return
	}
	elapsed := time.Duration(0)
	if !b.began.IsZero() {
		elapsed = e.Time.Sub(b.began)
	}
	owner := cmp.Or(is.Owner, b.owner, b.board)
	b.alerts = append(b.alerts, Alert{is.Severity, is.Type, e.Event.Subject(), owner, elapsed})
}

// String returns the report in the form of seed 002, byte for byte.
func (r *SupervisorReport) String() string {
	var alerts, actions, requests []string
	var start time.Time
	healthy := 0
	for _, b := range r.boards {
		healthy += b.healthy()
		if start.IsZero() || !b.start.IsZero() && b.start.Before(start) {
			start = b.start
		}
		for _, a := range b.alerts {
			if len(r.boards) > 1 && a.Task != b.board { // several boards may list the same task
				a.Task = b.board + ":" + a.Task
			}
			alerts = append(alerts, a.String())
		}
		for _, a := range b.actions {
			if line := "- " + a; !slices.Contains(actions, line) {
				actions = append(actions, line)
			}
		}
		for _, request := range append(b.proposals, b.request) {
			if request != "" {
				requests = append(requests, "- yes -> "+event.OneLine(request))
			}
		}
	}
	lines := []string{
		"SUPERVISOR_REPORT",
		fmt.Sprintf("Window: %s -> %s", instant(start), instant(r.end)),
		fmt.Sprintf("Healthy: %d", healthy),
		"",
		"Enums:",
		enum("severity", event.AlertSeverities()),
		enum("event_type", event.AlertTypes()),
		enum("action_type", event.AlertActions()),
		"",
		"Alerts:",
	}
	lines = append(append(lines, orNone(alerts, "- none")...), "Actions taken:")
	lines = append(append(lines, orNone(actions, "- none")...), "Needs decision:")
	lines = append(lines, orNone(requests, "- no")...)
	return strings.Join(lines, "\n") + "\n"
}

// healthy returns the number of roles of the last run that have no alert above severity info.
func (b supervised) healthy() (n int) {
	for _, role := range b.roles {
		isBad := func(a Alert) bool { return a.Owner == role && a.Severity != event.AlertInfo }
		if !slices.ContainsFunc(b.alerts, isBad) {
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
