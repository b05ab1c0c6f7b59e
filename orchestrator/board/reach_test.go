package board

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// byRoot is a place that is entered by os.Root.
func byRoot(p *Place) *Place {
	other := *p
	other.way = enterRoot
	return &other
}

// checkReach compares what a path leads to with what os.Root makes of it.
func checkReach(t *testing.T, p *Place, name string) {
	t.Helper()
	said := func(err error) string {
		if err == nil {
			return ""
		}
		return err.Error() + " hint: " + hintOf(err)
	}
	got, err := p.Resolve(name)
	want, wantErr := byRoot(p).Resolve(name)
	if got != want || said(err) != said(wantErr) || errors.Is(err, fs.ErrNotExist) != errors.Is(wantErr, fs.ErrNotExist) {
		t.Fatalf("Resolve(%q) = %+v, %v, want %+v, %v", name, got, err, want, wantErr)
	}
	task, err := p.ReadTask(name)
	wantTask, wantErr := byRoot(p).ReadTask(name)
	if said(err) != said(wantErr) || err == nil && *task != *wantTask {
		t.Fatalf("ReadTask(%q) = %+v, %v, want %+v, %v", name, task, err, wantTask, wantErr)
	}
	for _, other := range []string{"tasks/a.md", "root.md", "linked.md"} {
		if got, want := p.Same(name, other), byRoot(p).Same(name, other); got != want {
			t.Fatalf("Same(%q, %q) = %v, want %v", name, other, got, want)
		}
	}
}

var reachNames = []string{"a.md", "tasks/a.md", "../root.md", "both.md", "same.md", "linked.md", "escape.md", "absolute.md", "up/out.md", "up/repo/root.md", "loop", "loop/x", "dangling",
	"dangling/x", "root.md/x", "tasks", "tasks/", "tasks/../root.md", "x/../root.md", ".", "..", "../..", "fuzz", "fuzz/a.md", "fuzz/../root.md", "tasks/fuzz", "/", "/etc/passwd", "a\x00", "ümläut ü.md", ".git",
	strings.Repeat("x", 300), strings.Repeat("d/", 3000) + "x"}

var reachTargets = []string{"tasks", "tasks/a.md", "..", "../out.md", "../repo/root.md", "/", ".", "fuzz", "nothing", "nothing/../root.md", "root.md/../root.md", "tasks/", "root.md/", "./tasks/../tasks/./a.md",
	"tasks/../../repo/root.md", "/proc/self/root/etc", "$TOP/repo/tasks", "$TOP/out.md"}

// TestReadTasksIsReadTask: of many paths at once the same is said as of one after the other.
func TestReadTasksIsReadTask(t *testing.T) {
	_, repo, p := repository(t)
	names := slices.Repeat(reachNames, 3)
	read := p.ReadTasks(names)
	for i, name := range names {
		want, wantErr := p.ReadTask(name)
		if got, err := read[i].Task, read[i].Err; fmt.Sprint(err) != fmt.Sprint(wantErr) || err == nil && *got != *want {
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

func TestReachIsRoots(t *testing.T) {
	top, repo, p := repository(t)
	for _, target := range reachTargets {
		for _, link := range []string{"fuzz", "tasks/fuzz"} {
			relink(t, filepath.Join(repo, link), strings.ReplaceAll(target, "$TOP", top))
		}
		for _, name := range append(reachNames, filepath.Join(repo, "root.md"), filepath.Join(repo, "fuzz", "a.md"), filepath.Join(top, "out.md")) {
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
		t.Skip(err) // no target that a link may have
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

// A file that cannot be read is there all the same.
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

// A folder that took the work directory's place is another one, even if it looks the same.
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
	for _, p := range []*Place{p, byRoot(p)} {
		_, err := p.Resolve("a.md")
		var f *FileError
		if !errors.As(err, &f) || !errors.Is(err, errMoved) || f.Hint() == "" {
			t.Errorf("Resolve in another folder = %v, want a *FileError with a hint", err)
		}
		if _, err := p.ReadTask("a.md"); !errors.Is(err, errMoved) {
			t.Errorf("ReadTask in another folder = %v, want %v", err, errMoved)
		}
		if p.Same("a.md", "k.md") {
			t.Error("two files of another folder are the same")
		}
	}
	if err := os.RemoveAll(work); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Resolve("a.md"); !errors.Is(err, fs.ErrNotExist) || hintOf(err) == "" {
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
			_ = q.Same(name, "a.md")
		}
	}
	if after := count(); after != before {
		t.Errorf("%d descriptors are open, %d were before", after, before)
	}
}

func BenchmarkReadTask(b *testing.B) {
	dir := tree(b, "k.md", "tasks/000001-the-name-of-a-task.md")
	for name, way := range map[string]func(*Place) (reach, error){"root": enterRoot, "default": defaultWay()} {
		b.Run(name, func(b *testing.B) {
			p := openPlace(b, dir, filepath.Join(dir, "k.md"))
			p.way = way
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.ReadTask("tasks/000001-the-name-of-a-task.md"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
