// Package redact keeps secrets out of everything that is written: it replaces known values, in the encodings that programs
// produce, and what has the shape of a provider's token, also across the borders of chunks. It also makes text inert for
// terminals.
package redact

import (
	"bytes"
	"slices"
)

// Mark stands where a secret was.
const Mark = "[REDACTED_SECRET]"

// shortest is the least length, in bytes, of a value that is redacted: a shorter one would be found in ordinary words.
const shortest = 6

// Redactor replaces secrets. It does not change after New and is safe for concurrent use.
type Redactor struct {
	pairs   [1 << 16 / 64]uint64 // the first two bytes of secrets, a bit each: nearly all text is passed over by them alone
	begin   map[[2]byte]*beginning
	longest int // of the values and their encodings, in bytes
}

// beginning is what may begin with the same two bytes.
type beginning struct {
	needles [][]byte // longest first
	shapes  []shape
}

// New makes a redactor of values. A value shorter than six bytes is ignored. Each line of a value of several lines is a secret
// of its own, because programs print line by line.
func New(values []string) *Redactor {
	r := &Redactor{begin: map[[2]byte]*beginning{}}
	for _, v := range values {
		for _, part := range parts(v) {
			for _, n := range forms(part) {
				at := r.beginning(n)
				at.needles = append(at.needles, n)
				r.longest = max(r.longest, len(n))
			}
		}
	}
	for _, s := range shapes() {
		at := r.beginning(s.begin)
		at.shapes = append(at.shapes, s)
	}
	for _, at := range r.begin {
		slices.SortFunc(at.needles, func(a, b []byte) int { return len(b) - len(a) })
	}
	return r
}

func (r *Redactor) beginning(text []byte) *beginning {
	key := [2]byte{text[0], text[1]}
	if r.begin[key] == nil {
		r.begin[key] = &beginning{}
		pair := uint16(text[0])<<8 | uint16(text[1])
		r.pairs[pair/64] |= 1 << (pair % 64)
	}
	return r.begin[key]
}

// String returns s with every secret replaced.
func (r *Redactor) String(s string) string {
	found := r.find([]byte(s), len(s))
	if len(found) == 0 {
		return s
	}
	return string(replace([]byte(s), found))
}

// Bytes is String for bytes; without a secret it returns b itself.
func (r *Redactor) Bytes(b []byte) []byte {
	found := r.find(b, len(b))
	if len(found) == 0 {
		return b
	}
	return replace(b, found)
}

// Changes reports whether s holds a secret.
func (r *Redactor) Changes(s string) bool { return len(r.find([]byte(s), len(s))) > 0 }

// span is where a secret lies.
type span struct{ from, to int }

// find returns the secrets of b that begin before limit, in order and without overlaps. Of two that overlap both go.
func (r *Redactor) find(b []byte, limit int) []span {
	var found []span
	for i := 0; i < limit && i+1 < len(b); i++ {
		if pair := uint16(b[i])<<8 | uint16(b[i+1]); r.pairs[pair/64]&(1<<(pair%64)) == 0 {
			continue
		}
		from, to := r.at(b, i)
		if to <= i {
			continue
		}
		if last := len(found) - 1; last >= 0 && from <= found[last].to {
			found[last].to = max(found[last].to, to)
		} else {
			found = append(found, span{from, to})
		}
	}
	return found
}

// at returns the secret that begins at i, or a place before i.
func (r *Redactor) at(b []byte, i int) (from, to int) {
	begin := r.begin[[2]byte{b[i], b[i+1]}]
	for _, n := range begin.needles {
		if bytes.HasPrefix(b[i:], n) {
			return i, i + len(n)
		}
	}
	for _, s := range begin.shapes {
		if bytes.HasPrefix(b[i:], s.begin) {
			if from, to, ok := s.match(b, i); ok {
				return from, to
			}
		}
	}
	return i, -1
}

func replace(b []byte, found []span) []byte {
	out := make([]byte, 0, len(b)+len(found)*len(Mark))
	at := 0
	for _, f := range found {
		out = append(append(out, b[at:f.from]...), Mark...)
		at = f.to
	}
	return append(out, b[at:]...)
}
