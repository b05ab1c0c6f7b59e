package board

import (
	"errors"
	"io"
	"io/fs"
	"path"
	"syscall"

	"golang.org/x/sys/unix"
)

// fileID is a file's identity.
type fileID struct{ dev, ino uint64 }

func identity(info fs.FileInfo) any {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return fileID{uint64(stat.Dev), stat.Ino}
	}
	return info
}

func sameFile(a, b *found) bool { return a.id == b.id }

// beneath lets the kernel keep to the work directory: one system call for a path, where os.Root needs two for every folder in
// it. It answers only what is beyond doubt: there is such a file, or there is none. All else is asked of os.Root.
type beneath struct {
	place *Place
	fd    int
}

func enterBeneath(p *Place) (reach, error) {
	b := &beneath{place: p}
	err := uninterrupted(func() (err error) {
		b.fd, err = syscall.Open(p.dir, unix.O_PATH|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
		return err
	})
	if err != nil {
		return nil, err
	}
	var stat syscall.Stat_t
	err = uninterrupted(func() error { return syscall.Fstat(b.fd, &stat) })
	if err == nil && any(fileID{uint64(stat.Dev), stat.Ino}) != p.home.id {
		err = errMoved
	}
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

func (b *beneath) Close() error { return syscall.Close(b.fd) }

func (b *beneath) openat(name string, flags uint64) (*raw, error) {
	r := new(raw)
	how := unix.OpenHow{Flags: flags | unix.O_CLOEXEC, Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_MAGICLINKS}
	err := uninterrupted(func() (err error) {
		r.fd, err = unix.Openat2(b.fd, path.Clean(name), &how)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := uninterrupted(func() error { return syscall.Fstat(r.fd, &r.stat) }); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

func (b *beneath) stat(name string) (*found, error) {
	r, err := b.openat(name, unix.O_PATH)
	switch {
	case err == nil:
		return &found{r.mode(), fileID{uint64(r.stat.Dev), r.stat.Ino}}, r.Close()
	case errors.Is(err, syscall.ENOENT), errors.Is(err, syscall.ENOTDIR):
		return nil, err
	}
	root, err := enterRoot(b.place)
	if err != nil {
		return nil, err
	}
	f, err := root.stat(name)
	return f, errors.Join(err, root.Close())
}

func (b *beneath) open(name string) (opened, error) {
	r, err := b.openat(name, unix.O_RDONLY|unix.O_NONBLOCK)
	if err == nil {
		return r, nil
	}
	root, err := enterRoot(b.place)
	if err != nil {
		return nil, err
	}
	f, err := root.open(name)
	return f, errors.Join(err, root.Close())
}

// raw is an open file that the runtime's poller never hears of: it could not wait for a regular file anyway.
type raw struct {
	fd   int
	stat syscall.Stat_t
}

// uninterrupted tries again what a signal has interrupted.
func uninterrupted(do func() error) error {
	for {
		if err := do(); err != syscall.EINTR {
			return err
		}
	}
}

func (r *raw) Read(p []byte) (n int, err error) {
	err = uninterrupted(func() error {
		n, err = syscall.Read(r.fd, p)
		return err
	})
	switch {
	case err != nil:
		return 0, err
	case n == 0 && len(p) > 0:
		return 0, io.EOF
	}
	return n, nil
}

func (r *raw) Close() error { return syscall.Close(r.fd) }

func (r *raw) size() int64 { return r.stat.Size }

func (r *raw) regular() error { return regular(r.mode()) }

// mode tells files, folders and all else apart.
func (r *raw) mode() fs.FileMode {
	switch r.stat.Mode & syscall.S_IFMT {
	case syscall.S_IFREG:
		return 0
	case syscall.S_IFDIR:
		return fs.ModeDir
	}
	return fs.ModeIrregular
}

// defaultWay is how the work directory is entered on this system.
func defaultWay() func(*Place) (reach, error) { return enterBeneath }
