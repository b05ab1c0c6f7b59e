package redact

import (
	"bytes"
	"slices"
	"strings"
)

// kind is how a literal may be written.
type kind byte

const (
	plain    kind = 'p' // as it is
	encoded  kind = 'e' // base32: lines may be wrapped
	encoded6 kind = '6' // base64: the same, in either alphabet
	hexed    kind = 'h' // hex: the same, with separators between bytes
	decimal  kind = 'd' // decimal numbers with commas, that may be other separators
)

// literal is a text that must not be shown: a value, or an encoding of it as a
// whole. Any of its characters may be escaped where it stands.
type literal struct {
	text   []byte
	kind   kind
	canon  *[256]byte
	simple bool    // no character has another spelling that begins with it
	second byteSet // what may stand behind the first byte, but for openers
}

// separators stand between the bytes of a hex dump, the longest first.
var separators = []string{", 0x", ",0x", " 0x", ", ", "  ", ":", " ", "-", ","}

// commas stand between decimal numbers: Node pads them to columns.
var commas = []string{",   ", ",  ", ", ", ",", " "}

// doubled are what quoting writes twice: in SQL, CSV and YAML, in make, in printf.
const doubled = "'\"$%"

var (
	identity  = canonical("", "")
	base64as  = canonical("-_", "+/")
	separated = canonical(",", "\x00") // no comma is just one
)

// canonical is the table that spells the characters of from like those of to.
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

// starts returns the spellings of the first characters, at least two bytes and
// up to four. Escapes and line ends are no part of them: opener stands for them.
func (l *literal) starts() []string {
	all := []string{""}
	for j := 0; j < min(len(l.text), keySize); j++ {
		var next []string
		for _, head := range all {
			if len(head) >= keySize {
				next = append(next, head)
				continue
			}
			for _, s := range l.spellings(j) {
				next = append(next, (head + s)[:min(len(head+s), keySize)])
			}
		}
		all = next
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// spellings returns what may stand for the character at j, but for escapes.
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

// at returns the length of the literal at i, 0 for none; or more, when what
// follows t must be known.
func (l *literal) at(t *text, i int) (n int, more bool) {
	if n, sure := l.asItIs(t, i); sure {
		return n, false
	}
	w := walk{literal: l, t: t, work: maxWork}
	w.b, w.whole = t.window(i)
	end := w.from(i, 0, 0)
	if w.short && !w.whole {
		return 0, true
	}
	if end < 0 {
		return l.exact(w.b[i:], w.whole)
	}
	return max(end-i, 0), false
}

// exact is for a text in which there are more ways to read an escape than the walk takes: a long run of backslashes.
func (l *literal) exact(rest []byte, whole bool) (n int, more bool) {
	rest = rest[:min(len(rest), len(l.text))]
	switch {
	case !bytes.Equal(rest, l.text[:len(rest)]):
		return 0, false
	case len(rest) < len(l.text):
		return 0, !whole
	}
	return len(rest), false
}

// asItIs compares without escapes, and says whether that settles it.
func (l *literal) asItIs(t *text, i int) (n int, sure bool) {
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
