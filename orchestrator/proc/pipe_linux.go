package proc

import (
	"io"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

const (
	chunk = 64 << 10
	// turn is how many chunks are read at a stretch: more than a wide pipe holds.
	turn = 2 * wideRoom / chunk
)

// chunks are lent to a pipe only while there is something to read: a thousand agents that think need none.
var chunks = sync.Pool{New: func() any { return new([chunk]byte) }}

// pipe is our end of one of a command's pipes. It never waits, and is moved by one goroutine at a time.
type pipe struct {
	fd      int
	open    *sync.WaitGroup // counts it until it is closed
	text    []byte          // what is left to write, when to is nil
	to      io.Writer
	err     error // of the first write to it that failed
	wide    bool
	dropped atomic.Bool // nobody wants what is left
	ear
}

// move moves what it can without waiting, but not for ever, and returns true when nothing is left for ever.
func (p *pipe) move() (over bool) {
	if p.to == nil {
		return p.push()
	}
	return p.pull()
}

// push writes. A command that ends without reading breaks the pipe. That is its right.
func (p *pipe) push() (over bool) {
	for len(p.text) > 0 {
		n, err := unix.Write(p.fd, p.text)
		switch {
		case err == unix.EAGAIN:
			return false
		case err != nil && err != unix.EINTR:
			return true
		}
		p.text = p.text[max(n, 0):]
	}
	return true
}

// pull goes on reading when the writer fails, so that the command never blocks or dies for a reader's sake.
func (p *pipe) pull() (over bool) {
	buf := chunks.Get().(*[chunk]byte)
	defer chunks.Put(buf)
	for range turn {
		n, err := unix.Read(p.fd, buf[:])
		switch {
		case err == unix.EINTR:
			continue
		case err == unix.EAGAIN:
			return false
		case err != nil || n == 0 || p.dropped.Load():
			return true
		}
		if p.err == nil {
			_, p.err = p.to.Write(buf[:n])
		}
		if n == chunk && !p.wide {
			p.widen()
		}
	}
	return false
}

// widen makes fewer and longer turns of a long text.
func (p *pipe) widen() {
	p.wide = true
	_, _ = unix.FcntlInt(uintptr(p.fd), unix.F_SETPIPE_SZ, wideRoom)
}

func (p *pipe) close() {
	_ = unix.Close(p.fd)
	p.open.Done()
}
