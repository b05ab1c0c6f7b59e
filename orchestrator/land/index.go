package land

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/gitstore"
)

// indexLock is git's lock of the index of a checkout, with the index that is to take the place of the present one.
type indexLock struct{ path, index, next string }

// lockTime bounds the wait for a git that is at work in the checkout.
const lockTime = 30 * time.Second

// lockIndex takes git's lock of the index, filled with the index in which exactly the changed files are new. Errors: *refusal.
func (l *Lander) lockIndex(stop context.Context, s *swap, changes []gitstore.Change) (*indexLock, error) {
	folder := l.Works.Repo().Folder
	lock := &indexLock{filepath.Join(folder, "index.lock"), filepath.Join(folder, "index"), filepath.Join(l.Scratch, "index")}
	names := make([]string, len(changes))
	for i, c := range changes {
		names[i] = c.Name
	}
	for begun := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		staged, index, err := l.Works.StagedOf(stop, names)
		if err != nil {
			return nil, err
		}
		var way []string
		for _, f := range s.note.Files {
			if now := strings.TrimSuffix(staged[f.Name], " 0"); now != f.WasGit && now != f.IsGit {
				way = append(way, f.Name)
			}
		}
		if len(way) > 0 {
			return nil, inTheWay(way, "other contents are staged of "+event.List(way, mostNamed), "commit them, or git restore --staged; then land again")
		}
		if isSplit, err := l.Works.IsSplit(stop); err != nil {
			return nil, err
		} else if isSplit {
			return nil, inTheWay(nil, "the index of the checkout is split (core.splitIndex)", "git update-index --no-split-index; then land again")
		}
		before := slices.Clone(index.Bytes())
		text, err := l.Works.WithChanges(stop, index, changes)
		if err == nil {
			err = durable.WriteFile(lock.next, text, lock.mode())
		}
		if err != nil {
			return nil, err
		}
		err = os.Link(lock.next, lock.path)
		if err == nil {
			if now, err := l.Works.Repo().ReadIndex(); err == nil && slices.Equal(now.Bytes(), before) {
				return lock, nil
			}
			err = lock.release() // the index was changed in between
		}
		switch {
		case err != nil && !errors.Is(err, fs.ErrExist):
			return nil, err
		case time.Since(begun) > lockTime:
			return nil, inTheWay(nil, "another git is at work in the checkout ("+lock.path+")", "end it, or remove that file if none is; then land again")
		case l.Stop.Err() != nil:
			return nil, context.Cause(l.Stop)
		}
	}
}

// mode returns the mode of the present index.
func (k *indexLock) mode() os.FileMode {
	if info, err := os.Stat(k.index); err == nil {
		return info.Mode().Perm()
	}
	return 0o644
}

// commit gives the checkout the new index, and ends the lock.
func (k *indexLock) commit() error {
	if err := os.Rename(k.path, k.index); err != nil {
		return err
	}
	return durable.SyncDir(filepath.Dir(k.index))
}

// release ends the lock, if it is there still.
func (k *indexLock) release() error {
	ours, err := os.Lstat(k.next)
	there, failed := os.Lstat(k.path)
	if err != nil || failed != nil || !os.SameFile(ours, there) {
		return nil
	}
	return os.Remove(k.path)
}

// dropLock ends the lock of a killed landing.
func dropLock(s *swap, folder string) error {
	return (&indexLock{path: filepath.Join(folder, "index.lock"), next: filepath.Join(s.scratch, "index")}).release()
}
