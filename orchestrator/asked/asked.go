// Package asked keeps what was changed while agents worked and gives more than they get, until a person
// accepts it: one file for a work tree, whichever board's turn it was in.
package asked

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/git"
	"kanban-run/orchestrator/rundir"
)

// Item is a change that waits for a person, or that is to be said at the next start.
type Item struct {
	event.ChangedFile
	WasParts []string `json:"was_parts,omitempty"` // see [Value]
	Earlier  string   `json:"earlier,omitempty"`   // the lines before, redacted; "": none, or not known
	Words    string   `json:"words"`               // the sentence, as in "env.pass in a.yaml changed while tasks/1.md was worked on"
}

// list is the content of the file.
type list struct {
	Version int    `json:"version"`
	Items   []Item `json:"items"`
}

const (
	listVersion = 1
	maxList     = 64 << 20
	maxItems    = 500 // the earliest go first
)

// Command is the command with which a person accepts what waits in a work tree.
const Command = "kanban-run ack --here accept"

// fileOf returns the path of the file for the work tree around dir.
func fileOf(dir string) string {
	if _, folder := git.Folder(dir); folder != "" {
		return filepath.Join(folder, "kanban-run", "asked.json")
	}
	return filepath.Join(dir, ".kanban-run", "asked.json")
}

// Read returns the items of a work tree that still stand, and whether there is a file that can be read. An
// item is over if the value is a third one by now, or is back.
func Read(dir string) (items []Item, known bool) {
	l, err := readList(fileOf(dir))
	if err != nil || l == nil {
		return nil, false
	}
	top := git.TopOf(dir)
	return slices.DeleteFunc(l.Items, func(i Item) bool { return !i.Stands(top) }), true
}

// Open is [Read] for a command that begins. It takes what is over off the list, so that it does not wait
// again if the value comes once more.
func Open(dir string) (items []Item, known bool) {
	if l, err := readList(fileOf(dir)); err != nil || l == nil {
		return nil, false
	} else if items, known = Read(dir); len(items) < len(l.Items) {
		top := git.TopOf(dir)
		_ = Update(dir, func(all []Item, _ bool) []Item { // else the next command does it
			return slices.DeleteFunc(all, func(i Item) bool { return !i.Stands(top) })
		})
	}
	return items, known
}

// Waiting returns the items that a person has to accept.
func Waiting(dir string) []Item {
	items, _ := Read(dir)
	return slices.DeleteFunc(items, func(i Item) bool { return !i.Asks })
}

// Stands reports whether the file or field has the value that waits. top is the top of the work tree.
func (i Item) Stands(top string) bool {
	_, now := i.now(top)
	return now.SHA == i.SHA
}

// now returns the text of the item's file, and the value in it.
func (i Item) now(top string) ([]byte, Value) {
	w := Watch{Top: top}
	l := w.Look(Source{i.By, pathOf(top, i.File)})
	return l.Text, l.Values[i.Field]
}

// Later returns the lines that the item's file or field has now; "" if it is gone.
func (i Item) Later(top string) string {
	text, _ := i.now(top)
	if text == nil {
		return ""
	}
	return TextOf(i.By, pathOf(top, i.File), i.Field, text)
}

// makeFolder makes the folder of the items of a work tree. The folder .kanban-run may be a person's link
// to another place, and the one in the folder .git may not.
func makeFolder(folder, dir string) error {
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

// Update changes the items of a work tree under the lock of their file. It writes the file if edit
// returns other items. Errors: *durable.NotPlainError if something else is in the place of the folder.
func Update(dir string, edit func(items []Item, known bool) []Item) (err error) {
	path := fileOf(dir)
	if err := makeFolder(filepath.Dir(path), dir); err != nil {
		return err
	}
	lock, err := takeLock(path + ".lock")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, durable.Unlock(lock), lock.Close()) }()
	if err := durable.Separate(path); err != nil {
		return err
	}
	old, err := readList(path)
	if err != nil {
		return err
	}
	l := list{Version: listVersion}
	if old != nil {
		l.Items = edit(slices.Clone(old.Items), true)
	} else {
		l.Items = edit(nil, false)
	}
	l.Items = l.Items[max(0, len(l.Items)-maxItems):]
	if old == nil && len(l.Items) == 0 {
		return nil
	}
	text, err := json.Marshal(l)
	if err != nil {
		return err
	}
	if was, err := json.Marshal(old); err == nil && string(was) == string(text) {
		return nil
	}
	return rundir.ReplaceFile(path, text)
}

// readList reads the file of a work tree; nil: there is none, or none that this version knows. It needs
// no lock, because the file is replaced as a whole.
func readList(path string) (*list, error) {
	text, err := durable.ReadPlain(path, maxList)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	l := &list{}
	if json.Unmarshal(text, l) != nil || l.Version != listVersion {
		return nil, nil
	}
	return l, nil
}

// Accept takes the items that a person has seen off the list.
func Accept(dir string, seen []Item) error {
	return Update(dir, func(items []Item, _ bool) []Item {
		return slices.DeleteFunc(items, func(i Item) bool { return Has(seen, i.ChangedFile) })
	})
}

// Has reports whether items has a file or field with the value that it has in f.
func Has(items []Item, f event.ChangedFile) bool {
	return slices.ContainsFunc(items, func(i Item) bool { return i.Is(f) && i.SHA == f.SHA })
}

// lockTime bounds the wait for the lock.
const lockTime = 10 * time.Second

func takeLock(path string) (*os.File, error) {
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
