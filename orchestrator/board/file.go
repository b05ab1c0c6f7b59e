package board

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/frontmatter"
)

var (
	errFolder  = errors.New("it is a folder")
	errSpecial = errors.New("it is not a regular file")
	errLink    = errors.New("it was replaced by a link")
)

// ReadFile reads a board's bytes. Whatever is not a regular file is refused without waiting for it. Errors: *FileError, which
// matches fs.ErrNotExist when there is none.
func ReadFile(path string) ([]byte, error) {
	f, err := openBoard(path)
	if err != nil {
		return nil, err
	}
	data, err := readRest(f, f.size(), frontmatter.MaxSource+1)
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

func openBoard(path string) (*file, error) {
	f, err := open(path)
	if err != nil {
		return nil, &FileError{"read board", path, err, hintForOpen(err)}
	}
	if err := f.regular(); err != nil {
		return nil, errors.Join(&FileError{"read board", path, err, "name the board's file: kanban.yaml, or Markdown with frontmatter"}, f.Close())
	}
	return f, nil
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

// readRest reads what follows the known beginning of a file, at most so many bytes in all.
func readRest(f io.Reader, size int64, most int, known ...[]byte) ([]byte, error) {
	expected := int(min(size, int64(most)))
	data := make([]byte, 0, min(expected+1, most))
	for _, k := range known {
		data = append(data, k...)
	}
	for len(data) < most {
		if len(data) == cap(data) { // it has grown
			data = slices.Grow(data, bytes.MinRead)
		}
		piece := data[len(data):min(cap(data), most)]
		n, err := f.Read(piece)
		data = data[:len(data)+n]
		if errors.Is(err, io.EOF) || err == nil && n < len(piece) && len(data) == expected {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	return data, nil
}

// pieceSize is how much is compared at a time.
const pieceSize = 64 << 10

// Reader reads one board again and again. Bytes that did not change are not parsed again.
type Reader struct {
	path  string
	name  string
	last  *Board
	piece []byte
}

// NewReader makes a Reader of the board at path, which is called name in messages.
func NewReader(path, name string) *Reader { return &Reader{path: path, name: name} }

// Know makes b, which was read before, the board to compare the first one with.
func (r *Reader) Know(b *Board) { r.last = b }

// Forget drops what was read: the next Read parses whatever it finds.
func (r *Reader) Forget() { r.last, r.piece = nil, nil }

// Read returns the board as it is now, the same *Board while its bytes are the same. Errors: those of ReadFile and Parse.
func (r *Reader) Read() (*Board, error) {
	f, err := openBoard(r.path)
	if err == nil {
		err = stillThere(f, r.path)
	}
	if err != nil {
		return nil, r.named(err)
	}
	data, err := r.changes(f)
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, &FileError{"read board", r.name, err, ""}
	}
	if data == nil {
		return r.last, nil
	}
	return r.parse(data)
}

func (r *Reader) parse(data []byte) (b *Board, err error) {
	if r.last == nil {
		b, err = Parse(r.name, data)
	} else {
		b, err = r.last.reparse(data)
	}
	if err != nil {
		return nil, err
	}
	r.last = b
	return b, nil
}

// stillThere refuses a board that was replaced by a link since its path was resolved: what it leads to is another file, and it
// would be written to.
func stillThere(f *file, path string) error {
	same, err := f.is(path)
	if err == nil && !same {
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

// changes reads a board; data is nil when it is what it was. It compares in pieces: the bytes of a large board need not be
// held twice to find out that they are the same.
func (r *Reader) changes(f *file) (data []byte, err error) {
	if r.last == nil || f.size() != int64(len(r.last.Source)) {
		return readRest(f, f.size(), frontmatter.MaxSource+1)
	}
	was := r.last.Source
	if room := min(len(was)+1, pieceSize); len(r.piece) < room {
		r.piece = make([]byte, room)
	}
	for at := 0; ; {
		n, err := f.Read(r.piece)
		switch {
		case err != nil && !errors.Is(err, io.EOF):
			return nil, err
		case !bytes.HasPrefix(was[at:], r.piece[:n]), err != nil && at+n < len(was):
			return readRest(f, f.size(), frontmatter.MaxSource+1, was[:at], r.piece[:n])
		}
		at += n
		if err != nil || at == len(was) && n < len(r.piece) {
			return nil, nil
		}
	}
}
