package stub_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/agent/stub"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/testfile"
)

// TestInProcess: a stub that replies within this process says and writes what the same command line does in the work
// directory, byte for byte, also from another current directory, and when it is called again.
func TestInProcess(t *testing.T) {
	const board = "current: a.md\ntasks: [a.md, gone.md, b.md, c.md]\n"
	dir := t.TempDir()
	testfile.Write(t, filepath.Join(dir, "a.md"), "")
	testfile.Write(t, filepath.Join(dir, "b.md"), "---\nneeds: [c.md]\n---\n")
	testfile.Write(t, filepath.Join(dir, "c.md"), "")
	kanban := filepath.Join(t.TempDir(), "kanban.yaml") // the private copy of a dry run
	adapter := stub.New("/kanban-run", stub.Options{InProcess: true})
	for name, a := range map[string]agent.Assignment{
		"a task":               {Role: "Implementor", Input: []byte(taskInput)},
		"a reviewed task":      {Role: "Implementor", Review: true, Input: []byte(taskInput)},
		"a review":             {Role: "Implementor", Review: true, Contract: contract.Review, Follow: &agent.Follow{Text: "look"}},
		"the Manager":          {Role: "Manager", Input: []byte(`{"kanban_file":"` + kanban + `","done_task":"a.md","tasks":["a.md","gone.md","b.md","c.md"]}`)},
		"a board that is gone": {Role: "Manager", Input: []byte(`{"kanban_file":"gone.yaml","done_task":"c.md","tasks":["c.md","a.md","gone.md"]}`)},
		"no input":             {Role: "Implementor"},
	} {
		t.Run(name, func(t *testing.T) {
			a.Dir = dir
			inv, err := adapter.Invoke(a)
			if err != nil {
				t.Fatal(err)
			}
			testfile.Write(t, kanban, board)
			t.Chdir(dir)
			var want, wantErr bytes.Buffer
			code := stub.Main(inv.Argv[2:], bytes.NewReader(inv.Stdin), &want, &wantErr)
			after := read(t, kanban)
			t.Chdir(t.TempDir())
			for range 2 {
				testfile.Write(t, kanban, board)
				var got, gotErr bytes.Buffer
				exit := inv.Func(t.Context(), &got, &gotErr)
				if exit.Code != code || got.String() != want.String() || gotErr.String() != wantErr.String() || read(t, kanban) != after {
					t.Errorf("within the process: %d, %q, %q; with a process of its own: %d, %q, %q", exit.Code, got.String(), gotErr.String(), code, want.String(), wantErr.String())
				}
			}
		})
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestInProcessIsForNoRules: a stub that may misbehave has a process of its own, as has each stub of a run.
func TestInProcessIsForNoRules(t *testing.T) {
	rules := filepath.Join(t.TempDir(), "stub.yaml")
	if err := os.WriteFile(rules, []byte("[{do: crash}]"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, opts := range []stub.Options{{}, {File: rules}, {File: rules, InProcess: true}} {
		inv, err := stub.New("/kanban-run", opts).Invoke(agent.Assignment{Role: "R", Dir: "/"})
		if err != nil || inv.Func != nil {
			t.Errorf("%+v: %v, it replies within the process: %t", opts, err, inv.Func != nil)
		}
	}
}
