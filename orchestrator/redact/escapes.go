package redact

import (
	"html"
	"unicode/utf8"
)

const (
	maxBackslashes = 8 // of one escape: a string in a string in a string has 7
	maxNested      = 3 // how often %25 or &amp; stands for the mark of an escape
	maxReadings    = 6
)

// reading is what an escape of in bytes can mean.
type reading struct {
	in   uint16
	n    uint8 // bytes of text
	text [utf8.UTFMax]byte
}

// readings are the meanings of one place, in the languages that escape so.
type readings struct {
	n   int
	all [maxReadings]reading
}

func (r *readings) list() []reading { return r.all[:r.n] }

func (r *readings) octet(in int, c byte) {
	if r.n < maxReadings {
		r.all[r.n] = reading{in: uint16(in), n: 1, text: [utf8.UTFMax]byte{c}}
		r.n++
	}
}

func (r *readings) char(in int, c rune) {
	if r.n < maxReadings && utf8.ValidRune(c) {
		one := reading{in: uint16(in)}
		one.n = uint8(utf8.EncodeRune(one.text[:], c))
		r.all[r.n] = one
		r.n++
	}
}

// latin is for escapes of bytes that some languages read as characters.
func (r *readings) latin(in int, c rune) {
	if c >= utf8.RuneSelf {
		r.char(in, c)
	}
}

// read notes what the escape at b[p] can mean; short when b ends too early to
// tell.
func (r *readings) read(b []byte, p int) (short bool) {
	switch b[p] {
	case '\\':
		return r.backslash(b, p)
	case '%':
		return r.percent(b, p)
	case '&':
		return r.entity(b, p, p+1)
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

// backslash reads the escapes of JSON, Go, Python, C and the shell, in strings
// within strings.
func (r *readings) backslash(b []byte, p int) (short bool) {
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
		r.octet(q+1-p, d)
		return false
	}
	switch {
	case c == 'x' && q+1 < len(b) && b[q+1] == '{': // Perl, PHP
		return r.braced(b, p, q+2)
	case c == 'x':
		v, short := hexNumber(b, q+1, 2)
		if v >= 0 {
			r.octet(q+3-p, byte(v))
			r.latin(q+3-p, v)
		}
		return short
	case c == 'U':
		v, short := hexNumber(b, q+1, 8)
		r.number(q+9-p, v)
		return short
	case c == 'u':
		return r.unicode(b, p, q+1, run)
	case '0' <= c && c <= '7':
		return r.octal(b, p, q)
	case !isAlnum[c]:
		r.octet(q+1-p, c)
	}
	return false
}

func (r *readings) number(in int, v rune) {
	if v >= 0 {
		r.char(in, v)
	}
}

// octal adds the longest reading first.
func (r *readings) octal(b []byte, p, q int) (short bool) {
	v, k := 0, q
	var values [3]int
	for ; k < q+3 && k < len(b) && '0' <= b[k] && b[k] <= '7'; k++ {
		v = v*8 + int(b[k]-'0')
		values[k-q] = v
	}
	for i := k - q - 1; i >= 0; i-- {
		if values[i] <= 0xff {
			r.octet(q+i+1-p, byte(values[i]))
			r.latin(q+i+1-p, rune(values[i]))
		}
	}
	return k == len(b) && k < q+3
}

// unicode reads the XXXX of \uXXXX at q, or {X…}.
func (r *readings) unicode(b []byte, p, q, run int) (short bool) {
	if q < len(b) && b[q] == '{' {
		return r.braced(b, p, q+1)
	}
	if v, _ := hexNumber(b, q, 4); v == '&' { // of an HTML entity in JSON that Go wrote
		r.char(q+4-p, v)
		return r.entity(b, p, q+4)
	}
	return r.unit(b, p, q, `\\\\\\\\u`[maxBackslashes-run:])
}

// unit reads a unit of UTF-16 in four digits at q; where the first of two stands,
// mark and the second one must follow.
func (r *readings) unit(b []byte, p, q int, mark string) (short bool) {
	v, short := hexNumber(b, q, 4)
	if v < 0xd800 || v > 0xdbff {
		r.number(q+4-p, v)
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
		r.char(q+4-p, 0x10000+(v-0xd800)<<10+(low-0xdc00))
	}
	return short
}

func (r *readings) braced(b []byte, p, q int) (short bool) {
	for n := 8; n > 0; n-- {
		if v, _ := hexNumber(b, q, n); v >= 0 && q+n < len(b) && b[q+n] == '}' {
			r.char(q+n+1-p, v)
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

// percent reads %XX, %uXXXX, and the same with %25 for the mark.
func (r *readings) percent(b []byte, p int) (short bool) {
	q := p + 1
	for range maxNested + 1 {
		if q < len(b) && b[q] == 'u' {
			return r.unit(b, p, q+1, "%u")
		}
		v, short := hexNumber(b, q, 2)
		if v < 0 {
			return short
		}
		r.octet(q+2-p, byte(v))
		if v != '%' {
			return false
		}
		q += 2
	}
	return false
}

// entity reads an HTML or XML entity whose mark ends at q, and the same with
// &amp; for the mark.
func (r *readings) entity(b []byte, p, q int) (short bool) {
	for range maxNested + 1 {
		const amp = "amp;"
		end, short := entityEnd(b, q)
		if end < 0 {
			return short
		}
		if body := b[q:end]; body[0] == '#' {
			r.numeric(end+1-p, body[1:])
		} else {
			r.named(end+1-p, string(body))
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

func (r *readings) numeric(in int, body []byte) {
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
	r.char(in, rune(min(v, utf8.MaxRune+1)))
}

func (r *readings) named(in int, name string) {
	switch name {
	case "amp":
		r.octet(in, '&')
	case "lt":
		r.octet(in, '<')
	case "gt":
		r.octet(in, '>')
	case "quot":
		r.octet(in, '"')
	case "apos":
		r.octet(in, '\'')
	default:
		text := html.UnescapeString("&" + name + ";")
		if c, size := utf8.DecodeRuneInString(text); size == len(text) {
			r.char(in, c)
		}
	}
}

// letterEscape returns what \n and its like stand for.
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

// longEscape reports whether \c begins an escape of more bytes.
func longEscape(c byte) bool { return c == 'u' || c == 'U' || c == 'x' || '0' <= c && c <= '7' }

// hexNumber returns the number that n hex digits at b[q] write, -1 for none;
// short when b ends within them.
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
