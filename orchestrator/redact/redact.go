// Package redact removes secrets from text and streams: no registered value, in
// none of the forms that encoders give it, leaves a Redactor, however the stream
// is cut into writes; and it makes foreign text harmless for a terminal.
//
// Beside the registered values it knows the shapes of common credentials. The
// shapes are a net for what nobody registered; only the values are a promise.
package redact

import (
	"bytes"
	"slices"
	"strings"
)

// Mark stands in the place of every secret.
const Mark = "[REDACTED_SECRET]"

// minValue is the length, in bytes, under which a value is not registered: it
// would tear ordinary words apart.
const minValue = 6

// Redactor replaces what New was given by Mark. It never changes and may be
// used by several goroutines.
type Redactor struct {
	firsts [256]bool            // bytes with which a pattern begins
	pairs  [1 << 16 / 64]uint64 // the first two bytes of patterns, a bit each
	groups map[[3]byte]*group
}

// group is what may begin with the same three bytes.
type group struct {
	literals [][]byte // longest first
	shapes   []shape
}

// New returns a redactor for values and all the forms of them that encodings
// gives, and for the known shapes of credentials. Space around a value does not
// count; values shorter than 6 bytes, and those that Mark itself would show, are
// ignored. The password within a URL counts as a value of its own.
func New(values []string) *Redactor {
	r := &Redactor{groups: map[[3]byte]*group{}}
	for _, s := range shapes {
		g := r.group([]byte(s.prefix))
		g.shapes = append(g.shapes, s)
	}
	seen := map[string]bool{}
	for _, value := range values {
		for _, part := range parts(value) {
			r.register(part, seen)
		}
	}
	for _, g := range r.groups {
		slices.SortFunc(g.literals, func(a, b []byte) int { return len(b) - len(a) })
	}
	return r
}

func (r *Redactor) register(value string, seen map[string]bool) {
	if len(value) < minValue || strings.Contains(Mark, value) {
		return
	}
	for _, form := range encodings(value) {
		if !seen[form] {
			seen[form] = true
			g := r.group([]byte(form))
			g.literals = append(g.literals, []byte(form))
		}
	}
}

// group returns the group of a pattern, which must be three bytes or longer.
func (r *Redactor) group(pattern []byte) *group {
	key := [3]byte(pattern)
	r.firsts[key[0]] = true
	pair := uint(key[0])<<8 | uint(key[1])
	r.pairs[pair/64] |= 1 << (pair % 64)
	if r.groups[key] == nil {
		r.groups[key] = &group{}
	}
	return r.groups[key]
}

// String returns s with Mark for every secret in it.
func (r *Redactor) String(s string) string {
	out := r.Bytes([]byte(s))
	if string(out) == s {
		return s
	}
	return string(out)
}

// Bytes returns a copy of b with Mark for every secret in it.
func (r *Redactor) Bytes(b []byte) []byte {
	var st state
	out, _ := r.scan(make([]byte, 0, len(b)), b, &st, true)
	return out
}

// Changes reports whether String would return something else than s.
func (r *Redactor) Changes(s string) bool { return r.String(s) != s }

// context is how many bytes before a shape are looked at to tell the start of
// a word from its middle; enough for an escape such as \u003d.
const context = 6

// state is what scan must know about the bytes before the ones it is given.
// Places count from the first of those.
type state struct {
	covered int    // one more than the bytes that belong to a secret already marked
	ahead   span   // a secret that was found before its first byte
	before  []byte // the last bytes that were used up, at most context
}

type span struct{ from, to int }

// scan appends to dst what may be shown of b and returns how many bytes of b
// it has decided on. The rest begins something that may yet become a secret,
// and must be given again with what follows it; if final, nothing follows.
//
// Whether a position begins a secret depends on the bytes from there on alone,
// never on where a write ended, so the result is the same for every chunking.
// Secrets that overlap or touch are one: nothing of the second shows behind the
// first.
func (r *Redactor) scan(dst, b []byte, st *state, final bool) ([]byte, int) {
	shown, end, i := 0, st.covered-1, 0 // b[:shown] is in dst, b[:end] is covered
	for ; i < len(b); i++ {
		i = r.skip(b, i)
		if st.ahead.to > 0 {
			i = min(i, st.ahead.from)
		}
		m := r.match(b, i, st.before, final)
		if m.more {
			break
		}
		if m.from > 0 {
			st.ahead = span{i + m.from, i + m.n}
			m.n = 0
		} else if st.ahead.to > 0 && i == st.ahead.from {
			m.n = max(m.n, st.ahead.to-i)
			st.ahead = span{}
		}
		if m.n == 0 || i+m.n <= end {
			continue
		}
		if i > end { // a new secret, not more of the last one
			dst = append(dst, b[max(shown, end):i]...)
			dst = append(dst, Mark...)
		}
		end = i + m.n
		shown = end
	}
	i = min(i, len(b))
	if from := max(shown, end); from < i {
		dst = append(dst, b[from:i]...)
	}
	st.pass(i, end, b)
	return dst, i
}

// pass moves the state on by the n bytes of b that are used up.
func (st *state) pass(n, end int, b []byte) {
	if n == 0 {
		return
	}
	st.covered = max(end-n+1, 0)
	if st.ahead.to > 0 {
		st.ahead = span{st.ahead.from - n, st.ahead.to - n}
	}
	st.before = tail(st.before, b[:n])
}

// skip returns the next position from i on where a pattern may begin.
func (r *Redactor) skip(b []byte, i int) int {
	for ; i+1 < len(b); i++ {
		pair := uint(b[i])<<8 | uint(b[i+1])
		if r.pairs[pair/64]&(1<<(pair%64)) != 0 {
			break
		}
	}
	return i
}

// found is what begins at a position: the secret from from to n, counted from
// there; or more, when the bytes so far do not tell.
type found struct {
	from, n int
	more    bool
}

func (r *Redactor) match(b []byte, i int, before []byte, final bool) found {
	rest := b[i:]
	if len(rest) < 3 {
		return found{more: !final && r.mayBegin(rest)}
	}
	g := r.groups[[3]byte(rest)]
	if g == nil {
		return found{}
	}
	best := found{}
	for _, s := range g.shapes {
		m := s.at(rest, func() []byte { return tail(before, b[:i]) }, final)
		if m.more {
			return m
		}
		if m.n > best.n {
			best = m
		}
	}
	for _, lit := range g.literals {
		if !final && len(rest) < len(lit) && bytes.HasPrefix(lit, rest) {
			return found{more: true}
		}
		if bytes.HasPrefix(rest, lit) {
			return found{n: max(len(lit), best.n)}
		}
	}
	return best
}

// mayBegin reports whether a pattern begins with the one or two bytes of rest.
func (r *Redactor) mayBegin(rest []byte) bool {
	if len(rest) == 2 {
		return r.skip(rest, 0) == 0
	}
	return r.firsts[rest[0]]
}

// tail returns the last bytes of a and b together, at most context.
func tail(a, b []byte) []byte {
	if len(b) >= context {
		return bytes.Clone(b[len(b)-context:])
	}
	joined := append(bytes.Clone(a), b...)
	return joined[max(len(joined)-context, 0):]
}
