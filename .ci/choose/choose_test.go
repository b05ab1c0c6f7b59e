package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestDecide: a stage is left out only where nothing of its closure and of its files has changed.
func TestDecide(t *testing.T) {
	s := stage{"test-browser", nil, []string{".ci/browser/", "cmd/kanban-run/view.go"}}
	closure := map[string]bool{"orchestrator/page": true, "orchestrator/flow": false, "docs": false}
	tests := []struct {
		name    string
		changed changes
		want    bool
	}{
		{"no known commit", changes{why: "none"}, true},
		{"nothing", changes{known: true}, false},
		{"a file of its own", changes{known: true, files: []string{".ci/browser/view_test.go"}}, true},
		{"a package", changes{known: true, files: []string{"docs/a.md", "orchestrator/page/page.css"}}, true},
		{"a test of that package", changes{known: true, files: []string{"orchestrator/page/page_test.go"}}, true},
		{"testdata of that package", changes{known: true, files: []string{"orchestrator/page/testdata/x/y.html"}}, true},
		{"a package that it imports", changes{known: true, files: []string{"orchestrator/flow/state.go"}}, true},
		{"a test of a package that it imports", changes{known: true, files: []string{"orchestrator/flow/state_test.go"}}, false},
		{"testdata of a package that it imports", changes{known: true, files: []string{"orchestrator/flow/testdata/x"}}, false},
		{"another package", changes{known: true, files: []string{"orchestrator/gitstore/save.go", "cmd/kanban-run/run.go"}}, false},
		{"a page", changes{known: true, files: []string{"docs/view.md", "README.md"}}, false},
		{"the versions of modules", changes{known: true, files: []string{"go.mod"}}, true},
		{"how stages are chosen", changes{known: true, files: []string{".ci/choose/stages.go"}}, true},
	}
	for _, tt := range tests {
		if got, why := s.decide(tt.changed, closure); got != tt.want || why == "" {
			t.Errorf("%s: decide = %t, %q, want %t", tt.name, got, why, tt.want)
		}
	}
}

// TestStagesAreThere: each stage is a target of the Makefile, its packages are there, and so are its files.
func TestStagesAreThere(t *testing.T) {
	t.Chdir("../..")
	makefile, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range stages() {
		if !strings.Contains(string(makefile), "\n"+s.target+": ") {
			t.Errorf("the Makefile has no target %s", s.target)
		}
		closure, err := closureOf(s.packages)
		if err != nil {
			t.Fatal(err)
		}
		for _, pattern := range s.packages {
			folder := strings.TrimSuffix(strings.TrimPrefix(pattern, "./"), "/...")
			if !closure[folder] {
				t.Errorf("%s: %s is not in its closure", s.target, pattern)
			}
		}
		for _, prefix := range s.files {
			if found, err := filepath.Glob(prefix + "*"); len(found) == 0 {
				t.Errorf("%s: there is no file %s* (%v)", s.target, prefix, err)
			}
		}
	}
}

// TestClosure: what an adapter imports and what its tests import is in its closure.
func TestClosure(t *testing.T) {
	t.Chdir("../..")
	closure, err := closureOf([]string{"./orchestrator/agent/..."})
	if err != nil {
		t.Fatal(err)
	}
	for folder, own := range map[string]bool{"orchestrator/agent/codex": true, "orchestrator/contract": false, "orchestrator/proc": false} {
		if got, ok := closure[folder]; !ok || got != own {
			t.Errorf("closure[%s] = %t, %t, want %t, true", folder, got, ok, own)
		}
	}
	if _, ok := closure["orchestrator/page"]; ok {
		t.Error("an adapter does not import orchestrator/page")
	}
}

// TestChangedSince: commits, the index, the work tree, new and removed files count; a commit that is not there
// is not taken for no change.
func TestChangedSince(t *testing.T) {
	t.Chdir(t.TempDir())
	run := func(args ...string) string {
		t.Helper()
		out, err := exec.Command("git", append([]string{"-c", "user.name=n", "-c", "user.email=n@example.com"}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	write := func(names ...string) {
		t.Helper()
		for _, name := range names {
			if err := os.WriteFile(name, []byte(name+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	run("init", "-q")
	write("same", "removed", "moved")
	run("add", "-A")
	run("commit", "-q", "-m", "begin")
	begin := run("rev-parse", "HEAD")
	run("mv", "moved", "to")
	write("committed")
	run("add", "-A")
	run("commit", "-q", "-m", "go on")
	run("rm", "-q", "removed")
	write("new file")
	got, err := changedSince(begin)
	if want := []string{"committed", "moved", "new file", "removed", "to"}; err != nil || !got.known || !slices.Equal(slices.Sorted(slices.Values(got.files)), want) {
		t.Errorf("changedSince(begin) = %+v, %v, want %q", got, err, want)
	}
	for _, commit := range []string{"", strings.Repeat("0", 40)} {
		if got, err := changedSince(commit); err != nil || got.known || got.why == "" {
			t.Errorf("changedSince(%q) = %+v, %v, want none known, and why", commit, got, err)
		}
	}
}

// TestChangedPackages: what is fuzzed for longer is what has changed, and all where that is not known.
func TestChangedPackages(t *testing.T) {
	files := []string{"README.md", "roles/parse.go", "orchestrator/board/testdata/fuzz/FuzzParse/1", "orchestrator/board/board.go", "orchestrator/page/page.css"}
	if got, want := changedPackages(changes{known: true, files: files}), []string{"./orchestrator/board", "./roles"}; !slices.Equal(got, want) {
		t.Errorf("changedPackages = %q, want %q", got, want)
	}
	for _, c := range []changes{{}, {known: true, files: []string{"go.sum"}}} {
		if got := changedPackages(c); !slices.Equal(got, []string{"all"}) {
			t.Errorf("changedPackages(%+v) = %q, want all", c, got)
		}
	}
}

// TestStartsGoroutine: each way to start one is found, and a package without is left out.
func TestStartsGoroutine(t *testing.T) {
	for body, want := range map[string]bool{
		"go f()": true, "wg.Go(f)": true, "time.AfterFunc(1, f)": true, "start := wg.Go; start(f)": true, "t.Parallel()": true, "f(); x.Run()": false,
	} {
		path := filepath.Join(t.TempDir(), "x.go")
		if err := os.WriteFile(path, []byte("package x\nfunc y() { "+body+" }\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if got, err := startsGoroutine(path); got != want || err != nil {
			t.Errorf("startsGoroutine(%s) = %t, %v, want %t", body, got, err, want)
		}
	}
}

// TestConcurrentPackages: the race detector is left out only where no file of the test's program starts a goroutine.
func TestConcurrentPackages(t *testing.T) {
	t.Chdir("../..")
	got, err := concurrentPackages()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"orchestrator/proc": true, "cmd/kanban-run": true, "orchestrator/inbox": true, "orchestrator/flow": false, "orchestrator/contract": false} {
		if slices.Contains(got, "kanban-run/"+name) != want {
			t.Errorf("%s: want %t, in %q", name, want, got)
		}
	}
}
