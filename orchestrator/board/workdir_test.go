package board

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"kanban-run/orchestrator/failure"
)

// checkReach requires that a resolved path lies in the work directory, and that ReadTask agrees
// with Resolve.
func checkReach(t *testing.T, p *Place, name string) {
	t.Helper()
	ref, err := p.Resolve(name)
	if err == nil {
		real, linkErr := filepath.EvalSymlinks(ref.Abs)
		rel, relErr := filepath.Rel(p.Dir(), real)
		if linkErr != nil || relErr != nil || !filepath.IsLocal(rel) || !ref.Exists {
			t.Fatalf("Resolve(%q) = %+v, which is %s, %v, %v", name, ref, real, linkErr, relErr)
		}
	}
	task, readErr := p.ReadTask(name)
	if err == nil && readErr == nil && task.Ref != ref || err != nil &&
		(readErr == nil || readErr.Error() != err.Error()) {
		t.Fatalf("ReadTask(%q) = %+v, %v, Resolve = %+v, %v", name, task, readErr, ref, err)
	}
	if !p.SameTask(name, name) {
		t.Fatalf("Same(%q, %[1]q) = false", name)
	}
}

var reachNames = []string{"a.md", "tasks/a.md", "../root.md", "both.md", "same.md", "linked.md", "escape.md",
	"absolute.md", "up/out.md", "up/repo/root.md", "loop", "loop/x", "dangling",
	"dangling/x", "root.md/x", "tasks", "tasks/", "tasks/../root.md", "x/../root.md", ".", "..", "../..", "fuzz",
	"fuzz/a.md", "fuzz/../root.md", "tasks/fuzz", "/", "/etc/passwd", "a\x00", "ümläut ü.md", ".git",
	strings.Repeat("x", 300), strings.Repeat("d/", 3000) + "x"}

var reachTargets = []string{"tasks", "tasks/a.md", "..", "../out.md", "../repo/root.md", "/", ".", "fuzz", "nothing",
	"nothing/../root.md", "root.md/../root.md", "tasks/", "root.md/", "./tasks/../tasks/./a.md",
	"tasks/../../repo/root.md", "/proc/self/root/etc", "$TOP/repo/tasks", "$TOP/out.md"}

// TestReadTasksIsReadTask: many paths at once give the results of one at a time.
func TestReadTasksIsReadTask(t *testing.T) {
	_, repo, p := repository(t)
	names := slices.Repeat(reachNames, 3)
	read := p.ReadTasks(names)
	for i, name := range names {
		want, wantErr := p.ReadTask(name)
		if got, err := read[i].Task, read[i].Err; fmt.Sprint(err) != fmt.Sprint(wantErr) || err == nil &&
			!reflect.DeepEqual(got, want) {
			t.Errorf("ReadTasks: %q = %+v, %v, want %+v, %v", name, got, err, want, wantErr)
		}
	}
	if got := p.ReadTasks(nil); len(got) != 0 {
		t.Errorf("ReadTasks(nil) = %v, want nothing", got)
	}
	if err := os.Rename(repo, repo+"2"); err != nil {
		t.Fatal(err)
	}
	for i, r := range p.ReadTasks(names) {
		var lost *FileError
		if r.Task != nil || !errors.As(r.Err, &lost) {
			t.Errorf("without the work directory %q = %+v, %v, want a *FileError", names[i], r.Task, r.Err)
		}
	}
}

func TestReachStaysInside(t *testing.T) {
	top, repo, p := repository(t)
	for _, target := range reachTargets {
		for _, link := range []string{"fuzz", "tasks/fuzz"} {
			relink(t, filepath.Join(repo, link), strings.ReplaceAll(target, "$TOP", top))
		}
		for _, name := range append(reachNames, filepath.Join(repo, "root.md"), filepath.Join(repo, "fuzz", "a.md"),
			filepath.Join(top, "out.md")) {
			checkReach(t, p, name)
		}
	}
}

func relink(t *testing.T, name, target string) {
	t.Helper()
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if err := os.Symlink(target, name); err != nil {
		t.Skip(err) // a target that no link may have
	}
}

func FuzzReach(f *testing.F) {
	for i, name := range reachNames {
		f.Add(name, reachTargets[i%len(reachTargets)])
	}
	f.Fuzz(func(t *testing.T, name, target string) {
		_, repo, p := repository(t)
		relink(t, filepath.Join(repo, "fuzz"), target)
		checkReach(t, p, name)
		checkReach(t, p, "fuzz/"+name)
	})
}

// An unreadable file exists.
func TestReachOfUnreadableFiles(t *testing.T) {
	_, repo, p := repository(t)
	for _, name := range []string{"root.md", "tasks/sub"} {
		if err := os.Chmod(filepath.Join(repo, name), 0); err != nil {
			t.Fatal(err)
		}
		defer os.Chmod(filepath.Join(repo, name), 0o755)
	}
	checkReach(t, p, "root.md")
	checkReach(t, p, "sub/b.md")
}

// A new folder in the place of the work directory is refused, even if it looks the same.
func TestReachRefusesAnotherFolder(t *testing.T) {
	top := tree(t, "work/k.md", "work/a.md", "other/k.md", "other/a.md")
	work := filepath.Join(top, "work")
	p := openPlace(t, work, filepath.Join(work, "k.md"))
	if _, err := p.Resolve("a.md"); err != nil {
		t.Fatal(err)
	}
	for _, rename := range [][2]string{{"work", "away"}, {"other", "work"}} {
		if err := os.Rename(filepath.Join(top, rename[0]), filepath.Join(top, rename[1])); err != nil {
			t.Fatal(err)
		}
	}
	_, err := p.Resolve("a.md")
	var f *FileError
	if !errors.As(err, &f) || !errors.Is(err, errMoved) || f.Hint() == "" {
		t.Errorf("Resolve in another folder = %v, want a *FileError with a hint", err)
	}
	if _, err := p.ReadTask("a.md"); !errors.Is(err, errMoved) {
		t.Errorf("ReadTask in another folder = %v, want %v", err, errMoved)
	}
	if p.SameTask("a.md", "k.md") {
		t.Error("two files of another folder are the same")
	}
	if err := os.RemoveAll(work); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Resolve("a.md"); !errors.Is(err, fs.ErrNotExist) || failure.HintOf(err) == "" {
		t.Errorf("Resolve without a work directory = %v, want fs.ErrNotExist with a hint", err)
	}
}

// A thousand boards may wait side by side.
func TestPlacesHoldNoDescriptors(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("descriptors are counted in /proc")
	}
	count := func() int {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	_, _, p := repository(t)
	before := count()
	for range 20 {
		q := openPlace(t, p.Dir(), filepath.Join(p.Dir(), "tasks", "k.md"))
		r := NewReader(filepath.Join(p.Dir(), "tasks", "a.md"), "k.md")
		for _, name := range reachNames {
			_, _ = q.Resolve(name)
			_, _ = q.ReadTask(name)
			_, _ = r.Read()
			_ = q.SameTask(name, "a.md")
		}
	}
	if after := count(); after != before {
		t.Errorf("%d descriptors are open, %d were before", after, before)
	}
}

func BenchmarkReadTask(b *testing.B) {
	dir := tree(b, "k.md", "tasks/000001-the-name-of-a-task.md")
	p := openPlace(b, dir, filepath.Join(dir, "k.md"))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.ReadTask("tasks/000001-the-name-of-a-task.md"); err != nil {
			b.Fatal(err)
		}
	}
}
