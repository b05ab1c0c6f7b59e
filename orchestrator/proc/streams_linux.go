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
	// pipeRoom is what a pipe holds if nobody changes it, and wideRoom what anybody may ask for. Who has spent his share gets
	// less of either, and all goes on as before, only slower.
	pipeRoom = 64 << 10
	wideRoom = 1 << 20
)

// inherited are the descriptors that a command gets as its own, from 0 on.
type inherited []uintptr

// on puts a terminal, if there is one, in the place of the first two.
func (f inherited) on(s *Spec) inherited {
	if s.Terminal == nil {
		return f
	}
	return inherited{cmp.Or(s.Input, s.Terminal).Fd(), s.Terminal.Fd(), f[2]}
}

// streams are the three pipes of a command. They are served by the goroutine of Run while the command is not yet or no more
// running, and by household's ears in between.
type streams struct {
	theirs  inherited // standard input, output and error of the command
	input   *pipe     // our ends; nil once it is closed
	outputs [2]*pipe
	quiet   []*pipe // those that are open and not given to the ears
	wg      sync.WaitGroup
}

func open(s *Spec) (_ *streams, err error) {
	st := &streams{theirs: make(inherited, 0, 3), quiet: make([]*pipe, 0, 3)}
	defer func() {
		if err != nil {
			st.close()
		}
	}()
	if st.input, err = st.open(1, &pipe{text: s.Stdin}); err != nil {
		return nil, err
	}
	for i, w := range []io.Writer{s.Stdout, s.Stderr} {
		if w == nil {
			w = io.Discard
		}
		if st.outputs[i], err = st.open(0, &pipe{to: w}); err != nil {
			return nil, err
		}
	}
	return st, nil
}

// open makes a pipe. Our end of it is the reading one, 0, or the writing one, 1.
func (st *streams) open(our int, p *pipe) (*pipe, error) {
	var ends [2]int
	if err := unix.Pipe2(ends[:], unix.O_CLOEXEC); err != nil {
		return nil, os.NewSyscallError("pipe2", err)
	}
	st.theirs = append(st.theirs, uintptr(ends[1-our]))
	st.quiet = append(st.quiet, p)
	st.wg.Add(1)
	p.fd, p.open = ends[our], &st.wg
	_, err := unix.FcntlInt(uintptr(p.fd), unix.F_SETFL, unix.O_NONBLOCK)
	return p, os.NewSyscallError("fcntl", err)
}

// give writes what the input's pipe holds, and returns true when that was all. The command's ends are closed here first: a pipe
// ends when its last writer does.
func (st *streams) give(text []byte) (all bool) {
	st.closeTheirs()
	if len(text) > pipeRoom {
		st.input.widen()
		st.outputs[0].widen() // who is told much has much to say
	}
	all = st.input.move()
	if all {
		st.input.close()
		st.input = nil
		st.quiet = st.quiet[1:]
	}
	return all
}

// pump starts to move what is left.
func (st *streams) pump() {
	for _, p := range st.quiet {
		hearing.take(p)
	}
	st.quiet = nil
}

// drain waits until all output was written. Every process that could hold a pipe open has been ended; should one have escaped,
// it is not waited for.
func (st *streams) drain() error {
	for _, p := range st.quiet { // all that was said is in the pipe by now
		if p.move() {
			p.close()
		} else {
			hearing.take(p)
		}
	}
	st.quiet = nil
	if st.input != nil {
		hearing.drop(st.input) // an input that nobody reads is not waited for
	}
	late := time.AfterFunc(drainTime, func() {
		hearing.drop(st.outputs[0])
		hearing.drop(st.outputs[1])
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
	for _, p := range st.quiet {
		p.close()
	}
	st.quiet = nil
}

func (st *streams) closeTheirs() {
	for _, fd := range st.theirs {
		_ = unix.Close(int(fd))
	}
	st.theirs = nil
}
