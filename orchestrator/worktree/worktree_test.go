package worktree_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kanban-run/orchestrator/worktree"
)

// project is a git repository with a commit, in a folder of its own.
type project struct {
	t   *testing.T
	dir string
}

func newProject(t *testing.T) project {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git here")
	}
	p := project{t, t.TempDir()}
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	p.git("init", "-q")
	p.write("main.go", "package main\n")
	p.write("tasks/1.md", "# Task\n\n## Work Log\n")
	p.write(".gitignore", "build/\n")
	p.git("add", "-A")
	p.git("commit", "-q", "-m", "begin")
	return p
}

func (p project) git(args ...string) {
	p.t.Helper()
	args = append([]string{"-C", p.dir, "-c", "user.name=n", "-c", "user.email=n@example.com"}, args...)
	if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
		p.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

func (p project) write(name, text string) {
	p.t.Helper()
	path := filepath.Join(p.dir, name)
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o644)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p project) hash() string {
	return worktree.Tree{Dir: p.dir, Calls: calls(p.t), Ignore: func(name string) bool { return name == "kanban.yaml" },
		Part: func(name string, text []byte) []byte {
			head, _, _ := bytes.Cut(text, []byte("## Work Log"))
			return head
		}}.Hash(context.Background())
}

// TestHash: what git sees of a project identifies it, but for what does not count.
func TestHash(t *testing.T) {
	for _, tt := range []struct {
		name    string
		change  func(p project)
		changes bool
	}{
		{"nothing", func(project) {}, false},
		{"a tracked file", func(p project) { p.write("main.go", "package other\n") }, true},
		{"a new file", func(p project) { p.write("new.go", "package main\n") }, true},
		{"a file that is gone", func(p project) { _ = os.Remove(filepath.Join(p.dir, "main.go")) }, true},
		{"a mode", func(p project) { _ = os.Chmod(filepath.Join(p.dir, "main.go"), 0o755) }, true},
		{"a link", func(p project) { _ = os.Symlink("main.go", filepath.Join(p.dir, "link")) }, true},
		{"a FIFO is not waited for", func(p project) { _ = exec.Command("mkfifo", filepath.Join(p.dir, "fifo")).Run() }, false},
		{"a commit", func(p project) { p.git("commit", "-q", "--allow-empty", "-m", "empty") }, false},
		{"a touched file", func(p project) {
			later := time.Now().Add(time.Hour)
			_ = os.Chtimes(filepath.Join(p.dir, "main.go"), later, later)
		}, false},
		{"an ignored file", func(p project) { p.write("build/out", "x") }, false},
		{"the board", func(p project) { p.write("kanban.yaml", "current: x\n") }, false},
		{"a work log", func(p project) { p.write("tasks/1.md", "# Task\n\n## Work Log\n### Entry\n") }, false},
		{"a work log that is committed", func(p project) {
			p.write("tasks/1.md", "# Task\n\n## Work Log\n### Entry\n")
			p.git("commit", "-q", "-a", "-m", "log")
		}, false},
		{"a task", func(p project) { p.write("tasks/1.md", "# Another task\n\n## Work Log\n") }, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newProject(t)
			before := p.hash()
			tt.change(p)
			if after := p.hash(); before == "" || after == "" || (after != before) != tt.changes {
				t.Errorf("%q, then %q", before, after)
			}
		})
	}
}

// TestCommit: what is committed is what it was before.
func TestCommit(t *testing.T) {
	p := newProject(t)
	p.write("new.sh", "echo\n")
	_ = os.Chmod(filepath.Join(p.dir, "new.sh"), 0o755)
	p.write("main.go", "package other\n")
	_ = os.Symlink("main.go", filepath.Join(p.dir, "link"))
	before := p.hash()
	for _, step := range [][]string{{"add", "-A"}, {"commit", "-q", "-m", "all"}, {"commit", "-q", "--amend", "-m", "again"}} {
		if p.git(step...); before == "" || p.hash() != before {
			t.Errorf("git %s makes another state", step)
		}
	}
}

// TestPart: of a file only a part counts.
func TestPart(t *testing.T) {
	p := newProject(t)
	p.write("tasks/1.md", "# Task\n\n## Work Log\nfirst\n")
	before := p.hash()
	p.write("tasks/1.md", "# Task\n\n## Work Log\nfirst\nsecond\n")
	if p.hash() != before {
		t.Error("a longer work log is another state")
	}
	p.git("add", "-A")
	if p.hash() != before {
		t.Error("a file that is added to the index is another state")
	}
	p.write("tasks/1.md", "# Task, more precise\n\n## Work Log\nfirst\nsecond\n")
	if p.hash() == before {
		t.Error("another task is the same state")
	}
}

// TestSkipWorktree: a file that git is told to leave out of its look counts as it is on disk.
func TestSkipWorktree(t *testing.T) {
	p := newProject(t)
	p.git("update-index", "--skip-worktree", "main.go")
	before := p.hash()
	p.write("main.go", "package main // changed\n")
	changed := p.hash()
	if before == "" || changed == before {
		t.Errorf("a change of it: %q, then %q", before, changed)
	}
	if err := os.Remove(filepath.Join(p.dir, "main.go")); err != nil {
		t.Fatal(err)
	}
	if gone := p.hash(); gone == "" || gone == changed {
		t.Errorf("without it: %q", gone)
	}
}

// TestUnknown: where git cannot tell the state, it is not known, and not taken for unchanged.
func TestUnknown(t *testing.T) {
	for name, prepare := range map[string]func(p project) string{
		"no repository": func(p project) string { return p.t.TempDir() },
		"an ignored folder": func(p project) string {
			p.write("build/project/x", "")
			return filepath.Join(p.dir, "build/project")
		},
		"a repository within": func(p project) string {
			p.git("init", "-q", "inner")
			p.write("inner/x", "")
			return p.dir
		},
		"a gitlink": func(p project) string {
			p.git("init", "-q", "lib")
			p.write("lib/x", "")
			inner := project{p.t, filepath.Join(p.dir, "lib")}
			inner.git("add", "-A")
			inner.git("commit", "-q", "-m", "x")
			p.git("add", "lib")
			p.git("commit", "-q", "-m", "link")
			return p.dir
		},
		"a file that git leaves alone": func(p project) string {
			p.git("update-index", "--assume-unchanged", "main.go")
			return p.dir
		},
		"broken":      func(p project) string { p.write(".git/HEAD", "garbage"); return p.dir },
		"bare":        func(p project) string { return filepath.Join(p.dir, ".git") },
		"no git here": func(p project) string { p.t.Setenv("PATH", p.t.TempDir()); return p.dir },
	} {
		t.Run(name, func(t *testing.T) {
			p := newProject(t)
			if got := (worktree.Tree{Dir: prepare(p), Calls: calls(t)}).Hash(context.Background()); got != "" {
				t.Errorf("the state is %q", got)
			}
		})
	}
}

// TestSubfolder: the whole repository counts, also for a board in a part of it.
// Paths are those from there.
func TestSubfolder(t *testing.T) {
	p := newProject(t)
	p.write("app/kanban.yaml", "x")
	p.write("app/x.go", "package app\n")
	var names []string
	hash := func() string {
		names = nil
		return worktree.Tree{Dir: filepath.Join(p.dir, "app"), Calls: calls(p.t), Ignore: func(name string) bool {
			names = append(names, name)
			return name == "kanban.yaml"
		}}.Hash(context.Background())
	}
	before := hash()
	if !slices.Contains(names, "kanban.yaml") || !slices.Contains(names, "x.go") {
		t.Errorf("%q", names)
	}
	p.write("app/kanban.yaml", "y")
	if before == "" || hash() != before {
		t.Error("the board counts")
	}
	if p.write("main.go", "package other\n"); hash() == before || !strings.Contains(strings.Join(names, " "), "../main.go") {
		t.Errorf("a file outside does not count: %q", names)
	}
}

// TestStop: the end of the run ends the look.
func TestStop(t *testing.T) {
	p := newProject(t)
	stop, cancel := context.WithCancel(t.Context())
	cancel()
	if got := (worktree.Tree{Dir: p.dir, Calls: calls(t)}).Hash(stop); got != "" {
		t.Errorf("%q", got)
	}
}

// TestUnborn: a repository without a commit has a state, too.
func TestUnborn(t *testing.T) {
	p := newProject(t)
	p.git("checkout", "-q", "--orphan", "other")
	before := p.hash()
	if p.write("new.go", "package main\n"); before == "" || p.hash() == before {
		t.Errorf("%q, and the same with a new file", before)
	}
}

// TestNothingIsStarted: a setting of the repository starts no program, but for a filter, which git
// cannot do without. That gets no variable of this program.
func TestNothingIsStarted(t *testing.T) {
	p := newProject(t)
	t.Setenv("MY_TOKEN", "hidden")
	log := filepath.Join(t.TempDir(), "started")
	p.write(".git/spy.sh", "#!/bin/sh\necho \"$1 $MY_TOKEN\" >> "+log+"\ncat\n")
	spy := filepath.Join(p.dir, ".git/spy.sh")
	if err := os.Chmod(spy, 0o755); err != nil {
		t.Fatal(err)
	}
	p.write(".git/info/attributes", "* filter=spy diff=spy\n")
	for _, name := range []string{"core.fsmonitor", "diff.spy.textconv", "diff.spy.command", "diff.external", "core.pager"} {
		p.git("config", name, spy+" "+name)
	}
	p.git("config", "filter.spy.clean", spy+" filter")
	p.write("main.go", "package changed\n")
	if p.hash() == "" {
		t.Error("the state is not known")
	}
	started, _ := os.ReadFile(log)
	if said := strings.ReplaceAll(string(started), "filter \n", ""); said != "" {
		t.Errorf("started: %q", said)
	}
	_ = exec.Command("git", "-C", p.dir, "status").Run() // the monitor fails
	if started, err := os.ReadFile(log); err != nil || !strings.Contains(string(started), "core.fsmonitor hidden") {
		t.Errorf("git status starts nothing either, so that nothing was tested: %q", started)
	}
}

// calls is a folder for calls of git, beside the project.
func calls(t *testing.T) string { return filepath.Join(t.TempDir(), "calls") }

// TestIsCommitted: a checkout leaves the times that git has noted. Whoever writes the same bytes again does not, and the
// file is no longer as the last commit has left it.
func TestIsCommitted(t *testing.T) {
	p := newProject(t)
	isCommitted := func() bool {
		return worktree.Tree{Dir: p.dir, Calls: calls(t)}.IsCommitted(t.Context(), "main.go")
	}
	if !isCommitted() {
		t.Error("a file as it was committed differs")
	}
	if left := []worktree.File{{Name: "main.go", State: "as an agent left it"}}; !(worktree.Tree{Dir: p.dir, Calls: calls(t)}).AreGone(t.Context(), left) {
		t.Error("work is not gone in a checkout")
	}
	if err := os.Chtimes(filepath.Join(p.dir, "main.go"), time.Now(), time.Now().Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	if isCommitted() {
		t.Error("a file that was written again is as it was committed")
	}
	left := []worktree.File{{Name: "main.go", State: "as an agent left it"}}
	if (worktree.Tree{Dir: p.dir, Calls: calls(t)}).AreGone(t.Context(), left) {
		t.Error("work is gone where somebody has written a file again")
	}
}

// TestLeavesNoFolder: a question leaves nothing in the folder for temporary files, also of a folder .git that is no repository.
func TestLeavesNoFolder(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	p := newProject(t)
	empty := t.TempDir()
	if err := os.Mkdir(filepath.Join(empty, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{p.dir, empty, t.TempDir()} {
		tree := worktree.Tree{Dir: dir}
		tree.Ignored(t.Context(), []string{filepath.Join(dir, "main.go")})
		tree.TextAt(t.Context(), "HEAD", filepath.Join(dir, "main.go"))
		tree.Hash(t.Context())
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}
