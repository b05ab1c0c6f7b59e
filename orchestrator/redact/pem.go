package redact

import (
	"bytes"
	"encoding/base64"
)

var (
	// The header of a block may be percent-encoded, or have + for a space.
	pemHeader = classOf(upper + digits + " %+")
	dashes    = classOf("-")
	indent    = classOf(" \t")
	padding   = classOf("=")
	// keyText has the bytes of base64, of headers and of line ends, and the bytes of their escapes.
	// It lacks the - and the space, although a PEM block may have them.
	keyText = classOf(alnum + "+/=\r\n\t\\:,.%&#;")
)

// privateKey measures a PEM block up to its end line. Without an end line, it measures up to the
// first byte that cannot be part of a key. The lines of the block may be indented, or be part of a
// string.
func privateKey(r *reader, slot, keys int) int {
	if end := r.claimedEnd(keys); end > 0 {
		return end
	}
	header := r.countEnd(10, 64, pemHeader)
	if !bytes.Contains(r.b[:header], []byte("PRIVATE")) || !bytes.Contains(r.b[:header], []byte("KEY")) ||
		!r.hasAt(header, "-----") {
		return 0
	}
	return r.claim(keyBody(r, header+5, slot), keys)
}

// keyBody returns the end of the key that begins at the offset from. It returns 0 if there is no
// key, because a header alone is not a secret.
func keyBody(r *reader, from, slot int) int {
	const least = 16
	i := from
	for {
		i = r.run(i, keyText, slot)
		switch {
		case i == len(r.b):
			return r.atLeast(i, from+least)
		case r.hasAt(i, "-----END"):
			end := r.countEnd(i+8, 64, pemHeader)
			return r.countEnd(end, 5, dashes)
		case r.b[i] == '-' || r.b[i] == ' ' && isIndent(r.b, i):
			i++
		default:
			return r.atLeast(i, from+least)
		}
	}
}

// claimedEnd returns the end of a key that began before r and reaches into it, or 0 if there is no
// such key. A text of headers alone counts as one key. Without claimedEnd, such a text would be
// measured again from each header.
func (r *reader) claimedEnd(slot int) int {
	if known := r.t.state.runs[slot]; known.from <= r.base && r.base < known.to {
		return known.to - r.base
	}
	return 0
}

func (r *reader) claim(end, slot int) int {
	if end > 0 && !r.short {
		r.t.state.runs[slot] = span{r.base, r.base + end}
	}
	return end
}

func (r *reader) atLeast(end, least int) int {
	if end < least {
		return 0
	}
	return end
}

// isIndent reports whether the space at i indents a line, or follows the name of a header. Any other
// space ends the key, so that the prose below a BEGIN line without a key is not redacted.
func isIndent(b []byte, i int) bool {
	switch b[i-1] {
	case ' ', '\t', '\r', '\n', ':':
		return true
	}
	return b[i-1] == 'n' && b[i-2] == '\\'
}

// base64Key measures a PEM block in base64. It continues over a line end only after a line of at
// least 60 characters, since wrapped lines are that long.
func base64Key(r *reader, shift, keys int) int {
	if end := r.claimedEnd(keys); end > 0 {
		return end
	}
	const header, line = 64, 60
	first := (shift*8 + 5) / 6
	head := base64.RawStdEncoding.EncodeToString(append(make([]byte, shift), "-----BEGIN"...))[:first]
	short := r.countEnd(0, header, base64Any)
	if r.short || !bytes.Contains(decodeBase64(head, r.b[:short]), []byte("PRIVATE")) {
		return 0
	}
	for i := 0; ; {
		end := r.shortRun(i, base64Any)
		next := r.nextLine(end)
		if next == end || end-i < line || r.short {
			return r.claim(r.shortRun(end, padding), keys)
		}
		i = next
	}
}

// nextLine returns the start of the next line's text, after the indentation, or i if no line ends at
// i.
func (r *reader) nextLine(i int) int {
	start := i
	for _, end := range []string{"\r", `\r`, "\n", `\n`} {
		if r.hasAt(i, end) {
			i += len(end)
		}
	}
	if i == start {
		return i
	}
	return r.countEnd(i, maxIndent, indent)
}
