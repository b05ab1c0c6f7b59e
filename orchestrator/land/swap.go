package land

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/failpoint"
	"kanban-run/orchestrator/plainfile"
	"kanban-run/orchestrator/rundir"
)

// swap puts the files of a commit into a checkout in the place of those of another one. A file that somebody writes meanwhile
// stays: each goes in by one exchange of two names, and what comes out has to be what was there before. A swap that was
// killed is rolled back by the next one, from the same folder.
type swap struct {
	top      string // of the checkout
	scratch  string // folder on the same file system; new/ has the files that go in, and then those that came out; out/ those that go
	ignoresX bool   // no file has a bit for execution (core.fileMode)
	note     swapNote
}

// swapNote is what a killed swap leaves for the next one, in the folder scratch.
type swapNote struct {
	Onto  string     `json:"onto"` // branch, with refs/heads/
	From  string     `json:"from"` // commit whose files go out
	To    string     `json:"to"`   // commit whose files go in
	Files []swapFile `json:"files"`
}

// swapFile is a file that differs. Was and Is are digests; "": there is none.
type swapFile struct {
	Name   string `json:"name"`
	Was    string `json:"was,omitempty"`
	Is     string `json:"is,omitempty"`
	WasGit string `json:"was_git"` // what git's index has of it before and behind, as "MODE BLOB"; "": nothing
	IsGit  string `json:"is_git"`
}

func (s *swap) in(folder, name string) string {
	return filepath.Join(s.scratch, folder, filepath.FromSlash(name))
}

// inTheWay returns the part of a path of the checkout that is no folder, so that the file is behind a link or a file of the user; "": none
// is. What goes first, as a link that becomes a folder, is in nobody's way.
func (s *swap) inTheWay(name string, gone map[string]bool) string {
	for i, c := range name {
		if c != '/' {
			continue
		}
		info, err := os.Lstat(filepath.Join(s.top, filepath.FromSlash(name[:i])))
		if err != nil {
			return ""
		}
		if !info.IsDir() {
			if gone[name[:i]] {
				return ""
			}
			return name[:i]
		}
	}
	return ""
}

// kept returns the path of what goes in, and then of what came out.
func (s *swap) kept(f swapFile) string {
	if f.Is == "" {
		return s.in("out", f.Name) // in new/ a file may have the name of its folder
	}
	return s.in("new", f.Name)
}

func (s *swap) noteFile() string { return filepath.Join(s.scratch, "swap.json") }

// digest returns a text that tells a file from any other; "": there is none. No link is followed.
func (s *swap) digest(path string) (string, error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
		return "", nil
	case err != nil:
		return "", err
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink(path)
		return fmt.Sprintf("link %x", sha256.Sum256([]byte(target))), err
	case !info.Mode().IsRegular():
		return "no file", nil
	}
	text, err := plainfile.Read(path, maxFile)
	if err != nil {
		return "", err
	}
	kind := "file"
	if info.Mode()&0o100 != 0 && !s.ignoresX {
		kind = "program"
	}
	return fmt.Sprintf("%s %x", kind, sha256.Sum256(text)), nil
}

// maxFile bounds a file that lands, in bytes.
const maxFile = 1 << 30

// open opens the folder of a file of the checkout, through no link. It makes the folder if asked to.
func (s *swap) open(root *os.Root, name string, make bool) (*os.File, error) {
	dir := filepath.Dir(filepath.FromSlash(name))
	if make {
		if err := root.MkdirAll(dir, 0o777); err != nil {
			return nil, err
		}
	}
	return root.Open(dir)
}

// errChanged is the error for a file of the checkout that is neither as it was nor as it is to be.
type errChanged struct{ name string }

func (e *errChanged) Error() string { return e.name + " was changed meanwhile" }

// put puts one file into the checkout. Errors: *errChanged, and then the file is as it was.
func (s *swap) put(root *os.Root, f swapFile) (err error) {
	now, err := s.digest(filepath.Join(s.top, filepath.FromSlash(f.Name)))
	if err != nil || now == f.Is {
		return err
	}
	if s.inTheWay(f.Name, nil) != "" {
		return &errChanged{f.Name}
	}
	s.removeFolder(root, f, now)
	dir, err := s.open(root, f.Name, f.Is != "")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	base, in := filepath.Base(filepath.FromSlash(f.Name)), s.kept(f)
	switch {
	case f.Was == "":
		err = moveIn(in, dir, base)
	case f.Is == "":
		if err = os.MkdirAll(filepath.Dir(in), 0o700); err == nil {
			err = moveOut(dir, base, in)
		}
	default:
		err = s.exchange(in, dir, base, f)
	}
	failpoint.At("land-put")
	if errors.Is(err, fs.ErrExist) {
		return &errChanged{f.Name}
	}
	if err != nil {
		return fmt.Errorf("put %s: %w", f.Name, err)
	}
	if f.Was == "" {
		return nil
	}
	out, err := s.digest(in)
	if err == nil && out != f.Was && out != f.Is {
		return errors.Join(&errChanged{f.Name}, s.back(root, f))
	}
	return err
}

// exchange swaps a file with the one that goes in. Where the file system has no exchange, an edit in the same moment could be
// lost, so that it is looked at before.
func (s *swap) exchange(in string, dir *os.File, base string, f swapFile) error {
	err := exchange(in, dir, base)
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	aside := in + ".out"
	if err := moveOut(dir, base, aside); err != nil {
		return err
	}
	if now, err := s.digest(aside); err != nil || now != f.Was {
		return errors.Join(err, &errChanged{f.Name}, moveIn(aside, dir, base))
	}
	return errors.Join(moveIn(in, dir, base), os.Rename(aside, in))
}

// back gives the checkout back what came out of it, unless somebody has written there since.
func (s *swap) back(root *os.Root, f swapFile) (err error) {
	in := s.kept(f)
	kept, err := s.digest(in)
	now, failed := s.digest(filepath.Join(s.top, filepath.FromSlash(f.Name)))
	if err == nil && failed == nil && f.Was != "" && s.removeFolder(root, f, now) { // which was there for a file in it
		now = ""
	}
	if err = errors.Join(err, failed); err != nil || now != f.Is || kept == f.Is || s.inTheWay(f.Name, nil) != "" {
		return err // it was never put, or it is another one by now
	}
	dir, err := s.open(root, f.Name, f.Is == "")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	base := filepath.Base(filepath.FromSlash(f.Name))
	switch {
	case f.Is == "":
		err = moveIn(in, dir, base)
	case f.Was == "":
		err = moveOut(dir, base, in)
		s.removeParents(root, f.Name)
	default:
		err = s.exchange(in, dir, base, swapFile{Name: f.Name, Was: f.Is})
	}
	return err
}

// run puts all files into the checkout, or none. Errors: *errChanged.
func (s *swap) run() (err error) {
	root, err := plainfile.OpenRoot(s.top)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	folders := map[string]bool{}
	undo := func(files []swapFile, err error) error {
		for _, done := range slices.Backward(files) {
			if failed := s.back(root, done); failed != nil {
				err = fmt.Errorf("%v; %s is not put back yet: %w", err, done.Name, failed) // the next landing does it
			}
		}
		return err
	}
	for i, f := range s.note.Files {
		if err := s.put(root, f); err != nil {
			return undo(s.note.Files[:i], err)
		}
		if f.Is == "" {
			s.removeParents(root, f.Name)
		}
		folders[filepath.Dir(filepath.FromSlash(f.Name))] = true
	}
	for _, f := range s.note.Files { // an editor that had a file open writes into what came out
		if out, err := s.digest(s.kept(f)); err != nil || f.Was != "" && out != "" && out != f.Was && out != f.Is {
			return undo(s.note.Files, errors.Join(err, &errChanged{f.Name}))
		}
	}
	for dir := range folders {
		if err := durable.SyncDir(filepath.Join(s.top, dir)); err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
			return err
		}
	}
	return nil
}

// removeFolder removes an empty folder in the place of a file, and reports whether it has.
func (s *swap) removeFolder(root *os.Root, f swapFile, now string) bool {
	name := filepath.FromSlash(f.Name)
	info, err := root.Lstat(name)
	return now == "no file" && err == nil && info.IsDir() && root.Remove(name) == nil
}

// removeParents removes the folders of a file that is gone, if they are empty now.
func (s *swap) removeParents(root *os.Root, name string) {
	for dir := filepath.Dir(filepath.FromSlash(name)); dir != "."; dir = filepath.Dir(dir) {
		if info, err := root.Lstat(dir); err != nil || !info.IsDir() || root.Remove(dir) != nil {
			return
		}
	}
}

// save writes the note, behind which the files that go in are on disk. What goes comes first: a folder may give way to a file.
func (s *swap) save() error {
	slices.SortStableFunc(s.note.Files, func(a, b swapFile) int {
		switch {
		case a.Is == "" && b.Is != "":
			return -1
		case a.Is != "" && b.Is == "":
			return 1
		default:
			return 0
		}
	})
	for _, f := range s.note.Files {
		if !strings.HasPrefix(f.Is, "file ") && !strings.HasPrefix(f.Is, "program ") {
			continue
		}
		file, err := plainfile.Open(s.in("new", f.Name))
		if err != nil {
			return err
		}
		if err := errors.Join(file.Sync(), file.Close()); err != nil {
			return err
		}
	}
	text, err := json.Marshal(s.note)
	if err != nil {
		return err
	}
	return rundir.ReplaceFile(s.noteFile(), text)
}

// load reads the note of a swap that was killed; ok is false if there is none.
func (s *swap) load() (ok bool, err error) {
	text, err := plainfile.Read(s.noteFile(), maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &s.note)
	}
	return err == nil, err
}

// rollBack gives the checkout back all that came out of it.
func (s *swap) rollBack() (err error) {
	root, err := plainfile.OpenRoot(s.top)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	for _, f := range slices.Backward(s.note.Files) {
		err = errors.Join(err, s.back(root, f))
	}
	return err
}
