package rundir

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// TestIgnore: the runs stay out of git also after a power cut, which may empty a file that was
// never synced; what a person wrote into it stays.
func TestIgnore(t *testing.T) {
	for _, c := range []struct{ name, before, want string }{{"none", "absent", "*\n"}, {"emptied", "", "*\n"}, {"a person's", "# nothing\n", "# nothing\n"}} {
		t.Run(c.name, func(t *testing.T) {
			f := Of(filepath.Join(t.TempDir(), "kanban.yaml"))
			path := filepath.Join(filepath.Dir(f.Path), ".gitignore")
			if c.before != "absent" {
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(c.before), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := f.Ensure(); err != nil {
				t.Fatal(err)
			}
			if got, err := os.ReadFile(path); err != nil || string(got) != c.want {
				t.Errorf(".gitignore = %q, %v, want %q", got, err, c.want)
			}
		})
	}
}

// TestStream: a stream is in its file as it is written, for a person that watches; it is kept in
// the folder of its step, or forgotten.
func TestStream(t *testing.T) {
	long := bytes.Repeat([]byte("0123456789abcdef"), 4096)
	for name, tt := range map[string]struct {
		write []byte
		keep  bool
	}{
		"a short stream that is kept":      {[]byte("short"), true},
		"a long stream that is kept":       {long, true},
		"an empty stream that is kept":     {nil, true},
		"a short stream that is forgotten": {[]byte("short"), false},
		"a long stream that is forgotten":  {long, false},
		"an empty stream, forgotten":       {nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			d := Dir{t.TempDir()}
			now, kept := filepath.Join(d.output(), "task.stdout"), filepath.Join(d.Steps(), "0007", "task-2.stdout")
			for attempt := 1; attempt <= 2; attempt++ {
				s := d.NewStream("task", Stdout)
				for i := 0; i < len(tt.write); i += 1000 {
					part := tt.write[i:min(i+1000, len(tt.write))]
					if n, err := s.Write(part); n != len(part) || err != nil {
						t.Fatal(n, err)
					}
					if got, err := os.ReadFile(now); !bytes.Equal(got, tt.write[:i+len(part)]) {
						t.Fatalf("after %d bytes the file has %d, %v", i+len(part), len(got), err)
					}
				}
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				if attempt == 2 && tt.keep {
					if err := d.KeepStreams(Kept{Step: 7, Call: "task", Attempt: attempt}); err != nil {
						t.Fatal(err)
					}
				}
				d.EmptyStreams("task")
			}
			if got, _ := os.ReadFile(now); len(got) != 0 {
				t.Errorf("%d bytes are left for the next attempt", len(got))
			}
			got, err := os.ReadFile(kept)
			if want := tt.write != nil && tt.keep; want != (err == nil) || want && !bytes.Equal(got, tt.write) {
				t.Errorf("the kept file has %d bytes, %v", len(got), err)
			}
			if output := d.Output(7); (output != "") != (err == nil) {
				t.Errorf("Output = %q", output)
			}
		})
	}
}

// TestKeptIsBounded: of a long stream both ends are kept, and of a call what the last start has made.
func TestKeptIsBounded(t *testing.T) {
	long := []byte("begin" + strings.Repeat("x", 2*keptPart) + "end")
	for name, tt := range map[string]struct {
		first   func(attempt int) int
		all     bool
		attempt int
		want    string // attempts whose output is left
	}{
		"one start":                       {func(int) int { return 1 }, false, 3, "1 2 3"},
		"the last of two starts":          {func(n int) int { return (n-1)/3*3 + 1 }, false, 5, "4 5"},
		"starts that were killed at once": {func(int) int { return 0 }, false, mostKept + 2, "3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18"},
		"all":                             {func(n int) int { return n }, true, 5, "1 2 3 4 5"},
	} {
		t.Run(name, func(t *testing.T) {
			d := Dir{t.TempDir()}
			for n := 1; n <= tt.attempt; n++ {
				s := d.NewStream("task", Stderr)
				_, _ = s.Write(long)
				kept := Kept{Step: 1, Call: "task", Attempt: n, First: tt.first(n), All: tt.all}
				if err := errors.Join(s.Close(), d.KeepStreams(kept)); err != nil {
					t.Fatal(err)
				}
			}
			var left []string
			for n := 1; n <= tt.attempt; n++ {
				text, err := os.ReadFile(filepath.Join(d.Output(1), fmt.Sprintf("task-%d.stderr", n)))
				if err != nil {
					continue
				}
				left = append(left, fmt.Sprint(n))
				head, tail, cut := bytes.Cut(text, []byte("\n[kanban-run left out 8 bytes here; --keep-output keeps all]\n"))
				ends := len(head) == keptPart && len(tail) == keptPart && bytes.HasPrefix(head, []byte("begin")) && bytes.HasSuffix(tail, []byte("end"))
				if tt.all && !bytes.Equal(text, long) || !tt.all && !(cut && ends) {
					t.Errorf("attempt %d: %d bytes are kept, %d and %d", n, len(text), len(head), len(tail))
				}
			}
			if got := strings.Join(left, " "); got != tt.want {
				t.Errorf("the output of attempts %s is left, want %s", got, tt.want)
			}
			if entries, _ := os.ReadDir(d.output()); len(entries) != 0 {
				t.Errorf("%v is left for the next attempt", entries)
			}
		})
	}
}

// TestStreamOnAFullDisk: the agent is not disturbed, and the error is not lost.
func TestStreamOnAFullDisk(t *testing.T) {
	blocked := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := Dir{blocked}.NewStream("task", Stdout)
	for range 2 {
		if n, err := s.Write([]byte("text")); n != 4 || err != nil {
			t.Errorf("Write = %d, %v, want the agent undisturbed", n, err)
		}
	}
	if err := s.Close(); err == nil {
		t.Error("Close says nothing of the stream that could not be kept")
	}
}

// TestStreamsMakeTheirFolderOnce: a program may begin to print to both streams in the same moment,
// and neither is lost.
func TestStreamsMakeTheirFolderOnce(t *testing.T) {
	for range 20 {
		d, begin := Dir{t.TempDir()}, make(chan struct{})
		var wg sync.WaitGroup
		for n := range 16 { // what two do once in ten thousand
			s := d.NewStream(fmt.Sprint("task", n), Stdout)
			wg.Go(func() {
				<-begin
				_, _ = s.Write([]byte("text"))
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		close(begin)
		wg.Wait()
	}
}

// TestStreamFollowsNoLink: an agent that puts a link in the place of a folder or a file of its
// streams leads nothing out of the run's folder, and has nothing elsewhere emptied.
func TestStreamFollowsNoLink(t *testing.T) {
	for _, tt := range []string{"output", "steps", "output/task.stdout"} {
		t.Run(tt, func(t *testing.T) {
			elsewhere, d := t.TempDir(), Dir{t.TempDir()}
			precious := filepath.Join(elsewhere, "task.stdout")
			if err := os.WriteFile(precious, []byte("gold"), 0o600); err != nil {
				t.Fatal(err)
			}
			link, target := filepath.Join(d.Path, tt), elsewhere
			if tt == "output/task.stdout" {
				target = precious
			}
			if err := errors.Join(os.MkdirAll(filepath.Dir(link), 0o700), os.Symlink(target, link)); err != nil {
				t.Skip(err)
			}
			d.EmptyStreams("task")
			s := d.NewStream("task", Stdout)
			if _, err := s.Write([]byte("text")); err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if err := d.KeepStreams(Kept{Step: 1, Call: "task", Attempt: 1}); (err != nil) != (tt == "steps") {
				t.Errorf("KeepStreams: %v", err)
			}
			text, err := os.ReadFile(precious)
			entries, _ := os.ReadDir(elsewhere)
			if string(text) != "gold" || err != nil || len(entries) != 1 {
				t.Errorf("elsewhere are %v with %q, %v, want nothing touched", entries, text, err)
			}
		})
	}
}

// TestStored: a stored text comes back as it was, or not at all, and is swept once
// it is not needed any more.
func TestStored(t *testing.T) {
	d := Of(filepath.Join(t.TempDir(), "kanban.yaml"))
	d.SweepStored("")
	if err := d.Ensure(); err != nil {
		t.Fatal(err)
	}
	one, err := d.Store([]byte("one"))
	if err != nil {
		t.Fatal(err)
	}
	two, err := d.Store([]byte("two"))
	if err != nil || one == two {
		t.Fatal(one, two, err)
	}
	if again, err := d.Store([]byte("one")); err != nil || again != one {
		t.Errorf("Store of the same = %s, %v, want %s", again, err, one)
	}
	if text, err := d.Stored(one); err != nil || string(text) != "one" {
		t.Errorf("Stored = %q, %v", text, err)
	}
	path := filepath.Join(d.inputs(), one)
	for name, spoil := range map[string]func() error{
		"it is gone":           func() error { return os.Remove(path) },
		"it holds other bytes": func() error { return os.WriteFile(path, []byte("eno"), 0o600) },
		"its folder is a file": func() error {
			return errors.Join(os.RemoveAll(d.inputs()), os.WriteFile(d.inputs(), nil, 0o600))
		},
		"it is a folder": func() error { return errors.Join(os.Remove(path), os.MkdirAll(filepath.Join(path, "x"), 0o700)) },
	} {
		if err := spoil(); err != nil {
			t.Fatal(name, err)
		}
		if text, err := d.Stored(one); !errors.Is(err, ErrNotStored) {
			t.Errorf("%s: Stored = %q, %v, want it missing", name, text, err)
		}
		if _, err := d.Store([]byte("one")); err != nil {
			t.Errorf("%s: Store: %v", name, err)
		}
		if text, err := d.Stored(one); err != nil || string(text) != "one" {
			t.Errorf("%s: stored again it is %q, %v", name, text, err)
		}
	}
	if two, err = d.Store([]byte("two")); err != nil {
		t.Fatal(err)
	}
	d.SweepStored(two)
	if _, err := d.Stored(one); !errors.Is(err, ErrNotStored) {
		t.Errorf("what was swept is there: %v", err)
	}
	if text, err := d.Stored(two); err != nil || string(text) != "two" {
		t.Errorf("what was to stay is %q, %v", text, err)
	}
}

// TestSweepFollowsNoLink: an agent that puts a link in the place of inputs/ must not have the
// runner empty what it leads to.
func TestSweepFollowsNoLink(t *testing.T) {
	d := Dir{filepath.Join(t.TempDir(), "run")}
	precious := t.TempDir()
	kept := filepath.Join(precious, "gold.txt")
	if err := os.WriteFile(kept, []byte("gold"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(d.Path, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(precious, d.inputs()); err != nil {
		t.Skip(err)
	}
	d.SweepStored("")
	if sha, err := d.Store([]byte("a list")); err != nil || len(sha) != 64 {
		t.Errorf("Store = %q, %v", sha, err)
	}
	d.SweepStored("")
	if _, err := os.Stat(kept); err != nil {
		t.Errorf("the sweep went through the link: %v", err)
	}
	if entries, _ := os.ReadDir(precious); len(entries) != 1 {
		t.Errorf("%d files beside the link's end, want the one that was there", len(entries))
	}
}

// TestNoteOfAnOlderVersion: behind a kill of a version that kept only the marks, they are known.
func TestNoteOfAnOlderVersion(t *testing.T) {
	dir := Dir{Path: t.TempDir()}
	text := `{"list":["1.md"],"marks":{}}`
	if err := os.WriteFile(filepath.Join(dir.Path, "marks.before"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if note := dir.ReadNote(); string(note.Parts["marks"]) != text || note.SHA != "" {
		t.Errorf("ReadNote = %+v", note)
	}
	if err := os.WriteFile(dir.Turn(), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if note := dir.ReadNote(); note.Parts != nil {
		t.Errorf("beside a newer note: %+v", note)
	}
}
