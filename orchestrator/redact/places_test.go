package redact

import (
	"encoding/xml"
	"html"
	"strings"
	"testing"
	"unicode"
)

// command is a port of what the runner of GitHub Actions takes for a command.
// Source: src/Runner.Common/ActionCommand.cs of github.com/actions/runner. It asks
// whether the name is a registered one; here any name is, and invisible characters
// do not count, as in comparisons by the rules of a language.
func command(line string) bool {
	line = strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cf) || 0xfe00 <= r && r <= 0xfe0f || unicode.Is(unicode.Cc, r) && !unicode.IsSpace(r) {
			return -1
		}
		return r
	}, line)
	return commandV2(line) || commandV1(line)
}

// commandV2 is TryParseV2: ::name key=value::data, behind white space.
func commandV2(line string) bool {
	line = strings.TrimLeftFunc(line, unicode.IsSpace)
	return strings.HasPrefix(line, "::") && strings.Contains(line[2:], "::")
}

// commandV1 is TryParse: ##[name key=value;]data, anywhere.
func commandV1(line string) bool {
	_, rest, ok := strings.Cut(line, "##[")
	return ok && strings.Contains(rest, "]")
}

// logLines are lines as the runner reads them: a \r ends one too.
func logLines(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' })
}

func checkActions(t *testing.T, s string) {
	t.Helper()
	out := Actions(s)
	for _, line := range logLines(out) {
		if command(line) {
			t.Fatalf("Actions(%q) = %q has the command %q", s, out, line)
		}
	}
}

func TestActions(t *testing.T) {
	tests := []struct{ text, want string }{
		{"::error::boom", `\::error::boom`},
		{"  \t::error::boom", "  \t\\::error::boom"},
		{"ok\r::error::boom", `ok\r::error::boom`},
		{"ok\r\n::error::boom", "ok\n\\::error::boom"},
		{"a\n::add-mask::x\nb", "a\n\\::add-mask::x\nb"},
		{"\u00a0\u3000::error::x", "\u00a0\u3000\\::error::x"},
		{"\u2028::error::x", `\u2028::error::x`},
		{"::stop-commands::token", `\::stop-commands::token`},
		{"x ##[command]rm", `x ##\[command]rm`},
		{"##[set-env name=A;]b ##[error]", `##\[set-env name=A;]b ##\[error]`},
		{"###[group]", `###\[group]`},
		{"#\u200d#[group]", `#\u200d#[group]`},
		{":\ufe0f:error::x", `:\ufe0f:error::x`},
		{"##vso[task.setvariable]x", `##vso\[task.setvariable]x`},
		{"##teamcity[x]", `##teamcity\[x]`},
		{"## [a link](x) and std::vector and a::b", "## [a link](x) and std::vector and a::b"},
		{"[::1]:80 ## heading", "[::1]:80 ## heading"},
	}
	for _, tt := range tests {
		if got := Actions(tt.text); got != tt.want {
			t.Errorf("Actions(%q) = %q, want %q", tt.text, got, tt.want)
		}
		checkActions(t, tt.text)
	}
	for _, text := range []string{"::error::x", "\v::error::x", "a ##[error]x", "\u00ad::error::x"} {
		if !command(text) {
			t.Errorf("the parser of this test does not see the command in %q", text)
		}
	}
}

// checkMarkup: what HTML and XML return is text only, and says the same.
func checkMarkup(t *testing.T, s string) {
	t.Helper()
	out := XML(s)
	if strings.ContainsAny(out, "<>\"'") || html.UnescapeString(HTML(s)) != InertLines(s) {
		t.Fatalf("HTML(%q) = %q", s, HTML(s))
	}
	var doc struct {
		Text string `xml:",chardata"`
		Attr string `xml:"a,attr"`
	}
	if err := xml.Unmarshal([]byte(`<x a="`+out+`">`+out+"</x>"), &doc); err != nil {
		t.Fatalf("XML(%q) = %q: %v", s, out, err)
	}
	if doc.Text != InertLines(s) {
		t.Fatalf("XML(%q) reads as %q", s, doc.Text)
	}
}

func TestMarkup(t *testing.T) {
	for _, s := range append(hostile, "<script>alert(1)</script>", `" onload="x`, "a & b &lt; ]]>", "tab\tline\nline", "\ufffe\uffff\U0001ffff") {
		checkMarkup(t, s)
	}
	if got, want := HTML("<a href='x'>\x1b"), `&lt;a href=&#39;x&#39;&gt;\x1b`; got != want {
		t.Errorf("HTML = %q, want %q", got, want)
	}
}

func TestMarkdown(t *testing.T) {
	tests := []struct{ text, want string }{
		{"plain text, 3 of 4", "plain text, 3 of 4"},
		{"# no heading", `\# no heading`},
		{"[x](javascript:alert(1))", `\[x\]\(javascript&#58;alert\(1\)\)`},
		{"![x](http://evil/p.png)", `\!\[x\]\(http&#58;//evil/p\.png\)`},
		{"<img src=x onerror=y>", `&lt;img src\=x onerror\=y&gt;`},
		{"a|b", `a\|b`},
		{"`code` *b* _i_ ~s~ $m$", "\\`code\\` \\*b\\* \\_i\\_ \\~s\\~ \\$m\\$"},
		{"@user www.x.y", `&#64;user www\.x\.y`},
		{"a\n\n- b", `a\\n\\n\- b`},
		{"    code", "&#32;   code"},
		{"&lt;", "&amp;lt;"},
		{"\x1b[2J", `\\x1b\[2J`},
	}
	for _, tt := range tests {
		if got := Markdown(tt.text); got != tt.want {
			t.Errorf("Markdown(%q) = %q, want %q", tt.text, got, tt.want)
		}
	}
}
