package redact

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"
)

// parts returns the value, and what in it is a secret by itself: each long line,
// because programs print line by line; the password of a URL; and the credential
// of an Authorization header.
func parts(value string) []string {
	value = strings.TrimSpace(value)
	all := []string{value}
	if lines := strings.FieldsFunc(value, func(r rune) bool { return r == '\n' || r == '\r' }); len(lines) > 1 {
		for _, line := range lines {
			if line = strings.TrimSpace(line); len(line) >= 2*minValue {
				all = append(all, line)
			}
		}
	}
	for _, scheme := range []string{"Bearer ", "Basic ", "token "} {
		if len(value) > len(scheme) && strings.EqualFold(value[:len(scheme)], scheme) {
			all = append(all, strings.TrimSpace(value[len(scheme):]))
		}
	}
	_, rest, ok := strings.Cut(value, "://")
	if !ok {
		return all
	}
	authority, _, _ := strings.Cut(rest, "/")
	at := strings.LastIndexByte(authority, '@')
	if at < 0 {
		return all
	}
	if _, password, ok := strings.Cut(authority[:at], ":"); ok {
		all = append(all, password)
		if plain, err := url.PathUnescape(password); err == nil {
			all = append(all, plain)
		}
	}
	return all
}

// encodings returns the forms in which value may stand in a text: itself; within
// a JSON string, and within one in another; percent-encoded; in base64 of both
// alphabets, at each of the three places it may take in a longer text; in hex.
// Some may be equal. None is shorter than minValue bytes.
func encodings(value string) []string {
	forms := []string{value}
	forms = append(forms, jsonForms(value)...)
	forms = append(forms, percentForms(value)...)
	forms = append(forms, base64Forms(value)...)
	digits := hex.EncodeToString([]byte(value))
	return append(forms, digits, strings.ToUpper(digits))
}

// jsonStyle is how an encoder of JSON strings spells what it need not escape.
type jsonStyle struct {
	html, lines, ascii, slash, upper bool
}

func jsonForms(value string) []string {
	once := map[string]bool{}
	for bits := range 32 {
		style := jsonStyle{html: bits&1 != 0, lines: bits&2 != 0, ascii: bits&4 != 0, slash: bits&8 != 0, upper: bits&16 != 0}
		once[style.escape(value)] = true
	}
	var forms []string
	for form := range once {
		// An agent's event stream carries the tool's own JSON in a string.
		for _, outer := range []jsonStyle{{}, {lines: true}, {html: true, lines: true}, {ascii: true}, {slash: true}} {
			forms = append(forms, form, outer.escape(form))
		}
	}
	return forms
}

func (s jsonStyle) escape(value string) string {
	var b strings.Builder
	for i := 0; i < len(value); {
		r, size := utf8.DecodeRuneInString(value[i:])
		if r == utf8.RuneError && size == 1 {
			b.WriteByte(value[i]) // encoders differ; some pass it through
		} else {
			b.WriteString(s.rune(r))
		}
		i += size
	}
	return b.String()
}

func (s jsonStyle) rune(r rune) string {
	const from, to = "\"\\\n\r\t\b\f", `"\nrtbf`
	if i := strings.IndexRune(from, r); i >= 0 {
		return `\` + to[i:i+1]
	}
	switch {
	case r == '/' && s.slash:
		return `\/`
	case r > 0xffff && s.ascii:
		r -= 0x10000
		return s.unicode(0xd800+r>>10) + s.unicode(0xdc00+r&0x3ff)
	case r < ' ', r > '~' && s.ascii, s.html && strings.ContainsRune("<>&", r), s.lines && (r == '\u2028' || r == '\u2029'):
		return s.unicode(r)
	}
	return string(r)
}

func (s jsonStyle) unicode(r rune) string {
	if s.upper {
		return fmt.Sprintf(`\u%04X`, r)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

func percentForms(value string) []string {
	var all strings.Builder
	for i := range len(value) {
		fmt.Fprintf(&all, "%%%02X", value[i])
	}
	query := url.QueryEscape(value)
	forms := []string{
		query, strings.ReplaceAll(query, "+", "%20"), url.PathEscape(value), component(value), all.String(),
	}
	for _, f := range forms {
		forms = append(forms, lowerEscapes(f))
	}
	return forms
}

// component is JavaScript's encodeURIComponent, which leaves !'()* alone.
func component(value string) string {
	return strings.NewReplacer("+", "%20", "%21", "!", "%27", "'", "%28", "(", "%29", ")", "%2A", "*").
		Replace(url.QueryEscape(value))
}

// lowerEscapes writes the hex digits of an encoded text in lower case.
func lowerEscapes(s string) string {
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:i+3], strings.ToLower(s[i+1:i+3]))
			i += 2
		}
	}
	return string(b)
}

// base64Forms returns, for each of the three shifts, the characters that depend
// on the value alone, whatever stands before and after it.
func base64Forms(value string) []string {
	var forms []string
	for shift := range 3 {
		padded := append(make([]byte, shift), value...)
		first := (shift*8 + 5) / 6
		last := len(padded) * 8 / 6
		for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			forms = append(forms, enc.EncodeToString(padded)[first:last])
		}
	}
	return forms
}
