package durable

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A backup by hard links gives a lock file a second name. It gets a copy of its own, unless a process has it.
func TestALockWithASecondName(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	put(t, path, "precious")
	if err := os.Link(path, path+".backup"); err != nil {
		t.Fatal(err)
	}
	wantHeld(t, path, false)
	l, err := Acquire(path)
	if err != nil {
		t.Fatal(err)
	}
	wantFile(t, path+".backup", "precious")
	if err := os.Link(path, path+".later"); err != nil { // a backup during a run
		t.Fatal(err)
	}
	for _, name := range []string{path, path + ".later"} {
		wantHeld(t, name, true)
		var held *HeldError
		if _, err := Acquire(name); !errors.As(err, &held) {
			t.Errorf("Acquire(%s) = %v, want that it is held", name, err)
		}
	}
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}
}

// Neither the lock nor a check of it may touch what an agent or a person put under its name.
func TestLockRefusesWhatIsNotItsOwn(t *testing.T) {
	tests := map[string]func(path string) error{
		"link":          func(path string) error { return os.Symlink(path+".target", path) },
		"dangling link": func(path string) error { return os.Symlink("nowhere", path) },
		"link loop":     func(path string) error { return os.Symlink(path, path) },
		"FIFO":          func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"folder":        func(path string) error { return os.Mkdir(path, 0o700) },
	}
	for name, prepare := range tests {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "lock")
			put(t, path+".target", "precious")
			if err := prepare(path); err != nil {
				t.Fatal(err)
			}
			l, err := Acquire(path)
			wantNotPlain(t, "Acquire", path, err)
			if l != nil {
				l.Release()
			}
			_, err = IsHeld(path)
			wantNotPlain(t, "Held", path, err)
			wantFile(t, path+".target", "precious")
			wantNames(t, filepath.Dir(path), "lock", "lock.target")
		})
	}
}

func wantNotPlain(t *testing.T, what, path string, err error) {
	t.Helper()
	var foreign *NotPlainError
	if !errors.As(err, &foreign) || foreign.Path != path || foreign.What == "" || foreign.Hint() == "" {
		t.Errorf("%s = %v, want *NotPlainError for %s with a reason and a hint", what, err, path)
	}
}

// A link or a FIFO put there after the check is neither followed nor waited for.
func TestNoFollowOpensNoLinkAndWaitsForNobody(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	put(t, path+".target", "precious")
	if err := os.Symlink(path+".target", path); err != nil {
		t.Fatal(err)
	}
	if f, err := os.OpenFile(path, os.O_RDWR|noFollow, 0); err == nil {
		f.Close()
		t.Error("OpenFile of a link = nil, want an error")
	}
	if err := errors.Join(os.Remove(path), syscall.Mkfifo(path, 0o600)); err != nil {
		t.Fatal(err)
	}
	opened := make(chan *os.File, 1)
	go func() {
		f, _ := os.OpenFile(path, os.O_RDONLY|noFollow, 0)
		opened <- f
	}()
	var f *os.File
	select {
	case f = <-opened:
	case <-time.After(10 * time.Second):
		t.Fatal("OpenFile of a FIFO waits for its other end")
	}
	defer f.Close()
	if err := checkPlain(f, path, false); err == nil {
		t.Error("checkPlain of a FIFO = nil, want an error")
	}
}

func TestAcquireNeedsAFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "no", "lock")
	if l, err := Acquire(path); err == nil {
		l.Release()
		t.Error("Acquire in a missing folder = nil, want an error")
	}
	if held, err := IsHeld(path); held || err != nil {
		t.Errorf("Held in a missing folder = %t, %v, want false", held, err)
	}
}

// A guardian's duplicate keeps the lock when the runner dies, and not after its Release.
func TestLockAndItsDuplicate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	take := func() (*Lock, *os.File) {
		l, err := Acquire(path)
		if err != nil {
			t.Fatalf("Acquire = %v", err)
		}
		fd, err := unix.Dup(int(l.File().Fd()))
		if err != nil {
			t.Fatal(err)
		}
		return l, os.NewFile(uintptr(fd), path)
	}
	l, guardian := take()
	l.File().Close() // as the kernel does when the runner dies
	wantHeld(t, path, true)
	guardian.Close()
	wantHeld(t, path, false)
	l, guardian = take()
	defer guardian.Close()
	if err := l.Release(); err != nil {
		t.Fatalf("Release = %v", err)
	}
	wantHeld(t, path, false)
}

func TestUnlockFreesAFileThatIsSharedStill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	put(t, path, "x")
	open := func() *os.File {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	one, two := open(), open()
	if err := TryLock(one); err != nil {
		t.Fatalf("TryLock = %v", err)
	}
	var held *HeldError
	if err := TryLock(two); !errors.As(err, &held) || held.Path != path {
		t.Errorf("TryLock of a locked file = %v, want *HeldError for %s", err, path)
	}
	if err := Unlock(one); err != nil {
		t.Fatalf("Unlock = %v", err)
	}
	if err := TryLock(two); err != nil {
		t.Errorf("TryLock after Unlock = %v", err)
	}
	two.Close()
	if err := TryLock(one); err != nil {
		t.Errorf("TryLock after Close of the holder = %v", err)
	}
	one.Close()
	if err := TryLock(one); err == nil || errors.As(err, &held) {
		t.Errorf("TryLock of a closed file = %v, want another error", err)
	}
}

// A check must not keep the lock.
func TestHeldChangesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	wantHeld(t, path, false)
	wantNames(t, filepath.Dir(path))
	put(t, path, "a person's name")
	wantHeld(t, path, false)
	wantFile(t, path, "a person's name")
	f, err := openLock(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if held, err := isHeld(f); held || err != nil {
		t.Fatalf("isHeld = %t, %v", held, err)
	}
	wantHeld(t, path, false) // f is still open
}

func wantHeld(t *testing.T, path string, want bool) {
	t.Helper()
	if got, err := IsHeld(path); got != want || err != nil {
		t.Errorf("Held(%s) = %t, %v, want %t", path, got, err, want)
	}
}
