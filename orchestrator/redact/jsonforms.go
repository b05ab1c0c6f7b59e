package redact

import (
	"slices"
	"strings"
	"unicode/utf16"
)

// jsonWriter is the way in which a library writes a string into JSON. It writes backslashes, quotes
// and control characters as JSON demands, unless the fields say otherwise.
type jsonWriter struct {
	escapes string // characters that it writes as \uXXXX
	ascii   bool   // it writes all characters beyond ASCII as \uXXXX
	all     bool   // it writes every character as \uXXXX
	slashes bool   // it writes / as \/
	upper   bool   // its hex digits are capital letters
}

var jsonWriters = []jsonWriter{
	{}, // JavaScript, Rust, jq
	{escapes: goEscapes},
	{escapes: "<>&" + goEscapes},
	{ascii: true}, // Python
	{ascii: true, upper: true},
	{ascii: true, slashes: true}, // PHP
	{slashes: true},
	{escapes: "<>&'="}, // Gson
	{escapes: "\"&'+<>`", ascii: true, upper: true}, // .NET
	{all: true},
	{all: true, upper: true},
}

// goEscapes has the characters that Go always writes as \uXXXX, among them the one that it writes for
// invalid UTF-8.
const goEscapes = "\u2028\u2029\uFFFD"

// jsonForms returns the bodies of the strings that stand for s in JSON, each once.
func jsonForms(s string) (all []string) {
	for _, w := range jsonWriters {
		if form := w.body(s); !slices.Contains(all, form) {
			all = append(all, form)
		}
	}
	return all
}

// The characters that have a short escape in JSON, and the letters of these escapes.
const (
	jsonShort   = "\"\\\b\f\n\r\t"
	jsonLetters = `"\bfnrt`
)

// body returns s as the writer writes it, without the quotes around it.
func (w jsonWriter) body(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for _, r := range s {
		short := strings.IndexRune(jsonShort, r)
		switch {
		case w.all || strings.ContainsRune(w.escapes, r) || w.ascii && r > '~':
			w.writeUnits(&b, r)
		case short >= 0:
			b.WriteString(`\` + jsonLetters[short:short+1])
		case r < ' ':
			w.writeUnits(&b, r)
		case w.slashes && r == '/':
			b.WriteString(`\/`)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func (w jsonWriter) writeUnits(b *strings.Builder, r rune) {
	digits := "0123456789abcdef"
	if w.upper {
		digits = "0123456789ABCDEF"
	}
	var buf [2]uint16
	for _, unit := range utf16.AppendRune(buf[:0], r) {
		b.WriteString(`\u`)
		for shift := 12; shift >= 0; shift -= 4 {
			b.WriteByte(digits[unit>>shift&0xf])
		}
	}
}
