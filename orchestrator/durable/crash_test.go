package durable

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
)

// As SQLite does: fail operation k for k = 1, 2, … until a run is clean, with a fault that passes
// and with one that stays.
func TestWriteFileFailsWholly(t *testing.T) {
	for _, fault := range faults {
		for _, persists := range []bool{false, true} {
			t.Run(fmt.Sprintf("%v/persists=%t", fault, persists), func(t *testing.T) {
				for k := 1; failWrite(t, k, fault, persists); k++ {
				}
			})
		}
	}
}

// failWrite writes a file while operation k fails, and reports whether there was such an operation.
func failWrite(t *testing.T, k int, fault error, persists bool) bool {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kanban.md")
	put(t, path, "old")
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	sys := newFaulty(k, fault, persists)
	err := writeFile(sys, path, []byte("new"), 0o600)
	if len(sys.log) < k {
		return false
	}
	failed := slices.IndexFunc(sys.log, func(op operation) bool { return op.failed })
	if silent := failed < 0 || endOfRead(sys.log, failed); silent != (err == nil) || err != nil &&
		!errors.Is(err, fault) {
		t.Errorf("writeFile = %v although %v after %s", err, fault, listNames(sys.log))
	}
	if err := checkNeverHalf(sys.log); err != nil {
		t.Error(err)
	}
	wantFile(t, path, contentAfter(sys.log))
	if !persists { // on a broken disk the leftover stays for Sweep
		wantNames(t, filepath.Dir(path), "kanban.md")
	}
	if err := Sweep(path); err != nil {
		t.Error(err)
	}
	wantNames(t, filepath.Dir(path), "kanban.md")
	return true
}

// endOfRead reports whether operation i closes a file that was read to its end: the last operation
// of a write, when all that matters is done.
func endOfRead(log []operation, i int) bool { return log[i].name == "close" && log[i-1].name == "read" }

func contentAfter(log []operation) string {
	if slices.ContainsFunc(log, func(op operation) bool { return op.name == "rename" && !op.failed }) {
		return "new"
	}
	return "old"
}

// statesAfterCut lists what a power cut after the logged operations may leave under the target's
// name. Only synced changes are certain: an unsynced file may be empty, half written or whole, an
// unsynced rename done or not.
func statesAfterCut(log []operation) []string {
	data, states, renamed := []string{"none"}, []string{"old"}, false
	for _, op := range log {
		switch {
		case op.name == "write" && op.failed:
			data = []string{"empty", "half"}
		case op.failed: // it changed nothing
		case op.name == "write":
			data = []string{"empty", "half", "new"}
		case op.name == "sync":
			data = []string{"new"}
		case op.name == "rename":
			states, renamed = append([]string{"old"}, data...), true
		case op.name == "syncDir" && renamed:
			states = data
		}
	}
	return states
}

// checkNeverHalf requires that every cut of the log leaves the old file or the new.
func checkNeverHalf(log []operation) error {
	for n := range len(log) + 1 {
		for _, state := range statesAfterCut(log[:n]) {
			if state != "old" && state != "new" {
				return fmt.Errorf("a cut after %s may leave the file %s", listNames(log[:n]), state)
			}
		}
	}
	return nil
}

// checkLossless also requires that a successful write leaves nothing but the new file.
func checkLossless(log []operation) error {
	if got := statesAfterCut(log); !slices.Equal(got, []string{"new"}) {
		return fmt.Errorf("an acknowledged write may be %v after a cut", got)
	}
	return checkNeverHalf(log)
}

func TestWriteFileSurvivesPowerCut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kanban.md")
	for _, what := range []string{"new file", "replaced file"} {
		sys := &faulty{}
		if err := writeFile(sys, path, []byte("new"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := checkLossless(sys.log); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		// The test proves something only if it notices each missing step.
		for _, name := range []string{"sync", "syncDir", "rename"} {
			log := slices.DeleteFunc(slices.Clone(sys.log), func(o operation) bool { return o.name == name })
			if len(log) == len(sys.log) || checkLossless(log) == nil {
				t.Errorf("%s: lossless without %s = nil, want an error", what, name)
			}
		}
	}
}

// The target's own folder is synced, wherever a link leads.
func TestWriteFileSyncsTheRightFolder(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "kanban.md")
	sys := &faulty{}
	if err := writeFile(sys, path, []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(sys.log, func(op operation) bool { return op.name == "syncDir" })
	if i < 0 || sys.log[i].path != dir {
		t.Errorf("writeFile did %s, want a sync of %s", listNames(sys.log), dir)
	}
}

// A write killed after its rename shows the new bytes. The next run sweeps and acts on them, so a
// power cut must not undo them any more.
func TestSweepMakesAKilledWriteDurable(t *testing.T) {
	for k := 1; ; k++ {
		path := filepath.Join(t.TempDir(), "kanban.md")
		put(t, path, "old")
		killed := newFaulty(k, syscall.EIO, true)
		if err := writeFile(killed, path, []byte("new"), 0o600); err == nil {
			return
		}
		next := &faulty{}
		if err := sweep(next, path); err != nil {
			t.Fatalf("sweep = %v", err)
		}
		log := append(killed.log, next.log...)
		if got, want := statesAfterCut(log), []string{contentAfter(log)}; !slices.Equal(got, want) {
			t.Errorf("after %s a cut may leave %v, want %v", listNames(log), got, want)
		}
	}
}

func TestSweepFailsAloud(t *testing.T) {
	for k := 1; ; k++ {
		path := filepath.Join(t.TempDir(), "kanban.md")
		put(t, filepath.Join(filepath.Dir(path), tempPrefix(path)+"0123456789abcdef"), "half")
		sys := newFaulty(k, syscall.EIO, false)
		err := sweep(sys, path)
		if len(sys.log) < k {
			return
		}
		if !errors.Is(err, syscall.EIO) {
			t.Errorf("sweep = %v after %s, want %v", err, listNames(sys.log), syscall.EIO)
		}
	}
}

// A run may be killed or fail at every operation. The next one makes the rest, and what it reports
// as made survives a power cut.
func TestMkdirAllSurvivesFaultAtEveryOperation(t *testing.T) {
	for _, fault := range faults {
		for _, persists := range []bool{false, true} {
			t.Run(fmt.Sprintf("%v/persists=%t", fault, persists), func(t *testing.T) {
				for k := 1; failMkdir(t, k, fault, persists); k++ {
				}
			})
		}
	}
}

func failMkdir(t *testing.T, k int, fault error, persists bool) bool {
	t.Helper()
	root := t.TempDir()
	put(t, filepath.Join(root, "kanban.md"), "board")
	dir := filepath.Join(root, "a", "b", "c")
	first := newFaulty(k, fault, persists)
	err := mkdirAll(first, dir, 0o700)
	if len(first.log) >= k && hits(fault, "mkdir") && !errors.Is(err, fault) {
		t.Errorf("mkdirAll = %v although %v after %s", err, fault, listNames(first.log))
	}
	if err == nil {
		wantDurable(t, root, dir, first.log)
	}
	second := &faulty{}
	if err := mkdirAll(second, dir, 0o700); err != nil {
		t.Errorf("mkdirAll after %s = %v", listNames(first.log), err)
	}
	wantDurable(t, root, dir, append(first.log, second.log...))
	return len(first.log) >= k
}

// wantDurable requires that each folder below root was made, and its name synced after that.
func wantDurable(t *testing.T, root, dir string, log []operation) {
	t.Helper()
	for ; dir != root; dir = filepath.Dir(dir) {
		made := slices.IndexFunc(log, func(op operation) bool { return op == operation{name: "mkdir", path: dir} })
		synced := operation{name: "syncDir", path: filepath.Dir(dir)}
		if made < 0 || !slices.Contains(log[made+1:], synced) {
			t.Errorf("%s is not durable after %s", dir, listNames(log))
		}
		if err := isDir(dir); err != nil {
			t.Error(err)
		}
	}
}
