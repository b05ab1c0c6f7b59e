package projection

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
)

// TestDecisions: the decisions of people are kept with their times, one of consent among them; what
// ended by itself is none. People have the same words for all subjects (DESIGN, "A
// decision is one decision").
func TestDecisions(t *testing.T) {
	type told struct {
		Word             event.Choice
		Task, Note, Text string
	}
	for _, tt := range []struct {
		event event.Event
		want  *told
	}{
		{event.Acknowledged{About: event.AboutStep, Choice: event.Accept, Task: "a.md", Note: "seen", Text: "it counts as done"}, &told{event.Accept, "a.md", "seen", "it counts as done"}},
		{event.Acknowledged{About: event.AboutCheckpoint, Choice: event.Override, Text: "on it goes"}, &told{event.Accept, "", "", "on it goes"}},
		{event.Acknowledged{About: event.AboutQuarantine, Choice: event.ReleaseTasks, Task: "a.md", Text: "again"}, &told{event.Retry, "a.md", "", "again"}},
		{event.Acknowledged{About: event.AboutAside, Choice: event.Skip, Task: "a.md", Text: "without"}, &told{event.Skip, "a.md", "", "without"}},
		{event.ConsentGiven{AttemptRef: work, ID: "m", Choice: event.ConsentRestart}, &told{"restart", "a.md", "", "you consented: Implementor may be ended"}},
		{event.ConsentGiven{AttemptRef: work, ID: "m", Choice: event.ConsentContinue}, &told{"continue", "a.md", "", "you left Implementor alone"}},
		{event.ConsentGiven{AttemptRef: work, Choice: event.ConsentVoid}, nil},
		{event.QuarantineEnded{Task: "a.md", Reason: "you decided", ID: "m"}, &told{event.Retry, "a.md", "", event.QuarantineEnded{Task: "a.md", Reason: "you decided", ID: "m"}.Sentence().Text}},
		{event.QuarantineEnded{Task: "a.md", Reason: "edited"}, nil},
		{event.ForcedFinalizeAcked{Board: "b"}, &told{event.Accept, "", "", event.ForcedFinalizeAcked{Board: "b"}.Sentence().Text}},
		{event.RunStarted{}, nil},
	} {
		b := show(flow.State{}, Facts{}, tt.event)
		if tt.want == nil {
			if len(b.Decisions) > 0 {
				t.Errorf("%s: %+v is no decision of a person", tt.event.Kind(), b.Decisions)
			}
			continue
		}
		if len(b.Decisions) != 1 {
			t.Fatalf("%s: the decisions are %+v", tt.event.Kind(), b.Decisions)
		}
		d := b.Decisions[0]
		if got := (told{d.Word, d.Task, d.Note, d.Text}); got != *tt.want || !d.Time.Equal(start) {
			t.Errorf("%s: %+v at %v, want %+v", tt.event.Kind(), got, d.Time, *tt.want)
		}
	}
}

// TestDecisionsAreBounded: the last 50 decisions are kept, across runs.
func TestDecisionsAreBounded(t *testing.T) {
	var f Fold
	for i := range 60 {
		fold(&f, event.RunStarted{}, event.Acknowledged{Text: fmt.Sprint(i + 1)})
	}
	if b := f.Board("k.yaml", &flow.History{}, Facts{}); len(b.Decisions) != 50 || b.Decisions[0].Text != "11" || b.Decisions[49].Text != "60" {
		t.Errorf("%d decisions are kept, from %s to %s", len(b.Decisions), b.Decisions[0].Text, b.Decisions[len(b.Decisions)-1].Text)
	}
}

// TestAlerts: what a report to the Lead tells of the last run: how heavy it is, about what, whose, and
// how long after the begin of the step (seed 002, "Supervisor Report Format"). Where no role is at
// work, the alert is the board's.
func TestAlerts(t *testing.T) {
	late := event.Overdue{Severity: "CRITICAL", Action: "ESCALATE"}
	f := folded(
		event.HandoffOffered{},
		event.LoopSuspected{Task: "of an earlier run"},
		event.HandoffOffered{},
		event.StateDiverged{Task: "k.yaml", Text: "the board differs"},
		event.RunStarted{},
		event.StepStarted{Step: 1, Task: "a.md", Role: "Implementor"},
		event.AttemptStarted{AttemptRef: work},
		event.IdleBreach{AttemptRef: work, Overdue: event.Overdue{Severity: "INFO", Action: "PING"}},
		event.IdleBreach{AttemptRef: work, Overdue: late},
		event.StateDiverged{Task: "a.md", Text: "the board differs"})
	want := []Alert{
		{Severity: "WARN", Type: "STATE_DIVERGENCE", Task: "k.yaml", Owner: "k.yaml"},
		{Severity: "INFO", Type: "IDLE_BREACH", Task: "a.md", Owner: "Implementor", Millis: 2000},
		{Severity: "CRITICAL", Type: "IDLE_BREACH", Task: "a.md", Owner: "Implementor", Millis: 3000},
		{Severity: "WARN", Type: "STATE_DIVERGENCE", Task: "a.md", Owner: "Implementor", Millis: 4000},
	}
	b := f.Board("k.yaml", &flow.History{}, Facts{})
	for i := range b.Alerts {
		if b.Alerts[i].Time.IsZero() || b.Alerts[i].Text == "" {
			t.Errorf("alert %d has the time %v and the text %q", i, b.Alerts[i].Time, b.Alerts[i].Text)
		}
		b.Alerts[i].Time, b.Alerts[i].Text = time.Time{}, ""
	}
	if diff := cmp.Diff(want, b.Alerts); diff != "" {
		t.Errorf("alerts (-want +got):\n%s", diff)
	}
	if got := strings.Join(b.Actions, " "); got != "PING ESCALATE" {
		t.Errorf("the actions taken are %q, each once", got)
	}
}

// TestAlertsAreBounded: the last 100 alerts of the last run are kept.
func TestAlertsAreBounded(t *testing.T) {
	f := working()
	for i := range 150 {
		fold(f, event.StateDiverged{Task: fmt.Sprint(i + 1)})
	}
	if b := f.Board("k.yaml", &flow.History{}, Facts{}); len(b.Alerts) != 100 || b.Alerts[0].Task != "51" || b.Alerts[99].Task != "150" {
		t.Errorf("%d alerts are kept", len(b.Alerts))
	}
	fold(f, event.HandoffOffered{})
	if b := f.Board("k.yaml", &flow.History{}, Facts{}); len(b.Alerts) != 0 || len(b.Actions) != 0 {
		t.Errorf("alerts of an earlier run: %+v, %v", b.Alerts, b.Actions)
	}
}

// TestHealthy: healthy are the roles that were at work in the last run and have no alert above INFO.
func TestHealthy(t *testing.T) {
	ref := func(call event.Call, role string) event.AttemptRef {
		return event.AttemptRef{Step: 1, Call: call, Task: "a.md", Role: role}
	}
	f := folded(event.HandoffOffered{}, event.AttemptStarted{AttemptRef: ref(event.TaskCall, "Earlier")},
		event.HandoffOffered{}, event.StepStarted{Step: 1, Task: "a.md", Role: "Implementor"},
		event.AttemptStarted{AttemptRef: ref(event.TaskCall, "Implementor")}, event.AttemptStarted{AttemptRef: ref(event.TaskCall, "Implementor")},
		event.AttemptStarted{AttemptRef: ref(event.TaskCall, "Architect")}, event.AttemptStarted{AttemptRef: ref(event.ManagerCall, "Implementor")},
		event.IdleBreach{AttemptRef: ref(event.TaskCall, "Architect"), Overdue: event.Overdue{Severity: "INFO", Action: "PING"}})
	healthy := func() int { return f.Board("k.yaml", &flow.History{}, Facts{}).Healthy }
	if got := healthy(); got != 3 {
		t.Errorf("%d roles are healthy, want Implementor, Architect and Manager", got)
	}
	fold(f, event.IdleBreach{AttemptRef: ref(event.TaskCall, "Architect"), Overdue: event.Overdue{Severity: "WARN", Action: "PING"}})
	if got := healthy(); got != 2 {
		t.Errorf("%d roles are healthy, want Implementor and Manager", got)
	}
}

// TestAlertsOfEnds: an end for which a person acts is an alert with an action. Whose call failed, that role is not healthy; what
// was told before is not told again.
func TestAlertsOfEnds(t *testing.T) {
	ref := func(call event.Call) event.AttemptRef {
		return event.AttemptRef{Step: 1, Call: call, Task: "a.md", Role: "Implementor"}
	}
	replied := event.ReplyAccepted{AttemptRef: ref(event.TaskCall), Status: "blocked"}
	aside := event.TaskSetAside{Step: 1, Task: "a.md", Role: "Implementor"}
	for name, tt := range map[string]struct {
		call    event.Call
		before  []event.Event
		outcome event.Outcome
		by      event.By
		want    string
		healthy int
	}{
		"no valid reply":            {event.TaskCall, nil, event.Exhausted, event.ByNoReply, "CRITICAL STUCK a.md Implementor", 1},
		"none of the Manager":       {event.ManagerCall, nil, event.Exhausted, event.ByNoReply, "CRITICAL STUCK a.md Manager", 1},
		"a review is never content": {event.CommandCall, nil, event.NeedsPerson, event.ByReview, "CRITICAL STUCK a.md Implementor", 1},
		"a checkpoint blocks":       {event.TaskCall, nil, event.NeedsPerson, event.ByCheckpoint, "CRITICAL STUCK k.yaml k.yaml", 2},
		"incomplete":                {event.TaskCall, nil, event.Incomplete, event.ByUndone, "CRITICAL STUCK k.yaml k.yaml", 2},
		"frozen":                    {event.TaskCall, nil, event.Frozen, "", "CRITICAL STATE_DIVERGENCE k.yaml k.yaml", 2},
		"a loop was told before":    {event.TaskCall, nil, event.NeedsPerson, event.ByLoop, "", 2},
		"so was a reply that is not ok": {event.TaskCall, []event.Event{replied, aside}, event.Incomplete, event.BySetAside,
			"WARN STUCK a.md Implementor, CRITICAL STUCK k.yaml k.yaml", 1},
		"complete": {event.TaskCall, nil, event.Complete, event.ByOK, "", 2},
	} {
		f := folded(event.HandoffOffered{}, event.RunStarted{}, event.StepStarted{Step: 1, Task: "a.md", Role: "Implementor"},
			event.AttemptStarted{AttemptRef: ref(event.ManagerCall)}, event.AttemptStarted{AttemptRef: ref(event.TaskCall)}, event.AttemptStarted{AttemptRef: ref(tt.call)})
		fold(f, append(tt.before, event.RunFinished{Board: "k.yaml", Outcome: tt.outcome, By: tt.by})...)
		b := f.Board("k.yaml", &flow.History{}, Facts{})
		var got []string
		for _, a := range b.Alerts {
			got = append(got, a.Severity+" "+a.Type+" "+a.Task+" "+a.Owner)
		}
		if all := strings.Join(got, ", "); all != tt.want || b.Healthy != tt.healthy || (tt.want != "") != slices.Contains(b.Actions, "ESCALATE") {
			t.Errorf("%s: %s, %d healthy, actions %v; want %s, %d healthy", name, all, b.Healthy, b.Actions, tt.want, tt.healthy)
		}
	}
}

// TestProposals: the last proposal for each task of the last run, with its evidence.
func TestProposals(t *testing.T) {
	propose := func(task, evidence string) event.ReassignProposed {
		return event.ReassignProposed{Step: 1, Task: task, Role: "Implementor", Evidence: evidence, Strategy: event.Replace}
	}
	replan := event.AnomalyFound{AttemptRef: event.AttemptRef{Step: 1, Call: event.TaskCall, Task: "c.md", Role: "R"}, Anomaly: event.Anomaly{Check: "idle", Details: "no disk", Advice: "replan"}}
	f := folded(event.RunStarted{}, propose("a.md", "one"), propose("b.md", "two"), propose("a.md", "three"), replan)
	b := f.Board("k.yaml", &flow.History{}, Facts{})
	text := "give %s to another agent than Implementor (same role replacement): reassign: {Implementor: [ADAPTER or ROLE]} in .kanban-run.yaml does"
	want := []Proposal{
		{Task: "b.md", Role: "Implementor", Strategy: event.Replace, Evidence: "two", Text: fmt.Sprintf(text, "b.md")},
		{Task: "a.md", Role: "Implementor", Strategy: event.Replace, Evidence: "three", Text: fmt.Sprintf(text, "a.md")},
		{Task: "c.md", Text: "a new plan for c.md: no disk"},
	}
	if diff := cmp.Diff(want, b.Proposals); diff != "" {
		t.Errorf("proposals (-want +got):\n%s", diff)
	}
	fold(f, event.HandoffOffered{}, event.RunStarted{})
	if b := f.Board("k.yaml", &flow.History{}, Facts{}); len(b.Proposals) != 0 {
		t.Errorf("a proposal outlives its run: %+v", b.Proposals)
	}
}

// TestNotices: of the lines that a person should see, the last are kept as many as Keep says, each with
// its weight.
func TestNotices(t *testing.T) {
	events := []event.Event{
		event.RunStarted{Tasks: 1, Workdir: "/w"}, // a note
		event.StepStarted{Step: 1, Task: "a.md", Role: "Implementor"},
		event.SessionNamed{AttemptRef: work}, // a trace
		event.ReplyRejected{AttemptRef: work, Reason: "no JSON", Exit: "exit status 0", Stderr: "oops"},
		event.ReplyAccepted{AttemptRef: work, Status: "ok", Message: "all of it"},
		event.StateDiverged{Step: 1, Task: "a.md", Text: "changed"},
	}
	shown := func(keep int) []Notice {
		f := Fold{Keep: Keep{Notices: keep}}
		fold(&f, events...)
		return f.Board("k.yaml", &flow.History{}, Facts{}).Notices
	}
	var got []string
	for _, n := range shown(10) {
		got = append(got, fmt.Sprint(n.Weight, " ", n.Step, " ", n.Time.Sub(start), " ", n.Text))
	}
	want := []string{
		"critical 1 3s Implementor rejected: no JSON (exit status 0); no retry is left",
		"critical 0 3s it said on stderr: oops",
		"good 1 4s Implementor ok in 0ms: all of it",
		"warning 1 5s changed",
	}
	for i := range got {
		got[i] = strings.Replace(got[i], "Implementor attempt 1 ", "Implementor ", 1)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("notices (-want +got):\n%s", diff)
	}
	for keep, want := range map[int]int{0: 0, 1: 1, 3: 3, 4: 4, 100: 4} {
		if got := shown(keep); len(got) != want {
			t.Errorf("of %d notices %d are kept", keep, len(got))
		}
	}
	if two := shown(2); two[1].Text != "changed" {
		t.Errorf("the last notices are %+v", two)
	}
}

// TestCheckpointsAreBounded: the last 100 checkpoints are kept.
func TestCheckpointsAreBounded(t *testing.T) {
	var f Fold
	for i := range 120 {
		fold(&f, event.CheckpointMissed{Step: i + 1, Task: fmt.Sprintf("CHECKPOINT-%03d", i+1)})
	}
	if b := f.Board("k.yaml", &flow.History{}, Facts{}); len(b.Checkpoints) != 100 || b.Checkpoints[0].ID != "CHECKPOINT-021" {
		t.Errorf("%d checkpoints are kept, from %s", len(b.Checkpoints), b.Checkpoints[0].ID)
	}
}

// TestOpenStep: the step that is open, with its call, its attempts in all runs and the begin of the
// running one.
func TestOpenStep(t *testing.T) {
	list := listOf(t, "tasks: [a.md]\n")
	step := &flow.Step{Number: 1, Task: "a.md", Role: "Implementor", Call: event.TaskCall, Round: 2, Started: 3, Running: 3, LastReason: "no JSON"}
	f := folded(event.RunStarted{}, event.StepStarted{Step: 1, Task: "a.md", Role: "Implementor"},
		event.AttemptStarted{AttemptRef: work}, event.ReplyRejected{AttemptRef: work},
		event.RunInterrupted{}, event.RunStarted{},
		event.AttemptStarted{AttemptRef: work}, event.ReplyRejected{AttemptRef: work}, event.AttemptStarted{AttemptRef: work, Adapter: "codex"})
	b := f.Board("k.yaml", &flow.History{State: flow.State{Running: true, Step: step}}, Facts{List: list, Owned: true})
	want := OpenStep{Step: 1, Task: "a.md", Role: "Implementor", Call: event.TaskCall, Round: 2, Attempts: 3, Rejected: 2, Reason: "no JSON",
		Since: start.Add(8 * time.Second), Running: true, Adapter: "codex"}
	if diff := cmp.Diff(want, *b.Open); diff != "" {
		t.Errorf("the open step (-want +got):\n%s", diff)
	}
	if ref := b.Open.Ref(); ref.Attempt != 3 || ref.Round != 2 || b.Open.CallRole() != "Implementor" {
		t.Errorf("%+v of %s", ref, b.Open.CallRole())
	}
	step.Call, step.Running = event.ManagerCall, 0
	step.Consent = &flow.Consent{Decision: event.Restart, Text: "no sign"}
	b = f.Board("k.yaml", &flow.History{State: flow.State{Running: true, Step: step}}, Facts{List: list, Owned: true})
	if b.Open.CallRole() != event.ManagerRole || !b.Open.Since.IsZero() || b.Open.Running || b.Open.Consent != "RESTART: no sign" {
		t.Errorf("the Manager's call: %+v", *b.Open)
	}
}
