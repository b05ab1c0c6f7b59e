package frontmatter

import (
	"bytes"
	"regexp"
	"sort"
	"strings"
	"sync"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// explain turns an error of the YAML library into a Problem. The library names at best the line of
// the enclosing list or map. For an error on the first line it names no line. Therefore this
// function searches for the shortest beginning of the text that fails with the same message. The
// error is at the end of that beginning.
func (d *Document) explain(err error) error {
	words := messageOf(err)
	p := &Problem{File: d.File, Text: "invalid YAML: " + words, Fix: fixFor(words), Err: err}
	fails := func(end int) bool { return messageOf(decodeYAML(d.YAML[:end])) == words }
	line := sort.Search(len(d.lines)-1, func(i int) bool { return fails(int(d.lines[i+1])) })
	start, end := int(d.lines[line]), len(d.YAML)
	if line+1 < len(d.lines) {
		end = int(d.lines[line+1])
	}
	text := bytes.TrimRight(d.YAML[start:end], "\r\n")
	column := sort.Search(len(text), func(i int) bool { return fails(start + i + 1) })
	p.Line, p.Column = d.FirstLine+line, utf8.RuneCount(text[:min(column, len(text))])+1
	return p
}

func decodeYAML(b []byte) error {
	var n yaml.Node
	return yaml.Unmarshal(b, &n)
}

var linePrefix = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^yaml: (line \d+: )?`) })

func messageOf(err error) string {
	if err == nil {
		return ""
	}
	text := err.Error()
	return text[len(linePrefix().FindString(text)):]
}

// FixHint is the part of an advice that names check --fix.
const FixHint = "; in a board or a task kanban-run check --fix BOARD does it where that is safe"

// fixFor returns advice for a message of the library, which has no typed errors. For an unknown
// message the advice is general.
func fixFor(words string) string {
	for _, r := range []struct{ words, fix string }{
		{"mapping values are not allowed",
			"quote the value or use a | block" + FixHint + ". " +
				"If the line is a field of its own, correct its indentation"},
		{"could not find expected ':'", "write key: value, or indent the line when it belongs to the value above"},
		{"cannot start any token", "quote the value; a tab cannot indent"},
		{"tab character", "indent with spaces"},
		{"exceeded max depth", "flatten it"},
		{"unexpected end of stream", "close the quote"},
		{"expected ',' or", "close the bracket, or quote the value that holds one"},
		{"expected key", "align the line with the fields above it; or, if a quote ends the value too early, double it" + FixHint},
		{"expected '-' indicator", "align the line with the list or map that it belongs to"},
		{"unknown escape", `write \\ for a backslash, or use single quotes`},
		{"unknown anchor", "quote a value that begins with *"},
		{"did not find expected alphabetic", "quote a value that begins with * or &"},
		{"did not find expected <document start>",
			"end the list or map before a new field begins; all fields stand in one column"},
	} {
		if strings.Contains(words, r.words) {
			return r.fix
		}
	}
	return "quote the value"
}
