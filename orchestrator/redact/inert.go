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
func Inert(s string) string { return inert(s, "") }

// InertLines does the same to a text of several lines: \n and \t stay, and the
// \r before a \n is dropped.
func InertLines(s string) string {
	return inert(strings.ReplaceAll(s, "\r\n", "\n"), "\n\t")
}

func inert(s, keep string) string {
	var b strings.Builder
	done := 0
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		bad := r == utf8.RuneError && size == 1
		if bad || active(r) && !strings.ContainsRune(keep, r) {
			b.WriteString(s[done:i])
			b.WriteString(escape(s[i], r, bad))
			done = i + size
		}
		i += size
	}
	if done == 0 {
		return s
	}
	b.WriteString(s[done:])
	return b.String()
}

// active reports whether a terminal may do something else with r than show it.
// The joiners are part of ordinary words and emoji.
func active(r rune) bool {
	if ' ' <= r && r <= '~' || r == '\u200c' || r == '\u200d' {
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}

func escape(first byte, r rune, bad bool) string {
	switch {
	case bad:
		return fmt.Sprintf(`\x%02x`, first)
	case r == '\n':
		return `\n`
	case r == '\r':
		return `\r`
	case r == '\t':
		return `\t`
	case r <= 0xff:
		return fmt.Sprintf(`\x%02x`, r)
	case r <= 0xffff:
		return fmt.Sprintf(`\u%04x`, r)
	}
	return fmt.Sprintf(`\U%08x`, r)
}
