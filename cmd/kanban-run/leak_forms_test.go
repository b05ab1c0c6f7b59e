//go:build linux

package main

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"html"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// leakForm is a way in which programs print a secret. Nothing here is the redactor's: what is
// looked for must not depend on what it believes.
type leakForm struct {
	name  string
	say   func(secret string) string // what an agent prints
	seek  func(secret string) string // what must not be found of it; nil: the same
	loose bool                       // white space and line ends within do not count
	text  bool                       // bytes that are no UTF-8 get lost in it
}

// formsOf are the forms that a secret has.
func formsOf(secret string) []leakForm {
	return slices.DeleteFunc(leakForms(), func(f leakForm) bool { return f.text && !utf8.ValidString(secret) })
}

// leakForms are the encodings that are promised to be found.
func leakForms() (all []leakForm) {
	add := func(name string, say func(string) string) { all = append(all, leakForm{name: name, say: say}) }
	text := func(name string, say func(string) string) {
		all = append(all, leakForm{name: name, say: say, text: true})
	}
	add("plain", func(s string) string { return s })
	text("JSON", jsonBody)
	text("JSON, HTML escaped", htmlJSONBody)
	text("JSON in JSON", func(s string) string { return jsonBody(jsonBody(s)) })
	text("JSON, all escaped", jsonUnits)
	add("Go", goBody)
	add("Go, ASCII", asciiBody)
	add("Go in JSON", func(s string) string { return jsonBody(goBody(s)) })
	add("query", url.QueryEscape)
	add("path", url.PathEscape)
	add("percent, upper case", func(s string) string { return eachByte("%%%02X", s) })
	add("percent, lower case", func(s string) string { return eachByte("%%%02x", s) })
	add("bytes", func(s string) string { return eachByte(`\x%02x`, s) })
	add("bytes in JSON", func(s string) string { return eachByte(`\\x%02x`, s) })
	add("HTML", html.EscapeString)
	text("XML", xmlBody)
	text("HTML, decimal", func(s string) string { return eachRune("&#%d;", s) })
	text("HTML, hex", func(s string) string { return eachRune("&#x%x;", s) })
	add("shell", shellBody)
	add("shell, double quotes", func(s string) string { return strings.ReplaceAll(s, "'", `'"'"'`) })
	text("Python", pythonBody)
	all = append(all, leakForm{name: "hex", say: lowerHex, loose: true})
	all = append(all, leakForm{name: "HEX", say: func(s string) string { return strings.ToUpper(lowerHex(s)) }, loose: true})
	all = append(all, leakForm{name: "hex with spaces", say: func(s string) string { return eachByte("%02x ", s) }, seek: lowerHex, loose: true})
	return append(all, base64Forms()...)
}

// base64Forms are those for each place in which a secret can stand within three bytes,
// padded and not, and over lines.
func base64Forms() (all []leakForm) {
	for n, padding := range []string{"", "a", "ab"} {
		std, web := base64.StdEncoding, base64.RawURLEncoding
		say := func(e *base64.Encoding) func(string) string {
			return func(s string) string { return e.EncodeToString([]byte(padding + s)) }
		}
		lines := func(s string) string {
			return inLines(say(std)(strings.Repeat("filler ", 7+n) + padding + s + " filler, filler"))
		}
		all = append(all,
			leakForm{name: fmt.Sprint("base64 at ", n), say: say(std), seek: base64Core(std, n), loose: true},
			leakForm{name: fmt.Sprint("base64url at ", n), say: say(web), seek: base64Core(web, n), loose: true},
			leakForm{name: fmt.Sprint("base64 in lines at ", n), say: lines, seek: base64Core(std, n), loose: true})
	}
	return all
}

// base64Core returns the characters that depend on the secret alone, when n bytes stand before it.
func base64Core(e *base64.Encoding, n int) func(string) string {
	return func(s string) string {
		text := e.WithPadding(base64.NoPadding).EncodeToString(append(make([]byte, n), s...))
		return text[(n*8+5)/6 : (n+len(s))*8/6]
	}
}

func inLines(s string) string {
	var b strings.Builder
	for len(s) > 76 {
		b.WriteString(s[:76] + "\n")
		s = s[76:]
	}
	return b.String() + s
}

func jsonString(s string, html bool) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(html)
	if err := e.Encode(s); err != nil {
		panic(err) // a string cannot fail
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func inner(quoted string) string { return quoted[1 : len(quoted)-1] }

func jsonBody(s string) string     { return inner(jsonString(s, false)) }
func htmlJSONBody(s string) string { return inner(jsonString(s, true)) }
func goBody(s string) string       { return inner(strconv.Quote(s)) }
func asciiBody(s string) string    { return inner(strconv.QuoteToASCII(s)) }
func lowerHex(s string) string     { return hex.EncodeToString([]byte(s)) }
func shellBody(s string) string    { return strings.ReplaceAll(s, "'", `'\''`) }

// jsonUnits escapes all characters of the first plane, and leaves the others as they are.
func jsonUnits(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r > 0xffff {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

func eachByte(format, s string) string {
	var b strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&b, format, s[i])
	}
	return b.String()
}

func eachRune(format, s string) string {
	var b strings.Builder
	for _, r := range s {
		fmt.Fprintf(&b, format, r)
	}
	return b.String()
}

// xmlBody leaves a text as it is that XML cannot hold.
func xmlBody(s string) string {
	var b strings.Builder
	if err := xml.EscapeText(&b, []byte(s)); err != nil {
		panic(err) // a builder cannot fail
	}
	if strings.Contains(b.String(), "\uFFFD") {
		return s
	}
	return b.String()
}

// pythonBody is repr() without its quotes.
func pythonBody(s string) string {
	quote := '\''
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		quote = '"'
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == quote || r == '\\':
			b.WriteString(`\` + string(r))
		case strings.ContainsRune("\n\r\t", r):
			b.WriteString(inner(strconv.QuoteRune(r)))
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	return b.String()
}
