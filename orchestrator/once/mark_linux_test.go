package once

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestManyNotes: an agent can put any number of files where the calls under way are noted. One start
// removes mostNotes of them, and the next one the others; what is no note stays, a call under way
// too, and the agent of a dead call is ended.
func TestManyNotes(t *testing.T) {
	dir := t.TempDir()
	_, done, err := noteCall(dir, "UNDERWAY")
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	for i := range mostNotes {
		if err := os.Mkdir(filepath.Join(callsDir(dir), fmt.Sprint(i)), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := unix.Mkfifo(filepath.Join(callsDir(dir), "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	left := exec.Command("sleep", "600")
	left.Env = []string{"KANBAN_RUN_MARK=" + markOf(dir, "7")}
	if err := left.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- left.Wait() }()
	old := filepath.Join(callsDir(dir), "8") // of an earlier version
	if err := errors.Join(os.Remove(old), os.WriteFile(old, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	// Of mostNotes+2 entries, the first start may meet the two that stay.
	if left := endAndList(t, dir); len(left) < 2 || len(left) > 4 {
		t.Errorf("after one start: %.200v", left)
	}
	if left := endAndList(t, dir); fmt.Sprint(left) != "[UNDERWAY fifo]" {
		t.Errorf("after two starts: %.200v", left)
	}
	if err := <-ended; err == nil {
		t.Error("the agent of a dead call was not killed")
	}
}

// endAndList ends what was left, and lists the folder of the calls.
func endAndList(t *testing.T, dir string) (names []string) {
	t.Helper()
	if err := EndLeftovers(dir); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(callsDir(dir))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}
