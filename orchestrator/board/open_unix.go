//go:build unix

package board

import (
	"io"
	"io/fs"
	"syscall"
)

// nonblock keeps open from waiting for the other end of a FIFO.
const nonblock = syscall.O_NONBLOCK

// raw is an open board that the runtime's poller never hears of: it could not wait for a regular file anyway, and asking it to
// costs more system calls than reading the file.
type raw struct {
	fd   int
	stat syscall.Stat_t
}

func openRaw(path string) (opened, error) {
	r := new(raw)
	err := uninterrupted(func() (err error) {
		r.fd, err = syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC|nonblock, 0)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := uninterrupted(func() error { return syscall.Fstat(r.fd, &r.stat) }); err != nil {
		_ = r.Close()
		return nil, err
	}
	return r, nil
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

func (r *raw) is(path string) (bool, error) {
	var named syscall.Stat_t
	err := uninterrupted(func() error { return syscall.Lstat(path, &named) })
	return err == nil && named.Dev == r.stat.Dev && named.Ino == r.stat.Ino, err
}
