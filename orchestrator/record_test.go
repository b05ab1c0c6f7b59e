package orchestrator

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/flow"
)

// pending is a run whose Manager was given a long list, of which only the SHA-256 was journaled, on a board that is another by now.
func pending(t *testing.T, reply *flow.ReplyAccepted) (r *run, before []byte, b *board.Board) {
	t.Helper()
	dir := t.TempDir()
	source := "current: a.md\ntasks:\n" + strings.Repeat("- tasks/a-task-of-many.md\n", 400)
	was, err := board.Parse("k.yaml", []byte(source))
	if err != nil {
		t.Fatal(err)
	}
	if b, err = board.Parse("k.yaml", []byte("current: b.md\ntasks:\n- b.md\n- c.md\n")); err != nil {
		t.Fatal(err)
	}
	place, err := board.OpenPlace(dir, filepath.Join(dir, "k.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	r = &run{ledger: &ledger{}, place: place, files: files{dir}, fresh: b, job: &Job{Board: "k.yaml", DryRun: true}}
	l := newList(was.TaskPaths())
	in := newInput(l.input("link.yaml", "done.md"), l)
	head, err := json.Marshal(managerHead{"link.yaml", "done.md"})
	if err != nil {
		t.Fatal(err)
	}
	r.history.State.Step = &flow.Step{Number: 1, Task: "done.md", Call: flow.ManagerCall, Input: head, InputSHA: in.sum,
		Before: &flow.Baseline{BoardSHA: was.SHA, Current: "a.md"}, Reply: reply}
	return r, []byte(source), b
}

// TestInputMadeAgain: it has the bytes that it had, whatever the board is called by now and whatever stands on it.
func TestInputMadeAgain(t *testing.T) {
	r, before, _ := pending(t, nil)
	if err := os.WriteFile(r.files.before(), before, 0o600); err != nil {
		t.Fatal(err)
	}
	in, err := r.sameInput()
	if err != nil {
		t.Fatal(err)
	}
	want, err := json.Marshal(managerInput{"link.yaml", "done.md", slices.Repeat([]string{"tasks/a-task-of-many.md"}, 400)})
	if err != nil {
		t.Fatal(err)
	}
	if string(in.text) != string(want) || len(in.list.paths) != 400 {
		t.Errorf("the input is %.200s, want %.200s", in.text, want)
	}
	for name, spoil := range map[string]func(*run){
		"the copy is gone":                  func(r *run) { _ = os.Remove(r.files.before()) },
		"the copy is of another board":      func(r *run) { _ = os.WriteFile(r.files.before(), []byte("current: x\ntasks: [x]\n"), 0o600) },
		"the copy does not make that input": func(r *run) { r.history.State.Step.InputSHA = "5a" },
	} {
		r, before, _ := pending(t, nil)
		if err := os.WriteFile(r.files.before(), before, 0o600); err != nil {
			t.Fatal(err)
		}
		spoil(r)
		if in, err := r.sameInput(); !errors.Is(err, errInputLost) {
			t.Errorf("%s: the input is %.60s, %v, want it lost", name, in.text, err)
		}
	}
}

// TestListsOfALostInput: what the Manager did to the board stands when nobody can tell it from what was there before.
func TestListsOfALostInput(t *testing.T) {
	for name, reply := range map[string]*flow.ReplyAccepted{
		"the same list": {SameTasks: true}, "another list": {Tasks: []string{"x.md"}}, "an empty list": {},
	} {
		r, _, b := pending(t, reply)
		given, replied, lost, err := r.lists(b)
		if err != nil || !lost {
			t.Fatalf("%s: lost %t, %v", name, lost, err)
		}
		if v := flow.Reconcile(r.baseline(given), r.fields(b), "b.md", replied.clean); v.WriteTasks || v.Disagreement != "" {
			t.Errorf("%s: the verdict is %+v, want the board's list to stand", name, v)
		}
	}
}
