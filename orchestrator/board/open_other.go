//go:build !unix

package board

// nonblock is needed only where a name can be a FIFO.
const nonblock = 0
