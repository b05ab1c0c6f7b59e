package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"kanban-run/orchestrator/plainfile"
)

// SyncDir makes the names in dir durable after files were made, renamed or removed.
func SyncDir(dir string) error {
	d, err := plainfile.OpenFolder(dir)
	if err != nil {
		return fmt.Errorf("sync folder: %w", err)
	}
	defer d.Close()
	err = d.Sync()
	// Some network and FUSE file systems cannot sync folders. That does not count as a failed sync.
	if err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, errors.ErrUnsupported) {
		return fmt.Errorf("sync folder: %w", err)
	}
	return nil
}

// ownerChange returns the owner of the old file, and true if the two files have different owners.
func ownerChange(now, old fs.FileInfo) (uid, gid int, differ bool) {
	n, nok := now.Sys().(*syscall.Stat_t)
	o, ook := old.Sys().(*syscall.Stat_t)
	if !nok || !ook {
		return 0, 0, false
	}
	return int(o.Uid), int(o.Gid), n.Uid != o.Uid || n.Gid != o.Gid
}
