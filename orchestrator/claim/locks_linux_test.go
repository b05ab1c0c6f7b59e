package claim_test

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"kanban-run/orchestrator/claim"
)

// TestBusyLockFile: a step that waits only for another process's writing has waited, too: that
// process may have ended a step since.
func TestBusyLockFile(t *testing.T) { synctest.Test(t, testBusyLockFile) }

func testBusyLockFile(t *testing.T) {
	dir := t.TempDir()
	registry := claim.NewRegistry(claim.System{})
	defer registry.Close()
	c := claim.Claim{Board: "b", Task: filepath.Join(dir, "t"), Dir: dir, Files: []string{"a"}}
	first, err := registry.Take(t.Context(), c, silent)
	if err != nil || first.Waited {
		t.Fatalf("Take() = %+v, %v, want a grant without a wait", first, err)
	}
	if err := first.Release(); err != nil {
		t.Fatal(err)
	}
	other, err := os.OpenFile(filepath.Join(dir, ".kanban-run/claims/locks"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	mutex := unix.Flock_t{Type: unix.F_WRLCK, Start: claim.MutexAt, Len: 1}
	if err := unix.FcntlFlock(other.Fd(), unix.F_OFD_SETLK, &mutex); err != nil {
		t.Fatal(err)
	}
	unlock := time.AfterFunc(50*time.Millisecond, func() { other.Close() })
	defer unlock.Stop()
	second, err := registry.Take(t.Context(), c, silent)
	if err != nil || !second.Waited {
		t.Fatalf("Take() = %+v, %v, want a grant after a wait", second, err)
	}
	if err := second.Release(); err != nil {
		t.Fatal(err)
	}
}
