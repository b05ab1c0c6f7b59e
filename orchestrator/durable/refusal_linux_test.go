package durable

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// asUser runs a part of a test in a thread with another user's rights and mounts of its own. Go has
// no way back from that for a thread, so the thread ends with the part. The function first runs
// before the thread gives up its rights. If it is not nil, and there can be no such mounts, the test
// is skipped.
func asUser(t *testing.T, uid, gid int, first, do func()) {
	t.Helper()
	needRoot(t)
	done, noMounts := make(chan struct{}), false
	go func() {
		defer close(done)
		runtime.LockOSThread() // without an unlock: the thread ends with the goroutine
		if unix.Unshare(unix.CLONE_NEWNS) != nil {
			if noMounts = first != nil; noMounts {
				return
			}
		} else if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
			t.Errorf("make the mounts private: %v", err)
			return
		} else if first != nil {
			first()
		}
		for _, call := range [][4]uintptr{
			{unix.SYS_SETGROUPS}, {unix.SYS_SETRESGID, uintptr(gid), uintptr(gid), uintptr(gid)},
			{unix.SYS_SETRESUID, uintptr(uid), uintptr(uid), uintptr(uid)},
		} {
			if _, _, errno := unix.RawSyscall(call[0], call[1], call[2], call[3]); errno != 0 {
				t.Errorf("system call %d: %v", call[0], errno)
				return
			}
		}
		do()
	}()
	if <-done; noMounts {
		t.Skip("this system gives a thread no mounts of its own")
	}
}

func needRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root may act as another user, mount or change attributes")
	}
}

// openDir returns a folder of the test that every user may look into.
func openDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "refusal-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	sub := filepath.Join(dir, "b")
	for _, d := range []string{dir, sub} {
		if err := errors.Join(os.MkdirAll(d, 0o755), os.Chmod(d, 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	return sub
}

// TestRehearse has one row for each way in which a board may be written and not replaced, or not even written. What
// the rehearsal says is what the write finds, and neither changes anything.
func TestRehearse(t *testing.T) {
	needRoot(t)
	chattr := func(option string, name func(string) string) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			if out, err := exec.Command("chattr", "+"+option, name(path)).CombinedOutput(); err != nil {
				t.Skipf("no attributes here: %v, %s", err, out)
			}
			t.Cleanup(func() { exec.Command("chattr", "-"+option, name(path)).Run() })
		}
	}
	itself := func(path string) string { return path }
	mount := func(path string, flags ...uintptr) {
		for _, f := range append([]uintptr{unix.MS_BIND}, flags...) {
			if err := unix.Mount(path, path, "", f, ""); err != nil {
				t.Errorf("mount %s: %v", path, err)
			}
		}
	}
	readOnly := uintptr(unix.MS_BIND | unix.MS_REMOUNT | unix.MS_RDONLY)
	type row struct {
		prepare func(t *testing.T, path string)
		mount   func(path string)
		uid     int
		err     error
		says    string // in the text or the hint
	}
	folder := func(mode fs.FileMode, uid int) func(*testing.T, string) {
		return func(_ *testing.T, path string) {
			os.Chown(filepath.Dir(path), uid, uid)
			os.Chmod(filepath.Dir(path), mode)
			os.Chmod(path, 0o666)
		}
	}
	tests := map[string]row{
		"all is well": {},
		"a file of another user": {func(_ *testing.T, path string) { os.Chmod(filepath.Dir(path), 0o777) }, nil, 7,
			syscall.EACCES, "belongs to user 0"},
		"a file that all may write": {prepare: folder(0o777, 0), uid: 7},
		"a folder of another user":  {folder(0o755, 0), nil, 7, syscall.EACCES, "chown 7 "},
		"an own folder":             {folder(0o555, 7), nil, 7, syscall.EACCES, "chmod u+wx "},
		"a sticky folder":           {folder(0o777|fs.ModeSticky, 0), nil, 7, syscall.EPERM, "sticky"},
		"a sticky folder, own":      {prepare: folder(0o777|fs.ModeSticky, 7), uid: 7},
		"a mounted file":            {nil, func(path string) { mount(path) }, 0, syscall.EBUSY, "mount its folder"},
		"a mounted folder":          {mount: func(path string) { mount(filepath.Dir(path)) }},
		"a read-only file system": {nil, func(path string) { mount(filepath.Dir(path), readOnly) }, 0, syscall.EROFS,
			"mounted read-only"},
		"an immutable file":        {chattr("i", itself), nil, 0, syscall.EPERM, "chattr -i "},
		"a file that only grows":   {chattr("a", itself), nil, 0, syscall.EPERM, "chattr -a "},
		"an immutable folder":      {chattr("i", filepath.Dir), nil, 0, syscall.EPERM, "chattr -i "},
		"a folder that only grows": {chattr("a", filepath.Dir), nil, 0, syscall.EPERM, "chattr -a "},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(openDir(t), "kanban.md")
			put(t, path, "old")
			if err := os.Chmod(path, 0o644); err != nil {
				t.Fatal(err)
			}
			if tt.prepare != nil {
				tt.prepare(t, path)
			}
			asUser(t, tt.uid, tt.uid, func() {
				if tt.mount != nil {
					tt.mount(path)
				}
			}, func() {
				lost, err := Rehearse(path)
				var refused *RefusedError
				if !errors.Is(err, tt.err) || tt.err != nil && !errors.As(err, &refused) {
					t.Errorf("Rehearse = %q, %v, want %v", lost, err, tt.err)
				} else if refused != nil && !strings.Contains(refused.Error()+refused.Hint(), tt.says) {
					t.Errorf("Rehearse = %v, hint %q, want %q", refused, refused.Hint(), tt.says)
				}
				wantNames(t, filepath.Dir(path), "kanban.md")
				wantFile(t, path, "old")
				if strings.Contains(name, "grows") {
					return // there a write would leave a file that cannot be removed
				}
				if err := WriteFile(path, []byte("new"), 0o600); (err == nil) != (tt.err == nil) {
					t.Errorf("WriteFile = %v, want %v", err, tt.err)
				}
			})
		})
	}
}

// TestAWriteGoesOnWithoutTheGroup: the group is kept where the system lets us (DESIGN, "The board"). What is lost is
// known before the write, and after it no user has more rights.
func TestAWriteGoesOnWithoutTheGroup(t *testing.T) {
	path := filepath.Join(openDir(t), "kanban.md")
	needRoot(t)
	put(t, path, "old")
	for _, err := range []error{os.Chown(filepath.Dir(path), 7, 7), os.Chown(path, 7, 0), os.Chmod(path, 0o664)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	asUser(t, 7, 7, nil, func() {
		if lost, err := Rehearse(path); lost != "its group 0" || err != nil {
			t.Errorf("Rehearse = %q, %v, want its group 0", lost, err)
		}
		if err := WriteFile(path, []byte("new"), 0o600); err != nil {
			t.Errorf("WriteFile = %v", err)
		}
	})
	info, err := os.Stat(path)
	if err != nil || info.Mode() != 0o644 || ownersOf(info) != (owners{7, 7}) {
		t.Errorf("the new file: %v of %v, %v, want -rw-r--r-- of {7 7}", info.Mode(), ownersOf(info), err)
	}
	if lost, err := Rehearse(path); lost != "" || err != nil {
		t.Errorf("Rehearse = %q, %v, want that nothing is lost", lost, err)
	}
}

// acl is a POSIX ACL as Linux stores it. The owner may read and write, and so far may the mask.
func acl(user12345, group, others uint32) []byte {
	list := binary.LittleEndian.AppendUint32(nil, 2)
	all := ^uint32(0)
	for _, e := range [][3]uint32{{1, 6, all}, {2, user12345, 12345}, {4, group, all}, {16, 6, all}, {32, others, all}} {
		list = binary.LittleEndian.AppendUint16(list, uint16(e[0]))
		list = binary.LittleEndian.AppendUint16(list, uint16(e[1]))
		list = binary.LittleEndian.AppendUint32(list, e[2])
	}
	return list
}

// The mode of a file with an access list shows the mask of the list, so a mode without the list would give the group
// what it never had.
func TestWriteFileKeepsTheAccessList(t *testing.T) {
	path := filepath.Join(openDir(t), "kanban.md")
	put(t, path, "old")
	if err := errors.Join(unix.Setxattr(path, accessList, acl(6, 0, 0), 0), unix.Setxattr(path, "user.note", []byte("v"), 0)); err != nil {
		t.Skipf("no access lists here: %v", err)
	}
	if err := WriteFile(path, []byte("new"), 0o600); err != nil {
		t.Fatalf("WriteFile = %v", err)
	}
	for name, want := range map[string]string{accessList: string(acl(6, 0, 0)), "user.note": "v"} {
		value := make([]byte, 100)
		n, err := unix.Getxattr(path, name, value)
		if err != nil || string(value[:n]) != want {
			t.Errorf("%s = %q, %v, want %q", name, value[:max(n, 0)], err, want)
		}
	}
	if info, _ := os.Stat(path); info.Mode() != 0o660 {
		t.Errorf("mode = %v, want -rw-rw----", info.Mode())
	}
}

// Without its group, a list would be about another group: only the owner is left. The list denies a user what others may.
func TestAnAccessListGoesWithTheGroup(t *testing.T) {
	path := filepath.Join(openDir(t), "kanban.md")
	needRoot(t)
	put(t, path, "old")
	if err := errors.Join(os.Chown(filepath.Dir(path), 7, 7), os.Chown(path, 7, 0)); err != nil {
		t.Fatal(err)
	}
	if err := unix.Setxattr(path, accessList, acl(0, 4, 4), 0); err != nil {
		t.Skipf("no access lists here: %v", err)
	}
	asUser(t, 7, 7, nil, func() {
		if lost, err := Rehearse(path); lost != "its group 0 and its access list" || err != nil {
			t.Errorf("Rehearse = %q, %v, want that the group and the list get lost", lost, err)
		}
		if err := WriteFile(path, []byte("new"), 0o600); err != nil {
			t.Errorf("WriteFile = %v", err)
		}
	})
	if info, _ := os.Stat(path); info.Mode() != 0o600 {
		t.Errorf("mode = %v, want -rw-------", info.Mode())
	}
	if names, err := listAttributes(path); err != nil || len(names) > 0 {
		t.Errorf("attributes = %q, %v, want none", names, err)
	}
}

// A folder may give its files a list, which an old file without one must not get.
func TestAListOfTheFolderIsNotTakenOn(t *testing.T) {
	path := filepath.Join(openDir(t), "kanban.md")
	put(t, path, "old")
	if err := os.Chmod(path, 0o660); err != nil {
		t.Fatal(err)
	}
	if err := unix.Setxattr(filepath.Dir(path), "system.posix_acl_default", acl(6, 0, 0), 0); err != nil {
		t.Skipf("no access lists here: %v", err)
	}
	if err := WriteFile(path, []byte("new"), 0o600); err != nil {
		t.Fatalf("WriteFile = %v", err)
	}
	names, err := listAttributes(path)
	if info, _ := os.Stat(path); err != nil || len(names) > 0 || info.Mode() != 0o660 {
		t.Errorf("attributes = %q, %v, mode %v, want none and -rw-rw----", names, err, info.Mode())
	}
}
