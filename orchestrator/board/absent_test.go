package board

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// checkAbsent holds Absent against Resolve and returns how many paths are certain.
func checkAbsent(t *testing.T, p *Place, paths []string) (certain int) {
	t.Helper()
	absent := p.Absent(paths)
	for i, name := range paths {
		if !absent(i) {
			continue
		}
		certain++
		if _, err := p.Resolve(name); !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("%q is said to lead to no file, Resolve = %v", name, err)
		}
	}
	return certain
}

func TestAbsent(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("nothing is ever certain")
	}
	top := tree(t, "repo/k/k.md", "repo/k/there/a1.md", "repo/there/A2.md", "repo/wide/ä.md", "repo/here/a3.md", "repo/k/here/a4.md", "repo/out -> ../outside", "outside/a5.md",
		"repo/link -> there", "repo/here/a6.md -> nothing", "repo/here/a7.md -> a3.md", "repo/file", "repo/absolute -> $TOP/repo/there")
	repo := filepath.Join(top, "repo")
	names := func(dir string) []string {
		var all []string
		for i := range 40 {
			all = append(all, fmt.Sprintf("%s/a%d.md", dir, i))
		}
		return all
	}
	for _, c := range []struct {
		dir, flat, below string // how many are certain: from the board's folder, from a folder above
	}{
		{"there", "39", "38"}, {"here", "37", "36"}, {"none", "40", "40"}, {"file", "0", "0"}, {"link", "39", "39"}, {"wide", "0", "0"}, {"out", "0", "0"}, {"absolute", "0", "0"},
		{"./there/../here", "37", "36"}, {"../repo/there", "0", "40"}, {"k/there", "39", "39"}, {"..", "0", "40"}, {"/" + repo + "/there", "0", "0"},
	} {
		t.Run(c.dir, func(t *testing.T) {
			flat := openPlace(t, repo, filepath.Join(repo, "kanban.md"))
			if got := fmt.Sprint(checkAbsent(t, flat, names(c.dir))); got != c.flat {
				t.Errorf("Absent from the folder itself: %s are certain, want %s", got, c.flat)
			}
			below := openPlace(t, repo, filepath.Join(repo, "k", "k.md"))
			if got := fmt.Sprint(checkAbsent(t, below, names(c.dir))); got != c.below {
				t.Errorf("Absent from above: %s are certain, want %s", got, c.below)
			}
		})
	}
}

// Names that some file system takes for another's are never certain.
func TestAbsentIsCareful(t *testing.T) {
	dir := tree(t, "k.md", "Task.md", "other.md")
	p := openPlace(t, dir, filepath.Join(dir, "k.md"))
	long, deep := strings.Repeat("x", 256)+".md", strings.Repeat("deep/", 900)+"none.md"
	paths := []string{"task.md", "TASK.MD", "task.md.", "task~1.md", "task.md ", "täsk.md", "", ".", "..", "a\x00", "other.md", "other.md", long, deep}
	absent := p.Absent(append(paths, strings.Fields(strings.Repeat("none.md ", enough)+strings.Repeat(deep+" ", enough))...))
	for i, name := range paths {
		if absent(i) {
			t.Errorf("%q is said to lead to no file", name)
		}
	}
	if !absent(len(paths)) && runtime.GOOS != "windows" {
		t.Error("none.md is not said to lead to no file")
	}
	if p.Absent([]string{"none.md"})(0) {
		t.Error("a folder was listed for one path")
	}
	if err := os.Rename(dir, dir+"2"); err != nil {
		t.Fatal(err)
	}
	defer os.Rename(dir+"2", dir)
	if p.Absent(append(paths, strings.Fields(strings.Repeat("none.md ", enough))...))(len(paths)) {
		t.Error("a path is said to lead to no file, and the work directory is gone")
	}
}

func FuzzAbsent(f *testing.F) {
	for i, name := range reachNames {
		f.Add(name, reachTargets[i%len(reachTargets)])
	}
	f.Fuzz(func(t *testing.T, name, target string) {
		_, repo, p := repository(t)
		relink(t, filepath.Join(repo, "fuzz"), target)
		var paths []string
		for range enough {
			paths = append(paths, name, "fuzz/"+name, "tasks/"+name, "a.md", "x.md")
		}
		checkAbsent(t, p, paths)
	})
}

func BenchmarkAbsent(b *testing.B) {
	for _, files := range []int{200, 100_000} {
		b.Run(fmt.Sprint(files), func(b *testing.B) {
			dir := tree(b, "k.md", "tasks/")
			paths := mustParse(b, "k.yaml", largeBoard(100_000)).TaskPaths()
			for _, name := range paths[:files] {
				if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
					b.Fatal(err)
				}
			}
			p := openPlace(b, dir, filepath.Join(dir, "k.md"))
			b.ReportAllocs()
			for b.Loop() {
				absent := p.Absent(paths)
				for i := range paths {
					absent(i)
				}
			}
		})
	}
}
