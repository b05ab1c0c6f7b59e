package board

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// reach is the work directory while somebody looks into it; nothing outside of it can be reached. Names are slash paths that are
// local. It is closed after every use, so that a thousand boards that wait hold no descriptor for it.
type reach interface {
	stat(name string) (*found, error)
	open(name string) (opened, error)
	Close() error
}

// found is a file that a name leads to.
type found struct {
	mode fs.FileMode
	id   any // of the file: see sameFile
}

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
	r, err := p.way(p)
	if err != nil {
		return nil, p.lost(err)
	}
	return r, nil
}

// rooted reaches by os.Root, on every system; where there is a shorter way, it is that one's oracle.
type rooted struct{ root *os.Root }

func enterRoot(p *Place) (reach, error) {
	root, err := os.OpenRoot(p.dir)
	if err != nil {
		return nil, err
	}
	info, err := root.Stat(".")
	if err == nil && !sameFile(&found{id: identity(info)}, p.home) {
		err = errMoved
	}
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return rooted{root}, nil
}

func (r rooted) Close() error { return r.root.Close() }

func (r rooted) stat(name string) (*found, error) {
	info, err := r.root.Stat(filepath.FromSlash(name))
	if err != nil {
		return nil, err
	}
	return &found{info.Mode(), identity(info)}, nil
}

func (r rooted) open(name string) (opened, error) {
	f, err := r.root.OpenFile(filepath.FromSlash(path.Clean(name)), os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, err
	}
	return opening(f)
}
