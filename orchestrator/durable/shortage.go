package durable

import (
	"errors"
	"syscall"
)

// IsShortage says that the machine had no more of something for the moment, of open files or of memory. Such an error tells nothing
// of the file that was asked for.
func IsShortage(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ENOMEM)
}
