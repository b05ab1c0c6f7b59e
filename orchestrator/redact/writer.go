package redact

import (
	"bytes"
	"io"
)

// keyLimit is how much is left out at most after the beginning of a private key whose end does not come.
const keyLimit = 16 << 10

// headerLimit is the length of a private key's first line, in bytes: it has blanks and must not be judged by its first half.
const headerLimit = 64

// Writer redacts a stream. It holds back as much as a secret that is not complete yet could take, and not more: its memory is
// bounded whatever passes. It is used by one goroutine.
type Writer struct {
	r    *Redactor
	to   io.Writer
	held []byte
	key  int // bytes to leave out at most, within a private key whose end has not come yet
	err  error
}

// Writer returns a Writer to w. Close must be called; it does not close w.
func (r *Redactor) Writer(w io.Writer) *Writer { return &Writer{r: r, to: w} }

// Write takes all of p, or returns the error that w gave earlier.
func (w *Writer) Write(p []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	w.held = append(w.held, p...)
	if w.leaveOutKey(); w.key == 0 {
		w.pass(w.safe())
	}
	if w.err != nil {
		return 0, w.err
	}
	return len(p), nil
}

// Close writes what is held back.
func (w *Writer) Close() error {
	if w.err == nil && w.key == 0 {
		w.pass(len(w.held))
	}
	return w.err
}

// safe is how much of what is held may go: no secret that begins before it can reach beyond what is held, and it lies at the
// border of a word, because a token must not be judged by its first half.
func (w *Writer) safe() int {
	limit := len(w.held) - max(w.r.longest, headerLimit)
	if limit <= 0 {
		return 0
	}
	for at := limit; at > 0 && limit-at < tokenLimit; at-- {
		if border(w.held[at-1]) {
			return at
		}
	}
	if limit < tokenLimit {
		return 0
	}
	return limit // a word longer than any token
}

// border bytes are in no token. A private key has some; leaveOutKey looks after it.
func border(c byte) bool { return c <= ' ' || c == '"' || c == '\'' }

// pass writes the first n bytes that are held, redacted, and every secret that begins in them as a whole.
func (w *Writer) pass(n int) {
	if n == 0 {
		return
	}
	found := w.r.find(w.held, n)
	if len(found) > 0 {
		last := found[len(found)-1]
		n = max(n, last.to)
		if text := w.held[last.from:last.to]; last.to == len(w.held) && bytes.HasPrefix(text, keyBegin) && !bytes.Contains(text, keyEnd) {
			w.key = keyLimit
		}
	}
	out := w.held[:n]
	if len(found) > 0 {
		out = replace(out, found)
	}
	_, w.err = w.to.Write(out)
	w.held = append(w.held[:0], w.held[n:]...)
}

var keyBegin, keyEnd = []byte("-----BEGIN "), []byte("-----END ")

// leaveOutKey drops what is held up to the end of the private key that began in what was passed already.
func (w *Writer) leaveOutKey() {
	if w.key == 0 {
		return
	}
	if at := bytes.Index(w.held, keyEnd); at >= 0 {
		if stop := bytes.Index(w.held[at+len(keyEnd):], []byte("-----")); stop >= 0 {
			w.held = append(w.held[:0], w.held[at+len(keyEnd)+stop+len("-----"):]...)
			w.key = 0
		}
		return
	}
	drop := min(max(len(w.held)-len(keyEnd), 0), w.key) // the end may have begun
	w.held = append(w.held[:0], w.held[drop:]...)
	w.key -= drop
}
