package attempt

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
)

// gate forwards a stream of a resident while an attempt or [Resident.Ask] listens. It drops all
// other output, and also the rest of a line that began before the gate was opened.
type gate struct {
	mu     sync.Mutex
	to     io.Writer   // gets the stream; nil while the gate is shut
	fail   func(error) // called with the error if a write fails
	err    error       // error of the write that failed; nil: none
	inLine bool        // the last byte did not end a line
	skip   bool        // the output is dropped up to the end of the line
}

// open drops the rest of the current line, and forwards the output after that line.
func (g *gate) open(to io.Writer, fail func(error)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.to, g.fail, g.err, g.skip = to, fail, nil, g.inLine
}

// shut drops the output from now on. It returns the error if a write has failed since the call of
// open, and nil otherwise.
func (g *gate) shut() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.to, g.fail = nil, nil
	return g.err
}

// Write never fails, because a failing writer would end the reading of the command's output.
func (g *gate) Write(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := len(p)
	if n == 0 {
		return 0, nil
	}
	g.inLine = p[n-1] != '\n'
	if g.skip {
		_, rest, whole := bytes.Cut(p, []byte("\n"))
		p, g.skip = rest, !whole
	}
	if g.to == nil || len(p) == 0 {
		return n, nil
	}
	if _, err := g.to.Write(p); err != nil {
		g.to, g.err = nil, fmt.Errorf("write the command's output: %w", err)
		g.fail(g.err)
	}
	return n, nil
}

type gates struct{ stdout, stderr gate }

func (g *gates) open(stdout, stderr io.Writer, fail func(error)) {
	g.stdout.open(stdout, fail)
	g.stderr.open(stderr, fail)
}

func (g *gates) shut() error { return errors.Join(g.stdout.shut(), g.stderr.shut()) }
