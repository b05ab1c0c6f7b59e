package durable

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"
)

func TestAcquireRefusesASecondHolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	first, err := Acquire(path)
	if err != nil {
		t.Fatalf("Acquire = %v", err)
	}
	_, err = Acquire(path)
	var held *HeldError
	if !errors.As(err, &held) {
		t.Fatalf("second Acquire = %v, want *HeldError", err)
	}
	if want := fmt.Sprintf("pid %d, since 2", os.Getpid()); !strings.HasPrefix(held.Info, want) {
		t.Errorf("Info = %q, want it to begin with %q", held.Info, want)
	}
	if held.Path != path || held.Hint() == "" || !strings.Contains(held.Error(), fmt.Sprintf("pid %d", os.Getpid())) {
		t.Errorf("HeldError = %q, hint %q, want the path, the process and a hint", held, held.Hint())
	}
	if err := first.Release(); err != nil {
		t.Fatalf("Release = %v", err)
	}
	second, err := Acquire(path)
	if err != nil {
		t.Fatalf("Acquire after Release = %v", err)
	}
	if err := second.Release(); err != nil {
		t.Errorf("Release = %v", err)
	}
	if err := second.Release(); err == nil {
		t.Error("Release of a released lock = nil, want an error")
	}
}

// A check of the lock holds it for an instant, which must not refuse a run.
func TestAcquireOutlastsALook(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	put(t, path, "")
	reader, err := openLock(path)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	synctest.Test(t, func(t *testing.T) {
		if err := lock(reader); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		var held *HeldError
		if _, err := Acquire(path); !errors.As(err, &held) || time.Since(start) > 50*time.Millisecond {
			t.Errorf("Acquire = %v after %v, want *HeldError within a twentieth of a second", err, time.Since(start))
		}
		time.AfterFunc(heldPause*3/2, func() { unlock(reader) })
		l, err := Acquire(path)
		if err != nil {
			t.Fatalf("Acquire = %v", err)
		}
		l.Release()
	})
}

func TestLocksOfTwoBoardsAreApart(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a", "b"} {
		l, err := Acquire(filepath.Join(dir, name))
		if err != nil {
			t.Fatalf("Acquire(%s) = %v", name, err)
		}
		defer l.Release()
	}
}

func TestAcquireOverwritesOldInfo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	put(t, path, strings.Repeat("stale ", 1000))
	l, err := Acquire(path)
	if err != nil {
		t.Fatalf("Acquire = %v", err)
	}
	defer l.Release()
	if got, _ := os.ReadFile(path); strings.Contains(string(got), "stale") {
		t.Errorf("lock file holds %.60q, want only this process", got)
	}
}

func TestHeldInfoIsHarmless(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	l, err := Acquire(path)
	if err != nil {
		t.Fatalf("Acquire = %v", err)
	}
	defer l.Release()
	put(t, path, "pid 1\x1b[2J\r\n::error::\xff\u202e"+strings.Repeat("x", 1<<20))
	_, err = Acquire(path)
	var held *HeldError
	if !errors.As(err, &held) {
		t.Fatalf("Acquire = %v, want *HeldError", err)
	}
	if len(held.Info) > maxInfo || strings.ContainsAny(held.Info, "\x1b\r\n\u202e") || !utf8.ValidString(held.Info) {
		t.Errorf("Info = %q, want it short and printable", held.Info)
	}
}

func TestHeldWithoutInfo(t *testing.T) {
	err := &HeldError{Path: "lock"}
	if got, want := err.Error(), "lock lock: held by another process"; got != want {
		t.Errorf("Error() = %q, want %q", got, want)
	}
}

// After a rename over a lock file there would be two holders: the one whose file lost the name must
// take the lock of the new one.
func TestConfirmNoticesAReplacedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	put(t, path, "")
	f, err := openLock(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := os.Rename(path, path+".old"); err != nil {
		t.Fatal(err)
	}
	if err := confirmName(f, path); !errors.Is(err, errReplaced) {
		t.Errorf("confirm of a removed name = %v, want errReplaced", err)
	}
	put(t, path, "")
	if err := confirmName(f, path); !errors.Is(err, errReplaced) {
		t.Errorf("confirm of a replaced name = %v, want errReplaced", err)
	}
}

func TestLockOfAnotherProcessEndsWithIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	holder, stderr, line := helper(t, "lock", path)
	if got := line(); got != "ready" {
		t.Fatalf("holder said %q, %s", got, stderr)
	}
	_, err := Acquire(path)
	var held *HeldError
	if want := fmt.Sprintf("pid %d,", holder.Process.Pid); !errors.As(err, &held) ||
		!strings.HasPrefix(held.Info, want) {
		t.Fatalf("Acquire = %v, want *HeldError by %s", err, want)
	}
	holder.Process.Kill()
	holder.Wait()
	l, err := Acquire(path)
	if err != nil {
		t.Fatalf("Acquire after SIGKILL of the holder = %v", err)
	}
	l.Release()
}

// An agent that inherited the lock would keep the board locked after the run.
func TestLockIsNotInherited(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	l, err := Acquire(path)
	if err != nil {
		t.Fatalf("Acquire = %v", err)
	}
	_, stderr, line := helper(t, "linger", path)
	if got := line(); got != "ready" {
		t.Fatalf("child said %q, %s", got, stderr)
	}
	if err := l.File().Close(); err != nil { // Release would free it for the child too
		t.Fatal(err)
	}
	l, err = Acquire(path)
	if err != nil {
		t.Fatalf("Acquire while a child lives = %v", err)
	}
	l.Release()
}
