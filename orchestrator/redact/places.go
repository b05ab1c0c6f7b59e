package redact

import (
	"html"
	"strings"
	"unicode"
)

// Actions returns s as InertLines does, with no line that the runner of a CI job
// takes for a command: GitHub Actions, those before it, Azure Pipelines and
// TeamCity. A backslash breaks what would be one: \::error::, ##\[error].
//
// Source: ActionCommand.TryParseV2 and TryParse of github.com/actions/runner.
// They compare by the rules of a language, in which invisible characters do not
// count, so no joiner stays.
func Actions(s string) string {
	return breakColons(breakHashes(inert(strings.ReplaceAll(s, "\r\n", "\n"), inActions)))
}

// breakColons puts a backslash before each :: that begins a line, but for space.
func breakColons(s string) string {
	return backslashed(s, "::", func(i int) (at int, found bool) {
		before := strings.TrimRightFunc(s[:i], func(r rune) bool { return r != '\n' && unicode.IsSpace(r) })
		return i, before == "" || before[len(before)-1] == '\n'
	})
}

// breakHashes puts one before the bracket of each ##[ and ##vso[.
func breakHashes(s string) string {
	return backslashed(s, "##", func(i int) (at int, found bool) {
		for i < len(s) && (s[i] == '#' || 'a' <= s[i] && s[i] <= 'z') {
			i++
		}
		return i, i < len(s) && s[i] == '['
	})
}

// backslashed puts a backslash wherever a place is found that a mark leads to.
func backslashed(s, mark string, find func(i int) (at int, found bool)) string {
	var b strings.Builder
	done := 0
	for i := 0; ; {
		n := strings.Index(s[i:], mark)
		if n < 0 {
			break
		}
		at, found := find(i + n)
		if found {
			b.WriteString(s[done:at])
			b.WriteByte('\\')
			done = at
		}
		i = max(at, i+n+len(mark))
	}
	if done == 0 && b.Len() == 0 {
		return s
	}
	b.WriteString(s[done:])
	return b.String()
}

// HTML returns s as InertLines does, with its markup escaped: for the text of an
// element, and for the quoted value of an attribute that holds no URL or script.
// Templates that escape by themselves take InertLines.
func HTML(s string) string { return html.EscapeString(InertLines(s)) }

// XML does the same for XML 1.0. Encoders that escape by themselves take
// InertLines: what XML forbids is gone there.
func XML(s string) string { return HTML(s) }

// Markdown returns s as Inert does, with everything escaped that Markdown, or
// GitHub's, would not show as it stands: markup, HTML, links, mentions, also at
// the start of a line and in a table.
func Markdown(s string) string {
	s = Inert(s)
	var b strings.Builder
	done := 0
	for i := range len(s) {
		esc := markdownEscapes[s[i]]
		if s[i] == ' ' && (i == 0 || i == len(s)-1) { // four indent code, two break a line
			esc = "&#32;"
		}
		if esc != "" {
			b.WriteString(s[done:i])
			b.WriteString(esc)
			done = i + 1
		}
	}
	b.WriteString(s[done:])
	return b.String()
}

var markdownEscapes = func() (all [256]string) {
	for _, c := range []byte("\\`*_{}[]()#+-.!|~$=^\"'") {
		all[c] = `\` + string(rune(c))
	}
	all['<'], all['>'], all['&'], all['@'], all[':'] = "&lt;", "&gt;", "&amp;", "&#64;", "&#58;"
	return all
}()
