package redact

import "math"

// context bounds the number of bytes that a match reads before its own position. It needs these
// bytes to find the start of a word after an escape such as \u003d, and to distinguish a wrapped
// line of base64 from a word at the end of a line.
const context = 16

// maxToken bounds a secret in a text, in bytes. The PEM text of a private key is shorter, and so is
// every encoded form of a registered piece (see pieceSize). Up to maxToken bytes of a stream can be
// held back.
const maxToken = 16 << 10

type span struct{ from, to int }

// state holds what scan has learned from the bytes before its text. Offsets count from the start of
// that text.
type state struct {
	covered int         // 1 + offset of the last secret's end; 0: no secret touches the text
	ahead   []span      // secrets that were found before scan reached their start
	before  []byte      // the last consumed bytes; the constant context bounds their number
	runs    [slots]span // for each slot the last measured run of characters
}

// nextAhead returns the start of the next secret that was found ahead.
func (st *state) nextAhead() int {
	next := math.MaxInt
	for _, s := range st.ahead {
		next = min(next, s.from)
	}
	return next
}

// takeAhead takes those secrets off the list st.ahead that begin at i. It returns the end of the
// longest of them.
func (st *state) takeAhead(i int) (end int) {
	kept := st.ahead[:0]
	for _, s := range st.ahead {
		if s.from == i {
			end = max(end, s.to)
		} else {
			kept = append(kept, s)
		}
	}
	st.ahead = kept
	return end
}

// advance moves the state past the n consumed bytes of b.
func (st *state) advance(n, end int, b []byte) {
	st.covered = max(end-n+1, 0)
	for i, s := range st.ahead {
		st.ahead[i] = span{s.from - n, s.to - n}
	}
	for i, s := range st.runs {
		st.runs[i] = span{s.from - n, s.to - n}
	}
	if n < context {
		st.before = append(st.before, b[:n]...)
		st.before = append(st.before[:0], st.before[max(len(st.before)-context, 0):]...)
	} else {
		st.before = append(st.before[:0], b[n-context:n]...)
	}
}

// text is the text of a scan, with the state of the bytes before it.
type text struct {
	b      []byte
	state  *state
	final  bool // b is the end of the stream
	reader reader
}

// window returns the text up to the last byte that a secret at i may occupy. whole is true if the
// bytes after b do not matter.
func (t *text) window(i int) (b []byte, whole bool) {
	end := min(len(t.b), i+maxToken)
	return t.b[:end], t.final || end == i+maxToken
}

// before returns the last k bytes before i, or fewer at the start of the stream. k is at most
// context. The result is a part of t or of buf.
func (t *text) before(i, k int, buf *[context]byte) []byte {
	if i >= k {
		return t.b[i-k : i]
	}
	k = min(k, i+len(t.state.before))
	n := copy(buf[:], t.state.before[len(t.state.before)-(k-i):])
	copy(buf[n:], t.b[:i])
	return buf[:k]
}
