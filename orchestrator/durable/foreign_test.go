package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

func TestWriteFileKeepsTheMode(t *testing.T) {
	for _, mode := range []fs.FileMode{0o600, 0o644, 0o664, 0o755, 0o640 | fs.ModeSetgid} {
		path := filepath.Join(t.TempDir(), "kanban.md")
		put(t, path, "old")
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if err := WriteFile(path, []byte("new"), 0o666); err != nil {
			t.Fatalf("WriteFile = %v", err)
		}
		if info, _ := os.Stat(path); info.Mode() != mode {
			t.Errorf("mode after WriteFile = %v, want %v", info.Mode(), mode)
		}
	}
}

func TestWriteFileHeedsUmaskForANewFile(t *testing.T) {
	old := syscall.Umask(0o027)
	defer syscall.Umask(old)
	path := filepath.Join(t.TempDir(), "kanban.md")
	if err := WriteFile(path, nil, 0o666); err != nil {
		t.Fatalf("WriteFile = %v", err)
	}
	if info, _ := os.Stat(path); info.Mode() != 0o640 {
		t.Errorf("mode = %v, want -rw-r-----", info.Mode())
	}
}

// A replacement needs only the folder's permission, but an author who made the board read-only
// means the board.
func TestWriteFileHeedsReadOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kanban.md")
	put(t, path, "old")
	if err := os.Chmod(path, 0o444); err != nil {
		t.Fatal(err)
	}
	err := WriteFile(path, []byte("new"), 0o644)
	if os.Geteuid() == 0 { // root may write anywhere, and the mode stays
		if info, _ := os.Stat(path); err != nil || info.Mode() != 0o444 {
			t.Errorf("WriteFile as root = %v, mode %v, want nil, -r--r--r--", err, info.Mode())
		}
		return
	}
	if !errors.Is(err, fs.ErrPermission) {
		t.Errorf("WriteFile = %v, want fs.ErrPermission", err)
	}
	wantFile(t, path, "old")
}

func TestWriteFileKeepsLinks(t *testing.T) {
	tests := map[string]struct {
		links [][2]string // name, what it points at
		write string
		want  string // the file that holds the new bytes
	}{
		"relative link": {[][2]string{{"l", "real/f"}}, "l", "real/f"},
		"chain":         {[][2]string{{"l", "real/m"}, {"real/m", "f"}}, "l", "real/f"},
		"dangling":      {[][2]string{{"l", "real/new"}}, "l", "real/new"},
		"linked folder": {[][2]string{{"d", "real"}}, "d/f", "real/f"},
		// deep -> real/sub, so deep/../f is real/f and not f.
		"dots after a linked folder": {[][2]string{{"deep", "real/sub"}, {"l", "deep/../f"}}, "l", "real/f"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := MkdirAll(filepath.Join(dir, "real/sub"), 0o700); err != nil {
				t.Fatal(err)
			}
			put(t, filepath.Join(dir, "real/f"), "old")
			for _, l := range tt.links {
				if err := os.Symlink(l[1], filepath.Join(dir, l[0])); err != nil {
					t.Fatal(err)
				}
			}
			if err := WriteFile(filepath.Join(dir, tt.write), []byte("new"), 0o600); err != nil {
				t.Fatalf("WriteFile = %v", err)
			}
			wantFile(t, filepath.Join(dir, tt.want), "new")
			for _, l := range tt.links {
				if got, err := os.Readlink(filepath.Join(dir, l[0])); got != l[1] {
					t.Errorf("Readlink(%s) = %q, %v, want %q", l[0], got, err, l[1])
				}
			}
		})
	}
}

func TestWriteFileFollowsAnAbsoluteLink(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(t.TempDir(), "f"), filepath.Join(dir, "l")
	put(t, target, "old")
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(link, []byte("new"), 0o600); err != nil {
		t.Fatalf("WriteFile = %v", err)
	}
	wantFile(t, target, "new")
	wantNames(t, dir, "l")
}

func TestWriteFileRefusesWhatIsNoFile(t *testing.T) {
	tests := map[string]func(path string) error{
		"FIFO":      func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"link loop": func(path string) error { return os.Symlink(path, path) },
		"device":    func(path string) error { return os.Symlink("/dev/null", path) },
	}
	for name, make := range tests {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "kanban.md")
			if err := make(path); err != nil {
				t.Fatal(err)
			}
			if err := WriteFile(path, []byte("new"), 0o600); err == nil {
				t.Error("WriteFile = nil, want an error")
			}
			wantNames(t, filepath.Dir(path), "kanban.md")
		})
	}
}

// otherUser is a file that belongs to another user.
type otherUser struct {
	uid, gid uint32
	mode     fs.FileMode
	mayGroup bool // it may give the file to another group
}

func (otherUser) Name() string        { return "f" }
func (otherUser) Size() int64         { return 0 }
func (s otherUser) Mode() fs.FileMode { return s.mode }
func (otherUser) ModTime() time.Time  { return time.Time{} }
func (otherUser) IsDir() bool         { return false }
func (s otherUser) Sys() any          { return &syscall.Stat_t{Uid: s.uid, Gid: s.gid} }

// chownFile is a new file on a file system that refuses to give files away.
type chownFile struct {
	*os.File
	info  otherUser
	err   error
	calls [][2]int
	mode  fs.FileMode
}

func (f *chownFile) Stat() (fs.FileInfo, error) { return f.info, nil }

func (f *chownFile) Chmod(mode fs.FileMode) error { f.mode = mode; return nil }

func (f *chownFile) Chown(uid, gid int) error {
	f.calls = append(f.calls, [2]int{uid, gid})
	if f.err == nil || uid < 0 && f.info.mayGroup {
		f.info.gid = uint32(gid)
		if uid >= 0 {
			f.info.uid = uint32(uid)
		}
		return nil
	}
	return f.err
}

// TestAdoptKeepsWhatItMay: owner and group are kept where the system lets us (DESIGN, "The board"); where not, the write
// goes on, and the new file gives no user more than the old one did.
func TestAdoptKeepsWhatItMay(t *testing.T) {
	mine := otherUser{uid: 1, gid: 1, mode: 0o600}
	old := func(uid, gid uint32, mode fs.FileMode) otherUser { return otherUser{uid: uid, gid: gid, mode: mode} }
	tests := map[string]struct {
		now, old otherUser
		err      error
		calls    int
		mode     fs.FileMode
	}{
		"same owner":                       {now: mine, old: old(1, 1, 0o644), err: syscall.EPERM, mode: 0o644},
		"other owner":                      {now: mine, old: old(2, 2, 0o664), calls: 1, mode: 0o664},
		"other group refused":              {now: mine, old: old(1, 2, 0o664), err: syscall.EPERM, calls: 2, mode: 0o644},
		"a group that may nothing":         {now: mine, old: old(1, 2, 0o604), err: syscall.EPERM, calls: 2, mode: 0o600},
		"others that may nothing":          {now: mine, old: old(1, 2, 0o660), err: syscall.EPERM, calls: 2, mode: 0o600},
		"a group that is not mapped":       {now: mine, old: old(1, 2, 0o640), err: syscall.EINVAL, calls: 2, mode: 0o600},
		"a file system without owners":     {now: mine, old: old(2, 2, 0o644), err: syscall.ENOTSUP, calls: 2, mode: 0o644},
		"owner refused, group given":       {now: otherUser{uid: 1, gid: 1, mode: 0o600, mayGroup: true}, old: old(2, 2, 0o664), err: syscall.EPERM, calls: 2, mode: 0o664},
		"an owner that may less":           {now: mine, old: old(2, 1, 0o466), err: syscall.EPERM, calls: 1, mode: 0o444},
		"the old owner's set-user-id goes": {now: mine, old: old(2, 1, 0o755|fs.ModeSetuid), err: syscall.EPERM, calls: 1, mode: 0o755},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "f")
			put(t, path, "old")
			real, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer real.Close()
			f := &chownFile{File: real, info: tt.now, err: tt.err, mode: tt.now.mode}
			if err := adopt(f, path, tt.old); err != nil {
				t.Errorf("adopt = %v", err)
			}
			if len(f.calls) != tt.calls || f.mode != tt.mode {
				t.Errorf("adopt called Chown with %v and set mode %v, want %d calls, %v", f.calls, f.mode, tt.calls, tt.mode)
			}
		})
	}
}

// A disk that fails is no refusal.
func TestAdoptFailsWithTheDisk(t *testing.T) {
	f := &chownFile{info: otherUser{uid: 1, gid: 1}, err: syscall.EIO}
	if err := adopt(f, "f", otherUser{uid: 2, gid: 1}); !errors.Is(err, syscall.EIO) {
		t.Errorf("adopt = %v, want EIO", err)
	}
}

// A writer killed at any instant leaves a whole version, and none older than the last that it
// reported.
func TestWriteFileSurvivesKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kanban.md")
	for round := range 25 {
		cmd, stderr, line := helper(t, "write", path)
		acked := -1
		for range 1 + round%5 {
			n, err := strconv.Atoi(line())
			if err != nil {
				t.Fatalf("writer said %v, %s", err, stderr)
			}
			acked = n
		}
		cmd.Process.Kill()
		for { // reports from before the signal
			n, err := strconv.Atoi(line())
			if err != nil {
				break
			}
			acked = n
		}
		cmd.Wait()
		got, err := os.ReadFile(path)
		if s := string(got); err != nil || s != string(version(acked)) && s != string(version(acked+1)) {
			t.Fatalf("after kill: %.20q (%d bytes), %v, want version %d or the next", got, len(got), err, acked)
		}
		if err := Sweep(path); err != nil {
			t.Fatal(err)
		}
		wantNames(t, filepath.Dir(path), "kanban.md")
	}
}

// TestOwnerHint: of a checkout that two users share it is said whose the files are that the second
// one must not read.
func TestOwnerHint(t *testing.T) {
	denied := func(path string) error {
		return fmt.Errorf("read: %w", &fs.PathError{Op: "open", Path: path, Err: syscall.EACCES})
	}
	mine := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(mine, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	theirs, owner := "/", "0"
	if os.Geteuid() == 0 {
		theirs, owner = t.TempDir(), "12345"
		if err := os.Chown(theirs, 12345, -1); err != nil {
			t.Skip(err)
		}
	}
	want := theirs + " belongs to user " + owner + ": run kanban-run as that user, or in a checkout of your own"
	for _, path := range []string{theirs, filepath.Join(theirs, "hidden", "below")} {
		if got := OwnerHint(denied(path)); got != want {
			t.Errorf("OwnerHint(%s) = %q, want %q", path, got, want)
		}
	}
	for _, err := range []error{denied(mine), os.ErrNotExist, fs.ErrPermission, &fs.PathError{Path: theirs, Err: syscall.ENOENT}} {
		if got := OwnerHint(err); got != "" {
			t.Errorf("OwnerHint(%v) = %q, want none", err, got)
		}
	}
}

// TestMakePlainFolder: a link in the place of a folder is replaced, and what it leads to stays as it is.
func TestMakePlainFolder(t *testing.T) {
	dir := t.TempDir()
	path, elsewhere := filepath.Join(dir, "shared"), filepath.Join(dir, "elsewhere")
	if err := os.Mkdir(elsewhere, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, target := range []string{"", elsewhere, filepath.Join(dir, "nowhere")} {
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
		if target != "" {
			if err := os.Symlink(target, path); err != nil {
				t.Fatal(err)
			}
		}
		for range 2 {
			err := MakePlainFolder(path)
			if info, look := os.Lstat(path); err != nil || look != nil || !info.IsDir() {
				t.Errorf("a link to %q: %v, %v, %v", target, err, info, look)
			}
		}
	}
	if err := errors.Join(os.Remove(path), os.WriteFile(path, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := MakePlainFolder(path); !errors.As(err, new(*NotPlainError)) {
		t.Errorf("a file: %v, want a *NotPlainError", err)
	}
	if names, err := os.ReadDir(elsewhere); err != nil || len(names) > 0 {
		t.Errorf("elsewhere has %v, %v", names, err)
	}
}
