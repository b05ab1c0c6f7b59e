package board

import (
	"bytes"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"kanban-run/orchestrator/frontmatter"
)

// editor makes edits of the fields of a board, or of a task's header. Its edits change only the
// lines of the field that they are about.
type editor struct{ doc *frontmatter.Document }

// removeField returns the edit that removes a field whose value is a scalar. The edit removes the
// lines of the field. In a board in braces, it removes the text up to the next field. If the board
// has no other field, the field stays, with the value null.
func (e editor) removeField(key, value *yaml.Node) patch {
	fields := e.doc.Root.Content
	i := slices.Index(fields, key)
	from, to := e.doc.Offset(key), e.doc.End(value, e.doc.Root)
	switch {
	case len(fields) == 2:
		return e.patchScalar(value, e.doc.Root, "null")
	case !e.flowRoot():
		return patch{e.lineStart(from), e.nextLine(to), ""}
	case i+2 < len(fields):
		return patch{from, e.doc.Offset(fields[i+2]), ""}
	}
	return patch{e.doc.End(fields[i-1], e.doc.Root), to, ""}
}

// patchScalar returns the edit that replaces a value. An empty value begins right after its colon,
// so a new value there gets a space before it.
func (e editor) patchScalar(value, parent *yaml.Node, text string) patch {
	from := e.doc.Offset(value)
	if from > 0 && e.doc.Source[from-1] == ':' {
		text = " " + text
	}
	return patch{from, e.doc.End(value, parent), text}
}

// insertField adds a field after all others. In a board in braces, it adds the field before all
// others.
func (e editor) insertField(line string) patch {
	root := e.doc.Root
	if e.flowRoot() {
		at := e.doc.Offset(root) + 1
		if len(root.Content) > 0 {
			line += ", "
		}
		return patch{at, at, line}
	}
	if len(root.Content) == 0 {
		at := e.doc.Start + len(e.doc.YAML)
		return patch{at, at, line + e.lineEnding()}
	}
	return e.insertBelow(e.doc.End(root, root), e.rootIndent()+line)
}

// insertBelow adds lines below the line at an offset. That line can be the last one, without a
// newline.
func (e editor) insertBelow(offset int, lines string) patch {
	at := e.lineEnd(offset)
	return patch{at, at, e.lineEnding() + lines}
}

func (e editor) flowRoot() bool { return e.doc.Root.Style&yaml.FlowStyle != 0 }

func (e editor) rootIndent() string { return strings.Repeat(" ", e.doc.Root.Column-1) }

// lineEnding returns the first line ending of the YAML, or of the file if the YAML is empty.
func (e editor) lineEnding() string {
	text := e.doc.YAML
	if len(text) == 0 {
		text = e.doc.Source
	}
	if i := bytes.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// lineStart returns the start of the line at an offset.
func (e editor) lineStart(offset int) int {
	for offset > e.doc.Start && e.doc.Source[offset-1] != '\n' {
		offset--
	}
	return offset
}

// lineEnd returns the end of the line at an offset, without its line ending.
func (e editor) lineEnd(offset int) int {
	next := e.nextLine(offset)
	if next > offset && e.doc.Source[next-1] == '\n' {
		next--
	}
	if next > offset && e.doc.Source[next-1] == '\r' {
		next--
	}
	return next
}

// nextLine returns the start of the line below the line at an offset, or the end of the YAML.
func (e editor) nextLine(offset int) int {
	for end := e.doc.Start + len(e.doc.YAML); offset < end; offset++ {
		if e.doc.Source[offset] == '\n' {
			return offset + 1
		}
	}
	return offset
}
