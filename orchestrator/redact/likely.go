package redact

import "encoding/binary"

// likely reports whether a secret may begin at i, beside an opener, where the pair of bytes allows
// it. It reads the first characters in their usual meaning, and returns true whenever another is
// possible.
func (ix *index) likely(b []byte, i int) bool {
	if i+keySize > len(b) || ix.shaped.has(b[i], b[i+1]) {
		return true
	}
	var word [keySize]byte
	for k := range word {
		c, n := ix.readChar(b, i)
		if n == 0 {
			return true
		}
		if word[k] = c; k == 0 && !ix.begins[c] || k == 1 && !ix.spelled.has(word[0], c) {
			return false
		}
		i += n
	}
	key := binary.LittleEndian.Uint32(word[:])
	return ix.mayBegin(key) != 0 && ix.group(key) != &ix.groups[0]
}

// readChar reads one character; n is 0 where its meaning is uncertain.
func (ix *index) readChar(b []byte, i int) (c byte, n int) {
	if i >= len(b) {
		return 0, 0
	}
	c = b[i]
	if opener[c] == 0 {
		return c, 1
	}
	if ix.inKeys[c] {
		return 0, 0
	}
	switch c {
	case '\n', '\r':
		if wrapPossible(b, i) {
			return 0, 0
		}
		return c, 1
	case '%':
		if i+2 < len(b) && isHexDigit[b[i+1]] && isHexDigit[b[i+2]] {
			c = byte(hexValue(b[i+1])<<4 | hexValue(b[i+2]))
			again := c == '%' && (i+4 >= len(b) || isHexDigit[b[i+3]] && isHexDigit[b[i+4]] || b[i+3] == 'u')
			return c, 3 * notZero(!again)
		}
		return c, notZero(i+2 < len(b) && b[i+1] != 'u')
	case '&':
		return c, notZero(i+1 < len(b) && !isAlnum[b[i+1]] && b[i+1] != '#')
	}
	return charEscape(b, i)
}

func notZero(is bool) int {
	if is {
		return 1
	}
	return 0
}

// charEscape reads the escape at b[i].
func charEscape(b []byte, i int) (c byte, n int) {
	run := backslashRun(b, i)
	if run > maxBackslashes {
		return '\\', 1
	}
	rest := b[i+run:]
	if len(rest) < 5 {
		return 0, 0
	}
	c = rest[0]
	d, letter := letterEscape(c)
	switch {
	case letter && isLineEnd(d) && wrapPossible(b, i):
		return 0, 0
	case letter:
		return d, run + 1
	case c == 'u' && rest[1] == '0' && rest[2] == '0' && isHexDigit[rest[3]] && isHexDigit[rest[4]]:
		c = byte(hexValue(rest[3])<<4 | hexValue(rest[4]))
		return c, (run + 5) * notZero(c < 0x80 && c != '&')
	case longEscape(c):
		return 0, 0
	case isAlnum[c]: // no escape: no literal has such a backslash
		return '\\', 1
	}
	return c, run + 1
}

// wrapPossible is isDense without the bytes before b.
func wrapPossible(b []byte, i int) bool {
	base64, hex := true, true
	for k := i - 1; k >= i-context && k >= 0 && (base64 || hex); k-- {
		base64, hex = base64 && base64Text[b[k]] != 0, hex && hexText[b[k]] != 0
	}
	return base64 || hex
}
