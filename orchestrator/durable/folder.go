package durable

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"kanban-run/orchestrator/failpoint"
	"kanban-run/orchestrator/plainfile"
)

// MkdirAll makes dir and the missing folders above it, with perm before umask, and syncs the parent
// of each. A killed run may have made dir, or an empty folder above it, without a sync. Therefore
// MkdirAll syncs the parent of such a folder, too.
func MkdirAll(dir string, perm fs.FileMode) error {
	if err := mkdirAll(disk{}, filepath.Clean(dir), perm); err != nil {
		return fmt.Errorf("make folder %s: %w", dir, err)
	}
	return nil
}

func mkdirAll(sys system, dir string, perm fs.FileMode) error {
	parent := filepath.Dir(dir)
	if parent != dir && mayBeUnsynced(parent) {
		if err := mkdirAll(sys, parent, perm); err != nil {
			return err
		}
	}
	if err := sys.mkdir(dir, perm); err != nil {
		if isDir(dir) != nil {
			return err
		}
	}
	failpoint.At("folder-made")
	return sys.syncDir(parent)
}

// mayBeUnsynced reports whether the name of dir is possibly not durable: dir is missing or empty,
// or cannot be read now. A folder with content needs no sync, since its name was durable before it
// got the content.
func mayBeUnsynced(dir string) bool {
	d, err := plainfile.OpenFolder(dir)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist) || IsMachineFault(err)
	}
	defer d.Close()
	_, err = d.Readdirnames(1)
	return err == io.EOF
}

func isDir(name string) error {
	info, err := os.Stat(name)
	if err == nil && !info.IsDir() {
		return fmt.Errorf("%s is not a folder", name)
	}
	return err
}
