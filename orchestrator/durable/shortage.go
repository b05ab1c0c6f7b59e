package durable

import (
	"errors"
	"syscall"
)

// IsOutOfResources reports that the machine was out of open files or of memory. Such an error says
// nothing about the file.
func IsOutOfResources(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ENOMEM)
}
