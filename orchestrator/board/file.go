package board

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/matter"
)

var (
	errFolder  = errors.New("it is a folder")
	errSpecial = errors.New("it is not a regular file")
	errLink    = errors.New("it was replaced by a link")
)

// ReadFile reads a board's bytes. Whatever is not a regular file is refused without waiting for it. Errors: *FileError, which
// matches fs.ErrNotExist when there is none.
func ReadFile(path string) ([]byte, error) {
	f, _, err := openBoard(path)
	if err != nil {
		return nil, err
	}
	data, err := readAll(f)
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, &FileError{"read board", path, err, ""}
	}
	return data, nil
}

// Save replaces a board: the file is the old or the new one at every instant, byte for byte.
func Save(path string, data []byte) error {
	if err := durable.WriteFile(path, data, 0o644); err != nil {
		return fmt.Errorf("write board %s: %w", path, err)
	}
	return nil
}

func openBoard(path string) (*os.File, fs.FileInfo, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, nil, &FileError{"read board", path, cause(err), hintForOpen(err)}
	}
	info, err := regular(f)
	if err != nil {
		return nil, nil, errors.Join(&FileError{"read board", path, err, "name the board's file: kanban.yaml, or Markdown with frontmatter"}, f.Close())
	}
	return f, info, nil
}

func regular(f *os.File) (fs.FileInfo, error) {
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, cause(err)
	case info.IsDir():
		return nil, errFolder
	case !info.Mode().IsRegular():
		return nil, errSpecial
	}
	return info, nil
}

// cause takes off the path that an error of package os repeats.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

func hintForOpen(err error) string {
	if errors.Is(err, fs.ErrNotExist) {
		return "kanban-run init makes a board to start from"
	}
	return ""
}

// readAll reads one byte more than a board may have, for the parser to refuse.
func readAll(f *os.File) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	var buf bytes.Buffer
	buf.Grow(int(min(info.Size(), matter.MaxSource)) + bytes.MinRead)
	_, err = buf.ReadFrom(io.LimitReader(f, matter.MaxSource+1))
	return buf.Bytes(), err
}

// Reader reads one board again and again. Bytes that did not change are not parsed again.
type Reader struct {
	path  string
	name  string
	last  *Board
	piece []byte
}

// NewReader makes a Reader of the board at path, which is called name in messages.
func NewReader(path, name string) *Reader { return &Reader{path: path, name: name} }

// Read returns the board as it is now, the same *Board while its bytes are the same. Errors: those of ReadFile and Parse.
func (r *Reader) Read() (*Board, error) {
	f, info, err := openBoard(r.path)
	if err == nil {
		err = stillThere(f, info, r.path)
	}
	if err != nil {
		return nil, r.named(err)
	}
	same, err := r.unchanged(f, info)
	var data []byte
	if err == nil && !same {
		data, err = rereadAll(f)
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, &FileError{"read board", r.name, err, ""}
	}
	if same {
		return r.last, nil
	}
	return r.parse(data)
}

func (r *Reader) parse(data []byte) (b *Board, err error) {
	if r.last == nil {
		b, err = Parse(r.name, data)
	} else {
		b, err = hashed(data, func() (*Board, error) { return r.last.reparse(data) })
	}
	if err != nil {
		return nil, err
	}
	r.last = b
	return b, nil
}

// stillThere refuses a board that was replaced by a link since its path was resolved: what it leads to is another file, and it
// would be written to.
func stillThere(f *os.File, info fs.FileInfo, path string) error {
	named, err := os.Lstat(path)
	if err == nil && !os.SameFile(named, info) {
		err = errLink
	}
	if err != nil {
		return errors.Join(&FileError{"read board", path, cause(err), "put the file back in the link's place"}, f.Close())
	}
	return nil
}

// named calls the board by its name.
func (r *Reader) named(err error) error {
	var file *FileError
	if errors.As(err, &file) {
		file.File = r.name
	}
	return err
}

func rereadAll(f *os.File) ([]byte, error) {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	return readAll(f)
}

// unchanged compares in pieces: the bytes of a large board need not be held twice to find out that they are the same.
func (r *Reader) unchanged(f *os.File, info fs.FileInfo) (bool, error) {
	if r.last == nil || info.Size() != int64(len(r.last.Source)) {
		return false, nil
	}
	if r.piece == nil {
		r.piece = make([]byte, 64<<10)
	}
	rest := r.last.Source
	for {
		n, err := f.Read(r.piece)
		if !bytes.HasPrefix(rest, r.piece[:n]) {
			return false, nil
		}
		rest = rest[n:]
		if errors.Is(err, io.EOF) {
			return len(rest) == 0, nil
		}
		if err != nil {
			return false, err
		}
	}
}
