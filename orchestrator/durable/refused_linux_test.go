package durable

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A system call that the kernel refuses proves that it was made.
func TestSystemCallsAreMadeAndTheirErrorsTold(t *testing.T) {
	tests := map[string]struct {
		call  int // refused
		errno syscall.Errno
		does  string
		want  bool // the error is reported
	}{
		"SyncDir":                      {unix.SYS_FSYNC, unix.EIO, "SyncDir", true},
		"SyncDir where there is none":  {unix.SYS_FSYNC, unix.EINVAL, "SyncDir", false},
		"SyncDir, not supported":       {unix.SYS_FSYNC, unix.EOPNOTSUPP, "SyncDir", false},
		"SyncData":                     {unix.SYS_FDATASYNC, unix.EIO, "SyncData", true},
		"WriteFile":                    {unix.SYS_FSYNC, unix.EIO, "WriteFile", true},
		"MkdirAll":                     {unix.SYS_FSYNC, unix.EIO, "MkdirAll", true},
		"Acquire without locks":        {unix.SYS_FLOCK, unix.ENOLCK, "Acquire", true},
		"Acquire on a full disk":       {unix.SYS_PWRITE64, unix.ENOSPC, "Acquire", true},
		"Acquire on a read-only disk":  {unix.SYS_FTRUNCATE, unix.EROFS, "Acquire", true},
		"Held without locks":           {unix.SYS_FLOCK, unix.ENOLCK, "Held", true},
		"TryLock without locks":        {unix.SYS_FLOCK, unix.ENOLCK, "TryLock", true},
		"WriteFile needs no flock":     {unix.SYS_FLOCK, unix.EIO, "WriteFile", false},
		"WriteFile needs no fdatasync": {unix.SYS_FDATASYNC, unix.EIO, "WriteFile", false},
		"WriteFile on a full disk":     {unix.SYS_WRITE, unix.ENOSPC, "WriteFile", true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "f")
			put(t, path, "old")
			t.Setenv("DURABLE_TEST_CALL", fmt.Sprintf("%s %d %d", tt.does, tt.call, tt.errno))
			cmd, stderr, _ := helper(t, "refused", path)
			cmd.Wait()
			said, err := os.Readlink(path + ".said")
			if err != nil {
				t.Fatalf("the helper said nothing: %s", stderr)
			}
			if said == "no filter" {
				t.Skip("the system lets no process filter its own calls")
			}
			if want := strconv.FormatBool(tt.want); said != want {
				t.Errorf("%s told of %v: %s, want %s", tt.does, tt.errno, said, want)
			}
			if tt.want {
				wantFile(t, path, "old")
			}
		})
	}
}

// steps are what the helper does while a system call is refused.
var steps = map[string]func(path string) error{
	"SyncDir":   func(path string) error { return SyncDir(filepath.Dir(path)) },
	"WriteFile": func(path string) error { return WriteFile(path, []byte("new"), 0o600) },
	"MkdirAll":  func(path string) error { return MkdirAll(filepath.Join(filepath.Dir(path), "a"), 0o700) },
	"Acquire": func(path string) error {
		_, err := Acquire(path + ".lock")
		return err
	},
	"Held": func(path string) error {
		held, err := IsHeld(path)
		if held {
			return errors.New("held")
		}
		return err
	},
	"SyncData": func(path string) error { return withFile(path, SyncData) },
	"TryLock":  func(path string) error { return withFile(path, TryLock) },
}

func withFile(path string, do func(*os.File) error) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(do(f), f.Close())
}

// callRefused runs a step under a filter and records in the target of a link whether the step
// returned the error.
func callRefused(path string) {
	var does string
	var call, errno int
	if _, err := fmt.Sscan(os.Getenv("DURABLE_TEST_CALL"), &does, &call, &errno); err != nil {
		panic(err)
	}
	said := "no filter"
	if refuse(call, syscall.Errno(errno)) == nil {
		err := steps[does](path)
		said = strconv.FormatBool(errors.Is(err, syscall.Errno(errno)))
		if err != nil && !errors.Is(err, syscall.Errno(errno)) {
			said = err.Error()
		}
	}
	// A link, because writes may be refused.
	if err := os.Symlink(strings.ReplaceAll(said, "/", "_"), path+".said"); err != nil {
		panic(err)
	}
}

// refuse makes one system call fail in every thread of this process.
func refuse(call int, errno syscall.Errno) error {
	runtime.LockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}, // the number of the call
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: uint32(call), Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(errno)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	_, _, failed := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC,
		uintptr(unsafe.Pointer(&program)))
	runtime.KeepAlive(filter)
	if failed != 0 {
		return failed
	}
	return nil
}
