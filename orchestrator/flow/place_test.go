package flow_test

import (
	"testing"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
)

// leavePlace is what a run records first that finds the journal of another place.
func (p *play) leavePlace() (recorded []event.Event) {
	p.t.Helper()
	err := flow.LeavePlace(&p.State, event.PlaceChanged{Place: "here", Mark: "new", Left: true}, func(e event.Event) error {
		recorded = append(recorded, e)
		p.record(e)
		return nil
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return recorded
}

// TestLeavePlace: in a copy of the folder of a run the open call begins anew, in no session of the
// original's and under another mark. What was accepted stays accepted; only work whose review needs
// the session is done again.
func TestLeavePlace(t *testing.T) {
	for _, tt := range []struct {
		name     string
		agent    bool // an agent reviews
		outcomes []outcome
		want     event.Call
	}{
		{"work", true, []outcome{rejected}, event.TaskCall},
		{"a review of the session", true, []outcome{accepted, rejected}, event.TaskCall},
		{"a review by a command", false, []outcome{accepted}, event.CommandCall},
		{"work that was sent back", true, []outcome{accepted, notContent, rejected}, event.TaskCall},
		{"Manager", true, []outcome{accepted, content, rejected}, event.ManagerCall},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newPlay(t, &event.Plan{Agent: tt.agent, Command: !tt.agent, Rounds: 2}, event.Limits{}).attempts(tt.outcomes...)
			p.begin()
			p.Place = "there"
			recorded := p.leavePlace()
			if stopped, ok := recorded[0].(event.AttemptStopped); !ok || len(recorded) != 2 || stopped.Session != "" || stopped.Reason == died {
				t.Errorf("recorded %+v, want the end of the attempt there, without a session", recorded)
			}
			if p.Step.Mark != "new" || p.Place != "here" || p.Session != "" {
				t.Errorf("mark %q, place %q, session %q, want the new ones", p.Step.Mark, p.Place, p.Session)
			}
			if e := p.State.Afresh(); e.Call != tt.want || e.From != "" || p.Step.GoesOn != nil {
				t.Errorf("next is %+v, goes on %v, want the call %s in no session", e, p.Step.GoesOn, tt.want)
			}
		})
	}
}

// TestBootKeepsTheWork: after a boot of the system the open work goes on as after any kill, under another
// mark.
func TestBootKeepsTheWork(t *testing.T) {
	p := newPlay(t, nil, event.Limits{})
	p.begin()
	running := p.Step.Running
	p.record(event.PlaceChanged{Place: "b2 1:1", Mark: "new", Booted: true})
	if p.Place != "b2 1:1" || p.Step.Mark != "new" || p.Step.Running != running {
		t.Errorf("step %+v in %s, want it at work under another mark", p.Step, p.Place)
	}
}
