package worktree_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kanban-run/orchestrator/worktree"
)

// TestShare: trees that share ask for the repository once, until its settings change, and see new
// patterns all the same.
func TestShare(t *testing.T) {
	p := newProject(t)
	started := countGits(t)
	share := &worktree.Share{}
	left := func() (names []string, gits []string) {
		tree := worktree.Tree{Dir: p.dir, Calls: calls(t), Share: share}
		for _, f := range tree.Left(t.Context(), 10) {
			names = append(names, f.Name)
		}
		return names, started()
	}
	p.write("new.go", "package main\n")
	p.write("main.go", "package changed\n")
	for _, tt := range []struct {
		name        string
		change      func()
		names, gits []string
	}{
		{"the first look", func() {}, []string{"main.go", "new.go"}, []string{"rev-parse", "config", "ls-files"}},
		{"the next", func() {}, []string{"main.go", "new.go"}, []string{"ls-files"}},
		{"another pattern", func() { p.write(".git/info/exclude", "new.go\n") }, []string{"main.go"}, []string{"ls-files"}},
		{"another setting", func() { p.git("config", "core.fileMode", "false"); started() }, []string{"main.go"},
			[]string{"rev-parse", "config", "ls-files"}},
	} {
		tt.change()
		if names, gits := left(); !slices.Equal(names, tt.names) || !slices.Equal(gits, tt.gits) {
			t.Errorf("%s: %q by %q, want %q by %q", tt.name, names, gits, tt.names, tt.gits)
		}
	}
}

// countGits returns a function that returns the commands of git that were called since it was called last.
func countGits(t *testing.T) func() []string {
	t.Helper()
	real, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	log := filepath.Join(dir, "log")
	script := "#!/bin/sh\nfor word; do case $word in rev-parse | config | ls-files | check-ignore) echo $word >>'" + log +
		"'; break ;; esac; done\nexec '" + real + "' \"$@\"\n"
	if err := os.WriteFile(filepath.Join(dir, "git"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	return func() []string {
		text, _ := os.ReadFile(log) // an error means none was called
		_ = os.Remove(log)
		return strings.Fields(string(text))
	}
}
