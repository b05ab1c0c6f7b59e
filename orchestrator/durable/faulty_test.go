package durable

import (
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
)

// faults are errors of disks. The last one affects only writes.
var faults = []error{
	syscall.ENOSPC, syscall.EIO, syscall.EROFS, syscall.EACCES, syscall.EMFILE, syscall.EFBIG, io.ErrShortWrite,
}

func hits(fault error, op string) bool { return fault != io.ErrShortWrite || op == "write" }

// faulty is the real disk; it logs each operation and fails some.
type faulty struct {
	disk
	log   []operation
	fails func(n int, op string) error
}

type operation struct {
	name, path string
	failed     bool
}

// newFaulty returns a disk whose operation k fails, and if the fault persists all later ones.
func newFaulty(k int, fault error, persists bool) *faulty {
	return &faulty{fails: func(n int, op string) error {
		if (n == k || persists && n > k) && hits(fault, op) {
			return fault
		}
		return nil
	}}
}

func (d *faulty) do(op, path string) error {
	var err error
	if d.fails != nil {
		err = d.fails(len(d.log)+1, op)
	}
	d.log = append(d.log, operation{name: op, path: path, failed: err != nil})
	return err
}

func (d *faulty) lstat(name string) (fs.FileInfo, error) {
	if err := d.do("lstat", name); err != nil {
		return nil, err
	}
	return d.disk.lstat(name)
}

func (d *faulty) open(name string, flag int) (io.ReadCloser, error) {
	if err := d.do("open", name); err != nil {
		return nil, err
	}
	f, err := d.disk.open(name, flag)
	return &faultyReader{ReadCloser: f, disk: d, name: name}, err
}

func (d *faulty) create(name string, perm fs.FileMode) (file, error) {
	if err := d.do("create", name); err != nil {
		return nil, err
	}
	f, err := d.disk.create(name, perm)
	return &faultyFile{file: f, disk: d, name: name}, err
}

func (d *faulty) rename(from, to string) error {
	if err := d.do("rename", to); err != nil {
		return err
	}
	return d.disk.rename(from, to)
}

func (d *faulty) remove(name string) error {
	if err := d.do("remove", name); err != nil {
		return err
	}
	return d.disk.remove(name)
}

func (d *faulty) mkdir(dir string, perm fs.FileMode) error {
	if err := d.do("mkdir", dir); err != nil {
		return err
	}
	err := d.disk.mkdir(dir, perm)
	d.log[len(d.log)-1].failed = err != nil
	return err
}

func (d *faulty) syncDir(dir string) error {
	if err := d.do("syncDir", dir); err != nil {
		return err
	}
	return d.disk.syncDir(dir)
}

type faultyReader struct {
	io.ReadCloser
	disk *faulty
	name string
}

func (f *faultyReader) Read(p []byte) (int, error) {
	if err := f.disk.do("read", f.name); err != nil {
		return 0, err
	}
	return f.ReadCloser.Read(p)
}

func (f *faultyReader) Close() error {
	return errors.Join(f.disk.do("close", f.name), f.ReadCloser.Close())
}

type faultyFile struct {
	file
	disk *faulty
	name string
}

func (f *faultyFile) Write(p []byte) (int, error) {
	if err := f.disk.do("write", f.name); err != nil {
		n, _ := f.file.Write(p[:len(p)/2]) // a full disk accepts what still fits
		return n, err
	}
	return f.file.Write(p)
}

func (f *faultyFile) Stat() (fs.FileInfo, error) {
	if err := f.disk.do("stat", f.name); err != nil {
		return nil, err
	}
	return f.file.Stat()
}

func (f *faultyFile) Chmod(mode fs.FileMode) error {
	if err := f.disk.do("chmod", f.name); err != nil {
		return err
	}
	return f.file.Chmod(mode)
}

func (f *faultyFile) Sync() error {
	if err := f.disk.do("sync", f.name); err != nil {
		return err
	}
	return f.file.Sync()
}

func (f *faultyFile) Close() error {
	return errors.Join(f.disk.do("close", f.name), f.file.Close())
}

// listNames formats the operations for a message.
func listNames(log []operation) string {
	var all []string
	for _, op := range log {
		name := op.name + " " + filepath.Base(op.path)
		if op.failed {
			name += " (failed)"
		}
		all = append(all, name)
	}
	return strings.Join(all, ", ")
}
