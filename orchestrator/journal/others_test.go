package journal

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"kanban-run/orchestrator/durable"
)

// A change by another process is noticed before a byte goes into its file or the lost one.
func TestCommitNoticesOthers(t *testing.T) {
	tests := map[string]func(path string) error{
		"removed": os.Remove,
		"replaced by another one": func(path string) error {
			return errors.Join(os.Rename(path, path+".old"), copyFile(path+".old", path), os.Truncate(path, int64(len(readFirst(path)))))
		},
		"replaced by one with another byte": func(path string) error {
			return errors.Join(os.Rename(path, path+".old"), os.WriteFile(path, bytes.Repeat([]byte("x"), int(sizeOf(path+".old"))), 0o600))
		},
		"replaced by a link to itself": func(path string) error {
			return errors.Join(os.Rename(path, path+".old"), os.Symlink(path+".old", path))
		},
		"replaced by a folder": func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) },
		"grown by a byte":      func(path string) error { return grow(path, "x") },
		"grown by a record":    func(path string) error { return grow(path, string(readFirst(path))) },
		"cut in a record":      func(path string) error { return os.Truncate(path, 10) },
		"cut cleanly":          func(path string) error { return os.Truncate(path, int64(len(readFirst(path)))) },
		"emptied":              func(path string) error { return os.Truncate(path, 0) },
		"folder removed":       func(path string) error { return os.RemoveAll(filepath.Dir(path)) },
		"folder moved": func(path string) error {
			return os.Rename(filepath.Dir(path), filepath.Dir(path)+".old")
		},
		"a file for the folder": fileForFolder,
	}
	for name, interfere := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "run", "journal.jsonl")
			if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			j := begun(t, path)
			add(t, j, draft(0))
			add(t, j, draft(1))
			commit(t, j)
			if err := interfere(path); err != nil {
				t.Fatal(err)
			}
			before := tree(t, dir)
			add(t, j, draft(1))
			for range 2 { // the error is final
				if err := j.Commit(); !errors.Is(err, ErrForeignWrite) {
					t.Errorf("Commit = %v, want ErrForeignWrite", err)
				}
			}
			if after := tree(t, dir); !slices.Equal(after, before) {
				t.Errorf("Commit left %q, want %q", after, before)
			}
		})
	}
}

// TestCommitAdoptsCopy: a journal that was edited in place without a change (sed -i) is another file with
// the same bytes. The run goes on in it, and no second writer gets it.
func TestCommitAdoptsCopy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	j := begun(t, path)
	add(t, j, draft(0))
	commit(t, j)
	replace := func() {
		if err := errors.Join(os.Rename(path, path+".old"), copyFile(path+".old", path)); err != nil {
			t.Fatal(err)
		}
	}
	replace()
	add(t, j, draft(1))
	commit(t, j)
	if _, err := Open(path, ticker, ignore); !errors.As(err, new(*durable.HeldError)) {
		t.Errorf("a second writer: %v, want that the journal is held", err)
	}
	replace()
	other, err := Open(path, ticker, ignore)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	before := tree(t, filepath.Dir(path))
	add(t, j, draft(1))
	if err := j.Commit(); !errors.As(err, new(*durable.HeldError)) {
		t.Errorf("Commit while another writer has the copy = %v, want that it is held", err)
	}
	if after := tree(t, filepath.Dir(path)); !slices.Equal(after, before) {
		t.Errorf("Commit left %q, want %q", after, before)
	}
}

func sizeOf(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

func grow(path, more string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(more)
	return errors.Join(err, f.Close())
}

// readFirst returns the first record.
func readFirst(path string) []byte {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	return data[:ends(data)[0]]
}

func copyFile(from, to string) error {
	data, err := os.ReadFile(from)
	return errors.Join(err, os.WriteFile(to, data, 0o600))
}

func fileForFolder(path string) error {
	dir := filepath.Dir(path)
	return errors.Join(os.Rename(dir, dir+".old"), os.WriteFile(dir, nil, 0o600))
}

// tree lists every file below dir with its contents.
func tree(t *testing.T, dir string) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		text := ""
		if err == nil && e.Type().IsRegular() {
			data, rerr := os.ReadFile(path)
			text, err = string(data), rerr
		}
		all = append(all, path+" "+e.Type().String()+" "+text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// The board's lock may be gone; the journal is locked too.
func TestSecondWriterIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	j := begun(t, path)
	add(t, j, draft(0))
	commit(t, j)
	if err := grow(path, "half a rec"); err != nil { // the writer is writing
		t.Fatal(err)
	}
	before := tree(t, filepath.Dir(path))
	wantLocked(t, path)
	if after := tree(t, filepath.Dir(path)); !slices.Equal(after, before) {
		t.Errorf("the refused writer left %q, want %q", after, before)
	}
	if s, err := Read(path, ignore); err != nil || s.Records != 1 {
		t.Errorf("Read beside the writer = %+v, %v, want one record", s, err)
	}
	if err := j.Close(); err != nil {
		t.Errorf("Close = %v", err)
	}
	begun(t, path)
}

// wantLocked checks that a writer holds the journal. In a bubble Open need not wait until one that
// may be dying is gone.
func wantLocked(t *testing.T, path string) {
	t.Helper()
	var err error
	synctest.Test(t, func(*testing.T) {
		var j *Journal
		if j, err = Open(path, ticker, ignore); err == nil {
			j.Close()
		}
	})
	var held *durable.HeldError
	if !errors.As(err, &held) || held.Path != path || held.Hint() == "" {
		t.Errorf("Open beside a writer = %v, want *durable.HeldError for %s", err, path)
	}
}

func TestWriterOfAnotherProcessKeepsTheJournal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	cmd, next := startWriter(t, path)
	if next() == 0 {
		t.Fatal("the writer ended early")
	}
	wantLocked(t, path)
	if next() == 0 {
		t.Fatal("the writer ended when it was looked at")
	}
	cmd.Process.Kill()
	cmd.Wait()
	begun(t, path)
}

// An Open that fails keeps nothing locked.
func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{dir, filepath.Join(dir, "no", "journal.jsonl")} {
		if j, err := Open(path, ticker, ignore); err == nil {
			j.Close()
			t.Errorf("Open(%s) = nil, want an error", path)
		}
	}
	path := filepath.Join(dir, "journal.jsonl")
	j := begun(t, path)
	add(t, j, draft(0))
	commit(t, j)
	j.Close()
	stop := errors.New("unknown event")
	if _, err := Open(path, ticker, func(Record) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("Open = %v, want %v", err, stop)
	}
	begun(t, path)
}

// An open journal reaches the disk through the calls that sync.
func TestDiskSyncs(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	if err := (&diskFile{File: w}).Sync(); err == nil {
		t.Error("Sync of a pipe = nil, want the error of a sync")
	}
	if err := (disk{}).syncDir(filepath.Join(t.TempDir(), "no")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("syncDir of a missing folder = %v, want fs.ErrNotExist", err)
	}
}

func TestJournalNamesItsHint(t *testing.T) {
	for _, err := range []error{&DamageError{}, &durable.HeldError{}, &durable.NotPlainError{}} {
		hinted, ok := err.(interface{ Hint() string })
		if !ok || strings.TrimSpace(hinted.Hint()) == "" {
			t.Errorf("%T has no hint", err)
		}
	}
}
