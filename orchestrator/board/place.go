package board

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/plainfile"
)

// Place is the work directory, where agents run, and the board's location in it. Its methods read
// no file outside the directory, and keep no file open between two calls.
type Place struct {
	dir    string      // absolute path of the work directory
	home   fs.FileInfo // identity of dir when OpenPlace opened it
	board  string      // absolute path of the board
	folder string      // slash path from dir to the board's folder; "" if the board lies outside

	// Lookup returns an error for an unknown role. If Lookup is nil, all names count as roles,
	// except names of persons, which begin with @.
	Lookup func(role string) error
}

func (p *Place) knows(role string) bool {
	if p.Lookup == nil {
		return !strings.HasPrefix(role, "@")
	}
	return p.Lookup(role) == nil
}

// Ref is a path that a board names, resolved to a file.
type Ref struct {
	Path   string // slash path from the work directory, as agents see it
	Abs    string
	Exists bool
}

// ChooseWorkdir chooses the directory that agents run in. If the parameter explicit is not empty,
// explicit is chosen. Otherwise cwd is chosen if the board lies in cwd and one of the board's paths
// leads to a file from cwd. If not, the board's folder is chosen. boardFile and explicit may be
// relative to cwd. Errors: *FileError.
func ChooseWorkdir(explicit, boardFile, cwd string, b *Board) (dir string, err error) {
	if explicit != "" {
		dir = joinUnder(cwd, explicit)
		info, err := os.Stat(dir)
		if err != nil {
			return "", &FileError{"use work directory", dir, cause(err), "-C names an existing folder"}
		}
		if !info.IsDir() {
			return "", &FileError{"use work directory", dir, errors.New("it is not a folder"), "-C names a folder"}
		}
		return dir, nil
	}
	folder := filepath.Dir(joinUnder(cwd, boardFile))
	if _, inside := relativeTo(cwd, folder); !inside {
		return folder, nil
	}
	root, err := plainfile.OpenRoot(cwd)
	if err != nil {
		return "", &FileError{"use work directory", cwd, cause(err), ""}
	}
	if !leadsToFile(root, b) {
		cwd = folder
	}
	return cwd, root.Close()
}

func joinUnder(dir, name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(dir, name)
}

func leadsToFile(root *os.Root, b *Board) bool {
	leads := func(p string) bool {
		name := filepath.Clean(filepath.FromSlash(p))
		if p == "" || !filepath.IsLocal(name) {
			return false
		}
		info, err := root.Stat(name)
		return err == nil && info.Mode().IsRegular()
	}
	return leads(b.Current.Path) || slices.ContainsFunc(b.TaskPaths(), leads)
}

// relativeTo resolves the links in both paths and returns the slash path from dir to name. ok is
// false if name lies outside of dir.
func relativeTo(dir, name string) (rel string, ok bool) {
	rel, err := filepath.Rel(resolveLinks(dir), resolveLinks(name))
	if err != nil || !filepath.IsLocal(rel) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

// resolveLinks resolves the links in the part of a path that exists.
func resolveLinks(name string) string {
	if real, err := filepath.EvalSymlinks(name); err == nil {
		return real
	}
	up := filepath.Dir(name)
	if up == name {
		return name
	}
	return filepath.Join(resolveLinks(up), filepath.Base(name))
}

// OpenPlace opens the work directory of a board. Errors: *FileError.
func OpenPlace(workdir, boardFile string) (*Place, error) {
	dir, err := filepath.Abs(workdir)
	if err != nil {
		return nil, &FileError{"use work directory", workdir, err, ""}
	}
	file, err := filepath.Abs(boardFile)
	if err != nil {
		return nil, &FileError{"find board", boardFile, err, ""}
	}
	p := &Place{dir: dir, board: file}
	info, err := os.Stat(dir)
	if err != nil {
		return nil, p.workdirError(err)
	}
	p.home = info
	r, err := p.openWorkdir()
	if err != nil {
		return nil, err
	}
	p.folder, _ = relativeTo(dir, filepath.Dir(file))
	return p, r.Close()
}

// Dir returns the absolute path of the work directory.
func (p *Place) Dir() string { return p.dir }

// FromBoard returns the work directory as a slash path from the folder of the board, both without links, or "" if
// there is no such path.
func (p *Place) FromBoard() string {
	rel, err := filepath.Rel(filepath.Dir(resolveLinks(p.board)), resolveLinks(p.dir))
	if err != nil {
		return ""
	}
	return filepath.ToSlash(rel)
}

// HoldsBoard reports whether the board lies directly in the work directory. If it does, a relative
// path leads to the same file from the board and from the work directory.
func (p *Place) HoldsBoard() bool { return p.folder == "." }

// KanbanFile returns the board's path as agents see it. The path starts at the work directory if
// the board lies inside, otherwise it is absolute.
func (p *Place) KanbanFile() string {
	if p.folder == "" {
		return p.board
	}
	return path.Join(p.folder, filepath.Base(p.board))
}

// Resolve finds the file that a path on the board names. The path may start at the work directory
// or at the board's folder. The Ref is set for a missing file too. Errors: *FileError if the work
// directory is gone, otherwise *PathError. Two different files with that path in the two folders
// are an error, too. The *PathError about a missing file matches fs.ErrNotExist.
func (p *Place) Resolve(name string) (Ref, error) {
	r, err := p.openWorkdir()
	if err != nil {
		return Ref{Path: filepath.ToSlash(name)}, err
	}
	ref, _, err := p.resolve(r, name)
	return ref, errors.Join(err, r.Close())
}

// Places returns the one or two files that a path on the board may lead to, whether they exist or
// not.
func (p *Place) Places(name string) []string {
	fromDir, fromBoard := p.candidates(name, filepath.ToSlash(name))
	if filepath.IsAbs(name) {
		return []string{name}
	}
	places := []string{filepath.Join(p.dir, filepath.FromSlash(fromDir))}
	if fromBoard != "" {
		places = append(places, filepath.Join(p.dir, filepath.FromSlash(fromBoard)))
	}
	return places
}

func (p *Place) resolve(r workdir, name string) (Ref, fs.FileInfo, error) {
	ref := Ref{Path: filepath.ToSlash(name)}
	if text := pathFault(name); text != "" {
		return ref, nil, &PathError{Path: fmt.Sprintf("%q", name), Text: text}
	}
	if filepath.IsAbs(name) {
		rel, ok := relativeTo(p.dir, name)
		if !ok {
			return ref, nil, p.outsideError(name)
		}
		ref.Path = rel
	}
	ref.Abs = filepath.Join(p.dir, filepath.FromSlash(ref.Path))
	fromDir, fromBoard := p.candidates(name, ref.Path)
	return p.choose(r, ref, name, fromDir, fromBoard)
}

// candidates returns the two paths to try, both relative to the work directory. fromDir is the
// given path. fromBoard is that path below the board's folder, or "" if there is no second path to
// try. slashed is the path as agents see it.
func (p *Place) candidates(name, slashed string) (fromDir, fromBoard string) {
	if p.folder != "" && !p.HoldsBoard() && !filepath.IsAbs(name) {
		fromBoard = path.Join(p.folder, slashed)
	}
	return path.Clean(slashed), fromBoard
}

// choose returns the candidate that exists. It returns an error if both exist and differ, if
// neither exists, or if the file is not regular.
func (p *Place) choose(r workdir, ref Ref, name, fromDir, fromBoard string) (Ref, fs.FileInfo, error) {
	first, err := p.lookUp(r, name, fromDir)
	if err != nil {
		return ref, nil, err
	}
	second, err := p.lookUp(r, name, fromBoard)
	if err != nil {
		return ref, nil, err
	}
	switch {
	case first != nil && second != nil && !os.SameFile(first, second):
		return ref, nil, &PathError{Path: name, Text: fmt.Sprintf("it could be %s or %s", fromDir, fromBoard),
			hint: func() string {
				return "rename one of the two files, or write a path that only one of them has " +
					"from the work directory " + p.dir
			}}
	case first == nil && second == nil && !isLocal(fromDir) && !isLocal(fromBoard):
		return ref, nil, p.outsideError(name)
	case first == nil && second == nil:
		return ref, nil, p.missingError(name)
	case first == nil:
		ref.Path, first = fromBoard, second
		ref.Abs = filepath.Join(p.dir, filepath.FromSlash(fromBoard))
	}
	ref.Exists = true
	return ref, first, checkRegular(name, first)
}

func checkRegular(name string, f fs.FileInfo) error {
	err := regular(f.Mode())
	if err == nil {
		return nil
	}
	return &PathError{Path: name, Text: err.Error(), Err: err,
		hint: func() string { return "a task is a file with text" }}
}

func isLocal(name string) bool { return name != "" && filepath.IsLocal(filepath.FromSlash(name)) }

// lookUp returns the file of a candidate. It returns nil if the file is missing, or if the path
// itself leads outside with "..". It returns an error if a link leads outside.
func (p *Place) lookUp(r workdir, name, candidate string) (fs.FileInfo, error) {
	if !isLocal(candidate) {
		return nil, nil
	}
	full := filepath.Join(p.dir, filepath.FromSlash(candidate))
	// Lstat takes a third of the time of r.stat. That matters on long boards, where many files do
	// not exist yet.
	if _, err := os.Lstat(full); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	f, err := r.stat(candidate)
	switch {
	case err == nil:
		return f, nil
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return nil, nil
	case durable.IsMachineFault(err): // such an error does not mean that a link leads outside
		return nil, &PathError{Path: name, Text: cause(err).Error(), Err: err}
	}
	// os.Root has no separate error for a link that leads out of the work directory. If os.Stat
	// finds the file, there is such a link.
	if _, out := os.Stat(full); out == nil {
		return nil, p.outsideError(name)
	}
	return nil, &PathError{Path: name, Text: cause(err).Error(), Err: err}
}

func (p *Place) outsideError(name string) error {
	return &PathError{Path: name, Text: "it leads out of the work directory " + p.dir, hint: func() string {
		return "use files inside, or choose a larger work directory with -C DIR"
	}}
}

func (p *Place) missingError(name string) error {
	text := "there is no such file in " + p.dir
	if p.folder != "" && !p.HoldsBoard() {
		text += " or in " + path.Join(filepath.ToSlash(p.dir), p.folder)
	}
	return &PathError{Path: name, Text: text, Err: fs.ErrNotExist,
		hint: func() string { return p.hintForMissing(name) }}
}

// hintForMissing returns advice about a missing file: a similar name, or -C with a folder that has
// the file. It looks beside the board, and in each folder from the work directory up to the top of
// the git repository.
func (p *Place) hintForMissing(name string) string {
	if near := p.findNear(name); near != "" {
		return "there is " + apart(name, near)
	}
	beside := filepath.Dir(p.board)
	if p.folder == "" && exists(filepath.Join(beside, filepath.FromSlash(name))) {
		return "it is there beside the board: run with -C " + beside
	}
	dir := p.dir
	if filepath.IsAbs(name) {
		return "write the file, or correct the path"
	}
	for !exists(filepath.Join(dir, ".git")) {
		up := filepath.Dir(dir)
		if up == dir {
			break
		}
		dir = up
		if exists(filepath.Join(dir, filepath.FromSlash(name))) {
			return "it is there from " + dir + ": run with -C " + dir
		}
	}
	return "write the file, or correct the path"
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// SameTask reports whether two paths mean the same task, because they have the same text or lead to
// the same file.
func (p *Place) SameTask(a, b string) bool {
	if a == b || path.Clean(filepath.ToSlash(a)) == path.Clean(filepath.ToSlash(b)) {
		return true
	}
	r, err := p.openWorkdir()
	if err != nil {
		return false
	}
	_, fileA, errA := p.resolve(r, a)
	_, fileB, errB := p.resolve(r, b)
	return errors.Join(errA, errB, r.Close()) == nil && os.SameFile(fileA, fileB)
}

// NamesFile reports whether a text is the path of a regular file in the work directory. Errors:
// *PathError if the file cannot be read, *FileError if the work directory is gone.
func (p *Place) NamesFile(text string) (bool, error) {
	if pathFault(text) != "" || !isLocal(text) {
		return false, nil
	}
	r, err := p.openWorkdir()
	if err != nil {
		return false, err
	}
	isFile, err := p.isRegularFile(r, text)
	return isFile, errors.Join(err, r.Close())
}

// isRegularFile reports whether name is a regular file, and tries to open it. Errors: *PathError
// for a file that cannot be opened.
func (p *Place) isRegularFile(r workdir, name string) (bool, error) {
	info, err := p.lookUp(r, name, name)
	switch {
	case errors.Is(err, syscall.ENAMETOOLONG): // name is a sentence, not a path
		return false, nil
	case err != nil:
		return false, err
	case info == nil || !info.Mode().IsRegular():
		return false, nil
	}
	f, err := r.open(name)
	if err != nil {
		return true, &PathError{Path: name, Text: cause(err).Error(), Err: err}
	}
	return true, f.Close()
}
