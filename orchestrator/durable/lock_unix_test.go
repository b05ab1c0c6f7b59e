//go:build unix

package durable

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestAcquireRefusesWhatIsNoFile(t *testing.T) {
	tests := map[string]func(t *testing.T, path string) error{
		"link": func(t *testing.T, path string) error {
			put(t, path+".target", "precious")
			return os.Symlink(path+".target", path)
		},
		"dangling link": func(t *testing.T, path string) error { return os.Symlink("nowhere", path) },
		"FIFO":          func(t *testing.T, path string) error { return syscall.Mkfifo(path, 0o600) },
		"folder":        func(t *testing.T, path string) error { return os.Mkdir(path, 0o700) },
		"no folder":     func(t *testing.T, path string) error { return os.Remove(filepath.Dir(path)) },
	}
	for name, prepare := range tests {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "run", "lock")
			if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := prepare(t, path); err != nil {
				t.Fatal(err)
			}
			if l, err := Acquire(path); err == nil {
				l.Release()
				t.Error("Acquire = nil, want an error")
			}
			if name == "link" {
				wantFile(t, path+".target", "precious")
			}
		})
	}
}
