//go:build !unix

package plainfile

// NonBlock is needed only where a name can be a FIFO.
const NonBlock = 0
