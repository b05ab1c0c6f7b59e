package agent

import "strings"

// decoration returns the length of what may stand around an object and means nothing: white space,
// byte order marks, NULs, and the escape sequences by which a program sets colours.
func decoration[T string | []byte](text T) (n int) {
	for {
		length, whole := mark(text[n:])
		if !whole || length == 0 {
			return n
		}
		n += length
	}
}

// endsInMark reports whether the text is the beginning of one mark of a decoration. Its rest may
// follow in the next piece of a stream.
func endsInMark[T string | []byte](text T) bool {
	length, whole := mark(text)
	return length > 0 && !whole
}

const byteOrderMark = "\uFEFF"

// mark returns the length of the mark at the beginning of a text, or 0. whole is false if the text
// ends within the mark.
func mark[T string | []byte](text T) (length int, whole bool) {
	switch {
	case len(text) == 0:
		return 0, false
	case text[0] == 0 || strings.IndexByte(space, text[0]) >= 0:
		return 1, true
	case text[0] == '\x1b':
		return escapeSequence(text)
	}
	n := min(len(text), len(byteOrderMark))
	if string(text[:n]) != byteOrderMark[:n] {
		return 0, true
	}
	return n, n == len(byteOrderMark)
}

// maxEscape bounds an escape sequence, in bytes.
const maxEscape = 32

// escapeSequence returns the length of the control sequence (ESC [ … letter), or of the choice of a
// character set (ESC ( letter), at the beginning of a text. Source: ECMA-48, sections 5.4 and 8.3.
func escapeSequence[T string | []byte](text T) (length int, whole bool) {
	if len(text) > 1 && text[1] != '[' && text[1] != '(' {
		return 0, true
	}
	for i := 2; i < min(len(text), maxEscape); i++ {
		if c := text[i]; c >= '@' && c <= '~' {
			return i + 1, true
		} else if c < ' ' || c > '?' {
			return 0, true
		}
	}
	if len(text) >= maxEscape {
		return 0, true
	}
	return len(text), false
}

// withoutDecoration returns the text without the decoration around its object. Any other text, and
// what stands within the object, stays as it is.
func withoutDecoration[T string | []byte](text T) T {
	if begin := text[decoration(text):]; len(begin) > 0 && begin[0] == '{' {
		text = begin
	}
	end := len(text)
	for end > 0 && text[end-1] != '}' {
		end--
	}
	if end > 0 && decoration(text[end:]) == len(text)-end {
		text = text[:end]
	}
	return text
}
