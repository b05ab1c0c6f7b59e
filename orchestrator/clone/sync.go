package clone

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/git"
	"kanban-run/orchestrator/plainfile"
)

// Digest tells the bytes of a file on which home and clone agreed last.
type Digest struct {
	SHA  string `json:"sha256"`
	Size int    `json:"size"`
}

func digestOf(text []byte) Digest { return Digest{board.SHA(text), len(text)} }

// both are the board and its tasks, at home and in the clone at the same place below the top. Between two turns they are the
// same on both sides, but for what a person edits.
type both struct {
	top    string // of the checkout, without links
	clone  *Clone
	agreed map[string]Digest // by path from the top
	// isGits reports whether git has these bytes for a path in a commit, so that a checkout or a stash may have put them there:
	// the commit is the one at which the board began, or the last one with work.
	isGits func(commit moment, path string, text []byte) bool
	// keep keeps the bytes of a file that does not come home, and returns the place in words.
	keep func(name string, text []byte) string
}

// moment is one of two commits.
type moment bool

const (
	atBase moment = false
	atTip  moment = true
)

// pathOf returns the path of a file of the checkout from its top, with slashes, or "" for one that lies outside.
func (x *both) pathOf(file string) string {
	rel, err := filepath.Rel(x.top, filepath.Join(durable.RealPath(filepath.Dir(file)), filepath.Base(file)))
	if err != nil || !filepath.IsLocal(rel) {
		return ""
	}
	return filepath.ToSlash(rel)
}

func (x *both) home(path string) string { return filepath.Join(x.top, filepath.FromSlash(path)) }

// atHome returns the bytes of a file at home; ok is false if it is not there.
func (x *both) atHome(path string) (text []byte, ok bool) {
	text, err := plainfile.Read(durable.RealPath(x.home(path)), mostFile)
	return text, err == nil
}

// mostFile bounds a board or a task, in bytes.
const mostFile = 32 << 20

// inClone returns the bytes of a file in the clone. A link or anything but a file counts as missing.
func inClone(root *os.Root, path string) (text []byte, ok bool) {
	info, err := root.Lstat(filepath.FromSlash(path))
	if err != nil || !info.Mode().IsRegular() || info.Size() > mostFile {
		return nil, false
	}
	text, err = root.ReadFile(filepath.FromSlash(path))
	return text, err == nil
}

// handOut gives the clone the files as they are at home.
func (x *both) handOut(files []string) (err error) {
	root, err := plainfile.OpenRoot(x.clone.Top)
	if err != nil {
		return fmt.Errorf("hand out the board: %w", err)
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	for _, name := range files {
		text, ok := x.atHome(name)
		if !ok {
			continue
		}
		if there, ok := inClone(root, name); !ok || string(there) != string(text) {
			if err := put(root, name, text); err != nil {
				return &SpoiledError{x.clone.Top, fmt.Errorf("hand out %s: %w", name, err)}
			}
		}
		x.agreed[name] = digestOf(text)
	}
	return nil
}

// put writes a file into the clone, and removes what an agent has put into its place.
func put(root *os.Root, name string, text []byte) error {
	name = filepath.FromSlash(name)
	if info, err := root.Lstat(name); err == nil && !info.Mode().IsRegular() {
		if err := root.RemoveAll(name); err != nil {
			return err
		}
	}
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	next := filepath.Join(filepath.Dir(name), "."+filepath.Base(name)+".kanban-run")
	if err := root.WriteFile(next, text, 0o644); err != nil {
		return err
	}
	return root.Rename(next, name)
}

// bringHome gives home the files as an agent left them, and returns those that stay. The board comes last, for it names
// the others.
func (x *both) bringHome(kanban string, files []string) (stay []event.HomeFile, err error) {
	root, err := plainfile.OpenRoot(x.clone.Top)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // who removed it is told where it is made anew
	}
	if err != nil {
		return nil, fmt.Errorf("bring the board home: %w", err)
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	files = slices.DeleteFunc(slices.Clone(files), func(f string) bool { return f == kanban })
	for _, name := range append(files, kanban) {
		left, ok := inClone(root, name)
		if !ok {
			continue
		}
		file, err := x.bring(name, left)
		if err != nil {
			return stay, err
		}
		if file != nil {
			stay = append(stay, *file)
		}
	}
	return stay, nil
}

// bring gives home one file as an agent left it. It returns a file that stays as it is, or nil.
func (x *both) bring(name string, left []byte) (*event.HomeFile, error) {
	home, there := x.atHome(name)
	agreed, known := x.agreed[name]
	write := func(text []byte) error {
		if err := durable.MkdirAll(filepath.Dir(x.home(name)), 0o755); err != nil {
			return err
		}
		if err := durable.WriteFile(x.home(name), text, 0o644); err != nil {
			return fmt.Errorf("bring %s home: %w", name, err)
		}
		x.agreed[name] = digestOf(text)
		return nil
	}
	switch {
	case there && bytes.HasPrefix(home, left), known && digestOf(left) == agreed: // home may have it, and a person more
		return nil, nil
	case x.isGits(moment(known), name, left): // what was never handed out may be the work of an earlier task
		return &event.HomeFile{Name: name, Why: event.ByGit}, nil
	case !there && !known, there && known && digestOf(home) == agreed, there && !known && x.isGits(atBase, name, home):
		return nil, write(left)
	case there && known && len(left) > agreed.Size && digestOf(left[:agreed.Size]) == agreed: // a work log
		return nil, write(slices.Concat(home, left[agreed.Size:]))
	}
	return &event.HomeFile{Name: name, Why: event.ByBoth, Kept: x.keep(name, left)}, nil
}

// newTasks returns the tasks that a reply names, and those that the board in the clone lists, as paths from the top. A task is found from the work
// directory or from the folder of the board; both are paths from the top.
func (x *both) newTasks(named []string, kanban, work string) (files []string) {
	root, err := plainfile.OpenRoot(x.clone.Top)
	if err != nil {
		return nil
	}
	defer root.Close()
	if text, ok := inClone(root, kanban); ok {
		if b, err := board.Parse(kanban, text); err == nil { // else a guard puts the board back
			named = append(slices.Clone(named), b.TaskPaths()...)
		}
	}
	for _, task := range named {
		task, _, _ = strings.Cut(task, " [") // a mark, as on the list that Managers get
		for _, from := range []string{work, path.Dir(kanban)} {
			name := path.Join(from, filepath.ToSlash(task))
			if !filepath.IsLocal(filepath.FromSlash(name)) || strings.HasPrefix(name, ".git/") || filepath.IsAbs(task) {
				continue
			}
			if _, ok := inClone(root, name); ok {
				files = append(files, name)
				break
			}
		}
	}
	return files
}

func spoiled(c *Clone) error {
	return &SpoiledError{c.Top, fmt.Errorf("the clone %s is gone, or its folder .git is not the one that was made", c.Top)}
}

// SpoiledError is the error for a clone that an agent has replaced, or in which it has put something into the way.
type SpoiledError struct {
	Top string
	Err error
}

func (e *SpoiledError) Error() string { return e.Err.Error() }
func (e *SpoiledError) Unwrap() error { return e.Err }

// AsksOfClone says that a person may decide.
func (e *SpoiledError) AsksOfClone() event.CloneAsks { return event.CloneAsks{Why: event.CloneSpoiled} }

// isBlob reports whether one of git's blobs has these bytes, or has them with other line ends, as git converts them.
func isBlob(text []byte, blobs []string) bool {
	unix := bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	return slices.ContainsFunc(blobs, func(blob string) bool {
		return git.BlobName(text, len(blob)) == blob || git.BlobName(unix, len(blob)) == blob
	})
}
