package land

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// newSwap makes a checkout and what goes into it, each by path: "-" stands for no file, "->X" for a link, "!X" for a program.
func newSwap(t testing.TB, files map[string][2]string) *swap {
	t.Helper()
	s := &swap{top: t.TempDir(), scratch: t.TempDir()}
	put := func(path, text string) {
		if text == "-" {
			return
		}
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		link, isLink := strings.CutPrefix(text, "->")
		program, isProgram := strings.CutPrefix(text, "!")
		switch {
		case isLink:
			err = errors.Join(err, os.Symlink(link, path))
		case isProgram:
			err = errors.Join(err, os.WriteFile(path, []byte(program), 0o755))
		default:
			err = errors.Join(err, os.WriteFile(path, []byte(text), 0o644))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, is := range files {
		put(filepath.Join(s.top, name), is[0])
		put(s.in("new", name), is[1])
		f := swapFile{Name: name}
		var err, failed error
		if f.Was, err = s.digest(filepath.Join(s.top, name)); is[0] == "-" {
			f.Was = ""
		}
		if f.Is, failed = s.digest(s.in("new", name)); is[1] == "-" {
			f.Is = ""
		}
		if err = errors.Join(err, failed); err != nil {
			t.Fatal(err)
		}
		s.note.Files = append(s.note.Files, f)
	}
	if err := s.save(); err != nil {
		t.Fatal(err)
	}
	return s
}

// shown is the checkout as text, in the words of newSwap.
func (s *swap) shown(t testing.TB) string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(s.top, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(s.top, path)
		if link, err := os.Readlink(path); err == nil {
			all = append(all, rel+"=->"+link)
			return nil
		}
		text, err := os.ReadFile(path)
		mark := ""
		if info, err := e.Info(); err == nil && info.Mode()&0o100 != 0 {
			mark = "!"
		}
		all = append(all, rel+"="+mark+string(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(all, " ")
}

// TestSwap: all kinds of files go in, and come out again.
func TestSwap(t *testing.T) {
	s := newSwap(t, map[string][2]string{"new": {"-", "n"}, "a/b/new": {"-", "n"}, "gone/x": {"g", "-"}, "changed": {"c", "d"}, "prog": {"p", "!p"}, "link": {"->a", "->b"}, "file": {"f", "->f"}})
	before := s.shown(t)
	if err := s.run(); err != nil {
		t.Fatal(err)
	}
	if got, want := s.shown(t), "a/b/new=n changed=d file=->f link=->b new=n prog=!p"; got != want {
		t.Errorf("the checkout has %s, want %s", got, want)
	}
	if err := s.run(); err != nil { // what is there already stays
		t.Fatal(err)
	}
	if err := s.rollBack(); err != nil {
		t.Fatal(err)
	}
	if got := s.shown(t); got != before {
		t.Errorf("put back, the checkout has %s, want %s", got, before)
	}
}

// TestSwapStops: one file that somebody has changed, or put there, stops the swap, and all others are as they were.
func TestSwapStops(t *testing.T) {
	for name, edit := range map[string]func(top string) error{
		"changed": func(top string) error { return os.WriteFile(filepath.Join(top, "changed"), []byte("mine"), 0o644) },
		"new":     func(top string) error { return os.WriteFile(filepath.Join(top, "new"), []byte("mine"), 0o644) },
		"gone/x":  func(top string) error { return os.WriteFile(filepath.Join(top, "gone/x"), []byte("mine"), 0o644) },
		"a/b/new": func(top string) error { return os.MkdirAll(filepath.Join(top, "a/b/new/in"), 0o755) },
		"prog":    func(top string) error { return os.Chmod(filepath.Join(top, "prog"), 0o711) },
	} {
		s := newSwap(t, map[string][2]string{"new": {"-", "n"}, "a/b/new": {"-", "n"}, "gone/x": {"g", "-"}, "changed": {"c", "d"}, "prog": {"p", "q"}, "link": {"->a", "->b"}})
		if err := edit(s.top); err != nil {
			t.Fatal(err)
		}
		before := s.shown(t)
		err := s.run()
		if changed := (*errChanged)(nil); !errors.As(err, &changed) || changed.name != name {
			t.Errorf("%s: %v", name, err)
		}
		if got := s.shown(t); got != before {
			t.Errorf("%s: the checkout has %s, want %s", name, got, before)
		}
	}
}

// TestSwapOfKinds: a file becomes a folder, and a folder a file, whole or not at all.
func TestSwapOfKinds(t *testing.T) {
	files := map[string][2]string{"f/x": {"-", "x"}, "d/in/y": {"y", "-"}, "z": {"was", "is"}}
	for _, stops := range []bool{false, true} {
		s := newSwap(t, files)
		// what both sides have under one name is laid out by hand
		for _, f := range []struct{ name, top, new string }{{"f", "a file", ""}, {"d", "", "a file"}} {
			if f.top != "" {
				if err := os.WriteFile(filepath.Join(s.top, f.name), []byte(f.top), 0o644); err != nil {
					t.Fatal(err)
				}
				was, _ := s.digest(filepath.Join(s.top, f.name))
				s.note.Files = append(s.note.Files, swapFile{Name: f.name, Was: was})
				continue
			}
			if err := os.WriteFile(s.in("new", f.name), []byte(f.new), 0o644); err != nil {
				t.Fatal(err)
			}
			is, _ := s.digest(s.in("new", f.name))
			s.note.Files = append(s.note.Files, swapFile{Name: f.name, Is: is})
		}
		if err := s.save(); err != nil {
			t.Fatal(err)
		}
		before := s.shown(t)
		if stops {
			if err := os.WriteFile(filepath.Join(s.top, "z"), []byte("mine"), 0o644); err != nil {
				t.Fatal(err)
			}
			before = s.shown(t)
		}
		err := s.run()
		got := s.shown(t)
		switch changed := (*errChanged)(nil); {
		case stops && (!errors.As(err, &changed) || got != before):
			t.Errorf("it stops with %v, and has %s, want %s", err, got, before)
		case !stops && (err != nil || got != "d=a file f/x=x z=is"):
			t.Errorf("the checkout has %s, %v", got, err)
		}
		if err := s.rollBack(); err != nil || s.shown(t) != before {
			t.Errorf("put back, it has %s, %v; want %s", s.shown(t), err, before)
		}
	}
}

// TestSwapFollowsNoLink: a folder that is a link by now leads nowhere.
func TestSwapFollowsNoLink(t *testing.T) {
	s := newSwap(t, map[string][2]string{"a/new": {"-", "n"}, "b": {"b", "c"}})
	inside := filepath.Join(s.top, "mine")
	if err := os.Mkdir(inside, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, out := range []string{t.TempDir(), inside} {
		_ = os.Remove(filepath.Join(s.top, "a"))
		if err := os.Symlink(out, filepath.Join(s.top, "a")); err != nil {
			t.Fatal(err)
		}
		if err := s.run(); err == nil {
			t.Error("it runs through a link")
		}
		if left, _ := os.ReadDir(out); len(left) > 0 {
			t.Errorf("%v was put through a link", left)
		}
		if got := s.shown(t); got != "a=->"+out+" b=b" {
			t.Errorf("the checkout has %s", got)
		}
	}
}

// TestSaveMeanwhile: of an editor that saves while files are exchanged no save is lost, by a rename.
func TestSaveMeanwhile(t *testing.T) {
	for i := range 400 {
		s := newSwap(t, map[string][2]string{"a": {"was", "is"}, "b": {"was", "is"}, "c": {"was", "is"}})
		file, saved := filepath.Join(s.top, "b"), fmt.Sprintf("saved %d", i)
		began, done := make(chan struct{}), make(chan error)
		go func() {
			close(began)
			time.Sleep(time.Duration(i%40) * 5 * time.Microsecond)
			err := os.WriteFile(file+"~", []byte(saved), 0o644)
			done <- errors.Join(err, os.Rename(file+"~", file))
		}()
		<-began
		err := s.run()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		text, _ := os.ReadFile(file)
		if changed := (*errChanged)(nil); string(text) != saved || err != nil && !errors.As(err, &changed) {
			t.Fatalf("save %d: the file has %q, %v", i, text, err)
		}
		if a, _ := os.ReadFile(filepath.Join(s.top, "a")); err != nil && string(a) != "was" || err == nil && string(a) != "is" {
			t.Fatalf("save %d: the other file has %q, %v", i, a, err)
		}
	}
}
