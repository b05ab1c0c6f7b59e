package proc

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

const (
	chunk = 64 << 10
	// pipeRoom is what a pipe holds by default, and wideRoom what any user may ask for. A user whose share is spent gets less of
	// either, and the streams are only slower.
	pipeRoom = 64 << 10
	wideRoom = 1 << 20
)

// chunks are lent to an output only while there is something to read: a thousand agents that think need none.
var chunks = sync.Pool{New: func() any { return new([chunk]byte) }}

// inherited are the descriptors that a command gets as its own, from 0 on.
type inherited []uintptr

// on puts a terminal, if there is one, in the place of the first two.
func (f inherited) on(s *Spec) inherited {
	if s.Terminal == nil {
		return f
	}
	return inherited{cmp.Or(s.Input, s.Terminal).Fd(), s.Terminal.Fd(), f[2]}
}

// streams are the three pipes of a command. One goroutine reads each output, and one writes what the input's pipe does not hold
// at once; drain waits for them. Our ends do not block: a goroutine that waits for one has no thread.
type streams struct {
	theirs  inherited // standard input, output and error of the command
	input   *os.File  // our ends
	outputs []*output
	wg      sync.WaitGroup
}

func open(s *Spec) (_ *streams, err error) {
	st := &streams{theirs: make(inherited, 0, 3)}
	defer func() {
		if err != nil {
			st.close()
		}
	}()
	if st.input, err = st.openPipe(1); err != nil {
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

// openPipe returns our end of a new pipe, the reading one, 0, or the writing one, 1.
func (st *streams) openPipe(our int) (*os.File, error) {
	var ends [2]int
	if err := unix.Pipe2(ends[:], unix.O_CLOEXEC); err != nil {
		return nil, os.NewSyscallError("pipe2", err)
	}
	st.theirs = append(st.theirs, uintptr(ends[1-our]))
	_, err := unix.FcntlInt(uintptr(ends[our]), unix.F_SETFL, unix.O_NONBLOCK)
	f := os.NewFile(uintptr(ends[our]), "pipe")
	if err == nil {
		err = f.SetDeadline(time.Time{}) // fails when the runtime cannot wait for the pipe
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// give writes the input, as much of it as the pipe holds at once. The command's ends are closed here first: a pipe ends when its
// last writer does.
func (st *streams) give(text []byte) {
	st.closeTheirs()
	if len(text) > pipeRoom {
		widen(st.input)
		widen(st.outputs[0].from) // a long input has a long output
	}
	if text = writeNow(st.input, text); len(text) == 0 {
		_ = st.input.Close()
		return
	}
	st.wg.Go(func() {
		_, _ = st.input.Write(text)
		_ = st.input.Close()
	})
}

// writeNow returns what is left to write, nothing if the pipe is broken: a command may end without reading.
func writeNow(f *os.File, text []byte) (rest []byte) {
	conn, err := f.SyscallConn()
	if err != nil || len(text) == 0 {
		return nil
	}
	_ = conn.Write(func(fd uintptr) bool {
		switch n, err := unix.Write(int(fd), text); {
		case err == nil:
			rest = text[n:]
		case err == unix.EAGAIN || err == unix.EINTR:
			rest = text
		}
		return true
	})
	return rest
}

// widen makes fewer and longer turns of a long text.
func widen(f *os.File) {
	if conn, err := f.SyscallConn(); err == nil {
		_ = conn.Control(func(fd uintptr) { _, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, wideRoom) })
	}
}

// pump starts to read the outputs.
func (st *streams) pump() {
	for _, o := range st.outputs {
		st.wg.Go(o.copy)
	}
}

// drain waits until all output was written. Every process that could hold a pipe open has been ended; should one have escaped,
// it is not waited for.
func (st *streams) drain() error {
	_ = st.input.SetDeadline(time.Now()) // an input that is not read is not waited for
	late := time.AfterFunc(drainTime, func() {
		for _, o := range st.outputs {
			o.drop()
		}
	})
	defer late.Stop()
	st.wg.Wait()
	var errs []error
	for _, o := range st.outputs {
		if o.err != nil {
			errs = append(errs, fmt.Errorf("write the command's output: %w", o.err))
		}
	}
	return errors.Join(errs...)
}

// close is for a command that was not started.
func (st *streams) close() {
	st.closeTheirs()
	_ = st.input.Close()
	for _, o := range st.outputs {
		_ = o.from.Close()
	}
}

func (st *streams) closeTheirs() {
	for _, fd := range st.theirs {
		_ = unix.Close(int(fd))
	}
	st.theirs = nil
}

// output is what a command writes. Its goroutine owns all of it but from.
type output struct {
	from *os.File
	to   io.Writer
	err  error // of the first write to it that failed

	buf  *[chunk]byte // nil while the pipe is empty
	n    int          // what is in buf; 0: the pipe has ended
	wide bool
}

// copy goes on reading when the writer fails, so that the command never blocks or dies for a reader's sake.
func (o *output) copy() {
	defer o.from.Close()
	conn, err := o.from.SyscallConn()
	if err != nil {
		return
	}
	read := o.read
	for conn.Read(read) == nil && o.n > 0 {
		if o.err == nil {
			_, o.err = o.to.Write(o.buf[:o.n])
		}
		if o.n == chunk && !o.wide {
			o.wide = true
			widen(o.from)
		}
	}
	o.release()
}

// read returns false when the pipe is empty for now.
func (o *output) read(fd uintptr) (done bool) {
	if o.buf == nil {
		o.buf = chunks.Get().(*[chunk]byte)
	}
	n, err := unix.Read(int(fd), o.buf[:])
	for err == unix.EINTR {
		n, err = unix.Read(int(fd), o.buf[:])
	}
	if err == unix.EAGAIN {
		o.release()
		return false
	}
	o.n = max(n, 0)
	return true
}

func (o *output) release() {
	if o.buf != nil {
		chunks.Put(o.buf)
		o.buf = nil
	}
}

// drop ends copy, however much is left to read; a write is not interrupted.
func (o *output) drop() { _ = o.from.SetDeadline(time.Now()) }
