package redact

import (
	"encoding/binary"
	"slices"
	"strings"
)

// builder collects patterns for an index.
type builder struct {
	index
	byKey map[uint32]uint32 // places in groups
	known map[string]bool   // literals
}

// usualKeys are the first four bytes of all shapes.
const usualKeys = 2400

// add registers a pattern that begins with one of the spellings, each of two to four bytes: fewer
// than four where an escape or a line end may follow.
func (x *builder) add(spellings []string, to func(*group)) {
	if x.byKey == nil {
		x.byKey, x.groups = make(map[uint32]uint32, usualKeys), make([]group, 1, usualKeys)
	}
	var firsts byteSet
	for _, s := range spellings {
		if !firsts.has(s[0]) {
			firsts.add(s[0])
			to(&x.first[s[0]])
		}
		x.pairs.add(s[0], s[1])
		if len(s) < keySize {
			continue
		}
		key := binary.LittleEndian.Uint32([]byte(s))
		at, ok := x.byKey[key]
		if !ok {
			at = uint32(len(x.groups))
			x.byKey[key], x.groups = at, append(x.groups, group{})
		}
		to(&x.groups[at])
	}
}

func (x *builder) shape(s *shape) {
	starts := s.starts()
	if slices.ContainsFunc(starts, func(p string) bool { return strings.ContainsAny(p, openerBytes) }) {
		x.odd = append(x.odd, s)
		x.shaped.add(starts[0][0], starts[0][1])
	}
	x.add(starts, func(g *group) { g.shapes = append(g.shapes, s) })
}

func (x *builder) value(value string) {
	if x.known == nil {
		x.known = map[string]bool{}
	}
	for _, l := range literals(value) {
		id := string(l.kind) + string(l.text)
		if x.known[id] {
			continue
		}
		x.known[id] = true
		starts := l.starts()
		for _, s := range starts {
			x.spelled.add(s[0], s[1])
			x.begins[s[0]] = true
			for k := range min(len(s), keySize) {
				x.inKeys[s[k]] = true
			}
		}
		x.anything = true
		x.add(starts, func(g *group) { g.literals = append(g.literals, l) })
	}
}

func (x *builder) build() *index {
	size := 1
	for x.shift = 32; size < 4*len(x.byKey); x.shift-- {
		size *= 2
	}
	x.table = make([]entry, size)
	for key, at := range x.byKey {
		h := key * hashFactor >> (32 - hashBits)
		x.hashes[h/64] |= 1 << (h % 64)
		k := key * hashFactor >> x.shift
		for x.table[k&uint32(size-1)].group != 0 {
			k++
		}
		x.table[k&uint32(size-1)] = entry{key, at}
	}
	x.escapes()
	return &x.index
}

// escapes marks the pairs of bytes with which an escaped literal may begin: an opener behind its
// first byte, or an escape that can mean its first byte.
func (x *builder) escapes() {
	if !x.anything {
		return
	}
	for a := range 256 {
		for b := range 256 {
			if x.escaped(byte(a), byte(b)) {
				x.pairs.add(byte(a), byte(b))
			}
		}
	}
}

func (x *builder) escaped(a, b byte) bool {
	if x.begins[a] && (opener[a] != 0 || opener[b] != 0) {
		return true
	}
	switch a {
	case '%':
		return isHexDigit[b] || b == 'u'
	case '&':
		return isAlnum[b] || b == '#'
	case '\\':
		d, ok := letterEscape(b)
		return b == '\\' || ok && x.begins[d] || !ok && longEscape(b) || !ok && !isAlnum[b] && x.begins[b]
	}
	return false
}
