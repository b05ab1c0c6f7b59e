package durable

import (
	"errors"

	"golang.org/x/sys/unix"
)

// exchange swaps the files of two names atomically. Errors: errors.ErrUnsupported if the file
// system cannot do that.
func exchange(a, b string) error {
	err := unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.ENOTSUP) {
		return errors.ErrUnsupported
	}
	return err
}
