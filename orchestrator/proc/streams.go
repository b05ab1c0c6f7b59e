package proc

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
	"time"
)

const (
	chunk    = 64 << 10
	pipeRoom = 1 << 20 // the most that a pipe holds
)

// chunks holds the free read buffers. An output borrows one only while it has something to read, so
// a thousand silent agents hold none.
var chunks = sync.Pool{New: func() any { return new([chunk]byte) }}

// inherited lists the files that become the descriptors of a command, from 0 on.
type inherited []*os.File

// heldFile is the descriptor of Spec.Held. Scripts use those below 10 themselves, and shells the next
// ones.
const heldFile = 29

// withHeld returns f with the file of s that the command inherits, if there is one. The descriptors in
// between are closed.
func (f inherited) withHeld(s *Spec) inherited {
	if s.Held == nil {
		return f
	}
	all := make(inherited, heldFile+1)
	copy(all, f)
	all[heldFile] = s.Held
	return all
}

// withTerminal returns f if s has no terminal. Otherwise standard output is the terminal. Standard
// input is s.Input if that field is set, and the terminal if not. Standard error stays as in f.
func (f inherited) withTerminal(s *Spec) inherited {
	if s.Terminal == nil {
		return f
	}
	return inherited{cmp.Or(s.Input, s.Terminal), s.Terminal, f[2]}
}

// streams are the three pipes of a command. Each output has its own goroutine that reads it, and
// another goroutine writes the input; drain waits for all of them. The parent's ends are
// non-blocking, so a goroutine that waits for a pipe occupies no thread.
type streams struct {
	childEnds inherited // standard input, output and error of the command
	input     input
	outputs   []*output
	wg        sync.WaitGroup
}

func open(s *Spec) (_ *streams, err error) {
	st := &streams{}
	defer func() {
		if err != nil {
			st.close()
		}
	}()
	st.input.wg = &st.wg
	if st.input.pipe, err = st.openPipe(1); err != nil {
		return nil, err
	}
	for _, w := range []io.Writer{s.Stdout, s.Stderr} {
		if w == nil {
			w = io.Discard
		}
		from, err := st.openPipe(0)
		if err != nil {
			return nil, err
		}
		st.outputs = append(st.outputs, &output{from: from, to: w})
	}
	return st, nil
}

// openPipe opens a pipe and returns the parent's end: the reading end if the argument is 0, or the
// writing end if it is 1.
func (st *streams) openPipe(end int) (*os.File, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	ends := []*os.File{r, w}
	st.childEnds = append(st.childEnds, ends[1-end])
	return ends[end], nil
}

// writeInput first closes this process's copies of the command's ends of the pipes, because a pipe
// stays open until its last writer has closed it. Then it sends a text to the input. If end is
// true, no text follows.
func (st *streams) writeInput(text []byte, end bool) {
	st.closeChildEnds()
	st.input.send(text, end)
}

func (st *streams) startReading() {
	for _, o := range st.outputs {
		st.wg.Go(o.copy)
	}
}

// drain waits until all output was written. The caller has ended every process that could hold a
// pipe open. If a process escaped, drain waits for it no longer than drainTime. Errors: those of
// the writers.
func (st *streams) drain() error {
	st.input.giveUp()
	late := time.AfterFunc(drainTime, func() {
		for _, o := range st.outputs {
			o.cancel()
		}
	})
	defer late.Stop()
	st.wg.Wait()
	var errs []error
	for _, o := range st.outputs {
		if err := o.failure(); err != nil {
			errs = append(errs, fmt.Errorf("write the command's output: %w", err))
		}
	}
	return errors.Join(errs...)
}

// close closes the pipes of a command that was not started.
func (st *streams) close() {
	st.closeChildEnds()
	if st.input.pipe != nil {
		_ = st.input.pipe.Close()
	}
	for _, o := range st.outputs {
		_ = o.from.Close()
	}
}

func (st *streams) closeChildEnds() {
	for _, f := range st.childEnds {
		_ = f.Close()
	}
	st.childEnds = nil
}

// flush passes the contents of the pipes to the writers.
func (st *streams) flush() {
	for _, o := range st.outputs {
		o.flush()
	}
}

// output is a stream of a command.
type output struct {
	from *os.File

	// mu is held from the start of a read until the bytes that it returned are written. So while mu
	// is free, all unwritten output is in the pipe.
	mu  sync.Mutex
	to  io.Writer
	err error        // error of the first write that failed
	buf *[chunk]byte // nil while the pipe is empty
}

// copy copies the stream. It continues to read after a write has failed, so that the command
// neither blocks nor dies because of the failure.
func (o *output) copy() {
	defer o.from.Close()
	conn, err := o.from.SyscallConn()
	if err != nil {
		return
	}
	n := 0
	pass := func(fd uintptr) (done bool) {
		n, done = o.pass(fd)
		return done
	}
	for conn.Read(pass) == nil && n > 0 {
	}
}

// flush passes the contents of the pipe to the writer, but no more than a pipe holds, because a
// command may print without end.
func (o *output) flush() {
	conn, err := o.from.SyscallConn()
	if err != nil {
		return
	}
	_ = conn.Control(func(fd uintptr) { // an error means that the method copy has closed the pipe
		for passed := 0; passed < pipeRoom; {
			n, _ := o.pass(fd)
			if n == 0 {
				return
			}
			passed += n
		}
	})
}

// pass reads once and writes the result. ok is false if the pipe is empty for now. n is 0 if ok is
// false, and also at the end of the pipe.
func (o *output) pass(fd uintptr) (n int, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.buf == nil {
		o.buf = chunks.Get().(*[chunk]byte)
	}
	n, err := syscall.Read(int(fd), o.buf[:])
	for err == syscall.EINTR {
		n, err = syscall.Read(int(fd), o.buf[:])
	}
	if n <= 0 {
		o.release()
		return 0, err != syscall.EAGAIN
	}
	if o.err == nil {
		_, o.err = o.to.Write(o.buf[:n])
	}
	return n, true
}

func (o *output) failure() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

func (o *output) release() {
	if o.buf != nil {
		chunks.Put(o.buf)
		o.buf = nil
	}
}

// cancel ends the method copy, even if output is left to read. It does not interrupt a write.
func (o *output) cancel() { _ = o.from.SetDeadline(time.Now()) }
