package durable

import (
	"errors"
	"syscall"
)

// IsOutOfResources reports whether the machine was out of open files or of memory. Such an error
// does not mean that the file is bad.
func IsOutOfResources(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ENOMEM)
}
