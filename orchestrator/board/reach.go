package board

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// reach is the work directory, opened. Nothing outside of it can be reached, neither by dots nor by links. Names are local slash
// paths. It is closed after every use: a thousand boards that wait hold no descriptor for it.
type reach struct{ root *os.Root }

// errMoved says that the work directory is not the one that the run began with.
var errMoved = errors.New("it is another folder than before")

func (p *Place) lost(err error) error {
	hint := "-C names an existing folder"
	if errors.Is(err, errMoved) {
		hint = "put the folder back that the run began with, or start the run again in this one"
	}
	return &FileError{"use work directory", p.dir, cause(err), hint}
}

// enter opens the work directory. Errors: *FileError.
func (p *Place) enter() (reach, error) {
	r, err := p.open()
	if err != nil {
		return reach{}, p.lost(err)
	}
	return r, nil
}

func (p *Place) open() (reach, error) {
	root, err := os.OpenRoot(p.dir)
	if err != nil {
		return reach{}, err
	}
	info, err := root.Stat(".")
	if err == nil && !os.SameFile(info, p.home) {
		err = errMoved
	}
	if err != nil {
		return reach{}, errors.Join(err, root.Close())
	}
	return reach{root}, nil
}

func (r reach) Close() error { return r.root.Close() }

func (r reach) stat(name string) (fs.FileInfo, error) { return r.root.Stat(filepath.FromSlash(name)) }

func (r reach) open(name string) (*file, error) {
	f, err := r.root.OpenFile(filepath.FromSlash(path.Clean(name)), os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, err
	}
	return opening(f)
}
