package board

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"kanban-run/orchestrator/durable"
)

// withFewFiles runs do while only so many more files can be opened.
func withFewFiles(t *testing.T, more uint64, do func()) {
	t.Helper()
	var was unix.Rlimit
	if err := unix.Prlimit(0, unix.RLIMIT_NOFILE, nil, &was); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(os.DevNull) // takes the lowest free number
	if err != nil {
		t.Fatal(err)
	}
	next := uint64(f.Fd())
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err := unix.Prlimit(0, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: next + more, Max: was.Max}, nil); err != nil {
		t.Fatal(err)
	}
	do()
	if err := unix.Prlimit(0, unix.RLIMIT_NOFILE, &was, nil); err != nil {
		t.Fatal(err)
	}
}

// Without descriptors a file is not taken for one outside the work directory.
func TestFileThatCannotBeOpenedForWantOfFiles(t *testing.T) {
	dir := tree(t, "k.yaml", "tasks/a.md")
	p := openPlace(t, dir, dir+"/k.yaml")
	for more := range uint64(2) { // one for the work directory, one for the file in it
		var err, read error
		withFewFiles(t, more, func() {
			_, err = p.Resolve("tasks/a.md")
			_, read = p.ReadTask("tasks/a.md")
		})
		for _, err := range []error{err, read} {
			if !errors.Is(err, syscall.EMFILE) || !durable.IsMachineFault(err) ||
				strings.Contains(err.Error(), "leads out") {
				t.Errorf("with %d files: %v, want %v", more, err, syscall.EMFILE)
			}
		}
	}
}
