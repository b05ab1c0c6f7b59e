package board

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/frontmatter"
)

var (
	errFolder  = errors.New("it is a folder")
	errSpecial = errors.New("it is not a regular file")
	errLink    = errors.New("it was replaced by a link")
)

// The greatest sizes in bytes of a board, and of a task whose header the runner changes.
const (
	maxBoard = frontmatter.MaxYAML
	maxTask  = 32 << 20
)

// ReadFile reads a board's bytes, but only one byte more than a board may have. It refuses a file
// that is not regular, and does not wait for a pipe. Errors: *FileError, which matches
// fs.ErrNotExist for a missing file.
func ReadFile(path string) ([]byte, error) { return readFile(path, maxBoard) }

// readTaskFile reads the whole file of a task, which is to be written again.
func readTaskFile(path string) ([]byte, error) {
	data, err := readFile(path, maxTask)
	if len(data) > maxTask {
		return nil, &FileError{"read task", path, errors.New("it is larger than 32 MiB"), ""}
	}
	return data, err
}

func readFile(path string, most int64) ([]byte, error) {
	f, err := openBoard(path)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, &FileError{"read board", path, err, ""}
	}
	return data, nil
}

// ReadCopy reads a board from a copy of its file. Board.File becomes the given name, not the path
// of the copy. ReadCopy returns an error if the SHA-256 of the copy differs from sha.
func ReadCopy(copied, name, sha string) (*Board, error) {
	source, err := ReadFile(copied)
	if err != nil {
		return nil, err
	}
	if SHA(source) != sha {
		return nil, errors.New("the bytes kept aside are of another board")
	}
	return Parse(name, source)
}

// Save replaces a board. At every instant the file holds all of the old bytes or all of the new.
func Save(path string, data []byte) error {
	if err := durable.WriteFile(path, data, 0o644); err != nil {
		return fmt.Errorf("write board %s: %w", path, err)
	}
	return nil
}

func openBoard(path string) (*file, error) {
	f, err := open(path)
	if err != nil {
		return nil, &FileError{"read board", path, err, hintForOpen(path, err)}
	}
	return f, nil
}

// cause removes the path from an error of package os, because the messages of this package already
// name the file.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

func hintForOpen(path string, err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if meant := frontmatter.Nearest(path, neighbours(path)); meant != "" {
			return "did you mean " + meant + "?"
		}
		return "kanban-run init makes a board to start from"
	case errors.Is(err, errFolder), errors.Is(err, errSpecial):
		return "name the board's file: kanban.yaml, or Markdown with frontmatter"
	default:
		return ""
	}
}

// neighbours returns the files beside path that could be boards, judged by their names.
func neighbours(path string) (names []string) {
	for _, ending := range []string{"yaml", "yml", "md"} {
		// If the folder's name is not a valid pattern, Glob fails and finds no file.
		found, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*."+ending))
		names = append(names, found...)
	}
	return names
}

// Reader reads one board again and again, and parses it only when its bytes have changed.
type Reader struct {
	path string
	name string
	last *Board
}

// NewReader returns a Reader of the board at path. Its messages show the given name in place of the
// path.
func NewReader(path, name string) *Reader { return &Reader{path: path, name: name} }

// SetLast makes b the version with which the first Read compares the file.
func (r *Reader) SetLast(b *Board) { r.last = b }

// Read returns the board as it is now. It returns the same *Board as long as the bytes stay the
// same. Errors: those of ReadFile and Parse, and *FileError if the file was replaced by a link.
func (r *Reader) Read() (*Board, error) {
	f, err := openBoard(r.path)
	if err == nil {
		err = checkNotReplaced(f, r.path)
	}
	if err != nil {
		return nil, r.setName(err)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxBoard+1))
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, &FileError{"read board", r.name, err, ""}
	}
	if r.last != nil && bytes.Equal(data, r.last.Source) {
		return r.last, nil
	}
	b, err := Parse(r.name, data)
	if err != nil {
		return nil, err
	}
	r.last = b
	return b, nil
}

// checkNotReplaced refuses a board that became a link after its path was resolved. The link leads
// to another file, which the run would overwrite.
func checkNotReplaced(f *file, path string) error {
	same, err := f.isAt(path)
	if err == nil && !same {
		err = errLink
	}
	if err != nil {
		return errors.Join(&FileError{"read board", path, cause(err), "put the file back in the link's place"},
			f.Close())
	}
	return nil
}

// setName puts the board's name into an error.
func (r *Reader) setName(err error) error {
	var file *FileError
	if errors.As(err, &file) {
		file.File = r.name
	}
	return err
}
