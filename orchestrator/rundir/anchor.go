package rundir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/plainfile"
)

// Anchor holds the folder of a board open, and knows the folders of its runs, as a run found them. A
// run writes nothing any more once its paths lead elsewhere.
type Anchor struct {
	dir   Dir
	home  string // path of the board's folder
	board *os.Root
	found []place
}

// place is a folder as the run found it.
type place struct {
	path string
	info fs.FileInfo
}

// MovedError reports that a folder of the run was moved, removed or replaced while the run was at work.
type MovedError struct {
	Path string // the path that leads elsewhere
	Now  string // where the folder of the board is now; "": it was not moved, or it is not known

	Kept string // folder with the output that could not be recorded; "": there is none
	Lost error  // why that output could not be kept; nil: it was
}

func (e *MovedError) Error() string {
	text := e.Path + " was moved, removed or replaced while the run was at work"
	if e.Lost != nil {
		text += ", and what the agent printed is lost: " + e.Lost.Error()
	}
	return text
}

// Hint names the place of a lost reply, and the way to continue.
func (e *MovedError) Hint() string {
	var said []string
	if e.Kept != "" {
		said = append(said, "a reply that could not be recorded is in "+failure.Quote(e.Kept))
	}
	if e.Now != "" {
		return strings.Join(append(said, "the folder is "+failure.Quote(e.Now)+" now: the same command goes on there"), "; ")
	}
	return strings.Join(append(said, "find out by what, and put it back; then the same command goes on, or begins from the board as it stands"), "; ")
}

// Resumes marks the hint as one that says how the run goes on.
func (*MovedError) Resumes() {}

// KeptError is an error because of which the output of an agent could not be recorded.
type KeptError struct {
	Err  error
	Kept string // folder of the output
}

// WithKept returns err with the folder in which output was kept; "": there is none.
func WithKept(err error, kept string) error {
	if kept == "" {
		return err
	}
	return &KeptError{err, kept}
}

func (e *KeptError) Error() string { return e.Err.Error() }
func (e *KeptError) Unwrap() error { return e.Err }

// Hint names the place of the output, and the remedy.
func (e *KeptError) Hint() string {
	return "a reply that could not be recorded is in " + failure.Quote(e.Kept) + "; " + durable.MachineHint(e.Err)
}

// Anchor returns an anchor of the folder, which exists.
func (d Dir) Anchor() (*Anchor, error) {
	runs := filepath.Dir(d.Path)
	a := &Anchor{dir: d, home: filepath.Dir(filepath.Dir(runs))}
	root, err := plainfile.OpenRoot(a.home)
	if err != nil {
		return nil, fmt.Errorf("hold the folder of the board: %w", err)
	}
	a.board = root
	for _, path := range []string{a.home, runs, d.Path} {
		info, err := a.look(path)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("hold the folder of the run: %w", err), root.Close())
		}
		a.found = append(a.found, place{path, info})
	}
	return a, nil
}

// look returns what is at a path. It follows a last link only in the path of the board's own folder.
func (a *Anchor) look(path string) (fs.FileInfo, error) {
	if path == a.home {
		return os.Stat(path)
	}
	return os.Lstat(path)
}

// Check returns a *MovedError if the paths of the run lead elsewhere by now, or the journal is gone. It
// returns the system's error if its storage does not answer.
func (a *Anchor) Check() error {
	for _, p := range a.found {
		now, err := a.look(p.path)
		if durable.IsMachineFault(err) || errors.Is(err, fs.ErrPermission) {
			return fmt.Errorf("look at the files of the run: %w", err)
		}
		if err != nil || !os.SameFile(p.info, now) {
			moved := &MovedError{Path: p.path}
			if at := a.whereIs("."); at != a.home {
				moved.Now = at
			}
			return moved
		}
	}
	if _, err := os.Lstat(a.dir.Journal()); errors.Is(err, fs.ErrNotExist) {
		return &MovedError{Path: a.dir.Journal()}
	}
	return nil
}

// whereIs returns the present path of a folder below that of the board, or "" if that is not known.
func (a *Anchor) whereIs(name string) string {
	f, err := a.board.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	path, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", f.Fd()))
	was, failed := f.Stat()
	if now, look := os.Stat(path); err != nil || failed != nil || look != nil || !os.SameFile(was, now) {
		return "" // it was removed, or is mounted nowhere any more
	}
	return path
}

// mostLost bounds the folders in .kanban-run/lost of one run and second.
const mostLost = 100

// Keep writes files that belong nowhere any more into a new folder .kanban-run/lost/BOARD-TIME of the
// board's folder, wherever that is by now, and returns the path of the new folder. If that fails, the
// folder is one for temporary files.
func (a *Anchor) Keep(files map[string][]byte, at time.Time) (path string, err error) {
	name := filepath.Join(".kanban-run", "lost", a.dir.BoardFile()+at.UTC().Format("-20060102T150405Z"))
	err = a.board.MkdirAll(filepath.Dir(name), 0o700)
	if err == nil {
		_ = a.board.WriteFile(filepath.Join(filepath.Dir(name), ".gitignore"), []byte("*\n"), 0o600) // git shows the folder otherwise
		free := name
		for n := 2; ; n++ {
			if err = a.board.Mkdir(free, 0o700); !errors.Is(err, fs.ErrExist) || n > mostLost {
				break
			}
			free = fmt.Sprintf("%s-%d", name, n)
		}
		name = free
	}
	if err == nil {
		path = a.whereIs(name)
		err = writeAll(files, func(file string, text []byte) error { return a.board.WriteFile(filepath.Join(name, file), text, 0o600) })
	}
	if err == nil && path != "" {
		return path, nil
	}
	path, failed := os.MkdirTemp("", "kanban-run-lost-")
	if failed == nil {
		failed = writeAll(files, func(file string, text []byte) error { return os.WriteFile(filepath.Join(path, file), text, 0o600) })
	}
	if failed != nil {
		return "", errors.Join(err, failed)
	}
	return path, nil
}

// KeepFor is like Keep, for what could not be recorded because of the error why. It returns that error,
// which names the new folder then. Without files it only returns the error.
func (a *Anchor) KeepFor(why error, files map[string][]byte, at time.Time) error {
	if len(files) == 0 {
		return why
	}
	kept, lost := a.Keep(files, at)
	var moved *MovedError
	switch {
	case errors.As(why, &moved):
		moved.Kept, moved.Lost = kept, lost
	case kept != "":
		return &KeptError{Err: why, Kept: kept}
	}
	return why
}

func writeAll(files map[string][]byte, write func(file string, text []byte) error) (err error) {
	for name, text := range files {
		err = errors.Join(err, write(name, text))
	}
	return err
}

// Close closes the folder.
func (a *Anchor) Close() error { return a.board.Close() }
