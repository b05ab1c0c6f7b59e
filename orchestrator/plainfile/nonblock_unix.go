//go:build unix

package plainfile

import "syscall"

// NonBlock is the flag that keeps an open from waiting for the other end of a FIFO.
const NonBlock = syscall.O_NONBLOCK
