package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// faulty is the real disk, except that it logs each operation and fails some.
type faulty struct {
	disk
	log   []string
	fails func(n int, op string) error
}

func (d *faulty) do(op string) error {
	d.log = append(d.log, op)
	if d.fails == nil {
		return nil
	}
	return d.fails(len(d.log), op)
}

func (d *faulty) create(name string, perm fs.FileMode) (file, error) {
	if err := d.do("create"); err != nil {
		return nil, err
	}
	f, err := d.disk.create(name, perm)
	return &faultyFile{file: f, disk: d}, err
}

func (d *faulty) rename(from, to string) error {
	if err := d.do("rename"); err != nil {
		return err
	}
	return d.disk.rename(from, to)
}

func (d *faulty) remove(name string) error {
	if err := d.do("remove"); err != nil {
		return err
	}
	return d.disk.remove(name)
}

func (d *faulty) syncDir(dir string) error {
	if err := d.do("syncDir"); err != nil {
		return err
	}
	return d.disk.syncDir(dir)
}

type faultyFile struct {
	file
	disk *faulty
}

func (f *faultyFile) Write(p []byte) (int, error) {
	if err := f.disk.do("write"); err != nil {
		n, _ := f.file.Write(p[:len(p)/2]) // a full disk takes what still fits
		return n, err
	}
	return f.file.Write(p)
}

func (f *faultyFile) Stat() (fs.FileInfo, error) {
	if err := f.disk.do("stat"); err != nil {
		return nil, err
	}
	return f.file.Stat()
}

func (f *faultyFile) Chmod(mode fs.FileMode) error {
	if err := f.disk.do("chmod"); err != nil {
		return err
	}
	return f.file.Chmod(mode)
}

func (f *faultyFile) Sync() error {
	if err := f.disk.do("sync"); err != nil {
		return err
	}
	return f.file.Sync()
}

func (f *faultyFile) Close() error {
	return errors.Join(f.disk.do("close"), f.file.Close())
}

// SQLite's way: fail the k-th operation for k = 1, 2, … until a run is clean,
// once with the fault gone afterwards and once with it there to stay.
func TestWriteFileFailsWholly(t *testing.T) {
	errDisk := errors.New("input/output error")
	for _, persistent := range []bool{false, true} {
		for k := 1; ; k++ {
			dir := t.TempDir()
			path := filepath.Join(dir, "kanban.md")
			put(t, path, "old")
			if err := os.Chmod(path, 0o644); err != nil {
				t.Fatal(err)
			}
			sys := &faulty{fails: func(n int, _ string) error {
				if n == k || persistent && n > k {
					return errDisk
				}
				return nil
			}}
			err := writeFile(sys, path, []byte("the new board"), 0o600)
			if err == nil {
				if k <= len(sys.log) {
					t.Errorf("writeFile = nil although operation %d (%s) failed", k, sys.log[k-1])
				}
				break
			}
			checkFailure(t, err, errDisk, sys.log[k-1], path, persistent)
		}
	}
}

func checkFailure(t *testing.T, err, want error, op, path string, persistent bool) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("writeFile = %v, want %v (%s failed)", err, want, op)
	}
	content := "old"
	if op == "syncDir" {
		content = "the new board"
	}
	wantFile(t, path, content)
	if !persistent { // a disk on which nothing works keeps the leftover for Sweep
		wantNames(t, filepath.Dir(path), "kanban.md")
	}
	if err := Sweep(path); err != nil {
		t.Error(err)
	}
	wantNames(t, filepath.Dir(path), "kanban.md")
}

// afterCut lists what a power cut right after the logged operations may leave
// under the target's name. Only what was synced is certain: an unsynced file
// may be empty, half written or whole, an unsynced rename done or not.
func afterCut(log []string) []string {
	data, states := []string{"none"}, []string{"old"}
	for _, op := range log {
		switch op {
		case "write":
			data = []string{"empty", "half", "new"}
		case "sync":
			data = []string{"new"}
		case "rename":
			states = append([]string{"old"}, data...)
		case "syncDir":
			if slices.Contains(log, "rename") {
				states = data
			}
		}
	}
	return states
}

// lossless checks every cut of the log against the promise of the package.
func lossless(log []string) error {
	for n := range len(log) + 1 {
		for _, state := range afterCut(log[:n]) {
			if state != "old" && state != "new" {
				return fmt.Errorf("a cut after %v may leave the file %s", log[:n], state)
			}
		}
	}
	if got := afterCut(log); !slices.Equal(got, []string{"new"}) {
		return fmt.Errorf("an acknowledged write may be %v after a cut", got)
	}
	return nil
}

func TestWriteFileSurvivesPowerCut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kanban.md")
	put(t, path, "old")
	sys := &faulty{}
	if err := writeFile(sys, path, []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := lossless(sys.log); err != nil {
		t.Error(err)
	}
	// The test itself is worth something only if it misses each step.
	for _, op := range []string{"sync", "syncDir", "rename"} {
		log := slices.DeleteFunc(slices.Clone(sys.log), func(o string) bool { return o == op })
		if len(log) == len(sys.log) || lossless(log) == nil {
			t.Errorf("lossless without %s = nil, want an error", op)
		}
	}
}
