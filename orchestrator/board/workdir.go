package board

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"kanban-run/orchestrator/plainfile"
)

// workdir is the open work directory. Neither .. nor links lead out of it. Its methods take local
// slash paths. It is closed after every use, so that a thousand waiting boards hold no descriptor.
type workdir struct{ root *os.Root }

// errMoved reports that the work directory is not the folder that the run began with.
var errMoved = errors.New("it is another folder than before")

func (p *Place) workdirError(err error) error {
	hint := "-C names an existing folder"
	if errors.Is(err, errMoved) {
		hint = "put the folder back that the run began with, or start the run again in this one"
	}
	return &FileError{"use work directory", p.dir, cause(err), hint}
}

// openWorkdir opens the work directory. Errors: *FileError.
func (p *Place) openWorkdir() (workdir, error) {
	r, err := p.openRoot()
	if err != nil {
		return workdir{}, p.workdirError(err)
	}
	return r, nil
}

func (p *Place) openRoot() (workdir, error) {
	root, err := plainfile.OpenRoot(p.dir)
	if err != nil {
		return workdir{}, err
	}
	info, err := root.Stat(".")
	if err == nil && !os.SameFile(info, p.home) {
		err = errMoved
	}
	if err != nil {
		return workdir{}, errors.Join(err, root.Close())
	}
	return workdir{root}, nil
}

func (r workdir) Close() error { return r.root.Close() }

func (r workdir) stat(name string) (fs.FileInfo, error) { return r.root.Stat(filepath.FromSlash(name)) }

func (r workdir) open(name string) (*file, error) {
	f, err := r.root.OpenFile(filepath.FromSlash(path.Clean(name)), os.O_RDONLY|plainfile.NonBlock, 0)
	if err != nil {
		return nil, err
	}
	return newFile(f)
}
