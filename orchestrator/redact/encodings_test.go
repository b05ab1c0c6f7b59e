package redact

import (
	"bytes"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"
)

// encoder writes a text with a secret in it as a program does.
type encoder struct {
	name   string
	encode func(string) string
}

func jsonText(html bool) func(string) string {
	return func(s string) string {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(html)
		if err := enc.Encode(s); err != nil {
			panic(err)
		}
		return strings.TrimSuffix(b.String(), "\n")
	}
}

// each spells every byte, or every UTF-16 unit, with a format.
func each(format string) func(string) string {
	return func(s string) string {
		var b strings.Builder
		for i := range len(s) {
			fmt.Fprintf(&b, format, s[i])
		}
		return b.String()
	}
}

func eachUnit(format string) func(string) string {
	return func(s string) string {
		var b strings.Builder
		for _, u := range utf16.Encode([]rune(s)) {
			fmt.Fprintf(&b, format, u)
		}
		return b.String()
	}
}

func eachRune(format string) func(string) string {
	return func(s string) string {
		var b strings.Builder
		for _, r := range s {
			fmt.Fprintf(&b, format, r)
		}
		return b.String()
	}
}

// some encodes every second character.
func some(encode func(string) string) func(string) string {
	return func(s string) string {
		var b strings.Builder
		for i, r := range []rune(s) {
			if i%2 == 0 || strings.ContainsRune(`%\&"`, r) {
				b.WriteString(encode(string(r)))
			} else {
				b.WriteRune(r)
			}
		}
		return b.String()
	}
}

func then(all ...func(string) string) func(string) string {
	return func(s string) string {
		for _, f := range all {
			s = f(s)
		}
		return s
	}
}

func joined(format, sep string) func(string) string {
	return func(s string) string {
		var all []string
		for i := range len(s) {
			all = append(all, fmt.Sprintf(format, s[i]))
		}
		return strings.Join(all, sep)
	}
}

func folded(width int, end string) func(string) string {
	return func(s string) string {
		return strings.ReplaceAll(strings.TrimSuffix(wrapLines(s, width), "\n"), "\n", end)
	}
}

// inColumns ends each line of a list behind so many of its elements.
func inColumns(s string, width int, sep, end string) string {
	all := strings.Split(s, sep)
	for i := width; i < len(all); i += width {
		all[i] = end + strings.TrimPrefix(all[i], " ")
	}
	return strings.Join(all, sep)
}

// pythonASCII is ascii(s) without the quotes; \xf6 is a character there.
func pythonASCII(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case ' ' <= r && r < 0x7f && r != '\\' && r != '\'':
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

// pythonJSON is json.dumps(s) without the quotes.
func pythonJSON(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch i := strings.IndexRune("\n\r\t\b\f\"\\", r); {
		case i >= 0:
			b.WriteString(`\` + `nrtbf"\`[i:i+1])
		case ' ' <= r && r < 0x7f:
			b.WriteRune(r)
		default:
			b.WriteString(eachUnit(`\u%04x`)(string(r)))
		}
	}
	return b.String()
}

// dotnetJSON is JsonSerializer.Serialize(s) without the quotes.
func dotnetJSON(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r > '~' || strings.ContainsRune("\"&'+<>`", r):
			b.WriteString(eachUnit(`\u%04X`)(string(r)))
		case r < ' ' && !strings.ContainsRune("\b\t\n\f\r", r):
			b.WriteString(eachUnit(`\u%04X`)(string(r)))
		default:
			b.WriteString(pythonJSON(string(r)))
		}
	}
	return b.String()
}

// octalChars writes the characters of Latin-1 as JavaScript reads them.
func octalChars(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case 0x80 <= r && r < 0x100:
			fmt.Fprintf(&b, `\%o`, r)
		case r == '\\':
			b.WriteString(`\\`)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func replaced(from, to string) func(string) string {
	return func(s string) string { return strings.ReplaceAll(s, from, to) }
}

func utf16le(s string) string { l, _ := utf16Forms(s); return l }
func utf16be(s string) string { _, b := utf16Forms(s); return b }

// shifted surrounds a secret before it is encoded: its encoding then begins within a character.
func shifted(n int, encode func(string) string) func(string) string {
	return func(s string) string { return encode("xyzuv"[:n] + s + "zz") }
}

func encoders() (all []encoder) {
	add := func(name string, f func(string) string) { all = append(all, encoder{name, f}) }
	js, plainJS := jsonText(true), jsonText(false)
	std := base64.StdEncoding.EncodeToString
	b64 := func(s string) string { return std([]byte(s)) }
	b64url := func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
	b32 := func(s string) string { return base32.StdEncoding.EncodeToString([]byte(s)) }
	lowerHex := func(s string) string { return hex.EncodeToString([]byte(s)) }
	add("plain", func(s string) string { return s })
	add("JSON", js)
	add("JSON, no HTML", plainJS)
	add("JSON, slashes", then(plainJS, replaced("/", `\/`)))
	add("JSON twice", then(js, js))
	add("JSON three times", then(plainJS, plainJS, plainJS))
	add("JSON, all escaped", eachUnit(`\u%04x`))
	add("JSON, all escaped, upper case", eachUnit(`\u%04X`))
	add("JSON, some escaped", some(eachUnit(`\u%04x`)))
	add("JSON, ASCII, twice", then(strconv.QuoteToASCII, plainJS))
	add("Go", strconv.Quote)
	add("Go, ASCII", strconv.QuoteToASCII)
	add("Go, bytes", each(`\x%02x`))
	add("Go, bytes, in JSON", then(each(`\x%02x`), plainJS))
	add("Python, some", some(each(`\x%02x`)))
	add("Python, ASCII", pythonASCII)
	add("octal characters", octalChars)
	add("Rust", eachRune(`\u{%x}`))
	add("Perl", eachRune(`\x{%x}`))
	add("Perl, some", some(eachRune(`\x{%x}`)))
	add("C, octal", each(`\%03o`))
	add("git, octal", func(s string) string { return strings.ReplaceAll(some(each(`\%03o`))(s), "\n", `\n`) })
	add("percent", each("%%%02X"))
	add("percent, lower case", each("%%%02x"))
	add("percent, some", some(each("%%%02x")))
	add("percent, twice", then(each("%%%02X"), replaced("%", "%25")))
	add("percent, four times", then(each("%%%02X"), replaced("%", "%25"), replaced("%", "%25"), replaced("%", "%25")))
	add("query", url.QueryEscape)
	add("query, lower case", func(s string) string { return lowerEscapes(url.QueryEscape(s)) })
	add("query, %20", then(url.QueryEscape, replaced("+", "%20")))
	add("path", url.PathEscape)
	add("percent-u", eachUnit("%%u%04X"))
	add("HTML", html.EscapeString)
	add("HTML, decimal", eachRune("&#%d;"))
	add("HTML, hex", eachRune("&#x%X;"))
	add("HTML, some, padded", some(eachRune("&#x%05x;")))
	add("HTML twice", then(html.EscapeString, html.EscapeString))
	add("HTML four times", then(html.EscapeString, html.EscapeString, html.EscapeString, html.EscapeString))
	add("HTML in JSON", then(html.EscapeString, js))
	add("HTML, named", func(s string) string {
		return strings.NewReplacer("&", "&amp;", "/", "&sol;", "@", "&commat;", "ö", "&ouml;", "'", "&apos;", "%", "&percnt;", `"`, "&quot;", "<", "&lt;", ">", "&gt;").Replace(s)
	})
	add("shell, single quotes", replaced("'", `'\''`))
	add("shell, double quotes in single", replaced("'", `'"'"'`))
	add("shell, in JSON", then(replaced("'", `'\''`), plainJS))
	add("shell, double quotes in JSON", then(replaced("'", `'"'"'`), plainJS))
	add("shell, backslashes", func(s string) string {
		var b strings.Builder
		for _, r := range s {
			if r < 0x80 && r != '\n' && !isAlnum[byte(r)] {
				b.WriteByte('\\')
			}
			b.WriteRune(r)
		}
		return b.String()
	})
	for _, quote := range doubled {
		add("doubled "+string(quote), replaced(string(quote), string(quote)+string(quote)))
		add("doubled in JSON "+string(quote), then(replaced(string(quote), string(quote)+string(quote)), js))
	}
	for n := range 3 {
		add(fmt.Sprint("base64 of JSON at ", n), shifted(n, then(js, b64)))
		add(fmt.Sprint("base64 of JSON, no HTML, at ", n), shifted(n, then(plainJS, b64)))
		add(fmt.Sprint("base64 of JSON, Python, at ", n), shifted(n, then(pythonJSON, b64)))
		add(fmt.Sprint("base64 of JSON, PHP, at ", n), shifted(n, then(pythonJSON, replaced("/", `\/`), b64)))
		add(fmt.Sprint("base64 of JSON, .NET, at ", n), shifted(n, then(dotnetJSON, b64)))
		add(fmt.Sprint("base64 of JSON, all escaped, at ", n), then(eachUnit(`\u%04x`), shifted(n, b64)))
		add(fmt.Sprint("base64 of JSON, all escaped, upper case, at ", n), then(eachUnit(`\u%04X`), shifted(n, b64)))
		for k := range 3 {
			add(fmt.Sprint("base64 twice at ", n, k), shifted(n, then(b64, shifted(k, b64))))
		}
		add(fmt.Sprint("base64 at ", n), shifted(n, b64))
		add(fmt.Sprint("base64url at ", n), shifted(n, b64url))
		add(fmt.Sprint("base64 in JSON at ", n), shifted(n, then(b64, replaced("/", `\/`), replaced("+", `\u002b`))))
		add(fmt.Sprint("base64 in a query at ", n), shifted(n, then(b64, url.QueryEscape)))
		add(fmt.Sprint("base64 of UTF-16 at ", n), func(s string) string { return b64("xyz"[:n] + utf16le(s) + "zz") })
		for width := 60; width < 80; width++ {
			long := func(s string) string { return b64(strings.Repeat("ab\x9f", 30) + "xyz"[:n] + s + "zz") }
			end := []string{"\n", "\r\n", `\n`, `\r\n`, `\\n`, "\n    ", "\n\t"}[width%7]
			add(fmt.Sprintf("base64 at %d over lines of %d, %q", n, width, end), then(long, folded(width, end)))
		}
	}
	for n := range 5 {
		add(fmt.Sprint("base32 at ", n), shifted(n, b32))
		add(fmt.Sprint("base32, lower case, at ", n), shifted(n, then(b32, strings.ToLower)))
	}
	add("hex", lowerHex)
	add("HEX", then(lowerHex, strings.ToUpper))
	add("hex within hex", shifted(1, lowerHex))
	add("hex over lines", then(func(s string) string { return lowerHex("0123456789abcdefghi" + s) }, folded(60, "\n")))
	for _, sep := range []string{":", " ", "-", ",", ", "} {
		add("hex with "+sep, joined("%02x", sep))
		add("HEX with "+sep, joined("%02X", sep))
	}
	add("bytes", joined("0x%02x", ", "))
	add("bytes over lines", func(s string) string { return inColumns(joined("0x%02x", ", ")("0123456789ab"+s), 12, ",", "\n  ") })
	for _, sep := range []string{" ", ",", ", "} {
		add("decimals with "+sep, joined("%d", sep))
	}
	add("decimals over lines", func(s string) string { return inColumns(joined("%3d", ", ")("0123456789ab"+s), 12, ",", "\n  ") })
	add("UTF-16, little", utf16le)
	add("UTF-16, big", utf16be)
	add("UTF-16 in JSON", then(utf16le, plainJS))
	add("UTF-16 as bytes", then(utf16be, each(`\x%02x`)))
	return all
}

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

func trickySecrets() []string {
	return []string{
		"hunter2-hunter2", secret, `it's & <b>\n% +x`, "tab\tline\nsecond line", "ünïcödé-\U0001f600-secret", "0123456789abcdef", "a'b'c'd'e'f'",
		"%41%42%43xyz", `"<'&>"secret`, `C:\temp\new\\dir`, `\\server\share`, "AAAAAAAAAAAA", "&amp;&lt;secret", "q\"u\"o\"t\"e\"s", "sl/as/he/s//", "plus+plus+plus",
		strings.Repeat("a long one, ö! ", 60), "short6", "??>>??>>??", "\u2028\u2029line ends", "+first-plus", "'quote first", `"double first`, "/slash", "a''''''''e", strings.Repeat("?7ö", 60), `\temp\n`, strings.Repeat("%41x", 60), strings.Repeat("%", 40) + "x", strings.Repeat("\x000\x011", 40), "every\a\b\f\v\r\x1bcontrol", "1 2 3 4 5 6",
	}
}

// The output of encoders is redacted for any value; at most a few characters are left that also
// belong to the neighbours.
func TestEveryEncoding(t *testing.T) {
	for _, value := range trickySecrets() {
		r := New([]string{value})
		for _, e := range encoders() {
			if lossy(e, value) {
				continue
			}
			text := e.encode(strings.TrimSpace(value))
			got, most := r.String("<<"+text+">>"), len("<<>>")+20
			if strings.Contains(e.name, "over lines") {
				most += 150 // what stands before it
			} else if strings.Contains(e.name, "twice") {
				most += 10
			}
			if rest := strings.ReplaceAll(got, Mark, ""); !strings.Contains(got, Mark) || len(rest) > most {
				t.Errorf("%s of %q: %q shows as %q", e.name, value, text, got)
			}
		}
	}
}

func isASCII(s string) bool { return strings.IndexFunc(s, func(r rune) bool { return r > 0x7f }) < 0 }

// TestNested: SECURITY.md says which encodings of an encoding hold: one, base64 of some, and
// up to three escapes around.
func TestNested(t *testing.T) {
	const value = "hunter2-Secret/value+9"
	quoted := func(s string) string { return string(mustJSON(s)) }
	base := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	hexed := func(s string) string { return hex.EncodeToString([]byte(s)) }
	escapes := map[string]func(string) string{"JSON": quoted, "Go": strconv.Quote, "percent": url.QueryEscape}
	r := New([]string{value})
	for inner, text := range map[string]string{"plain": value, "base64": base(value), "hex": hexed(value), "base64 of base64": base(base(value)), "base64 of JSON": base(quoted(value))} {
		for a, first := range escapes {
			for b, second := range escapes {
				for c, third := range escapes {
					if got := third(second(first(text))); !r.Changes(got) {
						t.Errorf("%s of %s of %s of %s shows: %s", c, b, a, inner, got)
					}
				}
			}
		}
	}
}
