package land

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// exchange swaps the file at path with the entry name of a folder, atomically. Errors: errors.ErrUnsupported.
func exchange(path string, dir *os.File, name string) error {
	return rename(unix.AT_FDCWD, path, int(dir.Fd()), name, unix.RENAME_EXCHANGE)
}

// moveIn moves the file at path to the entry name of a folder, which must not be there. Errors: fs.ErrExist, errors.ErrUnsupported.
func moveIn(path string, dir *os.File, name string) error {
	return rename(unix.AT_FDCWD, path, int(dir.Fd()), name, unix.RENAME_NOREPLACE)
}

// moveOut moves the entry name of a folder to path, where nothing must be. Errors: as of moveIn.
func moveOut(dir *os.File, name, path string) error {
	return rename(int(dir.Fd()), name, unix.AT_FDCWD, path, unix.RENAME_NOREPLACE)
}

func rename(fromDir int, from string, toDir int, to string, flags uint) error {
	err := unix.Renameat2(fromDir, from, toDir, to, flags)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.ENOTSUP) {
		return errors.ErrUnsupported
	}
	return err
}
