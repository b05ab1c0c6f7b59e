package call

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kanban-run/orchestrator/event"
)

// TestWalk: one record has the decision, and the next one is the end of the step: there is no call.
func TestWalk(t *testing.T) {
	r := newRig(t)
	step := r.journal.state.Step
	step.Call, step.TaskStatus = event.ManagerCall, "ok"
	if err := r.Walk(); err != nil {
		t.Fatal(err)
	}
	b, err := r.Workspace.Look()
	if err != nil {
		t.Fatal(err)
	}
	e, ok := r.journal.events[0].(event.ManagerWalked)
	if !ok || len(r.journal.events) != 2 || e.NextTask == nil || *e.NextTask != "b.md" || e.Before != r.board.SHA || e.After != b.SHA || b.Current.Path != "b.md" {
		t.Errorf("journaled %+v, and current is %s", r.journal.events, b.Current.Path)
	}
	if end, ok := r.journal.events[1].(event.StepFinished); !ok || end.BoardSHA != b.SHA {
		t.Errorf("ended with %+v, want the board %s", r.journal.events[1], b.SHA)
	}
}

// TestFinishWalked: a run that died after the decision finishes the step if the decision is on the board, or
// if a person has moved the board since. Otherwise package walk decides anew.
func TestFinishWalked(t *testing.T) {
	for name, tt := range map[string]struct {
		board    string // in the place of the decision; "": the decision is there
		finished bool
		warned   bool
	}{
		"it is on the board": {"", true, false},
		"as before it":       {"current: a.md\ntasks: [a.md, b.md]\n", false, false},
		"another list":       {"current: a.md\ntasks: [a.md, b.md, c.md]\n", false, false},
		"another task":       {"current: c.md\ntasks: [a.md, b.md, c.md]\n", true, true},
		"an end":             {"current: null\ntasks: [a.md, b.md]\n", true, true},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			step := r.journal.state.Step
			step.Call, step.TaskStatus = event.ManagerCall, "ok"
			decision, after, err := r.Workspace.Walk(r.board, &r.journal.state)
			if err == nil {
				err = r.journal.Record(decision)
			}
			text := tt.board
			if text == "" && err == nil {
				text = string(after.Source)
			}
			if err == nil {
				err = os.WriteFile(filepath.Join(r.dir, "k.yaml"), []byte(text), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			r.Workspace.Forget()
			b, err := r.Workspace.Look()
			if err != nil {
				t.Fatal(err)
			}
			finished, err := r.FinishWalked(b)
			if finished != tt.finished || err != nil || len(r.journal.events) != 1 && !finished {
				t.Fatalf("FinishWalked = %t, %v, with %+v, want %t", finished, err, r.journal.events, tt.finished)
			}
			if !finished {
				return
			}
			end := r.journal.events[1].(event.StepFinished)
			if warned := strings.Contains(end.Warning, "was edited"); warned != tt.warned || end.BoardSHA != decision.After {
				t.Errorf("ended with %+v, want the board of the decision", end)
			}
		})
	}
}
