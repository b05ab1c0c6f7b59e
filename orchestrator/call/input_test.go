package call

import (
	"path/filepath"
	"strings"
	"testing"

	"kanban-run/orchestrator/attempt"
	"kanban-run/orchestrator/event"
)

// TestSecretInInput: seed 004 has a retry get the same input, and a journaled one is redacted: a name
// that looks like a secret is refused before it is told to anybody.
func TestSecretInInput(t *testing.T) {
	r := newRig(t)
	r.journal.state.Step.Task = "hunter2hunter2.md"
	s := r.journal.state.Afresh()
	p, _ := r.Player(s)
	if _, err := r.Prepare(s, p, r.board); err == nil {
		t.Error("a task whose name is a secret is told to an agent")
	}
}

// TestLostInput: a call whose stored input is gone, or was changed, starts afresh.
func TestLostInput(t *testing.T) {
	for name, tt := range map[string]struct {
		lose  func(*rig, *Attempt)
		kinds int
	}{
		"it is there": {func(*rig, *Attempt) {}, 0},
		"it is gone":  {func(r *rig, _ *Attempt) { r.Folder.SweepStored("") }, 1},
		"no call":     {func(r *rig, _ *Attempt) { r.Folder.SweepStored(""); r.journal.state.Step = nil }, 0},
		"a reply": {func(r *rig, _ *Attempt) {
			r.Folder.SweepStored("")
			r.journal.state.Step.Reply = &event.ReplyAccepted{}
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.openLongCall(t)
			a := r.start(t)
			if a.Intent.Stored == "" {
				t.Fatal("a long input is not stored")
			}
			if err := r.settle(a, &attempt.Ended{Cut: attempt.ByWatch}, nil); err != nil {
				t.Fatal(err)
			}
			r.inputOf, r.journal.events = event.AttemptRef{}, nil // as in the next run
			tt.lose(r, a)
			if err := r.RestartWithoutInput(r.board); err != nil || len(r.journal.events) != tt.kinds {
				t.Errorf("journaled %+v, %v", r.journal.events, err)
			}
		})
	}
}

// openLongCall opens a call of the Manager whose list of tasks is too long for the journal.
func (r *rig) openLongCall(t *testing.T) {
	t.Helper()
	r.write(t, "k.yaml", "current: a.md\ntasks: ["+strings.Repeat("a.md, ", 2000)+"b.md]\n")
	r.Workspace.Forget()
	var err error
	if r.board, err = r.Workspace.Look(); err != nil {
		t.Fatal(err)
	}
	r.open(event.ManagerCall)
}

// TestInputIsStoredFirst: an intent names no input that could not be stored.
func TestInputIsStoredFirst(t *testing.T) {
	r := newRig(t)
	r.openLongCall(t)
	s := r.journal.state.Afresh()
	p, _ := r.Player(s)
	r.Folder.Path = filepath.Join(r.dir, "k.yaml", "no folder")
	if _, err := r.Prepare(s, p, r.board); err == nil {
		t.Error("an input that cannot be stored is told to an agent")
	}
}
