package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestExamplesRun runs every example as its README says, on a copy, with the real binary.
func TestExamplesRun(t *testing.T) {
	tests := []struct {
		folder string
		boards []string
		want   []string
	}{
		{"hello", []string{"kanban.yaml"}, []string{"kanban.yaml: the board is complete, 2 steps"}},
		{"phases", []string{"kanban.yaml"}, []string{"kanban.yaml: the board is complete, 9 steps"}},
		{"checkpoints", []string{"kanban.yaml"}, []string{"kanban.yaml: the board is complete, 4 steps"}},
		{"batch", []string{"-j", "3", "letters.yaml", "poems.md", "recipes.yaml"}, []string{"3 of 3 boards complete"}},
	}
	binary := built(t, buildPlain)
	for _, tt := range tests {
		t.Run(tt.folder, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(filepath.Join("..", "..", "examples", tt.folder))); err != nil {
				t.Fatal(err)
			}
			makeExecutable(t, filepath.Join("..", "..", "examples", tt.folder), dir)
			for _, extra := range [][]string{{"--dry-run"}, nil} {
				cmd := exec.Command(binary, append(extra, tt.boards...)...)
				cmd.Dir = dir
				var stdout, stderr bytes.Buffer
				cmd.Stdout, cmd.Stderr = &stdout, &stderr
				if err := cmd.Run(); err != nil {
					t.Fatalf("%v %v\n%s%s", cmd.Args, err, stdout.Bytes(), stderr.Bytes())
				}
				for _, want := range tt.want {
					if extra == nil && !strings.Contains(stdout.String(), want) {
						t.Errorf("%v printed\n%s\nwant %q", cmd.Args, stdout.String(), want)
					}
				}
			}
		})
	}
}

// makeExecutable gives the copied programs the mode that os.CopyFS does not keep.
func makeExecutable(t *testing.T, from, to string) {
	t.Helper()
	scripts, err := filepath.Glob(filepath.Join(from, "agents", "*"))
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no agents in %s: %v", from, err)
	}
	for _, s := range scripts {
		if err := os.Chmod(filepath.Join(to, "agents", filepath.Base(s)), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}
