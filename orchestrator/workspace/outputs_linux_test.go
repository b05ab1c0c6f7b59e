package workspace

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
)

// TestReadersOfAPipe: what a reader of this program's output writes is found, also in another session if
// this one has no reader, and the machine is searched again only if a reader has left.
func TestReadersOfAPipe(t *testing.T) {
	pipe, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	_, log := create(t, "log")
	file, far := create(t, "far")
	cat := exec.Command("cat")
	cat.Stdin, cat.Stdout, cat.SysProcAttr = pipe, file, &syscall.SysProcAttr{Setsid: true}
	if err := errors.Join(cat.Start(), file.Close()); err != nil {
		t.Fatal(err)
	}
	info, err := in.Stat()
	if err != nil {
		t.Fatal(err)
	}
	searches := 0
	readers := pipeReaders{find: func(pipe string) []string {
		searches++
		return findReaders(pipe)
	}}
	look := func(want os.FileInfo, has bool, wantSearches int) {
		t.Helper()
		found := slices.ContainsFunc(readers.files(info), func(f os.FileInfo) bool { return os.SameFile(f, want) })
		if found != has || searches != wantSearches {
			t.Errorf("%s: found %v after %d searches, want %v after %d", want.Name(), found, searches, has, wantSearches)
		}
	}
	look(log, true, 1)
	look(far, false, 1) // a reader of this session suffices
	_, late := create(t, "late")
	look(late, true, 1) // what a known reader opens later needs no search
	if err := pipe.Close(); err != nil {
		t.Fatal(err)
	}
	look(far, true, 2)
	look(log, false, 2)
	if err := in.Close(); err != nil { // cat ends
		t.Fatal(err)
	}
	if err := cat.Wait(); err != nil {
		t.Fatal(err)
	}
	look(log, false, 3)
	look(log, false, 3) // without a reader there is nothing to search for
	if found := findReaders("pipe:[0]"); len(found) > 0 {
		t.Errorf("readers of no pipe: %v", found)
	}
	if own := filepath.Join("/proc", strconv.Itoa(os.Getpid()), "fd"); reads(own, "pipe:[0]") {
		t.Error("this process reads no such pipe")
	}
}

func create(t *testing.T, name string) (*os.File, os.FileInfo) {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	return f, info
}
