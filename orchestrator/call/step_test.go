package call

import (
	"slices"
	"testing"
	"time"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
)

// TestFinishStep: a step has the time that its agents were not paused, and says how it leaves the
// work tree where the next task was worked on lately.
func TestFinishStep(t *testing.T) {
	same, other := "./a.md", "b.md"
	for name, tt := range map[string]struct {
		next       *string
		set        func(*rig)
		leaves     bool
		other      bool
		checkpoint string
		status     string // of the task; "": the Manager was called alone
	}{
		"the end":       {nil, nil, false, false, "", ""},
		"the same task": {&same, nil, true, false, "", "ok"},
		"a new task":    {&other, nil, false, false, "", "ok"},
		"an earlier one": {&other, func(r *rig) { r.journal.state.Tasks = []flow.TaskUse{{Task: "b.md", Steps: 1}} },
			true, true, "", "ok"},
		"a dry run": {&same, func(r *rig) { r.Run.DryRun = true }, false, false, "", "ok"},
		"a supervisor's": {nil, func(r *rig) { r.journal.state.Step.Checkpoint = &event.Checkpoint{ID: "C1"} }, false,
			false, "C1", "ok"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			if tt.set != nil {
				tt.set(r)
			}
			now := time.Now()
			r.Now = func() time.Time { return now }
			r.BeginStep(now.Add(-10 * time.Second))
			r.paused = 4 * time.Second
			step := r.journal.state.Step
			step.TaskStatus, step.Said, step.Reply = tt.status, "I found a bug", &event.ReplyAccepted{Status: "ok", NextTask: tt.next}
			step.Call = event.ManagerCall
			r.journal.state.Quarantine = []flow.Quarantine{{Task: "b.md"}}
			if err := r.FinishStep(step, Left{BoardSHA: r.board.SHA, Warning: "odd", Change: flow.Change{Dropped: []string{"c.md"}, Renamed: []event.Rename{{From: "a", To: "b"}}}}); err != nil {
				t.Fatal(err)
			}
			e := r.journal.events[0].(event.StepFinished)
			if e.Millis != 6000 || e.Checkpoint != tt.checkpoint || e.Status != "ok" || e.Manager != "ok" || e.Warning != "odd" || e.BoardSHA != r.board.SHA || !slices.Equal(e.Dropped, []string{"c.md"}) || len(e.Renamed) != 1 || len(e.Quarantined) != 1 || e.Quarantined[0].SHA == "" {
				t.Errorf("finished %+v", e)
			}
			if (e.Leaving != nil) != tt.leaves || tt.leaves && e.Leaving.Other != tt.other {
				t.Errorf("leaves %+v", e.Leaving)
			}
			if tt.leaves && !tt.other && (e.Leaving.Said != "I found a bug" || e.Leaving.Finding == "" && e.Leaving.Tree == "") {
				t.Errorf("leaves %+v", e.Leaving)
			}
			if steps := 1; tt.checkpoint == "" && r.Steps() != steps || tt.checkpoint != "" && r.Steps() != 0 {
				t.Errorf("%d steps", r.Steps())
			}
		})
	}
}
