package health_test

import (
	"strings"
	"testing"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/health"
)

// TestLateWork: an agent that has worked for more than twice the expected time is late: seed 000's fourth question.
// It is no reason to end it.
func TestLateWork(t *testing.T) {
	for _, tt := range []struct {
		worked, expected time.Duration
		late             string
	}{
		{40 * time.Minute, 20 * time.Minute, ""},
		{40*time.Minute + 1, 20 * time.Minute, "it works for 40m, and 20m was expected"},
		{time.Hour, 20 * time.Minute, "it works for 1h, and 20m was expected"},
		{time.Hour, 0, ""},
		{1, -time.Minute, ""},
	} {
		late := health.LateWork(tt.worked, tt.expected)
		if tt.late == "" && late != nil || tt.late != "" && (late == nil || late.Details != tt.late || late.Advice != "continue") {
			t.Errorf("%v of %v: %+v, want %q", tt.worked, tt.expected, late, tt.late)
		}
	}
}

// TestHelpAsked: seed 000, "ASSIST": an agent that says that it needs help asks for a person, in its language; one
// that says that it needs none does not.
func TestHelpAsked(t *testing.T) {
	for answer, asks := range map[string]bool{
		"Need help": true, "I have a problem: the key is missing.": true, "It needs help with the wire.": true, "需要帮助": true, "遇到问题": true,
		"Normal, no need help": false, "I do not have a problem": false, "Normal": false, "": false,
	} {
		found := health.HelpAsked(answer)
		if (found != nil) != asks || found != nil && (found.Advice != "assist" || !strings.HasPrefix(found.Details, "it says: ")) {
			t.Errorf("%q: %+v, want it to ask for help: %t", answer, found, asks)
		}
	}
}

// TestWorked: tools and texts are work of the model; a result, and what cannot be read, are none.
func TestWorked(t *testing.T) {
	for kind, worked := range map[agent.Kind]bool{agent.Text: true, agent.ToolStarted: true, agent.Result: false, agent.Unread: false} {
		trace := health.NewTrace(time.Unix(1, 0))
		trace.Note(agent.Event{Kind: kind, Text: "x", Tool: "Bash", ID: "1", Time: time.Unix(2, 0)})
		if trace.Worked != worked {
			t.Errorf("after %v: %t, want %t", kind, trace.Worked, worked)
		}
	}
}

// TestReportBeforeTheFirstSign: until an agent gives a sign, its last one is its start.
func TestReportBeforeTheFirstSign(t *testing.T) {
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	trace := health.NewTrace(began)
	m := health.NewMonitor(began, health.Policy{Frequency: time.Minute}, agent.Signals{})
	if r := m.Check(began.Add(time.Second), trace, nil, false); !r.Last.Equal(began) {
		t.Errorf("the last sign is at %s, want %s", r.Last, began)
	}
	trace.Print(began.Add(2 * time.Second))
	if r := m.Check(began.Add(3*time.Second), trace, nil, false); !r.Last.Equal(began.Add(2 * time.Second)) {
		t.Errorf("the last sign is at %s, want that of the print", r.Last)
	}
}
