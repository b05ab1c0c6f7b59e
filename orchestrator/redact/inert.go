package redact

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Inert returns s as one line that does nothing to a terminal but show itself:
// control characters, escape sequences, line ends, invisible characters and
// those that turn the direction of writing appear as Go escapes (\n, \x1b,
// \u202e), bytes that are not UTF-8 as \xff.
func Inert(s string) string { return inert(s, inLine) }

// InertLines does the same to a text of several lines: \n and \t stay, and the
// \r before a \n is dropped. What it returns is legal in XML 1.0, but for markup.
func InertLines(s string) string {
	return inert(strings.ReplaceAll(s, "\r\n", "\n"), inLines)
}

// What a byte needs.
const (
	shown   = iota // nothing
	escaped        // an escape
	wide           // a look at the whole character
)

// place is where a text goes.
type place struct {
	needs   [256]byte
	joiners bool // what has no width of its own may stay where it has a meaning
}

var (
	inLine    = placeOf("", true)
	inLines   = placeOf("\n\t", true)
	inActions = placeOf("\n\t", false)
)

func placeOf(keep string, joiners bool) *place {
	p := &place{joiners: joiners}
	for c := range p.needs {
		switch {
		case c >= utf8.RuneSelf:
			p.needs[c] = wide
		case (c < ' ' || c == 0x7f) && strings.IndexByte(keep, byte(c)) < 0:
			p.needs[c] = escaped
		}
	}
	return p
}

func inert(s string, p *place) string {
	i := harmless(s, 0, p)
	if i == len(s) {
		return s
	}
	var out strings.Builder
	out.Grow(len(s) + len(s)/8 + longestEscape)
	done := 0
	for i < len(s) {
		r, size, bad := rune(s[i]), 1, true
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(s[i:])
			bad = r == utf8.RuneError && size == 1 || active(s, i, r) || !p.joiners && joiner(r)
		}
		if bad {
			if n := i - done + longestEscape; out.Cap()-out.Len() < n {
				out.Grow(n + out.Len()) // it would grow by less
			}
			out.WriteString(s[done:i])
			writeEscape(&out, s[i], r, size)
			done = i + size
		}
		i = harmless(s, i+size, p)
	}
	out.WriteString(s[done:])
	return out.String()
}

// harmless returns the next position from i on that needs a look.
func harmless(s string, i int, p *place) int {
	for i < len(s) && p.needs[s[i]] == shown {
		i++
	}
	return i
}

// active reports whether r, which stands at s[i] and is not ASCII, may do something else than show
// itself, or show nothing.
func active(s string, i int, r rune) bool {
	switch {
	case 0xa0 <= r && r < 0x300, 0x370 <= r && r < 0x600, 0x3040 <= r && r < 0x3130, 0x3190 <= r && r < 0xd800, 0x1f300 <= r && r < 0x1fb00:
		return r == '\u00ad' // most text
	case joiner(r):
		return r < '\ufe00' && !joins(s, i)
	case r&0xfffe == 0xfffe:
		return true // no character
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) || unicode.Is(invisible, r)
}

// joiner reports whether r joins letters or emoji, or says how an emoji looks.
func joiner(r rune) bool { return r == '\u200c' || r == '\u200d' || r == '\ufe0e' || r == '\ufe0f' }

// invisible are letters and marks that show nothing: texts are hidden in them.
var invisible = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x034f, 0x034f, 1}, {0x115f, 0x1160, 1}, {0x17b4, 0x17b5, 1}, {0x180b, 0x180f, 1}, {0x2065, 0x2065, 1},
		{0x2800, 0x2800, 1}, {0x3164, 0x3164, 1}, {0xfe00, 0xfe0d, 1}, {0xffa0, 0xffa0, 1}, {0xfff0, 0xfff8, 1},
	},
	R32: []unicode.Range32{{0x1d173, 0x1d17a, 1}, {0xe0000, 0xe0fff, 1}},
}

// joins reports whether the joiner at s[i] is part of a word or an emoji, where
// it has a meaning: between two characters that are not Latin.
func joins(s string, i int) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	after, _ := utf8.DecodeRuneInString(s[i+len("\u200d"):])
	return joinable(before) && joinable(after)
}

func joinable(r rune) bool {
	return r >= 0x370 && r != utf8.RuneError && (r < 0x2000 || r > 0x206f) && (unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsSymbol(r))
}

// byteEscapes are those of single bytes.
var byteEscapes = func() (all [256]string) {
	for c := range all {
		all[c] = fmt.Sprintf(`\x%02x`, c)
	}
	all['\n'], all['\r'], all['\t'] = `\n`, `\r`, `\t`
	return all
}()

const longestEscape = 10 // bytes

func writeEscape(out *strings.Builder, first byte, r rune, size int) {
	switch {
	case size == 1: // ASCII, or no UTF-8
		out.WriteString(byteEscapes[first])
	case r <= 0xff:
		out.WriteString(byteEscapes[r])
	case r <= 0xffff:
		out.WriteString(`\u`)
		writeHex(out, r, 4)
	default:
		out.WriteString(`\U`)
		writeHex(out, r, 8)
	}
}

func writeHex(out *strings.Builder, r rune, digits int) {
	for shift := 4 * (digits - 1); shift >= 0; shift -= 4 {
		out.WriteByte("0123456789abcdef"[r>>shift&15])
	}
}
