package ledger

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/projection"
	"kanban-run/orchestrator/rundir"
)

// TestForgedMarks: while a board is frozen, its list has those marks alone, of entries and in headers,
// that counted before the turn that froze it.
func TestForgedMarks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kanban.yaml")
	runs, folder := rundir.Of(path), filepath.Dir(path)
	const before = "current: 5.md\ntasks:\n- 1.md\n- 2.md [done]\n- 3.md\n- 4.md\n- 5.md\n"
	const forged = "current: 5.md\ntasks:\n- 1.md [done]\n- 2.md [done]\n- 3.md\n- 4.md\n- 5.md\n- 6.md [done]\n"
	const marked = `{"4.md":{"done":true}}`
	for file, text := range map[string]string{
		path:                          forged,
		filepath.Join(folder, "3.md"): "---\nstatus: done\n---\n",
		filepath.Join(folder, "4.md"): "---\nstatus: done\n---\n",
		runs.Before():                 before,
		runs.Turn():                   `{"version":1,"parts":{"marks":{"list":["1.md","2.md","3.md","4.md","5.md"],"marks":` + marked + `}}}`,
	} {
		if os.MkdirAll(filepath.Dir(file), 0o700) != nil || os.WriteFile(file, []byte(text), 0o600) != nil {
			t.Fatalf("%s cannot be written", file)
		}
	}
	b, err := board.Parse(path, []byte(forged))
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		frozen *flow.Freeze
		want   []string
	}{
		"frozen":           {&flow.Freeze{}, []string{"2.md", "4.md"}},
		"on a way to git":  {&flow.Freeze{Git: &event.GitWay{}}, []string{"1.md", "2.md", "3.md", "4.md", "6.md"}},
		"a person decided": {nil, []string{"1.md", "2.md", "3.md", "4.md", "6.md"}},
	} {
		h := flow.History{State: flow.State{Workdir: folder, Marks: board.SHA([]byte(marked)), Frozen: tt.frozen}, Before: board.SHA([]byte(before))}
		f, err := FactsOf(runs, path, b, nil, &h, false)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for i, p := range f.List.Paths {
			if f.List.Marked(i) || f.List.Done(i) {
				got = append(got, p)
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q are marked as done, want %q", name, got, tt.want)
		}
	}
}

// TestGoneTask: a board is for a person to mend as long as its current task has no file, unless the task
// was worked on.
func TestGoneTask(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kanban.yaml")
	const source = "current: 2.md\ntasks: [1.md, 2.md]\n"
	b, err := board.Parse(path, []byte(source))
	if err != nil || os.WriteFile(path, []byte(source), 0o600) != nil {
		t.Fatalf("no board: %v", err)
	}
	limited := flow.State{Workdir: filepath.Dir(path), Spent: true, Outcome: event.LimitReached, Text: "the limit of 1 step is reached"}
	stopped := limited
	stopped.Step = &flow.Step{Number: 2, Task: "2.md", Call: event.TaskCall, BoardSHA: b.SHA}
	look := func(s flow.State) projection.Board {
		h := flow.History{State: s}
		f, err := FactsOf(rundir.Of(path), path, b, nil, &h, false)
		if err != nil {
			t.Fatal(err)
		}
		return (&projection.Fold{Runs: 1}).Board(path, &h, f)
	}
	for name, s := range map[string]flow.State{"gone": limited, "gone in its step": stopped} {
		want, code := projection.Mend, 2
		if s.Step != nil {
			want, code = projection.RunAgain, 7
		}
		if got := look(s); got.Who != want || got.Exit == nil || *got.Exit != code {
			t.Errorf("%s: %s acts, exit code %v (%+v); want %s, %d", name, got.Who, got.Exit, got.Reason, want, code)
		}
	}
	if got := look(limited); got.Reason.By != event.ByFile || got.Advice() != "write the file, or correct the path" {
		t.Errorf("gone: %+v, and %q", got.Reason, got.Advice())
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(path), "2.md"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := look(limited); got.Who != projection.RunAgain {
		t.Errorf("with the file %s acts: %+v", got.Who, got.Reason)
	}
}
