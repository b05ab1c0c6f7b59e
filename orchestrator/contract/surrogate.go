package contract

import (
	"strconv"
	"strings"
	"unicode/utf16"
)

// halfRead is the warning about a reply that joinSurrogates has changed.
const halfRead = `half a character (an unpaired \u escape) in its reply is read as U+FFFD; the reply counts`

// joinSurrogates returns a JSON text with the escape \ufffd in place of every escape of half a
// surrogate pair, and reports whether there was one. Such a half stays where a string was cut inside
// an emoji. RFC 8259, section 8.2, allows it, and decoders differ in what they make of it. The
// offsets of all other bytes stay the same.
func joinSurrogates(text string) (joined string, changed bool) {
	var b strings.Builder
	rest := text
	for {
		at := strings.IndexByte(rest, '\\')
		if at < 0 {
			break
		}
		n, half := escape(rest[at:])
		if half {
			b.WriteString(rest[:at] + `\ufffd`)
			changed = true
		} else {
			b.WriteString(rest[:at+n])
		}
		rest = rest[at+n:]
	}
	if !changed {
		return text, false
	}
	return b.String() + rest, true
}

// escape returns the length of the escape at the beginning of the text. A surrogate pair counts as
// one escape. The result half is true for a surrogate without its other half.
func escape(text string) (n int, half bool) {
	unit, ok := unitOf(text)
	switch {
	case !ok:
		return min(2, len(text)), false
	case !utf16.IsSurrogate(unit):
		return unitLength, false
	}
	if second, ok := unitOf(text[unitLength:]); ok && utf16.DecodeRune(unit, second) != '\uFFFD' {
		return 2 * unitLength, false
	}
	return unitLength, true
}

const unitLength = len(`\uXXXX`)

// unitOf returns the UTF-16 unit that is escaped at the beginning of the text, or false.
func unitOf(text string) (rune, bool) {
	if len(text) < unitLength || text[:2] != `\u` {
		return 0, false
	}
	unit, err := strconv.ParseUint(text[2:unitLength], 16, 16)
	return rune(unit), err == nil
}
