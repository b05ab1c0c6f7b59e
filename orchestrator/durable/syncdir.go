package durable

import (
	"errors"
	"fmt"
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
