package redact

import (
	"html"
	"unicode/utf8"
)

const (
	maxBackslashes = 8 // before one character; a quote in a string within two other strings has 7
	maxNested      = 3 // times that the % or & of an escape is itself written as %25 or &amp;
	maxReadings    = 6
)

// reading is a possible meaning of an escape. The field "in" is the length of the escape, in bytes.
type reading struct {
	in   uint16
	n    uint8 // number of bytes in text
	text [utf8.UTFMax]byte
}

// readings is a list of the meanings of the escape at one place, in all languages that have such an
// escape.
type readings struct {
	n   int
	all [maxReadings]reading
}

func (r *readings) list() []reading { return r.all[:r.n] }

func (r *readings) addByte(in int, c byte) {
	if r.n < maxReadings {
		r.all[r.n] = reading{in: uint16(in), n: 1, text: [utf8.UTFMax]byte{c}}
		r.n++
	}
}

func (r *readings) addRune(in int, c rune) {
	if r.n < maxReadings && utf8.ValidRune(c) {
		one := reading{in: uint16(in)}
		one.n = uint8(utf8.EncodeRune(one.text[:], c))
		r.all[r.n] = one
		r.n++
	}
}

// addLatin adds the character that an escaped byte has in Latin-1, since some languages read it
// that way.
func (r *readings) addLatin(in int, c rune) {
	if c >= utf8.RuneSelf {
		r.addRune(in, c)
	}
}

// read adds the meanings of the escape at b[p]. If b ends too early to tell, short is true.
func (r *readings) read(b []byte, p int) (short bool) {
	switch b[p] {
	case '\\':
		return r.readBackslash(b, p)
	case '%':
		return r.readPercent(b, p)
	case '&':
		return r.readEntity(b, p, p+1)
	}
	return false
}

func backslashRun(b []byte, p int) int {
	n := 0
	for p+n < len(b) && n <= maxBackslashes && b[p+n] == '\\' {
		n++
	}
	return n
}

// readBackslash reads the escapes of JSON, Go, Python, C and the shell, also in strings within
// strings.
func (r *readings) readBackslash(b []byte, p int) (short bool) {
	run := backslashRun(b, p)
	q := p + run
	if run > maxBackslashes {
		return false
	}
	if q == len(b) {
		return true
	}
	c := b[q]
	if d, ok := letterEscape(c); ok {
		r.addByte(q+1-p, d)
		return false
	}
	switch {
	case c == 'x' && q+1 < len(b) && b[q+1] == '{': // Perl, PHP
		return r.readBraced(b, p, q+2)
	case c == 'x':
		v, short := hexNumber(b, q+1, 2)
		if v >= 0 {
			r.addByte(q+3-p, byte(v))
			r.addLatin(q+3-p, v)
		}
		return short
	case c == 'U':
		v, short := hexNumber(b, q+1, 8)
		r.addNumber(q+9-p, v)
		return short
	case c == 'u':
		return r.readUnicode(b, p, q+1, run)
	case '0' <= c && c <= '7':
		return r.readOctal(b, p, q)
	case !isAlnum[c]:
		r.addByte(q+1-p, c)
	}
	return false
}

func (r *readings) addNumber(in int, v rune) {
	if v >= 0 {
		r.addRune(in, v)
	}
}

// readOctal reads an octal escape of one to three digits, and adds the longest reading first.
func (r *readings) readOctal(b []byte, p, q int) (short bool) {
	v, k := 0, q
	var values [3]int
	for ; k < q+3 && k < len(b) && '0' <= b[k] && b[k] <= '7'; k++ {
		v = v*8 + int(b[k]-'0')
		values[k-q] = v
	}
	for i := k - q - 1; i >= 0; i-- {
		if values[i] <= 0xff {
			r.addByte(q+i+1-p, byte(values[i]))
			r.addLatin(q+i+1-p, rune(values[i]))
		}
	}
	return k == len(b) && k < q+3
}

// readUnicode reads the XXXX of \uXXXX at q, or {X…}.
func (r *readings) readUnicode(b []byte, p, q, run int) (short bool) {
	if q < len(b) && b[q] == '{' {
		return r.readBraced(b, p, q+1)
	}
	if v, _ := hexNumber(b, q, 4); v == '&' { // the & of an HTML entity, as Go writes it in JSON
		r.addRune(q+4-p, v)
		return r.readEntity(b, p, q+4)
	}
	return r.readUnit(b, p, q, `\\\\\\\\u`[maxBackslashes-run:])
}

// readUnit reads a UTF-16 unit of four hex digits at q. The first unit of a surrogate pair must be
// followed by the start of another escape (the parameter "mark", such as %u) and the second unit.
func (r *readings) readUnit(b []byte, p, q int, mark string) (short bool) {
	v, short := hexNumber(b, q, 4)
	if v < 0xd800 || v > 0xdbff {
		r.addNumber(q+4-p, v)
		return short
	}
	rest := b[q+4:]
	if n := min(len(rest), len(mark)); string(rest[:n]) != mark[:n] {
		return false
	} else if n < len(mark) {
		return true
	}
	q += 4 + len(mark)
	low, short := hexNumber(b, q, 4)
	if 0xdc00 <= low && low <= 0xdfff {
		r.addRune(q+4-p, 0x10000+(v-0xd800)<<10+(low-0xdc00))
	}
	return short
}

func (r *readings) readBraced(b []byte, p, q int) (short bool) {
	for n := 8; n > 0; n-- {
		if v, _ := hexNumber(b, q, n); v >= 0 && q+n < len(b) && b[q+n] == '}' {
			r.addRune(q+n+1-p, v)
			return false
		}
	}
	for k := q; k < q+8; k++ {
		if k >= len(b) {
			return true
		}
		if !isHexDigit[b[k]] {
			return false
		}
	}
	return q+8 >= len(b)
}

// readPercent reads %XX and %uXXXX. The % may itself be written as %25.
func (r *readings) readPercent(b []byte, p int) (short bool) {
	q := p + 1
	for range maxNested + 1 {
		if q < len(b) && b[q] == 'u' {
			return r.readUnit(b, p, q+1, "%u")
		}
		v, short := hexNumber(b, q, 2)
		if v < 0 {
			return short
		}
		r.addByte(q+2-p, byte(v))
		if v != '%' {
			return false
		}
		q += 2
	}
	return false
}

// readEntity reads an HTML or XML entity whose & ends at q. The & may itself be written as &amp;.
func (r *readings) readEntity(b []byte, p, q int) (short bool) {
	for range maxNested + 1 {
		const amp = "amp;"
		end, short := entityEnd(b, q)
		if end < 0 {
			return short
		}
		if body := b[q:end]; body[0] == '#' {
			r.readNumeric(end+1-p, body[1:])
		} else {
			r.readNamed(end+1-p, string(body))
		}
		if string(b[q:end+1]) != amp {
			return false
		}
		q = end + 1
	}
	return false
}

const maxEntity = 10 // bytes between & and ;

func entityEnd(b []byte, q int) (end int, short bool) {
	for k := q; k < q+maxEntity; k++ {
		switch {
		case k >= len(b):
			return -1, true
		case b[k] == ';' && k > q:
			return k, false
		case !isAlnum[b[k]] && (b[k] != '#' || k > q):
			return -1, false
		}
	}
	return -1, false
}

func (r *readings) readNumeric(in int, body []byte) {
	v, base := 0, 10
	if len(body) > 0 && body[0]|0x20 == 'x' {
		body, base = body[1:], 16
	}
	if len(body) == 0 {
		return
	}
	for _, c := range body {
		if !isHexDigit[c] || base == 10 && c > '9' {
			return
		}
		v = v*base + hexValue(c)
	}
	r.addRune(in, rune(min(v, utf8.MaxRune+1)))
}

func (r *readings) readNamed(in int, name string) {
	switch name {
	case "amp":
		r.addByte(in, '&')
	case "lt":
		r.addByte(in, '<')
	case "gt":
		r.addByte(in, '>')
	case "quot":
		r.addByte(in, '"')
	case "apos":
		r.addByte(in, '\'')
	default:
		text := html.UnescapeString("&" + name + ";")
		if c, size := utf8.DecodeRuneInString(text); size == len(text) {
			r.addRune(in, c)
		}
	}
}

// letterEscape returns the meaning of a letter after a backslash, as in \n.
func letterEscape(c byte) (byte, bool) {
	switch c {
	case 'n':
		return '\n', true
	case 't':
		return '\t', true
	case 'r':
		return '\r', true
	case 'b':
		return '\b', true
	case 'f':
		return '\f', true
	case 'a':
		return '\a', true
	case 'v':
		return '\v', true
	case 'e':
		return 0x1b, true
	}
	return 0, false
}

// hexNumber returns the number that the n hex digits at b[q] form, or -1 if there are fewer than n.
// If b ends within the digits, short is true.
func hexNumber(b []byte, q, n int) (v rune, short bool) {
	for k := q; k < q+n; k++ {
		if k >= len(b) {
			return -1, true
		}
		if !isHexDigit[b[k]] || v > utf8.MaxRune {
			return -1, false
		}
		v = v<<4 | rune(hexValue(b[k]))
	}
	return v, false
}

func hexValue(c byte) int {
	if c <= '9' {
		return int(c - '0')
	}
	return int(c|0x20-'a') + 10
}
