//go:build unix

package board

import "syscall"

// nonblock keeps open from waiting for the other end of a FIFO.
const nonblock = syscall.O_NONBLOCK
