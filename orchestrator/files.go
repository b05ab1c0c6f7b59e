package orchestrator

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/durable"
)

// files are the paths of a run: .kanban-run/runs/BOARDFILE/ beside the board.
type files struct{ dir string }

func filesOf(boardPath string) files {
	return files{filepath.Join(filepath.Dir(boardPath), ".kanban-run", "runs", filepath.Base(boardPath))}
}

func (f files) journal() string { return filepath.Join(f.dir, "journal.jsonl") }
func (f files) lock() string    { return filepath.Join(f.dir, "lock") }
func (f files) state() string   { return filepath.Join(f.dir, "state.md") }
func (f files) log() string     { return filepath.Join(f.dir, "supervisor-log.md") }
func (f files) before() string  { return filepath.Join(f.dir, "board.before") }
func (f files) steps() string   { return filepath.Join(f.dir, "steps") }
func (f files) scratch() string { return filepath.Join(f.dir, "handed") } // what tools are given as files
func (f files) step(n int) string {
	return filepath.Join(f.steps(), stepName(n))
}

// output is the folder of a step, or "" if its agents have printed nothing.
func (f files) output(n int) string {
	if _, err := os.Lstat(f.step(n)); errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	return f.step(n)
}

func stepName(n int) string { return fmt.Sprintf("%04d", n) }

// kept returns the bytes of the board with the given SHA-256 that were kept aside before a turn.
func (f files) kept(sha string) ([]byte, error) {
	source, err := board.ReadFile(f.before())
	if err == nil && board.SHA(source) != sha {
		return nil, errors.New("the bytes kept aside are of another board")
	}
	return source, err
}

// ensure creates the folder, readable by its owner only, and keeps the folder of all runs out of git: what agents said is
// nobody else's.
func (f files) ensure() error {
	for _, dir := range []string{filepath.Dir(f.dir), f.dir, f.steps()} {
		if info, err := os.Lstat(dir); err == nil && info.Mode().Type() == fs.ModeSymlink {
			return &linkError{dir}
		}
	}
	if err := durable.MkdirAll(f.dir, 0o700); err != nil {
		return fmt.Errorf("create the run's folder: %w", err)
	}
	// One that was copied or restored may be open to others: what is in it is then nobody's who cannot enter it.
	if info, err := os.Stat(f.dir); err != nil || info.Mode().Perm() != 0o700 {
		if err := errors.Join(err, os.Chmod(f.dir, 0o700)); err != nil {
			return fmt.Errorf("close the run's folder to others: %w", err)
		}
	}
	return f.ignore()
}

// ignore needs no sync: a power cut leaves no file or an empty one, which the next run makes anew. Whoever wants the runs in git
// writes something else into it.
func (f files) ignore() error {
	path := filepath.Join(filepath.Dir(f.dir), ".gitignore")
	info, err := os.Lstat(path)
	if err == nil && (info.Size() > 0 || !info.Mode().IsRegular()) {
		return nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return overwritePrivate(path, []byte("*\n"))
}

// linkError is a link where the folder of a run should be: two boards could share one journal, or a run write elsewhere.
type linkError struct{ path string }

func (e *linkError) Error() string { return e.path + " is a link, not a folder" }

// Hint says how the files of runs can be elsewhere all the same.
func (e *linkError) Hint() string {
	return "remove the link; to keep the files of runs elsewhere, make .kanban-run itself a link"
}

// writePrivate writes a file that only its owner may read and that may be lost in a power cut. What stands under the name is
// replaced, never written to: an agent could have put a link or a FIFO there.
func writePrivate(path string, data []byte) error {
	f, err := createPrivate(path)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

func createPrivate(path string) (*os.File, error) {
	if err := clear(path); err != nil {
		return nil, err
	}
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
}

// overwritePrivate is writePrivate for a file that is written at every step: to make a new one each time costs the file system more
// than all else that a step does. What is there and is not the runner's own is replaced.
func overwritePrivate(path string, data []byte) error {
	f, err := durable.OpenPlain(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return writePrivate(path, data)
	}
	info, err := f.Stat()
	if err == nil && info.Mode().Perm() != 0o600 {
		return errors.Join(f.Close(), writePrivate(path, data))
	}
	if err == nil {
		_, err = f.Write(data)
	}
	if err == nil && info.Size() > int64(len(data)) {
		err = f.Truncate(int64(len(data)))
	}
	return errors.Join(err, f.Close())
}

// onlyRegular removes what stands under the name of one of our files and is none: reading it could wait for ever, and writing
// to it could change somebody else's file.
func onlyRegular(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode().IsRegular() {
		return nil
	}
	if err != nil {
		return err
	}
	return clear(path)
}

// clear makes a name free. A folder that is not empty is somebody's work: it is set aside.
func clear(path string) error {
	err := os.Remove(path)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if info, look := os.Lstat(path); look != nil || !info.IsDir() {
		return err
	}
	return os.Rename(path, freeName(path, "aside"))
}

// freeName is a name beside path that nothing has: PATH.WHY-1, -2, …
func freeName(path, why string) string {
	for n := 1; ; n++ {
		name := fmt.Sprintf("%s.%s-%d", path, why, n)
		if _, err := os.Lstat(name); err != nil {
			return name
		}
	}
}

// replacePrivate is writePrivate for a file that somebody may be reading: it is old or new, never half.
func replacePrivate(path string, data []byte) error {
	temp := path + ".new"
	if err := writePrivate(temp, data); err != nil {
		return err
	}
	if info, err := os.Lstat(path); err == nil && info.IsDir() {
		if err := clear(path); err != nil {
			return err
		}
	}
	return os.Rename(temp, path)
}
