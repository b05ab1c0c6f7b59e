//go:build !linux

package proc

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

const chunk = 32 << 10

// inherited are the files that a command gets, in the order of its descriptors.
type inherited []*os.File

// on puts a terminal, if there is one, in the place of the first two.
func (f inherited) on(s *Spec) inherited {
	if s.Terminal == nil {
		return f
	}
	return inherited{cmp.Or(s.Input, s.Terminal), s.Terminal, f[2]}
}

// streams are the three pipes of a command. One goroutine serves each; drain waits for them.
type streams struct {
	theirs  inherited // standard input, output and error of the command
	stdin   *os.File  // our ends
	outputs []*output
	wg      sync.WaitGroup
}

type output struct {
	from *os.File
	to   io.Writer
	err  error // of the first write that failed
}

func open(s *Spec) (_ *streams, err error) {
	st := &streams{}
	defer func() {
		if err != nil {
			st.close()
		}
	}()
	stdin, ours, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	st.theirs, st.stdin = append(st.theirs, stdin), ours
	for _, w := range []io.Writer{s.Stdout, s.Stderr} {
		if w == nil {
			w = io.Discard
		}
		from, theirs, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		st.theirs = append(st.theirs, theirs)
		st.outputs = append(st.outputs, &output{from: from, to: w})
	}
	return st, nil
}

// give starts to write the input. The command's ends are closed here first: a pipe ends when its last writer does.
func (st *streams) give(stdin []byte) {
	closeAll(st.theirs)
	st.theirs = nil
	st.wg.Go(func() {
		// A command that ends without reading breaks the pipe. That is its right.
		_, _ = st.stdin.Write(stdin)
		_ = st.stdin.Close()
	})
}

// pump starts to move the outputs.
func (st *streams) pump() {
	for _, o := range st.outputs {
		st.wg.Go(o.copy)
	}
}

// copy goes on reading when the writer fails, so that the command never blocks or dies for a reader's sake.
func (o *output) copy() {
	buf := make([]byte, chunk)
	for {
		n, err := o.from.Read(buf)
		if n > 0 && o.err == nil {
			_, o.err = o.to.Write(buf[:n])
		}
		if err != nil {
			return
		}
	}
}

// drain waits until all output was written. Every process that could hold a pipe open has been ended; should one have escaped,
// it is not waited for.
func (st *streams) drain() error {
	// An input that nobody reads is not waited for; mostly it is closed by now, which is no error.
	_ = st.stdin.SetWriteDeadline(time.Now())
	late := time.AfterFunc(drainTime, func() { closeAll(st.ours()) })
	defer late.Stop()
	st.wg.Wait()
	closeAll(st.ours())
	var errs []error
	for _, o := range st.outputs {
		if o.err != nil {
			errs = append(errs, fmt.Errorf("write the command's output: %w", o.err))
		}
	}
	return errors.Join(errs...)
}

func (st *streams) ours() []*os.File {
	files := []*os.File{}
	if st.stdin != nil {
		files = append(files, st.stdin)
	}
	for _, o := range st.outputs {
		files = append(files, o.from)
	}
	return files
}

func (st *streams) close() {
	closeAll(st.theirs)
	closeAll(st.ours())
}

// closeAll closes pipe ends, some of them for the second time. Nothing can be lost by that.
func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}
