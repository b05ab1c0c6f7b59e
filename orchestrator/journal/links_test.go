package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"kanban-run/orchestrator/durable"
)

// An agent may replace any file of a run. Neither the writer nor a reader follows a link elsewhere,
// even to a sound journal.
func TestNoForeignFileIsOpened(t *testing.T) {
	kinds := map[string]func(path, foreign string) error{
		"link":          func(path, foreign string) error { return os.Symlink(foreign, path) },
		"dangling link": func(path, foreign string) error { return os.Symlink(foreign+".no", path) },
		"FIFO":          func(path, _ string) error { return syscall.Mkfifo(path, 0o600) },
		"folder":        func(path, _ string) error { return os.Mkdir(path, 0o700) },
	}
	for name, put := range kinds {
		// The journal alone, the journal of a head that is sound, a head.
		for _, tt := range []struct{ what, own string }{{"", ""}, {"", ".head"}, {".head", ""}} {
			t.Run(fmt.Sprintf("%s at %q", name, tt.what), func(t *testing.T) {
				dir := t.TempDir()
				path, foreign := filepath.Join(dir, "journal.jsonl"), filepath.Join(dir, "foreign.jsonl")
				j := begun(t, foreign)
				add(t, j, draft(0))
				commit(t, j)
				j.Close()
				if err := grow(foreign, "torn"); err != nil { // an Open of it would cut this off
					t.Fatal(err)
				}
				if tt.own != tt.what {
					if err := copyFile(foreign+tt.own, path+tt.own); err != nil {
						t.Fatal(err)
					}
				}
				if err := put(path+tt.what, foreign+tt.what); err != nil {
					t.Fatal(err)
				}
				wantForeign(t, dir, path, path+tt.what)
			})
		}
	}
}

// A backup by hard links gives the files second names, also during a run. The journal goes on, in copies of its
// own at the next Open; the head gets a copy at once.
func TestSecondNames(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "journal.jsonl")
	j := begun(t, path)
	add(t, j, draft(0))
	commit(t, j)
	if err := os.Link(path+".head", path+".head.backup"); err != nil {
		t.Fatal(err)
	}
	backup, err := os.ReadFile(path + ".head.backup")
	if err != nil {
		t.Fatal(err)
	}
	add(t, j, draft(1))
	commit(t, j)
	j.Close()
	if now, err := os.ReadFile(path + ".head.backup"); err != nil || string(now) != string(backup) {
		t.Errorf("the backup of the head is %q, %v, want %q", now, err, backup)
	}
	if err := os.Link(path, path+".backup"); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(path, ignore); err != nil {
		t.Errorf("Read = %v", err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if j, err = Open(path, ticker, ignore); err != nil {
		t.Fatal(err)
	}
	if _, err := j.BeginEpoch(); err != nil {
		t.Fatal(err)
	}
	add(t, j, draft(2))
	commit(t, j)
	j.Close()
	if now, err := os.ReadFile(path + ".backup"); err != nil || string(now) != string(before) {
		t.Errorf("the backup of the journal has %d bytes, %v, want the %d of before", len(now), err, len(before))
	}
}

// wantForeign checks that Open and Read of path refuse the file refused and leave the folder as it
// is.
func wantForeign(t *testing.T, dir, path, refused string) {
	t.Helper()
	before := tree(t, dir)
	tries := map[string]func() error{
		"Open": func() error {
			j, err := Open(path, ticker, ignore)
			if err == nil {
				j.Close()
			}
			return err
		},
		"Read": func() error {
			_, err := Read(path, ignore)
			return err
		},
	}
	for what, try := range tries {
		var foreign *durable.NotPlainError
		if err := withTimeLimit(t, try); !errors.As(err, &foreign) || foreign.Path != refused || foreign.Hint() == "" {
			t.Errorf("%s = %v, want *durable.NotPlainError for %s", what, err, refused)
		}
	}
	if after := tree(t, dir); !slices.Equal(after, before) {
		t.Errorf("left %q, want %q", after, before)
	}
}

// withTimeLimit returns do's error, and fails the test when do waits for the other end of a FIFO.
func withTimeLimit(t *testing.T, do func() error) error {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- do() }()
	select {
	case err := <-done:
		return err
	case <-time.After(10 * time.Second):
		t.Fatal("it waits for a writer that does not come")
		return nil
	}
}

// A torn tail is kept in a new file, also when the first name is taken.
func TestRepairFollowsNoLink(t *testing.T) {
	dir := t.TempDir()
	path, foreign := filepath.Join(dir, "journal.jsonl"), filepath.Join(dir, "foreign")
	j := begun(t, path)
	add(t, j, draft(0))
	commit(t, j)
	j.Close()
	err := errors.Join(grow(path, "torn"), os.WriteFile(foreign, []byte("precious"), 0o600),
		os.Symlink(foreign, path+".torn-1"), os.Symlink(foreign+".no", path+".torn-2"))
	if err != nil {
		t.Fatal(err)
	}
	j = begun(t, path)
	if kept, _ := j.Repaired(); kept != path+".torn-3" {
		t.Errorf("Repaired() = %s, want %s.torn-3", kept, path)
	}
	if got, err := os.ReadFile(foreign); string(got) != "precious" || err != nil {
		t.Errorf("the foreign file holds %q, %v", got, err)
	}
	if _, err := os.Lstat(foreign + ".no"); err == nil {
		t.Error("the foreign file was made")
	}
}

// A child that is being started shares the journal's file for a moment; Close unlocks it all the
// same.
func TestCloseFreesAJournalThatIsSharedStill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	j := begun(t, path)
	fd, err := unix.Dup(int(j.file.(*diskFile).Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if err := j.Close(); err != nil {
		t.Fatalf("Close = %v", err)
	}
	begun(t, path)
}
