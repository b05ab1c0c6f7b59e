package projection

import (
	"cmp"
	"slices"
	"time"

	"kanban-run/orchestrator/event"
)

// Alert is an event of the last run of which a SUPERVISOR_REPORT tells (seed 002, "Supervisor Report
// Format").
type Alert struct {
	Time     time.Time `json:"time"`
	Severity string    `json:"severity"`       // INFO, WARN or CRITICAL
	Type     string    `json:"type"`           // one of event.AlertTypes
	Task     string    `json:"task"`           // its subject: a task, a checkpoint or the board
	Owner    string    `json:"owner"`          // the agent's role, or the board if there is no role
	Text     string    `json:"text,omitempty"` // the event in words
	Millis   int64     `json:"elapsed_millis"` // time since the step began, in ms
}

// Proposal is a change that the Lead may make; no run waits for an answer.
type Proposal struct {
	Task     string         `json:"task"`
	Role     string         `json:"role,omitempty"`
	Strategy event.Strategy `json:"strategy,omitempty"`
	Evidence string         `json:"evidence,omitempty"` // what speaks for the change
	Text     string         `json:"text"`
}

// Notice is something that happened and that a person should see.
type Notice struct {
	Time   time.Time `json:"time"`
	Step   int       `json:"step,omitempty"`
	Weight string    `json:"weight"` // note, good, warning or critical
	Text   string    `json:"text"`

	Line event.Sentence `json:"-"`
}

// addAlert adds what a SUPERVISOR_REPORT tells of an entry.
func (f *Fold) addAlert(e event.Entry, said event.Sentence) {
	is := said.Alert
	for _, action := range is.Actions {
		if !slices.Contains(f.Actions, action) {
			f.Actions = append(f.Actions, action)
		}
	}
	if is.Proposal != "" {
		f.propose(Proposal{Task: e.Event.Subject(), Text: is.Proposal})
	}
	if is.Type == "" {
		return
	}
	a := Alert{Time: e.Time, Severity: is.Severity, Type: is.Type, Task: e.Event.Subject(), Owner: cmp.Or(is.Owner, f.owner),
		Text: said.Text}
	if is.LastCall {
		a.Task, a.Owner = cmp.Or(f.last.Task, a.Task), cmp.Or(f.last.Role, a.Owner)
	}
	if is.Once && slices.ContainsFunc(f.Alerts, func(old Alert) bool {
		return old.Type == a.Type && old.Task == a.Task && old.Owner == a.Owner && (old.Severity == a.Severity || old.Severity == event.AlertCritical)
	}) {
		return
	}
	if !f.step.IsZero() {
		a.Millis = e.Time.Sub(f.step).Milliseconds()
	}
	f.Alerts = last(append(f.Alerts, a), mostAlerts)
}

// propose notes a proposal to the Lead, the last one of its kind for each task.
func (f *Fold) propose(p Proposal) {
	f.Proposals = slices.DeleteFunc(f.Proposals, func(old Proposal) bool { return old.Task == p.Task && old.Role == p.Role })
	f.Proposals = last(append(f.Proposals, p), mostAlerts)
}

// healthy returns the number of roles of the last run that have no alert above severity INFO.
func (f *Fold) healthy() (n int) {
	for _, role := range f.roles {
		isBad := func(a Alert) bool { return a.Owner == role && a.Severity != event.AlertInfo }
		if !slices.ContainsFunc(f.Alerts, isBad) {
			n++
		}
	}
	return n
}

// weights are the words for the weights of notices.
var weights = map[event.Weight]string{event.Note: "note", event.Success: "good", event.Warning: "warning", event.Critical: "critical"}

// addNotices keeps the lines of an entry that a person should see.
func (f *Fold) addNotices(e event.Entry, said event.Sentence) {
	if f.Keep.Notices == 0 || said.Weight == event.Trace {
		return
	}
	for _, line := range said.Lines() {
		if line.Weight >= event.Success {
			f.Notices = append(f.Notices, Notice{Time: e.Time, Step: line.Step, Weight: weights[line.Weight], Text: cut(line.Text), Line: line})
		}
	}
	f.Notices = last(f.Notices, f.Keep.Notices)
}
