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

// withTerminal puts a terminal, if there is one, in the place of the first two.
func (f inherited) withTerminal(s *Spec) inherited {
	if s.Terminal == nil {
		return f
	}
	return inherited{cmp.Or(s.Input, s.Terminal), s.Terminal, f[2]}
}

// streams are the three pipes of a command. One goroutine serves each; drain waits for them.
type streams struct {
	childEnds inherited // standard input, output and error of the command
	input     input
	outputs   []*output
	wg        sync.WaitGroup
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
	st.childEnds, st.input.pipe, st.input.wg = append(st.childEnds, stdin), ours, &st.wg
	for _, w := range []io.Writer{s.Stdout, s.Stderr} {
		if w == nil {
			w = io.Discard
		}
		from, theirs, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		st.childEnds = append(st.childEnds, theirs)
		st.outputs = append(st.outputs, &output{from: from, to: w})
	}
	return st, nil
}

// writeInput closes the command's ends first: a pipe ends when its last writer does.
// With end nothing follows the text.
func (st *streams) writeInput(text []byte, end bool) {
	closeAll(st.childEnds)
	st.childEnds = nil
	st.input.send(text, end)
}

func (st *streams) startReading() {
	for _, o := range st.outputs {
		st.wg.Go(o.copy)
	}
}

func (st *streams) flush() {}

// copy goes on reading when the writer fails, so that the command never blocks or dies for that.
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

// drain waits until all output was written. Every process that could hold a pipe open has been
// ended; one that escaped is not waited for.
func (st *streams) drain() error {
	st.input.giveUp()
	late := time.AfterFunc(drainTime, func() { closeAll(st.parentEnds()) })
	defer late.Stop()
	st.wg.Wait()
	closeAll(st.parentEnds())
	var errs []error
	for _, o := range st.outputs {
		if o.err != nil {
			errs = append(errs, fmt.Errorf("write the command's output: %w", o.err))
		}
	}
	return errors.Join(errs...)
}

func (st *streams) parentEnds() []*os.File {
	files := []*os.File{}
	if st.input.pipe != nil {
		files = append(files, st.input.pipe)
	}
	for _, o := range st.outputs {
		files = append(files, o.from)
	}
	return files
}

func (st *streams) close() {
	closeAll(st.childEnds)
	closeAll(st.parentEnds())
}

// closeAll closes pipe ends, some of them for the second time, which does no harm.
func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}
