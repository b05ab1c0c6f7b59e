// Package inert makes foreign text harmless where it is shown: on a terminal, in the log of a CI
// job, as JSON in either of the two, and in Markdown.
package inert

import (
	"fmt"
	"strings"
	"sync"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Line returns s as one line that has no effect on a terminal or in the log of a CI job except that
// it is shown. Control characters, escape sequences, line ends, invisible characters and those that
// change the direction of writing appear as Go escapes (\n, \x1b, \u202e). Invalid UTF-8 appears as
// \xff. A backslash breaks a command: \::error::, ##\[error]. The result is harmless anywhere in a
// line. But two results side by side can form a command, so pass a joined text through Lines once
// more.
func Line(s string) string { return breakCommands(escape(s, inLine)) }

// Lines is like Line, but for several lines: it keeps \n and \t, and drops the \r before a \n. A
// second pass changes nothing.
func Lines(s string) string {
	return breakCommands(escape(strings.ReplaceAll(s, "\r\n", "\n"), inLines))
}

// JSON escapes everything in the JSON text b that Lines would change. The result decodes to the
// same value as b. A terminal or the log of a CI job shows the result as plain text. If there is
// nothing to escape, JSON returns b itself.
func JSON(b []byte) []byte {
	s := string(b)
	if out := breakJSONCommands(escape(s, inJSON)); out != s {
		return []byte(out)
	}
	return b
}

// The treatment of a byte.
const (
	shown   = iota // as it is
	escaped        // by an escape
	wide           // as the whole character requires
)

// place is a destination of texts. The field "needs" holds the treatment of each byte. The function
// "write" writes an escape.
type place struct {
	needs [256]byte
	write func(out *strings.Builder, first byte, r rune, size int)
}

var (
	inLine  = placeOf("", writeEscape)
	inLines = placeOf("\n\t", writeEscape)
	inJSON  = placeOf("\n", writeJSONEscape)
)

func placeOf(keep string, write func(*strings.Builder, byte, rune, int)) *place {
	p := &place{write: write}
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

func escape(s string, p *place) string {
	i := nextRisk(s, 0, p)
	if i == len(s) {
		return s
	}
	var out strings.Builder
	out.Grow(len(s) + len(s)/8)
	done := 0
	for i < len(s) {
		r, size, bad := rune(s[i]), 1, true
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(s[i:])
			bad = r == utf8.RuneError && size == 1 || isActive(s[done:i], r, s[i+size:])
		}
		if bad {
			out.WriteString(s[done:i])
			p.write(&out, s[i], r, size)
			done = i + size
		}
		i = nextRisk(s, i+size, p)
	}
	out.WriteString(s[done:])
	return out.String()
}

// nextRisk returns the next position, from i on, of a byte that may need an escape.
func nextRisk(s string, i int, p *place) int {
	for i < len(s) && p.needs[s[i]] == shown {
		i++
	}
	return i
}

// isActive reports whether r may be invisible, or have an effect, between the texts before and
// after. r is not ASCII.
func isActive(before string, r rune, after string) bool {
	switch {
	case 0xa0 <= r && r < 0x300, 0x370 <= r && r < 0x600, // most text is in these ranges
		0x3040 <= r && r < 0x3130, 0x3190 <= r && r < 0xd800,
		0x1f300 <= r && r < 0x1fb00:
		return r == '\u00ad'
	case r == '\u200c' || r == '\u200d':
		return !isJoiner(before, after)
	case r == '\ufe0e' || r == '\ufe0f':
		last, _ := utf8.DecodeLastRuneInString(before)
		return !canBeEmoji(last)
	}
	return isHidden(r)
}

// isHidden reports whether r is invisible, or has an effect, wherever it stands. Invisible letters
// and marks can hide a text.
func isHidden(r rune) bool {
	const blankBraille = '\u2800'
	return r == blankBraille || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp,
		unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector, unicode.Noncharacter_Code_Point)
}

// isJoiner reports whether a joiner is part of a word or an emoji, because it stands between two
// characters that are not Latin. The character after the joiner must be one that is shown as it is.
// If it were escaped, another pass over the result would decide differently.
func isJoiner(before, after string) bool {
	last, _ := utf8.DecodeLastRuneInString(before)
	next, _ := utf8.DecodeRuneInString(after)
	return joinable(last) && joinable(next) && !isHidden(next)
}

func joinable(r rune) bool {
	return r >= 0x370 && r != utf8.RuneError && (r < 0x2000 || r > 0x206f) &&
		(unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsSymbol(r))
}

// canBeEmoji reports whether r can be shown both as a sign and as an emoji. ASCII digits can become
// keycap emojis. So can * and #, but canBeEmoji returns false for them, because they occur in
// commands.
func canBeEmoji(r rune) bool {
	switch r {
	case '‼', '⁉', 'ℹ', '〰', '〽':
		return true
	}
	return '0' <= r && r <= '9' || r >= utf8.RuneSelf && r != utf8.RuneError && unicode.IsSymbol(r)
}

// byteEscapes are the escapes of single bytes.
var byteEscapes = sync.OnceValue(func() *[256]string {
	var all [256]string
	for c := range all {
		all[c] = fmt.Sprintf(`\x%02x`, c)
	}
	all['\n'], all['\r'], all['\t'] = `\n`, `\r`, `\t`
	return &all
})

func writeEscape(out *strings.Builder, first byte, r rune, size int) {
	switch {
	case size == 1: // ASCII, or invalid UTF-8
		out.WriteString(byteEscapes()[first])
	case r <= 0xff:
		out.WriteString(byteEscapes()[r])
	case r <= 0xffff:
		out.WriteString(`\u`)
		writeHex(out, r, 4)
	default:
		out.WriteString(`\U`)
		writeHex(out, r, 8)
	}
}

// writeJSONEscape writes a character as a \u escape. It replaces a byte below 0x20 by a space. Such
// a byte is white space between tokens, because a string of JSON cannot contain it.
func writeJSONEscape(out *strings.Builder, first byte, r rune, _ int) {
	if first < ' ' {
		out.WriteByte(' ')
		return
	}
	if high, low := utf16.EncodeRune(r); high != utf8.RuneError {
		out.WriteString(`\u`)
		writeHex(out, high, 4)
		r = low
	}
	out.WriteString(`\u`)
	writeHex(out, r, 4)
}

func writeHex(out *strings.Builder, r rune, digits int) {
	for shift := 4 * (digits - 1); shift >= 0; shift -= 4 {
		out.WriteByte("0123456789abcdef"[r>>shift&15])
	}
}
