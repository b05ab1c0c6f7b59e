package inert

import (
	"bytes"
	"html"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
)

// markdownPlaces are formats that place a text, formats of what shows beside it, and the elements
// around it.
var markdownPlaces = []struct{ name, source, shows, elements string }{
	{"a paragraph", "%", "%", "p"},
	{"below a line", "line\n%", "line %", "p"},
	{"above a line", "%\nline", "% line", "p"},
	{"in a line", "line %: line", "line %: line", "p"},
	{"a list", "- %", "%", "ul li"},
	{"a list with another", "- %\n- x", "% x", "ul li"},
	{"a heading", "# Of %", "Of %", "h1"},
	{"a table", "| a | b |\n|---|---|\n| % | x |", "a b % x", "table thead th tr tbody td"},
	{"the head of a table", "| % | x |\n|---|---|", "% x", "table thead th tr"},
	{"behind bold text", "**Task:** %  \n", "Task: %", "p strong"},
}

var gfm = goldmark.New(goldmark.WithExtensions(extension.GFM))

var (
	htmlComment = regexp.MustCompile(`<!--.*?-->`)
	htmlTag     = regexp.MustCompile(`</?([a-z0-9]+)[^>]*>`)
	htmlSpace   = regexp.MustCompile(`[ \t\r\n\f]+`)
)

// rendered returns the text of a document and the elements in it.
func rendered(t *testing.T, source string) (text string, elements []string) {
	t.Helper()
	var out bytes.Buffer
	if err := gfm.Convert([]byte(source), &out); err != nil {
		t.Fatal(err)
	}
	page := htmlComment.ReplaceAllString(out.String(), "")
	for _, m := range htmlTag.FindAllStringSubmatch(page, -1) {
		elements = append(elements, m[1])
	}
	return collapsed(html.UnescapeString(htmlTag.ReplaceAllString(page, ""))), elements
}

// collapsed is how a browser shows white space.
func collapsed(s string) string { return strings.Trim(htmlSpace.ReplaceAllString(s, " "), " ") }

func checkMarkdown(t *testing.T, s string) {
	t.Helper()
	out := Markdown(s)
	for _, p := range markdownPlaces {
		source := strings.ReplaceAll(p.source, "%", out)
		text, elements := rendered(t, source)
		if want := collapsed(strings.ReplaceAll(p.shows, "%", Line(s))); text != want {
			t.Fatalf("Markdown(%q) = %q shows in %s as %q, want %q", s, out, p.name, text, want)
		}
		for _, e := range elements {
			if !strings.Contains(" "+p.elements+" ", " "+e+" ") {
				t.Fatalf("Markdown(%q) = %q makes <%s> in %s", s, out, e, p.name)
			}
		}
	}
}

// Characters without a meaning stay: people read the source, too.
func TestMarkdownLeavesProse(t *testing.T) {
	for _, s := range []string{
		"tasks/task-1_a.md: done (3 of 4).", "plain text, 3 of 4", "a-b a+b a=b, -v --flag +x =y", "v1.2.3 of 1.5, 2.x", `say "it's" {x} ^2!`,
		"main.go:12:5: undefined", "2026-11-20T10:20:30.5Z", `C:\dir\new`, "a\nb \x1b", "a -> b => c", "a < b && c & d", "AT&T R&D.", "?a=b&c=d", "C# and F#, #tag",
		"std::vector", "snake_case_name a__b größe_ß日_本", "actions/checkout@v4", "user @ host", "a@b", "GH-x xGH-1", "https: x", "www x", "1234567890. x", "#######  x",
		"a: b: c", ":12: :99:", "x (a) b) 1) c", "...", ". x", ") x", "-- x", "==> x", "12", "",
	} {
		if got := Markdown(s); got != Line(s) {
			t.Errorf("Markdown(%q) = %q, want it unchanged", s, got)
		}
		checkMarkdown(t, s)
	}
}

var markdownTests = []struct{ text, want string }{
	{"[x](javascript:alert(1))", `\[x\](javascript:alert(1))`},
	{"![x](http://evil/p.png)", `!\[x\](http\://evil/p.png)`},
	{"<img src=x onerror=y>", `&lt;img src=x onerror=y>`},
	{"a <", "a &lt;"},
	{"<!-- x -->", "&lt;!-- x -->"},
	{"a|b", `a\|b`},
	{"`code` *b* ~s~ a*b", "\\`code\\` \\*b\\* \\~s\\~ a\\*b"},
	{"_i_ __b__ a_ _a a_. ._a", `\_i\_ \_\_b\_\_ a\_ \_a a\_. .\_a`},
	{"a" + strings.Repeat("_", 8) + "b", "a" + strings.Repeat("_", 8) + "b"},
	{"a" + strings.Repeat("_", 9) + "b", "a" + strings.Repeat(`\_`, 9) + "b"},
	{"a" + strings.Repeat("_", 30) + "b", "a" + strings.Repeat(`\_`, 30) + "b"},
	{"    code", "&#32;   code"},
	{"a  ", "a &#32;"},
	{" # a", "&#32;# a"},
	{"&lt; &#65; &x", "&amp;lt; &amp;#<!-- -->65; &amp;x"},
	{"&", "&amp;"},
	{"\x1b[2J", `\x1b\[2J`},
	{`\ \\a \. a\`, `\\ \\\a \\. a\\`},
	{`\ü`, `\ü`},
	{"::error x", `\\::error x`},
	// at the start of a line
	{"# a", `\# a`},
	{"###### a", `\###### a`},
	{"#", `\#`},
	{"- a", `\- a`},
	{"+ a", `\+ a`},
	{"+", `\+`},
	{"1. a", `1\. a`},
	{"1.", `1\.`},
	{"123456789) a", `123456789\) a`},
	{"> a", `\> a`},
	{">a", `\>a`},
	{"---", `\---`},
	{"- - -", `\- - -`},
	{"===", `\===`},
	{":-: ", `\:-:&#32;`},
	// at the end of a heading
	{"a #", `a \#`},
	{"a ##", `a \##`},
	{"a#", "a#"},
	// links
	{"see https://x.y or HTTP://x or ftp://a", `see https\://x.y or HTTP\://x or ftp\://a`},
	{"www.x.y", `www\.x.y`},
	{"a@b.c", "a@<!-- -->b.c"},
	{"mailto:a.b+c_@d.e.", `mailto:a.b+c\_@<!-- -->d.e.`},
	{"x@_.y", `x@<!-- -->\_.y`},
	{"git@github.com:o/r.git", "git@<!-- -->github.com:o/r.git"},
}

func TestMarkdown(t *testing.T) {
	for _, tt := range markdownTests {
		if got := Markdown(tt.text); got != tt.want {
			t.Errorf("Markdown(%q) = %q, want %q", tt.text, got, tt.want)
		}
		checkMarkdown(t, tt.text)
	}
}

// GitHub's references and mentions are found behind the Markdown, where a backslash or an entity no
// longer counts.
func TestMarkdownOnGitHub(t *testing.T) {
	const p = pause
	for text, want := range map[string]string{
		"@user":                         "@" + p + "user",
		"(@org/team) a.@b":              "(@" + p + "org/team) a.@" + p + "b",
		"ä@user":                        "ä@" + p + "user",
		"@ user @":                      "@ user @",
		"#1, o/r#23 #":                  "#" + p + "1, o/r#" + p + `23 \#`,
		"GH-1 gh-2 (Gh-3) GH- 4":        "GH-" + p + "1 gh-" + p + "2 (Gh-" + p + "3) GH- 4",
		":tada: a:+1:b :-1: :e-mail_x:": ":" + p + "tada: a:" + p + "+1:b :" + p + "-1: :" + p + "e-mail_x:",
		"parser.js:100:14 :1234:":       "parser.js:" + p + "100:14 :" + p + "1234:",
		":a:b:":                         ":" + p + "a:" + p + "b:",
		":A: :: :a b: :1.a:":            ":A: :: :a b: :1.a:",
		"$x$ $$y$$ cost $5":             `\$x\$ \$\$y\$\$ cost \$5`,
	} {
		if got := Markdown(text); got != want {
			t.Errorf("Markdown(%q) = %q, want %q", text, got, want)
		}
		checkMarkdown(t, text)
	}
}

func FuzzMarkdown(f *testing.F) {
	for _, tt := range markdownTests {
		f.Add(tt.text)
	}
	for _, s := range hostile {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { checkMarkdown(t, s) })
}

// Texts of nothing but marks, which a fuzzer seldom finds.
func TestMarkdownOfMarks(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	bits := strings.Fields("a b 1 9 é 日 “ \\ ` * _ { } [ ] ( ) # + - . ! | ~ $ = ^ \" ' < > & ; : / @ ? , % amp lt #35 http https ftp :// www. .com x.de mailto: " +
		"``` ~~~ --- === *** ___ <!-- --> <a href= <br> [x] [^1] ]( ![ 1. 2) GH- :tada: <? <![CDATA[ ## :-: \x1b \xff")
	bits = append(bits, " ", " ", "  ", "    ", "\u00a0", "\u3000", "\n", "\t")
	for range 1000 {
		var b strings.Builder
		for range 1 + rng.IntN(9) {
			b.WriteString(bits[rng.IntN(len(bits))])
		}
		checkMarkdown(t, b.String())
	}
}
