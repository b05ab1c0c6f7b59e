package rundir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/git"
)

// Lock is the right to be the only writer of the folder. It holds the lock in the folder. For a
// board in a git work tree it also holds one in the folder .git, because git clean removes the
// folder of the runs, and a run that made the folder anew would find no lock there.
type Lock struct {
	// Alone is the reason why there is only the lock in the folder although the board is in a git
	// work tree, or nil.
	Alone error

	held   []*durable.Lock
	folder *durable.Lock // of the folder itself, which outlives the files in it; nil: the system has none
}

// lockInGit returns the path of the lock in the folder .git, or "" if the board is not in a git
// work tree.
func (d Dir) lockInGit() string { return git.LockFile("lock", d.Path) }

// Place identifies the folder by itself. In a git work tree, where git clean removes it and a lock
// elsewhere protects it, the folder of the board identifies it, too.
func (d Dir) Place() durable.Place {
	if d.lockInGit() == "" {
		return durable.PlaceOf(d.Path)
	}
	return durable.PlaceOf(d.Path, filepath.Dir(filepath.Dir(filepath.Dir(d.Path))))
}

// Acquire makes the folder, if it is missing, and takes its locks. It takes the lock in the folder
// .git first, so that a run that is refused makes no folder. Errors: *durable.HeldError.
func (d Dir) Acquire() (*Lock, error) {
	l := &Lock{}
	if inGit := d.lockInGit(); inGit != "" {
		held, err := acquireInGit(inGit)
		switch {
		case errors.As(err, new(*durable.HeldError)), durable.IsMachineFault(err):
			return nil, err
		case err != nil:
			l.Alone = err
		default:
			l.held = append(l.held, held)
		}
	}
	err := d.Ensure()
	if err == nil {
		var held *durable.Lock
		if held, err = durable.Acquire(d.Lock()); err == nil {
			l.held = append(l.held, held)
			if l.folder, err = durable.AcquireFolder(d.Path); err == nil {
				err = d.separate()
			}
			if err == nil {
				return l, nil
			}
		}
	}
	return nil, errors.Join(err, l.Release())
}

// separate gives the files of the run copies of their own if the journal has a second name, as in a
// backup by hard links.
func (d Dir) separate() error {
	if durable.RefuseNames(d.Journal()) == nil {
		return nil
	}
	return filepath.WalkDir(d.Path, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() || path == d.Lock() {
			return err
		}
		return durable.Separate(path)
	})
}

func acquireInGit(path string) (*durable.Lock, error) {
	if err := durable.MakePlainFolder(filepath.Dir(path)); err != nil {
		return nil, err
	}
	return durable.Acquire(path)
}

// Files returns the locked files, to give another process duplicates of them. See
// [durable.Lock.File].
func (l *Lock) Files() (all []*os.File) {
	for _, held := range l.held {
		all = append(all, held.File())
	}
	if l.folder != nil {
		all = append(all, l.folder.File())
	}
	return all
}

// SetHolder writes another process into the lock files as the holder.
func (l *Lock) SetHolder(pid int) (err error) {
	for _, held := range l.held {
		err = errors.Join(err, held.SetHolder(pid))
	}
	return err
}

// Release gives the locks back at once. See [durable.Lock.Release].
func (l *Lock) Release() (err error) {
	for _, held := range l.held {
		err = errors.Join(err, held.Release())
	}
	if l.folder != nil {
		err = errors.Join(err, l.folder.Release())
	}
	return err
}

// HeldSince returns the time at which the lock in the folder was taken last, or the zero time if it is not
// known.
func (d Dir) HeldSince() time.Time { return durable.HeldSince(d.Lock()) }

// IsOwned reports whether a process holds one of the folder's locks.
func (d Dir) IsOwned() (bool, error) {
	if durable.IsFolderHeld(d.Path) {
		return true, nil
	}
	held, err := durable.IsHeld(d.Lock())
	if inGit := d.lockInGit(); err == nil && !held && inGit != "" {
		held, err = durable.IsHeld(inGit)
	}
	return held, err
}
