package redact

import (
	"encoding/binary"
	"unicode/utf8"
)

// index finds the positions where a secret may begin. Without an opener in its first four bytes a
// position counts only if a pattern has exactly these; a table with a bit for each hash of four
// bytes skips most text. Elsewhere the first two bytes decide, and all patterns with that first
// byte are tried.
type index struct {
	hashes   [1 << hashBits / 64]uint64 // of the first four bytes
	pairs    pairSet                    // of the first two bytes, escaped or not
	spelled  pairSet                    // of literals alone, without escapes
	odd      []*shape                   // shapes with openers in their first four bytes
	shaped   pairSet                    // of odd alone
	table    []entry                    // by four bytes; its length is a power of two
	shift    int                        // of a hash, to a place in table
	groups   []group                    // the first is empty
	first    [256]group                 // by the first byte
	anything bool                       // there are literals
	begins   class                      // their first bytes
	inKeys   class                      // openers among their first four bytes
}

// group holds the patterns that may begin at the same position.
type group struct {
	literals []*literal
	shapes   []*shape
}

type entry struct {
	key   uint32
	group uint32 // its place in groups; 0 where the entry is free
}

const (
	keySize    = 4          // bytes
	hashBits   = 18         // 32 KiB
	hashFactor = 2654435761 // Knuth's multiplicative hash
)

type pairSet [1 << 16 / 64]uint64

func (p *pairSet) add(a, b byte) {
	k := uint16(a) | uint16(b)<<8
	p[k/64] |= 1 << (k % 64)
}

func (p *pairSet) has(a, b byte) bool { return p.hasWord(uint16(a) | uint16(b)<<8) }

func (p *pairSet) hasWord(k uint16) bool { return p[k/64]&(1<<(k%64)) != 0 }

// nextCandidate returns the next position from i on where a secret may begin, or the last one of b.
func (ix *index) nextCandidate(b []byte, i int, o *openers) int {
	for i+keySize <= len(b) {
		open := o.nextFrom(i)
		if n := ix.plain(b[i:min(open, len(b))]); n >= 0 {
			return i + n
		}
		for i = max(i, open-keySize+1); i <= open; i++ {
			if i+1 >= len(b) || ix.pairs.hasWord(binary.LittleEndian.Uint16(b[i:])) && !ix.inRun(b, i) && ix.likely(b, i) {
				return i
			}
		}
	}
	for ; i+1 < len(b); i++ {
		if ix.pairs.hasWord(binary.LittleEndian.Uint16(b[i:])) {
			return i
		}
	}
	return i
}

// inRun reports whether i is so far from the end of a run of backslashes that no escape begins
// there.
func (ix *index) inRun(b []byte, i int) bool {
	const eight = 0x5c5c5c5c5c5c5c5c
	return b[i] == '\\' && i+8 < len(b) && binary.LittleEndian.Uint64(b[i:]) == eight && b[i+8] == '\\' &&
		!ix.begins['\\']
}

// plain returns the first position in b, which has no openers, whose four bytes may begin a
// pattern; else -1.
func (ix *index) plain(b []byte) int {
	i := 0
	for ; i+8 <= len(b); i += 4 { // four at once from one load
		word := binary.LittleEndian.Uint64(b[i:])
		if ix.mayBegin(uint32(word))|ix.mayBegin(uint32(word>>8))|ix.mayBegin(uint32(word>>16))|ix.mayBegin(uint32(word>>24)) == 0 {
			continue
		}
		for k := range 4 {
			if key := uint32(word >> (8 * k)); ix.mayBegin(key) != 0 && ix.group(key).plausible(b[i+k:]) {
				return i + k
			}
		}
	}
	for ; i+keySize <= len(b); i++ {
		key := binary.LittleEndian.Uint32(b[i:])
		if ix.mayBegin(key) != 0 && ix.group(key).plausible(b[i:]) {
			return i
		}
	}
	return -1
}

// plausible reports whether b, as far as it goes, may begin a pattern of the group.
func (g *group) plausible(b []byte) bool {
	if len(g.literals) > 0 {
		return true
	}
	for _, s := range g.shapes {
		if n := min(len(s.prefix), len(b)); string(b[:n]) == s.prefix[:n] {
			return true
		}
	}
	return false
}

// mayBegin returns 1 if a pattern may begin with the four bytes.
func (ix *index) mayBegin(word uint32) uint64 {
	h := word * hashFactor >> (32 - hashBits)
	return ix.hashes[h/64] >> (h % 64) & 1
}

func (ix *index) group(key uint32) *group {
	mask := uint32(len(ix.table) - 1)
	for h := key * hashFactor >> ix.shift; ; h++ {
		e := &ix.table[h&mask]
		if e.key == key || e.group == 0 {
			return &ix.groups[e.group]
		}
	}
}

// found is what begins at a position: n bytes of a secret, or a secret further ahead, counted from
// there; or more, when the bytes so far do not tell.
type found struct {
	n     int
	ahead span
	more  bool
}

func (f *found) shapes(list []*shape, t *text, i int) {
	for _, s := range list {
		m := s.match(t, i)
		f.more = f.more || m.more
		f.n = max(f.n, m.n)
		if m.ahead.to > 0 {
			f.ahead = m.ahead
		}
	}
}

func (f *found) literals(list []*literal, t *text, i int, second *seconds) {
	for _, l := range list {
		if second != nil && !second.allows(l) {
			continue
		}
		n, more := l.match(t, i)
		f.more = f.more || more
		f.n = max(f.n, n)
	}
}

// match returns what begins at i.
func (ix *index) match(t *text, i int, o *openers) (f found) {
	rest := t.b[i:]
	if len(rest) == 0 {
		return f
	}
	if len(rest) >= keySize && o.nextFrom(i) >= i+keySize {
		g := ix.group(binary.LittleEndian.Uint32(rest))
		f.shapes(g.shapes, t, i)
		f.literals(g.literals, t, i, nil)
		return f
	}
	if len(rest) < keySize {
		f.shapes(ix.first[rest[0]].shapes, t, i)
	} else if ix.shaped.has(rest[0], rest[1]) {
		f.shapes(ix.odd, t, i)
	}
	ix.literals(&f, t, i, reading{in: 1, n: 1, text: [utf8.UTFMax]byte{rest[0]}})
	if opener[rest[0]] == 0 || !ix.anything {
		return f
	}
	var all readings
	window, whole := t.window(i)
	f.more = f.more || all.read(window, i) && !whole
	for _, r := range all.list() {
		ix.literals(&f, t, i, r)
	}
	return f
}

// literals tries those at i that begin with the reading.
func (ix *index) literals(f *found, t *text, i int, r reading) {
	list := ix.first[r.text[0]].literals
	if len(list) == 0 {
		return
	}
	var second seconds
	if r.text[0] == '\\' {
		second.open = true // a run of them may stand for it
	} else if r.n > 1 {
		second.add(r.text[1])
	} else {
		second = secondsAt(t, i, i+int(r.in))
	}
	if second.open || second.any(func(d byte) bool { return ix.spelled.has(r.text[0], d) }) {
		f.literals(list, t, i, &second)
	}
}

// seconds are the possible second characters.
type seconds struct {
	n    int
	list [maxReadings + 2]byte
	open bool // any character is possible: more must be read
}

func secondsAt(t *text, i, p int) (s seconds) {
	window, whole := t.window(i)
	if p >= len(window) {
		s.open = !whole
		return s
	}
	c := window[p]
	s.add(c)
	if opener[c] == 0 {
		return s
	}
	var all readings
	s.open = all.read(window, p) && !whole
	for _, r := range all.list() {
		s.add(r.text[0])
	}
	if s.any(isLineEnd) && (t.isDense(p, encoded) || t.isDense(p, hexed)) {
		s.wrapped(t, i, p)
	}
	return s
}

// wrapped adds the character behind a line end at p.
func (s *seconds) wrapped(t *text, i, p int) {
	w := walk{t: t}
	w.b, w.whole = t.window(i)
	q := w.wrapEnd(p)
	if q < len(w.b) && opener[w.b[q]] == 0 {
		s.add(w.b[q])
	} else if q < len(w.b) || !w.whole {
		s.open = true
	}
}

func isLineEnd(c byte) bool { return c == '\n' || c == '\r' }

func (s *seconds) add(c byte) {
	s.list[s.n] = c
	s.n++
}

func (s *seconds) any(is func(byte) bool) bool {
	for _, c := range s.list[:s.n] {
		if is(c) {
			return true
		}
	}
	return false
}

func (s *seconds) allows(l *literal) bool { return s.open || s.any(l.second.has) }
