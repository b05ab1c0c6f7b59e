package durable

import (
	"errors"
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
type otherUser struct{ uid, gid uint32 }

func (otherUser) Name() string       { return "f" }
func (otherUser) Size() int64        { return 0 }
func (otherUser) Mode() fs.FileMode  { return 0o644 }
func (otherUser) ModTime() time.Time { return time.Time{} }
func (otherUser) IsDir() bool        { return false }
func (s otherUser) Sys() any         { return &syscall.Stat_t{Uid: s.uid, Gid: s.gid} }

type chownFile struct {
	file
	info  otherUser
	err   error
	calls [][2]int
}

func (f *chownFile) Stat() (fs.FileInfo, error) { return f.info, nil }

func (f *chownFile) Chown(uid, gid int) error {
	f.calls = append(f.calls, [2]int{uid, gid})
	return f.err
}

func TestAdoptKeepsTheOwner(t *testing.T) {
	tests := map[string]struct {
		now, old otherUser
		err      error
		calls    int
		hint     bool
	}{
		"same owner":     {now: otherUser{1, 1}, old: otherUser{1, 1}},
		"other owner":    {now: otherUser{1, 1}, old: otherUser{2, 1}, calls: 1},
		"other group":    {now: otherUser{1, 1}, old: otherUser{1, 2}, calls: 1},
		"not permitted":  {now: otherUser{1, 1}, old: otherUser{2, 1}, err: syscall.EPERM, calls: 1, hint: true},
		"never asked to": {now: otherUser{1, 1}, old: otherUser{1, 1}, err: syscall.EPERM},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			f := &chownFile{info: tt.now, err: tt.err}
			err := adopt(f, tt.old)
			var hinted interface{ Hint() string }
			if got := errors.As(err, &hinted) && hinted.Hint() != ""; got != tt.hint {
				t.Errorf("adopt = %v with a hint %t, want %t", err, got, tt.hint)
			}
			if tt.hint && !errors.Is(err, fs.ErrPermission) {
				t.Errorf("adopt = %v, want fs.ErrPermission", err)
			}
			if len(f.calls) != tt.calls {
				t.Errorf("adopt called Chown with %v, want %d calls", f.calls, tt.calls)
			}
		})
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
