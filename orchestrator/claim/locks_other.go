//go:build !linux

package claim

import "os"

// lockFile holds no locks. A guardian can hold locks only on Linux, so on this system a registry
// knows only the claims of its own process.
type lockFile struct{ replaced *lockFile }

type lock struct{}

func (lock) unlock() error { return nil }

func openLockFile(string, System) (*lockFile, error) {
	return &lockFile{}, nil
}

func (*lockFile) isInPlace() bool { return true }

func (*lockFile) close() error { return nil }

func (*lockFile) lockTask(Claim) (*os.File, []lock, *Conflict, error) { return nil, nil, nil, nil }

func unlockTask(*os.File, string) error { return nil }

func (*lockFile) enqueue(Claim) ([]lock, int64, error) { return nil, 0, nil }

func (*lockFile) firstConflict(Claim, int64) (*Conflict, error) { return nil, nil }
