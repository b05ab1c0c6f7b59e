package clone

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/git"
)

// sides are a checkout and a clone with the same task and board.
func sides(t *testing.T) *both {
	t.Helper()
	x := &both{top: t.TempDir(), clone: &Clone{Top: t.TempDir()}, agreed: map[string]Digest{},
		isGits: func(moment, string, []byte) bool { return false }, keep: func(_ string, text []byte) string { return "kept: " + string(text) }}
	write(t, x.home("k.yaml"), "tasks: [t/1.md]\n")
	write(t, x.home("t/1.md"), "do it\n")
	if err := x.handOut([]string{"t/1.md", "k.yaml"}); err != nil {
		t.Fatal(err)
	}
	return x
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (x *both) read(t *testing.T, name string) (home, clone string) {
	t.Helper()
	h, _ := os.ReadFile(x.home(name))
	c, _ := os.ReadFile(filepath.Join(x.clone.Top, name))
	return string(h), string(c)
}

// TestBringHome: what an agent left comes home unless somebody edited it there, too; a work log comes to either. What git put
// back does not come home, nor does a file that is gone or a link.
func TestBringHome(t *testing.T) {
	const was, logged = "do it\n", "do it\n## Work log\ndid it\n"
	for name, tt := range map[string]struct {
		home, clone string // of the task, as they are left; "-": it is removed
		gits        bool
		want        string
		why         string
	}{
		"untouched":             {was, was, false, was, ""},
		"worked on":             {was, logged, false, logged, ""},
		"edited at home":        {"do it well\n", was, false, "do it well\n", ""},
		"both":                  {"do it well\n", "do that\n", false, "do it well\n", event.ByBoth},
		"both, a work log":      {"do it\nwell\n", logged, false, "do it\nwell\n## Work log\ndid it\n", ""},
		"both the same":         {logged, logged, false, logged, ""},
		"home has it, and more": {logged + "well done\n", logged, false, logged + "well done\n", ""},
		"removed by an agent":   {was, "-", false, was, ""},
		"removed at home":       {"-", logged, false, "", event.ByBoth},
		"put back by git":       {was, "as committed\n", true, was, event.ByGit},
	} {
		t.Run(name, func(t *testing.T) {
			x := sides(t)
			for file, text := range map[string]string{x.home("t/1.md"): tt.home, filepath.Join(x.clone.Top, "t/1.md"): tt.clone} {
				if text != "-" {
					write(t, file, text)
				} else if err := os.Remove(file); err != nil {
					t.Fatal(err)
				}
			}
			x.isGits = func(moment, string, []byte) bool { return tt.gits }
			stay, err := x.bringHome("k.yaml", []string{"t/1.md"})
			if err != nil {
				t.Fatal(err)
			}
			why := ""
			for _, f := range stay {
				why += f.Why
				if f.Why == event.ByBoth && f.Kept != "kept: "+tt.clone {
					t.Errorf("it is kept as %q, want what the agent left", f.Kept)
				}
			}
			if home, _ := x.read(t, "t/1.md"); home != tt.want || why != tt.why {
				t.Errorf("at home is %q, and %q stays; want %q, %q", home, why, tt.want, tt.why)
			}
			if err := x.handOut([]string{"t/1.md", "k.yaml"}); err != nil {
				t.Fatal(err)
			}
			if home, clone := x.read(t, "t/1.md"); tt.home != "-" && home != clone {
				t.Errorf("the next agent gets %q, and %q is at home", clone, home)
			}
		})
	}
}

// TestNewTasks: the tasks that a Manager lists in the clone come home with the board, and nothing that lies outside.
func TestNewTasks(t *testing.T) {
	x := sides(t)
	board := "tasks: [t/1.md, t/2.md, ../out.md, /etc/passwd, .git/config, gone.md]\n"
	write(t, filepath.Join(x.clone.Top, "k.yaml"), board)
	for _, name := range []string{"t/2.md", "t/3.md", ".git/config", "../out.md"} {
		write(t, filepath.Join(x.clone.Top, name), "new\n")
	}
	tasks := x.newTasks([]string{"t/3.md [next]", "no.md"}, "k.yaml", ".")
	if got := strings.Join(tasks, " "); got != "t/3.md t/1.md t/2.md" {
		t.Fatalf("the board lists %s", got)
	}
	if _, err := x.bringHome("k.yaml", tasks); err != nil {
		t.Fatal(err)
	}
	if home, _ := x.read(t, "t/2.md"); home != "new\n" {
		t.Errorf("the new task is at home as %q", home)
	}
	if home, _ := x.read(t, "k.yaml"); home != board {
		t.Errorf("the board is at home as %q", home)
	}
}

// TestHandOutThroughLinks: what an agent put into the place of a task or its folder leads nowhere.
func TestHandOutThroughLinks(t *testing.T) {
	out := t.TempDir()
	for name, spoil := range map[string]func(clone string) error{
		"a link for a task": func(c string) error { return os.Symlink(filepath.Join(out, "f"), filepath.Join(c, "t/1.md")) },
		"a folder":          func(c string) error { return os.MkdirAll(filepath.Join(c, "t/1.md/x"), 0o755) },
	} {
		x := sides(t)
		if err := os.Remove(filepath.Join(x.clone.Top, "t/1.md")); err != nil {
			t.Fatal(err)
		}
		if err := spoil(x.clone.Top); err != nil {
			t.Fatal(err)
		}
		if stay, err := x.bringHome("k.yaml", []string{"t/1.md"}); err != nil || len(stay) > 0 {
			t.Errorf("%s: %v, %v", name, stay, err)
		}
		if err := x.handOut([]string{"t/1.md"}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, clone := x.read(t, "t/1.md"); clone != "do it\n" {
			t.Errorf("%s: the clone has %q", name, clone)
		}
	}
	x := sides(t)
	if err := os.RemoveAll(filepath.Join(x.clone.Top, "t")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(out, filepath.Join(x.clone.Top, "t")); err != nil {
		t.Fatal(err)
	}
	err := x.handOut([]string{"t/1.md"})
	if left, _ := os.ReadDir(out); len(left) > 0 {
		t.Errorf("%v was written through a link, %v", left, err)
	}
}

// TestIsBlob: the bytes that git has are known by their name, also with the line ends that it converts.
func TestIsBlob(t *testing.T) {
	for _, digits := range []int{40, 64} {
		blobs := []string{git.BlobName([]byte("y\n"), digits), git.BlobName([]byte("x\n"), digits)}
		if !isBlob([]byte("x\n"), blobs) || !isBlob([]byte("x\r\n"), blobs) || isBlob([]byte("z\n"), blobs) || isBlob([]byte("x\n"), nil) {
			t.Errorf("a blob of %d digits is not told by its name", digits)
		}
	}
}

// TestPlace: a clone lies beside its checkout or in the named folder, and no two boards share one.
func TestPlace(t *testing.T) {
	if got := Place("/h/p", "", Name("boards/a.yaml")); got != "/h/p.clones/boards+a.yaml" {
		t.Error(got)
	}
	if got := Place("/h/p", "/c", Name("a.yaml")); got != "/c/p/a.yaml" {
		t.Error(got)
	}
}
