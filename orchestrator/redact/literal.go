package redact

import (
	"bytes"
	"strings"
)

// kind is the encoding of a literal.
type kind byte

const (
	plain    kind = 'p' // as it is
	encoded  kind = 'e' // base32; lines may be wrapped
	encoded6 kind = '6' // base64 in either alphabet; lines may be wrapped
	hexed    kind = 'h' // hex; lines may be wrapped, and bytes separated
	decimal  kind = 'd' // decimal numbers with commas or other separators
)

// literal is a value, or the encoding of a whole value. Any of its characters may be escaped in a
// text.
type literal struct {
	text   []byte
	kind   kind
	canon  *[256]byte
	simple bool    // it has no opener, no doubled character and no comma between numbers
	second byteSet // bytes that may follow the first one, except openers
}

// separators lists the texts between the bytes of a hex dump, longest first.
var separators = []string{", 0x", ",0x", " 0x", ", ", "  ", ":", " ", "-", ","}

// commas lists the texts between decimal numbers. Some have several spaces, since Node pads the
// numbers to columns.
var commas = []string{",   ", ",  ", ", ", ",", " "}

// doubled lists the characters that quoting writes twice: quotes in SQL, CSV and YAML, $ in make,
// and % in printf.
const doubled = "'\"$%"

var (
	identity  = canonical("", "")
	base64as  = canonical("-_", "+/")
	separated = canonical(",", "\x00") // makes a comma match only the texts in the list commas
)

// canonical returns a table that maps each character of its first argument to the character at the
// same place in its second argument. It maps all other characters to themselves.
func canonical(from, to string) *[256]byte {
	var c [256]byte
	for i := range c {
		c[i] = byte(i)
	}
	for i := range len(from) {
		c[from[i]] = to[i]
	}
	return &c
}

func (k kind) canonical() *[256]byte {
	switch k {
	case encoded6:
		return base64as
	case decimal:
		return separated
	}
	return identity
}

// secondBytes returns the bytes that may follow the first one, without those of escapes and line
// ends.
func (l *literal) secondBytes() (all byteSet) {
	for _, head := range l.spellings(0) {
		if len(head) > 1 {
			all.add(head[1])
			continue
		}
		for _, s := range l.spellings(1) {
			all.add(s[0])
		}
	}
	return all
}

// spellings returns the forms of the character at j, except escapes.
func (l *literal) spellings(j int) []string {
	c := string(l.text[j : j+1])
	switch {
	case l.kind == encoded6 && c == "+":
		return []string{"+", "-"}
	case l.kind == encoded6 && c == "/":
		return []string{"/", "_"}
	case l.kind == plain && c == " ":
		return []string{" ", "+"}
	case l.kind == plain && c == "\n":
		return []string{"\n", "\r\n"}
	case l.kind == plain && c == "'":
		return []string{"'", "''", `'"'"'`, `'\''`}
	case l.kind == plain && strings.Contains(doubled, c):
		return []string{c, c + c}
	case l.kind == decimal && c == ",":
		return commas
	case l.kind == hexed && j > 0 && j%2 == 0:
		all := []string{c}
		for _, s := range separators {
			all = append(all, s+c)
		}
		return all
	}
	return []string{c}
}

// match returns the length of the literal at i, or 0 if it is not there. The result "more" is true
// if only the bytes after t can decide.
func (l *literal) match(t *text, i int) (n int, more bool) {
	if n, sure := l.matchPlain(t, i); sure {
		return n, false
	}
	w := walk{literal: l, t: t, work: maxWork}
	w.b, w.whole = t.window(i)
	end := w.match(i, 0, 0)
	if w.short && !w.whole {
		return 0, true
	}
	if end < 0 {
		return l.matchExact(w.b[i:], w.whole)
	}
	return max(end-i, 0), false
}

// matchExact compares byte by byte. It finds a literal whose escapes have more readings than a walk
// may try, as in a long run of backslashes.
func (l *literal) matchExact(rest []byte, whole bool) (n int, more bool) {
	rest = rest[:min(len(rest), len(l.text))]
	switch {
	case !bytes.Equal(rest, l.text[:len(rest)]):
		return 0, false
	case len(rest) < len(l.text):
		return 0, !whole
	}
	return len(rest), false
}

// matchPlain compares without escapes. If sure is true, n is final.
func (l *literal) matchPlain(t *text, i int) (n int, sure bool) {
	if !l.simple {
		return 0, false
	}
	rest := t.b[i:min(len(t.b), i+len(l.text))]
	for k, c := range rest {
		if want := l.text[k]; c != want {
			return 0, opener[c] == 0 && l.canon[c] != want && c != '+' && l.kind != hexed
		}
	}
	return len(l.text), len(rest) == len(l.text)
}
