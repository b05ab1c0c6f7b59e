package redact

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Inert makes a text harmless and readable on one line of a terminal: controls, also those of the C1 range, line ends,
// invisible and bidirectional format characters and invalid bytes become visible escapes.
func Inert(s string) string { return escape(s, func(r rune) bool { return false }) }

// InertLines is Inert for a text of several lines: line feeds and tabs stay.
func InertLines(s string) string {
	return escape(s, func(r rune) bool { return r == '\n' || r == '\t' })
}

func escape(s string, keep func(rune) bool) string {
	if harmless(s, keep) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case keep(r) || !dangerous(r):
			b.WriteRune(r)
		default:
			b.WriteString(visible(r))
		}
		s = s[size:]
	}
	return b.String()
}

func harmless(s string, keep func(rune) bool) bool {
	for i, r := range s {
		if r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD") || dangerous(r) && !keep(r) {
			return false
		}
	}
	return true
}

// dangerous characters move the cursor, start a control sequence, turn the direction of text, or cannot be seen.
func dangerous(r rune) bool {
	return unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r)
}

func visible(r rune) string {
	switch r {
	case '\n':
		return `\n`
	case '\r':
		return `\r`
	case '\t':
		return `\t`
	}
	if r <= 0xff {
		return fmt.Sprintf(`\x%02x`, r)
	}
	return fmt.Sprintf(`\u%04x`, r)
}
