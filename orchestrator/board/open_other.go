//go:build !unix

package board

// nonblock has no meaning where no name in a folder is a FIFO.
const nonblock = 0
