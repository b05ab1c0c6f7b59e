package orchestrator_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kanban-run/orchestrator"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/journal"
)

// chronicle writes the journal of a board without a run.
type chronicle struct {
	t       *testing.T
	board   string
	journal *journal.Journal
	history flow.History
	epoch   uint64
}

func newChronicle(t *testing.T) *chronicle {
	t.Helper()
	c := &chronicle{t: t, board: filepath.Join(t.TempDir(), "kanban.yaml")}
	if err := os.WriteFile(c.board, []byte("phase: complete\ncurrent: null\ntasks: []\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	path, err := orchestrator.JournalPath(c.board)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o700)
	}
	if err == nil {
		c.journal, err = journal.Open(path, time.Now, func(journal.Record) error { return nil })
	}
	if err == nil {
		c.epoch, err = c.journal.BeginEpoch()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.journal.Close() })
	c.write(flow.HandoffOffered{Board: "b", File: "kanban.yaml", Epoch: 1, Owner: "r"}, flow.HandoffAcked{Board: "b", Epoch: 1, Owner: "r"},
		flow.RunStarted{Board: "b"})
	return c
}

func (c *chronicle) write(events ...flow.Event) {
	c.t.Helper()
	for _, e := range events {
		data, err := json.Marshal(e)
		if err != nil {
			c.t.Fatal(err)
		}
		c.record(flow.Entry{Seq: c.history.Seq + 1, Epoch: c.epoch, Rev: c.history.Rev + 1, Actor: flow.Actor(e), Event: e}, data)
	}
}

func (c *chronicle) record(e flow.Entry, data []byte) {
	c.t.Helper()
	c.history.Add(e)
	_, err := c.journal.Append(journal.Draft{Type: e.Event.Kind(), TaskID: e.Event.Subject(), Rev: e.Rev, Actor: e.Actor, Data: data})
	if err == nil {
		err = c.journal.Commit()
	}
	if err != nil {
		c.t.Fatal(err)
	}
}

func (c *chronicle) steps(n int) {
	c.t.Helper()
	for range n {
		step := c.history.State.LastStep + 1
		call := func(call flow.Call, role string) (flow.AttemptStarted, flow.ReplyAccepted) {
			return flow.AttemptStarted{Step: step, Call: call, Task: "t", Role: role, Attempt: 1, Input: []byte(`"` + strings.Repeat("x", 500) + `"`)},
				flow.ReplyAccepted{Step: step, Call: call, Task: "t", Role: role, Attempt: 1, Status: "ok", Message: "é \"\n"}
		}
		task, done := call(flow.TaskCall, "Implementor")
		manager, next := call(flow.ManagerCall, flow.ManagerRole)
		c.write(flow.StepStarted{Step: step, Task: "t", Role: "Implementor"}, task, done, manager, next, flow.StepFinished{Step: step, Task: "t", Status: "ok"})
	}
}

func (c *chronicle) snapshot() { c.write(c.history.Snapshot("b")) }

// TestSkimSaysWhatInspectSays: of a journal of several blocks, whatever comes after its last snapshot.
func TestSkimSaysWhatInspectSays(t *testing.T) {
	tests := map[string]func(c *chronicle){
		"no snapshot":            func(c *chronicle) { c.steps(3) },
		"a snapshot is the last": func(c *chronicle) { c.steps(300); c.snapshot() },
		"steps after a snapshot": func(c *chronicle) { c.steps(300); c.snapshot(); c.steps(300) },
		"frozen and acknowledged": func(c *chronicle) {
			c.write(flow.StateDiverged{Task: "b", Policy: "freeze", Text: "x"}, flow.Acknowledged{Board: "b"})
			c.steps(2)
			c.snapshot()
		},
		"frozen at the end": func(c *chronicle) {
			c.steps(2)
			c.snapshot()
			c.steps(1)
			c.write(flow.RunFinished{Board: "b", Outcome: flow.Frozen, Text: "x"})
		},
		"locked": func(c *chronicle) { c.steps(2); c.snapshot(); c.write(flow.LockEntered{Board: "b", Reason: "r"}) },
		"a record of no owner": func(c *chronicle) {
			c.steps(2)
			c.snapshot()
			c.steps(1)
			c.epoch++
			c.journal.BeginEpoch()
			c.steps(1)
		},
		"one of no owner, long ago":   func(c *chronicle) { c.epoch++; c.journal.BeginEpoch(); c.steps(1); c.snapshot() },
		"a step that cannot follow":   func(c *chronicle) { c.steps(2); c.snapshot(); c.write(flow.StepFinished{Step: 9, Task: "t"}) },
		"a snapshot of another state": func(c *chronicle) { c.steps(1); s := c.history.Snapshot("b"); c.steps(1); c.write(s); c.steps(1) },
		"a file of another board": func(c *chronicle) {
			c.write(flow.HandoffOffered{Board: "b", File: "other.yaml", Epoch: 1, Owner: "r"})
			c.snapshot()
		},
		"data that are no event": func(c *chronicle) {
			c.snapshot()
			c.record(flow.Entry{Seq: c.history.Seq + 1, Epoch: c.epoch, Rev: c.history.Rev + 1, Actor: flow.ActorRun, Event: flow.StepStarted{Task: "t"}}, []byte(`{"step":"one"}`))
		},
	}
	for name, write := range tests {
		t.Run(name, func(t *testing.T) {
			c := newChronicle(t)
			write(c)
			want, wantSum, wantErr := orchestrator.Inspect(c.board, nil)
			got, sum, err := orchestrator.Skim(c.board)
			if (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() {
				t.Fatalf("Skim = %v, Inspect = %v", err, wantErr)
			}
			if diff := cmp.Diff(want, got); diff != "" && err == nil {
				t.Errorf("-Inspect +Skim\n%s", diff)
			}
			if sum != wantSum && err == nil {
				t.Errorf("Skim of %+v, Inspect of %+v", sum, wantSum)
			}
		})
	}
}

// What is damaged is so for a skim, wherever it is.
func TestSkimSeesDamage(t *testing.T) {
	c := newChronicle(t)
	c.steps(300)
	c.snapshot()
	c.steps(2)
	path, err := orchestrator.JournalPath(c.board)
	if err != nil {
		t.Fatal(err)
	}
	data := []byte(readFile(t, path))
	for _, at := range []int{30, len(data) / 2, len(data) - 3000} {
		bad := append([]byte(nil), data...)
		bad[at] ^= 1
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		var damage, want *journal.DamageError
		_, _, err := orchestrator.Skim(c.board)
		_, _, wantErr := orchestrator.Inspect(c.board, nil)
		if !errors.As(err, &damage) || !errors.As(wantErr, &want) || *damage != *want {
			t.Errorf("byte %d: Skim = %v, Inspect = %v", at, err, wantErr)
		}
	}
}

// TestSkimTrustsASnapshot: what it does not see, and Verify does.
func TestSkimTrustsASnapshot(t *testing.T) {
	c := newChronicle(t)
	c.steps(1)
	s := c.history.Snapshot("b")
	c.write(flow.BoardWritten{Step: 9, Task: "t"}) // cannot happen here
	s.ReplayIndex = c.history.Seq
	c.write(s)
	if h, _, err := orchestrator.Skim(c.board); err != nil || h.Breach != nil {
		t.Errorf("Skim = %+v, %v", h.Breach, err)
	}
	if v, err := orchestrator.Verify(c.board); err != nil || !strings.Contains(v.Frozen, "cannot happen here") {
		t.Errorf("Verify = %+v, %v, want the record that cannot happen", v, err)
	}
}
