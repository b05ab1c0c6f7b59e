package trust

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/git"
	"kanban-run/orchestrator/rundir"
)

// index is what the boards of a work tree tell one another of changed files. The journals have it,
// too: an index that is lost is no consent.
type index struct {
	Open     []openRun           `json:"open"`     // runs that are at work, or were killed
	Changed  []flow.Changed      `json:"changed"`  // no person has accepted these
	Accepted []event.ChangedFile `json:"accepted"` // a person has accepted these

	isNew bool // there was no file
}

// openRun is a run that has not ended its part of the index.
type openRun struct {
	Folder string `json:"folder"` // folder of the board's runs
	Runner string `json:"runner"` // token of the process that runs the board, and maybe others
}

func (r openRun) isAtWork() bool { return r.Runner == thisProcess() || isAtWork(r.Folder) }

// thisProcess returns the token of this process. A number would not do, because processes in two
// containers can have the same.
var thisProcess = sync.OnceValue(rand.Text)

func (x *index) close(folder string) {
	x.Open = slices.DeleteFunc(x.Open, func(r openRun) bool { return r.Folder == folder })
}

// mostAccepted bounds the accepted changes that the index keeps. The earliest ones go first.
const mostAccepted = 1000

// indexFile returns the path of the index for the work tree with the folder dir.
func indexFile(dir string) string {
	if _, folder := git.Folder(dir); folder != "" {
		return filepath.Join(folder, "kanban-run", "changed.json")
	}
	return filepath.Join(dir, ".kanban-run", "changed.json")
}

// makeFolder makes the folder of the index. The folder .kanban-run may be a person's link to another
// place, and the one in the folder .git may not.
func makeFolder(dir string) error {
	folder := filepath.Dir(indexFile(dir))
	if _, inGit := git.Folder(dir); inGit != "" {
		return durable.MakePlainFolder(folder)
	}
	err := os.Mkdir(folder, 0o700)
	if info, look := os.Stat(folder); look == nil && !info.IsDir() {
		return &durable.NotPlainError{Path: folder, What: "no folder"}
	} else if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// update changes the index of a work tree under its lock. It writes the index if edit returns true.
func update(dir string, edit func(*index) bool) (err error) {
	path := indexFile(dir)
	if err := makeFolder(dir); err != nil {
		return fmt.Errorf("make the folder of %s: %w", path, err)
	}
	lock, err := lockIndex(path + ".lock")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, durable.Unlock(lock), lock.Close()) }()
	if err := durable.Separate(path); err != nil {
		return err
	}
	x, err := readIndex(dir)
	if err != nil || !edit(x) {
		return err
	}
	x.Accepted = x.Accepted[max(0, len(x.Accepted)-mostAccepted):]
	text, err := json.Marshal(x)
	if err != nil {
		return err
	}
	return rundir.ReplaceFile(path, text)
}

// readIndex reads the index of a work tree. It needs no lock, because the file is replaced as a whole.
func readIndex(dir string) (*index, error) {
	path := indexFile(dir)
	x := &index{}
	text, err := durable.ReadPlain(path, 64<<20)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		x.isNew = true
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", path, err)
	case json.Unmarshal(text, x) != nil:
		x = &index{isNew: true} // the journals have it
	}
	return x, nil
}

// lockTime bounds the wait for the lock of the index.
const lockTime = 10 * time.Second

func lockIndex(path string) (*os.File, error) {
	f, err := durable.OpenPlain(path, os.O_RDWR|os.O_CREATE, 0o600)
	if durable.HasNames(err) {
		if err = durable.SeparateLock(path); err == nil {
			f, err = durable.OpenPlain(path, os.O_RDWR, 0)
		}
	}
	if err != nil {
		return nil, err
	}
	for begun := time.Now(); ; time.Sleep(2 * time.Millisecond) {
		err = durable.TryLock(f)
		if held := errors.As(err, new(*durable.HeldError)); !held || time.Since(begun) > lockTime {
			break
		}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// add keeps a change that no person has accepted.
func (x *index) add(c flow.Changed) {
	x.forget(c.ChangedFile)
	x.Changed = append(x.Changed, c)
}

func (x *index) forget(f event.ChangedFile) {
	x.Changed = slices.DeleteFunc(x.Changed, func(c flow.Changed) bool { return c.Is(f) })
}

// hasAccepted reports whether a person has accepted this value.
func (x *index) hasAccepted(f event.ChangedFile) bool {
	return slices.ContainsFunc(x.Accepted, func(a event.ChangedFile) bool { return a.Is(f) && a.SHA == f.SHA })
}

// Accept settles the changes that a person has accepted, for all boards of the work tree.
func Accept(dir string, changes []flow.Changed) error {
	return update(dir, func(x *index) bool {
		for _, c := range changes {
			x.forget(c.ChangedFile)
			if !x.hasAccepted(c.ChangedFile) {
				x.Accepted = append(x.Accepted, c.ChangedFile)
			}
		}
		return true
	})
}
