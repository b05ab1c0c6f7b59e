package redact

import "math"

// context is how many bytes before a position are looked at: to tell the start
// of a word from its middle, behind an escape such as \u003d; and to tell a
// wrapped line of base64 from a word at the end of a line.
const context = 16

// maxToken is how long, in bytes, a secret can be in a text: more than the PEM
// text of any private key, and than any form of a piece of a value. So much of a
// stream may be held back.
const maxToken = 16 << 10

type span struct{ from, to int }

// state is what scan must know about the bytes before the ones it is given.
// Places count from the first of those.
type state struct {
	covered int         // one more than the bytes that belong to a secret already marked
	ahead   []span      // secrets that were found before their first byte
	before  []byte      // the last bytes that were used up, at most context
	runs    [slots]span // for each slot the last run of characters that was measured
}

// nextAhead is where the next of the secrets begins that were found ahead.
func (st *state) nextAhead() int {
	next := math.MaxInt
	for _, s := range st.ahead {
		next = min(next, s.from)
	}
	return next
}

// takeAhead removes the secrets that were found ahead of i and begin there, and
// returns where the longest of them ends.
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

// pass moves the state on by the n bytes of b that are used up.
func (st *state) pass(n, end int, b []byte) {
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

// text is what scan looks at: b, and what it knows of the bytes before.
type text struct {
	b      []byte
	state  *state
	final  bool // nothing follows b
	reader reader
}

// window returns the bytes from i on that a secret at i may take, and whether
// nothing that matters follows them.
func (t *text) window(i int) (b []byte, whole bool) {
	end := min(len(t.b), i+maxToken)
	return t.b[:end], t.final || end == i+maxToken
}

// behind returns the last k bytes before i, or all there are; k is at most
// context. The bytes are only borrowed.
func (t *text) behind(i, k int, buf *[context]byte) []byte {
	if i >= k {
		return t.b[i-k : i]
	}
	k = min(k, i+len(t.state.before))
	n := copy(buf[:], t.state.before[len(t.state.before)-(k-i):])
	copy(buf[n:], t.b[:i])
	return buf[:k]
}
