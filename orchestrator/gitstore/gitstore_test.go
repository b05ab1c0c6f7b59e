package gitstore_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kanban-run/orchestrator/gitstore"
)

// clone is a repository with a board.
type clone struct {
	*testing.T
	dir     string
	options gitstore.Options
	notices []string
}

// fixtures is a folder that TestMain makes and removes.
var fixtures string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "gitstore")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fixtures = dir
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// newClone returns a repository with a board, a task and a commit, and a bare
// repository beside it as its origin.
func newClone(t *testing.T) *clone {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	t.Setenv("HOME", t.TempDir())
	return copyOf(t, "first", func() *clone {
		c := &clone{T: t, dir: t.TempDir()}
		c.git("init", "-q", "-b", "main", "repo")
		c.git("init", "-q", "-b", "main", "--bare", "far")
		c.dir = filepath.Join(c.dir, "repo")
		c.add("../far/config", "[receive]\n\tautogc = false\n") // for each push it would be one process more
		c.add(".git/config", "[remote \"origin\"]\n\turl = ../far\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n")
		c.write("kanban.yaml", "current: tasks/1.md\n")
		c.write("tasks/1.md", "Do it.\n")
		c.commit("begin")
		c.git("push", "-q", "origin", "main")
		return c
	})
}

// newSaved returns a clone whose checkpoint was made in another folder.
func newSaved(t *testing.T) *clone {
	t.Helper()
	first := newClone(t)
	return copyOf(t, "saved", func() *clone {
		first.journal("one\n")
		first.save(first.open())
		return first
	})
}

// copyOf returns a copy of a clone and its origin, which the first test makes that needs them: a
// copy takes no process, and twenty would be started for each test.
func copyOf(t *testing.T, name string, begin func() *clone) *clone {
	t.Helper()
	top := filepath.Join(fixtures, name)
	if _, err := os.Stat(top); err != nil {
		if err := os.CopyFS(top, os.DirFS(filepath.Dir(begin().dir))); err != nil { // which may lie on another disk
			t.Fatal(err)
		}
	}
	c := &clone{T: t, dir: filepath.Join(t.TempDir(), "repo")}
	if err := os.CopyFS(filepath.Dir(c.dir), os.DirFS(top)); err != nil {
		t.Fatal(err)
	}
	c.describe()
	return c
}

func (c *clone) describe() {
	c.options = gitstore.Options{Dir: c.dir, Board: filepath.Join(c.dir, "kanban.yaml"), Runs: filepath.Join(c.dir, ".kanban-run/runs/kanban.yaml"),
		Kept: []string{"journal.jsonl", "inputs"}, Remote: "origin", Environ: os.Environ(), AgentEnv: os.Environ(), HasSecret: func(text []byte) bool { return bytes.Contains(text, []byte("hunter2")) },
		Notice: func(text string) { c.notices = append(c.notices, text) }}
}

// another is a clone of the origin.
func (c *clone) another() *clone {
	c.Helper()
	other := &clone{T: c.T, dir: c.TempDir()}
	other.git("clone", "-q", filepath.Join(filepath.Dir(c.dir), "far"), "again")
	other.dir = filepath.Join(other.dir, "again")
	other.describe()
	return other
}

// testGit is a call of git by a test, with an author and without maintenance.
func testGit(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "protocol.file.allow=always", "-c", "maintenance.auto=false"}, args...)...)
	cmd.Dir = dir
	return cmd
}

func (c *clone) git(args ...string) string {
	c.Helper()
	out, err := testGit(c.dir, args...).CombinedOutput()
	if err != nil {
		c.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

func (c *clone) commit(message string) {
	c.Helper()
	c.git("add", "-A")
	c.git("commit", "-q", "--allow-empty", "-m", message)
}

func (c *clone) write(name, text string) {
	c.Helper()
	path := filepath.Join(c.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		c.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		c.Fatal(err)
	}
}

// add appends a text to a file that is there.
func (c *clone) add(name, text string) {
	c.Helper()
	before, err := os.ReadFile(filepath.Join(c.dir, name))
	if err != nil {
		c.Fatal(err)
	}
	c.write(name, string(before)+text)
}

func (c *clone) read(name string) string {
	text, err := os.ReadFile(filepath.Join(c.dir, name))
	if err != nil {
		return "(" + err.Error() + ")"
	}
	return string(text)
}

// journal is what the run has journaled.
func (c *clone) journal(text string) {
	c.write(".kanban-run/runs/.gitignore", "*\n")
	c.write(".kanban-run/runs/kanban.yaml/journal.jsonl", text)
}

func (c *clone) open() *gitstore.Store {
	c.Helper()
	s, err := gitstore.Open(c.Context(), c.options)
	if err != nil {
		c.Fatal(err)
	}
	return s
}

// TestKilledIsNoRefusal: a git that was killed while it looked at the name of the branch does not say that the name is bad.
func TestKilledIsNoRefusal(t *testing.T) {
	c := newClone(t)
	program, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	c.write("../bin/git", "#!/bin/sh\ncase $* in *check-ref-format*) kill -KILL $$ ;; esac\nexec "+program+" \"$@\"\n")
	if err := os.Chmod(filepath.Join(c.dir, "../bin/git"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", filepath.Join(filepath.Dir(c.dir), "bin")+":"+os.Getenv("PATH"))
	_, err = gitstore.Open(t.Context(), c.options)
	if err == nil || strings.Contains(err.Error(), "can be no branch") || !strings.Contains(err.Error(), "killed") {
		t.Errorf("Open: %v, want that git was killed", err)
	}
}

// waits says whether the last checkpoint is not in the bare repository far, or in
// what that was renamed to.
func (c *clone) waits(far string) bool {
	c.Helper()
	if _, err := os.Stat(far); err != nil {
		far += ".gone"
	}
	there, err := os.ReadFile(filepath.Join(far, "refs/heads/board/kanban.yaml"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		c.Fatal(err)
	}
	return strings.TrimSpace(string(there)) != c.tip()
}

// tip returns the last checkpoint.
func (c *clone) tip() string { return strings.TrimSpace(c.read(".git/refs/heads/board/kanban.yaml")) }

func (c *clone) save(s *gitstore.Store) {
	c.Helper()
	if err := s.Save(c.Context(), point); err != nil {
		c.Fatal(err)
	}
}

var final = gitstore.Point{Subject: "kanban.yaml: the run ends", Step: 1, Base: "abc", Last: true}

var point = gitstore.Point{Subject: "kanban.yaml: step 1", Step: 1, Base: "abc", Reply: "ok"}

// TestCheckpoint: a checkpoint holds the work tree byte for byte, whatever the attributes say, and
// of the run's folder what is kept; the user's branch, index and work tree are as they were; a
// fresh clone is brought to it.
func TestCheckpoint(t *testing.T) {
	c := newClone(t)
	c.write(".gitattributes", "*.txt text eol=crlf\n*.id ident\n")
	c.write("kept.txt", "a\nb\n")
	c.commit("more")
	c.git("push", "-q", "origin", "main")
	c.write("new.txt", "mixed\r\nends\n")
	c.write("x.id", "$Id$\n")
	c.write("ignored.log", "noise")
	c.write(".git/info/exclude", "*.log\n")
	c.write("tasks/1.md", "Do it.\nDone.\n")
	if err := os.Symlink("new.txt", filepath.Join(c.dir, "link")); err != nil {
		t.Fatal(err)
	}
	c.journal("one\n")
	c.write(".kanban-run/runs/kanban.yaml/lock", "")
	c.write(".kanban-run/runs/kanban.yaml/inputs/abc", "input")
	before := c.git("status", "--porcelain=v2", "--branch")
	s := c.open()
	c.save(s)
	if after := c.git("status", "--porcelain=v2", "--branch"); after != before {
		t.Errorf("the user sees\n%s\nand saw\n%s", after, before)
	}
	files := c.git("ls-tree", "-r", "--name-only", "board/kanban.yaml")
	for _, name := range []string{"new.txt", "x.id", "tasks/1.md", "link", ".kanban-run/runs/kanban.yaml/journal.jsonl", ".kanban-run/runs/kanban.yaml/inputs/abc"} {
		if !strings.Contains("\n"+files+"\n", "\n"+name+"\n") {
			t.Errorf("the checkpoint lacks %s:\n%s", name, files)
		}
	}
	if strings.Contains(files, "lock") || strings.Contains(files, "ignored.log") || strings.Contains(files, "/git/") {
		t.Errorf("the checkpoint has\n%s", files)
	}
	if message := c.git("log", "-1", "--format=%B", "board/kanban.yaml"); message != "kanban.yaml: step 1\n\nKanban-Step: 1\nKanban-Base: abc\nKanban-Reply: ok" {
		t.Errorf("it says\n%s", message)
	}
	other := c.another()
	if restored, err := other.open().Start(t.Context()); err != nil || restored != c.tip() {
		t.Fatalf("%q %v", restored, err)
	}
	for _, name := range []string{"new.txt", "x.id", "tasks/1.md", ".kanban-run/runs/kanban.yaml/journal.jsonl", ".kanban-run/runs/kanban.yaml/inputs/abc"} {
		if other.read(name) != c.read(name) {
			t.Errorf("%s is %q in the other clone", name, other.read(name))
		}
	}
	if target, err := os.Readlink(filepath.Join(other.dir, "link")); err != nil || target != "new.txt" {
		t.Errorf("the link leads to %s: %v", target, err)
	}
	if restored, err := other.open().Start(t.Context()); err != nil || restored != "" {
		t.Errorf("brought to %q again: %v", restored, err)
	}
}

// TestOnlyKept: of the run's folder a checkpoint holds what is kept alone, whatever a person has committed
// of it, and no longer what is gone.
func TestOnlyKept(t *testing.T) {
	c := newClone(t)
	c.journal("one\n")
	c.write(".kanban-run/runs/kanban.yaml/notes", "mine")
	c.write(".kanban-run/runs/kanban.yaml/inputs/abc", "input")
	c.git("add", "-f", ".kanban-run/runs/kanban.yaml")
	c.git("commit", "-qm", "with a file of the run")
	s := c.open()
	c.save(s)
	holds := func(want string) {
		t.Helper()
		if files := c.git("ls-tree", "-r", "--name-only", "board/kanban.yaml", ".kanban-run/"); files != want {
			t.Errorf("the checkpoint holds\n%s\nwant\n%s", files, want)
		}
	}
	holds(".kanban-run/runs/kanban.yaml/inputs/abc\n.kanban-run/runs/kanban.yaml/journal.jsonl")
	if err := os.RemoveAll(filepath.Join(c.options.Runs, "inputs")); err != nil {
		t.Fatal(err)
	}
	c.save(s)
	holds(".kanban-run/runs/kanban.yaml/journal.jsonl")
}

// TestTwoRunners: of two clones that go on from the same checkpoint exactly one is ahead. What the
// other has done stays in its branch.
func TestTwoRunners(t *testing.T) {
	c := newClone(t)
	c.journal("one\n")
	c.save(c.open())
	other := c.another()
	second := other.open()
	if _, err := second.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	first := c.open()
	c.journal("one\ntwo\n")
	c.save(first)
	other.journal("one\nother\n")
	other.write("mine.txt", "work")
	var ahead *gitstore.AheadError
	if err := second.Save(t.Context(), point); !errors.As(err, &ahead) {
		t.Fatalf("%v, want an AheadError", err)
	}
	if got := other.git("show", "board/kanban.yaml:mine.txt"); got != "work" {
		t.Errorf("its work is %q", got)
	}
	if _, err := other.open().Start(t.Context()); !errors.As(err, &ahead) {
		t.Errorf("the next run: %v", err)
	}
	if _, err := first.Start(t.Context()); err != nil {
		t.Errorf("the winner: %v", err)
	}
}

// TestBehind: a folder whose journal is an older state of the checkpoint's is brought to
// it, also with files that are gone since; one with changes of its own is refused, and
// nothing of it is touched.
func TestBehind(t *testing.T) {
	c := newClone(t)
	c.write("old.txt", "old")
	c.commit("old")
	c.journal("one\n")
	c.save(c.open())
	other := c.another()
	s := other.open()
	if _, err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	other.journal("one\ntwo\n")
	if err := os.Remove(filepath.Join(other.dir, "old.txt")); err != nil {
		t.Fatal(err)
	}
	other.save(s)
	c.write("own.txt", "mine")
	var unfit *gitstore.UnfitError
	if _, err := c.open().Start(t.Context()); !errors.As(err, &unfit) || !strings.Contains(err.Error(), "own.txt") || c.read("own.txt") != "mine" || c.read("old.txt") != "old" {
		t.Fatalf("%v, want that own.txt is named", err)
	}
	if err := os.Remove(filepath.Join(c.dir, "own.txt")); err != nil {
		t.Fatal(err)
	}
	if restored, err := c.open().Start(t.Context()); err != nil || restored == "" || c.read(".kanban-run/runs/kanban.yaml/journal.jsonl") != "one\ntwo\n" {
		t.Fatalf("%q %v", restored, err)
	}
	if _, err := os.Stat(filepath.Join(c.dir, "old.txt")); !os.IsNotExist(err) {
		t.Error("a file that is gone in the checkpoint is there")
	}
}

// TestFarAway: a remote that is not there, or refuses, gets the
// checkpoints later; a person is told.
func TestFarAway(t *testing.T) {
	c := newClone(t)
	far := filepath.Join(filepath.Dir(c.dir), "far")
	c.journal("one\n")
	s := c.open()
	if err := os.Rename(far, far+".gone"); err != nil {
		t.Fatal(err)
	}
	c.save(s)
	if reason := s.TakeFailure(); !c.waits(far) || reason == "" || s.TakeFailure() != "" {
		t.Errorf("%v: %q", c.waits(far), reason)
	}
	if _, err := c.open().Start(t.Context()); err != nil {
		t.Errorf("a run that begins then: %v", err)
	}
	if err := os.Rename(far+".gone", far); err != nil {
		t.Fatal(err)
	}
	hook := filepath.Join(far, "hooks/pre-receive")
	if err := os.WriteFile(hook, []byte("#!/bin/sh\necho no pushes today >&2\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	c.journal("one\ntwo\n")
	if err := s.Save(t.Context(), final); err != nil {
		t.Fatal(err)
	}
	if last := s.TakeFailure(); !c.waits(far) || !strings.Contains(last, "no pushes today") {
		t.Errorf("%v: %q", c.waits(far), last)
	}
	if err := os.Remove(hook); err != nil {
		t.Fatal(err)
	}
	c.journal("one\ntwo\nthree\n")
	if err := s.Save(t.Context(), final); err != nil {
		t.Fatal(err)
	}
	if c.waits(far) || c.git("--git-dir", far, "rev-parse", "board/kanban.yaml") != c.tip() {
		t.Error("the checkpoints have not come to the remote")
	}
}

// TestSecret: a known secret is committed in no file; the file is named, and stays as it is.
func TestSecret(t *testing.T) {
	c := newClone(t)
	c.journal("one\n")
	c.save(c.open())
	c.write("tasks/notes.txt", "the password is hunter2\n")
	var secret *gitstore.SecretError
	if err := c.open().Save(t.Context(), point); !errors.As(err, &secret) || secret.File != "tasks/notes.txt" || c.read("tasks/notes.txt") != "the password is hunter2\n" {
		t.Errorf("%v, want a SecretError of tasks/notes.txt", err)
	}
	if c.git("log", "--all", "--format=%H", "-S", "hunter2") != "" {
		t.Error("it was committed")
	}
	c = newClone(t)
	for i := range 300 {
		c.write(fmt.Sprintf("many/%03d", i), strings.Repeat("words\n", i))
	}
	c.journal("one\n")
	s := c.open()
	for name, text := range map[string]string{ // a file is read in windows where it is larger than 32 MiB
		"one of many":        "hunter2",
		"in a large file":    strings.Repeat("a line of a large file\n", 3<<19) + "hunter2" + strings.Repeat("\nmore", 1<<10),
		"across two windows": strings.Repeat("x", 4<<20-3) + "hunter2" + strings.Repeat("x", 32<<20),
	} {
		c.write("many/150", text)
		secret = nil
		if err := s.Save(t.Context(), point); !errors.As(err, &secret) || secret.File != "many/150" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestRepositories: each kind of repository has checkpoints from which a clone goes
// on, or is refused by name.
func TestRepositories(t *testing.T) {
	for name, kind := range map[string]struct {
		change func(c *clone)
		refuse string // a part of the reason; "": it has checkpoints
	}{
		"plain": {func(*clone) {}, ""},
		"changed files, staged ones, odd names and many": {func(c *clone) {
			c.write("tasks/1.md", "changed")
			c.write("staged", "x")
			c.git("add", "staged")
			for _, name := range []string{"a b", "ä\n", "-q", ":(top)", "\"", "*"} {
				c.write(name, name)
			}
			for i := range 2000 {
				c.write("many/"+strings.Repeat("x", i%50)+string(rune('a'+i%26))+strings.Repeat("y", i/50), "text")
			}
		}, ""},
		"merge under way": {func(c *clone) { conflict(c) }, ""},
		"without a commit": {func(c *clone) {
			c.git("update-ref", "-d", "HEAD")
			c.git("--git-dir", "../far", "update-ref", "-d", "refs/heads/main")
		}, ""},
		"without a remote": {func(c *clone) { c.git("remote", "remove", "origin") }, ""},
		"board below":      {func(c *clone) { below(c) }, ""},
		"worktree":         {func(c *clone) { worktree(c) }, ""},
		"shallow":          {func(c *clone) { again(c, "--depth", "1") }, ""},
		"sha256":           {func(c *clone) { sha256(c) }, ""},
		"detached, packed, with hooks and filters of its own": {func(c *clone) {
			c.git("checkout", "-q", "--detach")
			c.git("repack", "-q", "-a", "-d")
			c.git("pack-refs", "--all")
			for _, hook := range []string{"pre-push", "post-commit", "reference-transaction", "pre-commit", "post-index-change"} {
				c.write(".git/hooks/"+hook, "#!/bin/sh\ntouch \""+c.dir+"/../ran\"\nexit 1\n")
				_ = os.Chmod(filepath.Join(c.dir, ".git/hooks", hook), 0o755)
			}
			c.add(".git/config", "[core]\n\tfsmonitor = \"touch "+c.dir+"/../ran; false\"\n\tautocrlf = true\n")
		}, ""},
		"no repository": {func(c *clone) { _ = os.RemoveAll(filepath.Join(c.dir, ".git")) }, "is in no git repository"},
		"bare":          {func(c *clone) { c.dir = filepath.Join(filepath.Dir(c.dir), "far"); c.describe() }, "without a work tree"},
		"submodule":     {func(c *clone) { submodule(c) }, "sub is a submodule"},
		"sparse": {func(c *clone) {
			c.git("update-index", "--refresh") // git takes away only what it knows to be unchanged
			c.git("sparse-checkout", "set", "--no-cone", "/kanban.yaml")
		}, "the checkout is sparse"},
		"partial": {func(c *clone) { again(c, "--filter=blob:none") }, "partial clone"},
		"ignored": {func(c *clone) {
			c.write("out/kanban.yaml", "current: null\n")
			c.write(".gitignore", "/out/\n")
			c.dir += "/out"
			c.describe()
		}, "is ignored by git"},
		"filter": {func(c *clone) {
			c.write(".gitattributes", "*.bin filter=lfs\n")
			c.write("a.bin", "x")
			c.git("add", "-f", ".gitattributes")
			c.git("-c", "filter.lfs.clean=cat", "add", "a.bin")
		}, "a.bin has the filter lfs"},
		"the branch is checked out":    {func(c *clone) { c.git("checkout", "-q", "-b", "board/kanban.yaml") }, "is checked out"},
		"a branch of another program":  {func(c *clone) { c.git("branch", "board/kanban.yaml") }, "is no checkpoint of this board"},
		"a folder in the branch's way": {func(c *clone) { c.git("branch", "board") }, "there is a branch board"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newClone(t)
			kind.change(c)
			c.journal("one\n")
			s, err := gitstore.Open(t.Context(), c.options)
			if err == nil {
				_, err = s.Start(t.Context())
			}
			if err == nil {
				err = s.Save(t.Context(), point)
			}
			if kind.refuse != "" {
				if err == nil || !strings.Contains(err.Error(), kind.refuse) {
					t.Fatalf("%v, want %q", err, kind.refuse)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(filepath.Join(c.dir, "../ran")); err == nil {
				t.Error("a program of the repository's was started")
			}
			if len(c.notices) > 0 && (name != "without a remote" || !strings.Contains(c.notices[0], "stay in this clone")) {
				t.Fatalf("%q", c.notices)
			}
			goOn(c, s, name != "without a remote")
		})
	}
}

// goOn has another clone, where there is a remote, go on from the
// checkpoint, and compares all files.
func goOn(c *clone, s *gitstore.Store, hasRemote bool) {
	c.Helper()
	c.write("more", "x")
	c.journal("one\ntwo\n")
	c.save(s)
	if !hasRemote {
		return
	}
	other := c.another()
	other.options.Board = filepath.Join(other.dir, strings.TrimPrefix(c.options.Board, c.dir))
	other.options.Runs = filepath.Join(other.dir, strings.TrimPrefix(c.options.Runs, c.dir))
	if restored, err := other.open().Start(c.Context()); err != nil || restored == "" {
		c.Fatalf("%q %v", restored, err)
	}
	if diff := cmp.Diff(c.files(), other.files()); diff != "" {
		c.Errorf("the clones differ:\n%s", diff)
	}
}

// files returns the text of each file of the work tree by its name. The folder of the runs has
// files of its own to be ignored.
func (c *clone) files() map[string]string {
	c.Helper()
	texts := map[string]string{}
	err := filepath.WalkDir(c.dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.Name() == ".git" && e.IsDir():
			return fs.SkipDir
		case e.Name() == ".git" || e.Name() == ".gitignore" || e.IsDir():
			return nil
		}
		text, err := os.ReadFile(path)
		texts[strings.TrimPrefix(path, c.dir)] = string(text)
		return err
	})
	if err != nil {
		c.Fatal(err)
	}
	return texts
}

func conflict(c *clone) {
	c.write("c", "base")
	c.commit("base")
	c.git("checkout", "-q", "-b", "side")
	c.write("c", "side")
	c.git("commit", "-q", "-a", "-m", "side")
	c.git("checkout", "-q", "main")
	c.write("c", "main")
	c.git("commit", "-q", "-a", "-m", "main")
	_ = exec.Command("git", "-C", c.dir, "-c", "user.name=t", "-c", "user.email=t@example.com", "merge", "side").Run() // it conflicts
}

func below(c *clone) {
	c.write("deep/er/kanban.yaml", "current: null\n")
	c.commit("deep")
	c.git("push", "-q", "origin", "main")
	c.options.Dir, c.options.Board = c.dir, filepath.Join(c.dir, "deep/er/kanban.yaml")
}

func worktree(c *clone) {
	c.git("worktree", "add", "-q", "../linked", "--detach")
	c.dir = filepath.Join(filepath.Dir(c.dir), "linked")
	c.describe()
}

// again replaces the clone by one that is made with more arguments.
func again(c *clone, args ...string) {
	far := "file://" + filepath.Join(filepath.Dir(c.dir), "far")
	c.add("../far/config", "[uploadpack]\n\tallowFilter = true\n")
	_ = os.RemoveAll(c.dir)
	c.dir = filepath.Dir(c.dir)
	c.git(append(append([]string{"clone", "-q"}, args...), far, "repo")...)
	c.dir = filepath.Join(c.dir, "repo")
	c.describe()
}

func sha256(c *clone) {
	top := filepath.Dir(c.dir)
	_ = os.RemoveAll(filepath.Join(top, "far"))
	_ = os.RemoveAll(filepath.Join(c.dir, ".git"))
	c.git("init", "-q", "-b", "main", "--object-format=sha256", "--bare", "../far")
	c.git("init", "-q", "-b", "main", "--object-format=sha256")
	c.add(".git/config", "[remote \"origin\"]\n\turl = ../far\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n")
	c.commit("begin")
	c.git("push", "-q", "origin", "main")
}

func submodule(c *clone) {
	c.git("clone", "-q", "../far", "sub")
	c.write(".gitmodules", "[submodule \"sub\"]\n\tpath = sub\n\turl = ../far\n")
	c.commit("sub")
}

func within(c *clone) {
	c.git("init", "-q", "inner")
	c.write("inner/a", "a")
	inner := *c
	inner.dir = filepath.Join(c.dir, "inner")
	inner.commit("a")
}

// TestHostileBranch: a commit of another program on the board's branch is refused, and
// no file of it is written.
func TestHostileBranch(t *testing.T) {
	const trailers = "x\n\nKanban-Step: 1\nKanban-Base: abc\n"
	for name, attack := range map[string]struct {
		change func(c *clone)
		commit string
		want   string
	}{
		"no trailers": {func(c *clone) { c.write("evil", "x") }, "x", "it names no step"},
		"a lock": {func(c *clone) {
			c.write(".kanban-run/runs/kanban.yaml/lock", "x")
			c.git("add", "-f", ".kanban-run/runs/kanban.yaml/lock")
		}, trailers,
			"it has .kanban-run/runs/kanban.yaml/lock"},
		"no journal": {func(c *clone) { c.git("rm", "-q", "-r", ".kanban-run") }, trailers, "is no checkpoint of this board"},
		"another history": {func(c *clone) {
			c.write(".kanban-run/runs/kanban.yaml/journal.jsonl", "other\n")
			c.git("add", "-f", ".kanban-run/runs/kanban.yaml/journal.jsonl")
		}, trailers, "have parted"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newSaved(t)
			evil := &clone{T: t, dir: filepath.Join(filepath.Dir(c.dir), "evil")} // a work tree of the origin
			c.git("--git-dir", "../far", "worktree", "add", "-q", evil.dir, "board/kanban.yaml")
			attack.change(evil)
			evil.commit(attack.commit)
			if _, err := c.open().Start(t.Context()); err == nil || !strings.Contains(err.Error(), attack.want) {
				t.Errorf("%v, want %q", err, attack.want)
			}
			if _, err := os.Stat(filepath.Join(c.dir, "evil")); err == nil {
				t.Error("a file of it was written")
			}
		})
	}
}

// TestHostileTree: a tree that leads out of the work tree, or into .git, is refused by git, and
// nothing is written there.
func TestHostileTree(t *testing.T) {
	for _, name := range []string{".git/hooks/post-checkout", ".GIT/config", "../outside"} {
		c := newSaved(t)
		far := &clone{T: t, dir: filepath.Join(filepath.Dir(c.dir), "far")}
		far.write("payload", "#!/bin/sh\ntouch ran\n")
		blob := far.git("hash-object", "-w", "payload")
		tree := plant(far, name, blob)
		commit := far.git("commit-tree", tree, "-p", "board/kanban.yaml", "-m", "x\n\nKanban-Step: 1\nKanban-Base: abc\n")
		far.write("refs/heads/board/kanban.yaml", commit+"\n")
		other := c.another()
		if _, err := other.open().Start(t.Context()); err == nil {
			t.Errorf("%s is accepted", name)
		}
		if _, err := os.Stat(filepath.Join(other.dir, "..", "outside")); err == nil {
			t.Errorf("%s has led out", name)
		}
		if _, err := os.Stat(filepath.Join(other.dir, ".git/hooks/post-checkout")); err == nil {
			t.Errorf("%s has planted a hook", name)
		}
	}
}

// plant is the tree of the checkpoint with one more file, under a name that git itself would not
// add.
func plant(c *clone, name, blob string) string {
	c.Helper()
	first, rest, below := strings.Cut(name, "/")
	entry := "100755 blob " + blob + "\t" + first
	if below {
		inner := exec.Command("git", "-C", c.dir, "mktree")
		inner.Stdin = strings.NewReader("100755 blob " + blob + "\t" + rest[strings.LastIndex(rest, "/")+1:] + "\n")
		out, err := inner.Output()
		if err != nil {
			c.Fatal(err)
		}
		entry = "040000 tree " + strings.TrimSpace(string(out)) + "\t" + first
	}
	outer := exec.Command("git", "-C", c.dir, "mktree")
	outer.Stdin = strings.NewReader(c.git("ls-tree", "board/kanban.yaml") + "\n" + entry + "\n")
	out, err := outer.Output()
	if err != nil {
		c.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// TestSigned: with checkpoint_signed a checkpoint is signed with the user's key, and gone on from
// only if git trusts its signature.
func TestSigned(t *testing.T) {
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		t.Skip("ssh-keygen is not installed")
	}
	c := newClone(t)
	home := os.Getenv("HOME")
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(home, "key")).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	public, err := os.ReadFile(filepath.Join(home, "key.pub"))
	if err != nil {
		t.Fatal(err)
	}
	settings := "[user]\n\tname = t\n\temail = t@example.com\n\tsigningkey = " + home + "/key\n[gpg]\n\tformat = ssh\n[gpg \"ssh\"]\n\tallowedSignersFile = " + home + "/signers\n"
	for name, text := range map[string]string{".gitconfig": settings, "signers": "t@example.com " + string(public)} {
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c.options.Signed = true
	c.journal("one\n")
	c.save(c.open())
	other := c.another()
	other.options.Signed = true
	if restored, err := other.open().Start(t.Context()); err != nil || restored == "" {
		t.Fatalf("%q %v", restored, err)
	}
	c.options.Signed = false
	c.journal("one\ntwo\n")
	c.save(c.open())
	if _, err := other.open().Start(t.Context()); err == nil || !strings.Contains(err.Error(), "no signature that git trusts") {
		t.Errorf("%v, want that it is not signed", err)
	}
}

// TestStopped: the end of the run ends git.
func TestStopped(t *testing.T) {
	c := newClone(t)
	c.journal("one\n")
	s := c.open()
	stop, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("Ctrl-C"))
	if err := s.Save(stop, point); err == nil || !strings.Contains(err.Error(), "Ctrl-C") {
		t.Errorf("%v, want the cause", err)
	}
}
