package redact

import "slices"

// openerBytes begin an escape, or end a line. A text with such a byte may hold a secret that is
// escaped or broken over two lines.
const openerBytes = "\\%&\n\r"

var opener = bitsOf(openerBytes)

// index holds the patterns by the bytes that they may begin with.
type index struct {
	first  [256]group
	pairs  map[[2]byte][]*literal // by their first two bytes, neither of which is an opener
	values bool                   // there are literals, so any escape may begin one
}

// group holds the patterns that may begin with the same byte.
type group struct {
	literals []*literal
	shapes   []*shape
	second   byteSet // bytes that may follow the first byte
}

// newIndex returns the index of all shapes and of all forms of the values. The argument "words"
// is false for the contents of files; see [Redactor.ForFiles].
func newIndex(values []string, words bool) *index {
	ix := &index{pairs: map[[2]byte][]*literal{}, values: len(values) > 0}
	for _, s := range shapes() {
		if words || !s.words {
			ix.addShape(s)
		}
	}
	known := map[string]bool{}
	for _, value := range values {
		for _, l := range literals(value) {
			if id := string(l.kind) + string(l.text); !known[id] {
				known[id] = true
				ix.addLiteral(l)
			}
		}
	}
	return ix
}

func (ix *index) addShape(s *shape) {
	first := s.first
	if first == "" {
		first = s.prefix[:1]
	}
	for _, c := range []byte(first) {
		g := &ix.first[c]
		g.shapes = append(g.shapes, s)
		if s.prefix == "" {
			g.second = allBytes
		} else {
			g.second.add(s.prefix[1])
		}
	}
}

func (ix *index) addLiteral(l *literal) {
	for _, s := range l.spellings(0) {
		g := &ix.first[s[0]]
		if slices.Contains(g.literals, l) {
			continue // added already for another spelling
		}
		g.literals = append(g.literals, l)
		for c := range 256 {
			if l.second.has(byte(c)) {
				pair := [2]byte{s[0], byte(c)}
				ix.pairs[pair] = append(ix.pairs[pair], l)
			}
		}
		for k := range g.second {
			g.second[k] |= l.second[k]
		}
	}
}

// nextCandidate returns the next position from i on where a secret may begin, or the last position
// of b.
func (ix *index) nextCandidate(b []byte, i int) int {
	for i+1 < len(b) && !ix.first[b[i]].second.has(b[i+1]) &&
		!(ix.values && (opener[b[i]]|opener[b[i+1]]) != 0) {
		i++
	}
	return i
}

// found is the result of a match at a position. The field "n" is the length of a secret that begins
// at the position. The field "ahead" is a secret that begins later; its offsets count from the
// position. The field "more" is true if the bytes so far are too few to tell.
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

func (f *found) literals(list []*literal, t *text, i int) {
	for _, l := range list {
		n, more := l.match(t, i)
		f.more = f.more || more
		f.n = max(f.n, n)
	}
}

// match returns the secret that begins at i, or the secret part of a credential that begins at i.
func (ix *index) match(t *text, i int) (f found) {
	c := t.b[i]
	f.shapes(ix.first[c].shapes, t, i)
	if i+1 < len(t.b) && opener[c] == 0 && opener[t.b[i+1]] == 0 {
		f.literals(ix.pairs[[2]byte{c, t.b[i+1]}], t, i)
		return f
	}
	f.literals(ix.first[c].literals, t, i)
	if opener[c] == 0 || !ix.values {
		return f
	}
	var all readings
	window, whole := t.window(i)
	f.more = f.more || all.read(window, i) && !whole
	for _, r := range all.list() {
		f.literals(ix.first[r.text[0]].literals, t, i)
	}
	return f
}
