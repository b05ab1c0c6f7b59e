package board

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kanban-run/orchestrator/failure"
)

// tree makes files in a new folder; "a/" is a folder, "a -> b" a link.
func tree(t testing.TB, names ...string) string {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		link, target, isLink := strings.Cut(name, " -> ")
		at := filepath.Join(top, filepath.FromSlash(link))
		dir := filepath.Dir(at)
		if strings.HasSuffix(name, "/") {
			dir = at
		}
		err := os.MkdirAll(dir, 0o755)
		switch {
		case isLink:
			err = errors.Join(err, os.Symlink(filepath.FromSlash(strings.ReplaceAll(target, "$TOP",
				filepath.ToSlash(top))), at))
		case dir != at:
			err = errors.Join(err, os.WriteFile(at, []byte("# "+name+"\n"), 0o644))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return top
}

func openPlace(t testing.TB, dir, board string) *Place {
	t.Helper()
	p, err := OpenPlace(dir, board)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestChooseWorkdir(t *testing.T) {
	top := tree(t, "repo/tasks/k.md", "repo/tasks/a.md", "repo/docs/", "elsewhere/", "file")
	board := func(current string, tasks ...string) *Board {
		b := &Board{Current: Current{Set: true, Path: current}}
		for _, path := range tasks {
			b.entries = append(b.entries, Entry{Path: path})
		}
		return b
	}
	for _, c := range []struct {
		name, explicit, file, cwd string
		b                         *Board
		want                      string
	}{
		{"explicit wins", "elsewhere", "repo/tasks/k.md", "", board("tasks/a.md"), "elsewhere"},
		{"current leads somewhere from here", "", "tasks/k.md", "repo", board("tasks/a.md"), "repo"},
		{"one task leads somewhere from here", "", "tasks/k.md", "repo", board("a.md", "x.md", "./tasks/a.md"), "repo"},
		{"nothing leads anywhere from here", "", "tasks/k.md", "repo", board("a.md", "b.md"), "repo/tasks"},
		{"a folder is no task", "", "tasks/k.md", "repo", board("docs"), "repo/tasks"},
		{"leaving is no leading", "", "tasks/k.md", "repo", board("../repo/tasks/a.md"), "repo/tasks"},
		{"the board lies elsewhere", "", "../repo/tasks/k.md", "elsewhere", board("a.md"), "repo/tasks"},
		{"the board lies here", "", "k.md", "repo/tasks", board("a.md"), "repo/tasks"},
		{"no tasks", "", "tasks/k.md", "repo", board(""), "repo/tasks"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := ChooseWorkdir(c.explicit, filepath.FromSlash(c.file),
				filepath.Join(top, filepath.FromSlash(c.cwd)), c.b)
			if want := filepath.Join(top, filepath.FromSlash(c.want)); err != nil || got != want {
				t.Errorf("ChooseWorkdir = %q, %v, want %q", got, err, want)
			}
		})
	}
	for _, bad := range []string{"missing", "file"} {
		_, err := ChooseWorkdir(bad, "repo/tasks/k.md", top, board("a.md"))
		var f *FileError
		if !errors.As(err, &f) || !strings.Contains(f.Hint(), "-C") {
			t.Errorf("ChooseWorkdir(%q) = %v, want a *FileError with a hint", bad, err)
		}
	}
}

// repository makes a work directory with a board in tasks/, and files and links of all kinds.
func repository(t *testing.T) (top, repo string, p *Place) {
	top = tree(t, "repo/.git/", "repo/tasks/k.md", "repo/tasks/a.md", "repo/tasks/both.md", "repo/both.md",
		"repo/tasks/sub/b.md", "repo/sub/c.md",
		"repo/root.md", "out.md", "repo/linked.md -> tasks/a.md", "repo/tasks/same.md -> ../root.md",
		"repo/same.md -> root.md",
		"repo/escape.md -> ../out.md", "repo/absolute.md -> $TOP/out.md", "repo/up -> ..", "repo/loop -> loop",
		"repo/dangling -> nothing", "repo/tasks/ümläut ü.md")
	repo = filepath.Join(top, "repo")
	return top, repo, openPlace(t, repo, filepath.Join(repo, "tasks", "k.md"))
}

func TestResolve(t *testing.T) {
	_, repo, p := repository(t)
	for _, c := range []struct{ name, path, want string }{
		{"from the work directory, as written", "tasks/a.md", "tasks/a.md"},
		{"with a dot, as written", "./tasks/a.md", "./tasks/a.md"},
		{"back and forth, as written", "tasks/../tasks/a.md", "tasks/../tasks/a.md"},
		{"bare, beside the board", "a.md", "tasks/a.md"},
		{"below the board", "sub/b.md", "tasks/sub/b.md"},
		{"below the work directory", "sub/c.md", "sub/c.md"},
		{"up from the board", "../root.md", "root.md"},
		{"a link within", "linked.md", "linked.md"},
		{"two names of one file", "same.md", "same.md"},
		{"absolute and inside", filepath.Join(repo, "tasks", "a.md"), "tasks/a.md"},
		{"no ASCII", "ümläut ü.md", "tasks/ümläut ü.md"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := p.Resolve(c.path)
			want := Ref{Path: c.want, Abs: filepath.Join(repo, filepath.FromSlash(c.want)), Exists: true}
			if err != nil || got != want {
				t.Errorf("Resolve(%q) = %+v, %v, want %+v", c.path, got, err, want)
			}
		})
	}
}

func TestResolveRefuses(t *testing.T) {
	top, repo, p := repository(t)
	for _, c := range []struct {
		name, path, want, hint string
		missing                bool
	}{
		{"missing", "tasks/x.md", "there is no such file in " + repo, "write the file", true},
		{"below a file", "root.md/x", "there is no such file", "", true},
		{"dangling", "dangling", "there is no such file", "", true},
		{"two files", "both.md", "it could be both.md or tasks/both.md", "rename one", false},
		{"leaves by dots", "../../out.md", "it leads out of the work directory", "-C", false},
		{"leaves by a link", "escape.md", "it leads out of the work directory", "-C", false},
		{"leaves by an absolute link", "absolute.md", "it leads out of the work directory", "-C", false},
		{"leaves by a linked folder", "up/out.md", "it leads out of the work directory", "-C", false},
		{"absolute and outside", filepath.Join(top, "out.md"), "it leads out of the work directory", "-C", false},
		{"absolute and missing outside", filepath.Join(top, "x.md"), "it leads out of the work directory", "-C", false},
		{"absolute and missing inside", filepath.Join(repo, "x.md"), "there is no such file", "", true},
		{"a folder", "tasks", "it is a folder", "file with text", false},
		{"a loop", "loop", "", "", false},
		{"empty", "", "the path is empty", "", false},
		{"NUL", "a\x00b", "the path holds the character '\\x00'", "", false},
		{"escape", "a\x1b[2J", "the path holds the character '\\x1b'", "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := p.Resolve(c.path)
			var pe *PathError
			if !errors.As(err, &pe) || !strings.Contains(pe.Error(), c.want) {
				t.Fatalf("Resolve(%q) = %v, want a *PathError with %q", c.path, err, c.want)
			}
			if errors.Is(err, fs.ErrNotExist) != c.missing {
				t.Errorf("Resolve(%q) matches fs.ErrNotExist: %v, want %v", c.path, !c.missing, c.missing)
			}
			if !strings.Contains(pe.Hint(), c.hint) {
				t.Errorf("hint = %q, want it to contain %q", pe.Hint(), c.hint)
			}
			if strings.ContainsAny(pe.Error(), "\x00\x1b") {
				t.Errorf("the error %q is not fit for a terminal", pe)
			}
		})
	}
}

// For a board started in its own folder, with paths from the top of the repository, the hint names
// -C.
func TestResolveHints(t *testing.T) {
	top := tree(t, "repo/.git/", "repo/tasks/k.md", "repo/tasks/a.md", "tasks/b.md", "boards/k.md", "boards/c.md",
		"work/")
	repo, tasks := filepath.Join(top, "repo"), filepath.Join(top, "repo", "tasks")
	for _, c := range []struct{ name, dir, board, path, hint string }{
		{"found from the top", tasks, filepath.Join(tasks, "k.md"), "tasks/a.md", "run with -C " + repo},
		{"never above the top", tasks, filepath.Join(tasks, "k.md"), "tasks/b.md", "write the file"},
		{"beside a board elsewhere", filepath.Join(top, "work"), filepath.Join(top, "boards", "k.md"), "c.md",
			"run with -C " + filepath.Join(top, "boards")},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := openPlace(t, c.dir, c.board).Resolve(c.path)
			if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(failure.HintOf(err), c.hint) {
				t.Errorf("Resolve(%q) = %v, hint %q, want a hint with %q", c.path, err, failure.HintOf(err), c.hint)
			}
		})
	}
}

func TestPlaceNames(t *testing.T) {
	top := tree(t, "repo/tasks/k.md", "other/", "link -> repo")
	for _, c := range []struct {
		name, dir, board, kanban string
		flat                     bool
	}{
		{"below", "repo", "repo/tasks/k.md", "tasks/k.md", false},
		{"beside", "repo/tasks", "repo/tasks/k.md", "k.md", true},
		{"outside", "other", "repo/tasks/k.md", filepath.Join(top, "repo", "tasks", "k.md"), false},
		{"through a link", "link", "repo/tasks/k.md", "tasks/k.md", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := openPlace(t, filepath.Join(top, filepath.FromSlash(c.dir)),
				filepath.Join(top, filepath.FromSlash(c.board)))
			if got := p.KanbanFile(); got != c.kanban {
				t.Errorf("KanbanFile() = %q, want %q", got, c.kanban)
			}
			if p.HoldsBoard() != c.flat {
				t.Errorf("Flat() = %v, want %v", p.HoldsBoard(), c.flat)
			}
			if want := filepath.Join(top, filepath.FromSlash(c.dir)); p.Dir() != want {
				t.Errorf("Dir() = %q, want %q", p.Dir(), want)
			}
		})
	}
	if _, err := OpenPlace(filepath.Join(top, "missing"), "k.md"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("OpenPlace(missing) = %v, want fs.ErrNotExist", err)
	}
}

func TestSame(t *testing.T) {
	top := tree(t, "tasks/k.md", "tasks/a.md", "tasks/b.md", "link.md -> tasks/a.md")
	p := openPlace(t, top, filepath.Join(top, "tasks", "k.md"))
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"tasks/a.md", "tasks/a.md", true}, {"tasks/a.md", "./tasks//a.md", true}, {"a.md", "tasks/a.md", true},
		{"link.md", "a.md", true},
		{filepath.Join(top, "tasks", "a.md"), "a.md", true}, {"a.md", "b.md", false}, {"x.md", "./x.md", true},
		{"x.md", "y.md", false},
		{"x.md", "tasks/x.md", false}, {"a.md", "x.md", false}, {"../a", "../a", true},
	} {
		if got := p.SameTask(c.a, c.b); got != c.want {
			t.Errorf("Same(%q, %q) = %v, want %v", c.a, c.b, got, c.want)
		}
	}
}
