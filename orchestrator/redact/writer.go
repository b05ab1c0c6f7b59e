package redact

import (
	"fmt"
	"io"
	"io/fs"
)

// piece is the number of bytes of a write that are scanned at once. It keeps a huge write from
// being copied whole.
const piece = 64 << 10

// Writer is a filter of a stream to another writer. It holds back only bytes that may begin a
// secret, at most 16 KiB. In ordinary text it holds back nothing after a line end, and at most
// three bytes elsewhere. It holds back more after the start of a token, a URL or a key, or after a
// line that ends in sixteen or more characters of base64 or hex, as wrapped lines do. The bytes
// wait for the next write or for Close. A writer keeps less than 512 KiB of memory. It is not safe
// for concurrent use.
type Writer struct {
	redactor *Redactor
	to       io.Writer
	state    state
	held     []byte
	failed   error
}

// Writer returns a redacting writer to w. Close it to write what it holds back.
func (r *Redactor) Writer(w io.Writer) *Writer { return &Writer{redactor: r, to: w} }

// Write accepts all of p, or returns the error of the other writer. Every later call then returns
// that error, too, because a gap would join the texts on its two sides.
func (w *Writer) Write(p []byte) (int, error) {
	for n := 0; n < len(p); {
		next := min(n+piece, len(p))
		if err := w.forward(p[n:next], false); err != nil {
			return n, err
		}
		n = next
	}
	return len(p), w.failed
}

// Close writes the bytes held back. It does not close the other writer.
func (w *Writer) Close() error {
	err := w.forward(nil, true)
	if w.failed == nil {
		w.failed = fmt.Errorf("write to redactor: %w", fs.ErrClosed)
	}
	return err
}

func (w *Writer) forward(p []byte, final bool) error {
	if w.failed != nil {
		return w.failed
	}
	b := p
	if len(w.held) > 0 {
		w.held = append(w.held, p...)
		b = w.held
	}
	text, used := w.redactor.scan(b, &w.state, final)
	if len(text) > 0 {
		n, err := w.to.Write(text)
		if err == nil && n < len(text) {
			err = io.ErrShortWrite
		}
		w.failed = err
	}
	w.held = append(w.held[:0], b[used:]...)
	return w.failed
}
