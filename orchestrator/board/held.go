package board

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"regexp"
	"slices"

	"gopkg.in/yaml.v3"

	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/frontmatter"
)

// heldFields are the fields of a task's header that an agent must not change or remove in the tasks
// of others: who approves the work, and where the task comes from.
var heldFields = []string{"approve", "source"}

// saidFields are those that stand there, and of which a person is told.
var saidFields = []string{"needs", "files", "watch"}

// ChangedFields returns the fields of which a person is told that differ between two headers of a task.
// It returns nil if one of them cannot be read.
func ChangedFields(file, was, now string) (fields []string) {
	a, err := taskDocument(file, []byte(was), false)
	b, failed := taskDocument(file, []byte(now), false)
	if err != nil || failed != nil {
		return nil
	}
	for _, name := range saidFields {
		if !sameMeaning(a, b, name) {
			fields = append(fields, name)
		}
	}
	return fields
}

// HoldHeader gives the file of a task the fields of an earlier header that are to stay (see
// heldFields), or the whole earlier header if the file's own cannot be read. It returns the fields
// that it has put back, and the file's bytes before that; both are nil if nothing was changed.
// Errors: those of Resolve and of writing the file.
func (p *Place) HoldHeader(name, header string) (fields []string, before []byte, err error) {
	ref, err := p.Resolve(name)
	if err != nil {
		return nil, nil, err
	}
	path := durable.RealPath(ref.Abs)
	source, err := readTaskFile(path)
	if err != nil {
		return nil, nil, err
	}
	after, fields := holdHeader(ref.Path, []byte(header), source)
	if _, err := readTask(ref, after, false, p.knows); err != nil && header != "" { // YAML, but no header of a task
		after, fields = wholeHeader(ref.Path, []byte(header), source), []string{"the header"}
	}
	if fields == nil || bytes.Equal(after, source) {
		return nil, nil, nil
	}
	if err := durable.WriteFile(path, after, 0o644); err != nil {
		return nil, nil, fmt.Errorf("write task %s: %w", ref.Path, err)
	}
	return fields, source, nil
}

func holdHeader(file string, header, source []byte) (after []byte, fields []string) {
	was, err := taskDocument(file, header, false)
	if err != nil {
		return source, nil // it could not be read before
	}
	after = source
	for _, name := range heldFields {
		key, value := was.Field(name)
		if value == nil {
			continue
		}
		now, err := taskDocument(file, after, false)
		if err == nil {
			if sameMeaning(was, now, name) {
				continue
			}
			after, err = putLines(now, name, linesOf(was, key, value))
		}
		if err == nil {
			err = checkHeld(file, after, name, was)
		}
		if err != nil {
			return wholeHeader(file, header, source), []string{"the header"}
		}
		fields = append(fields, name)
	}
	if _, err := taskDocument(file, after, false); err != nil {
		return wholeHeader(file, header, source), []string{"the header"}
	}
	return after, fields
}

// sameMeaning reports whether a field has the same value in both documents, however it is written.
func sameMeaning(a, b *frontmatter.Document, name string) bool {
	_, m := a.Field(name)
	_, n := b.Field(name)
	if m == nil || n == nil {
		return m == n
	}
	if name == "needs" || name == "files" { // a list, or one text
		return slices.Equal(texts(m), texts(n))
	}
	return sameContent(a, b, name)
}

// sameContent reports whether a field has the same content in both documents, or is in neither.
func sameContent(a, b *frontmatter.Document, name string) bool {
	_, m := a.Field(name)
	_, n := b.Field(name)
	if m == nil || n == nil {
		return m == n
	}
	var x, y any
	return m.Decode(&x) == nil && n.Decode(&y) == nil && reflect.DeepEqual(x, y)
}

func checkHeld(file string, source []byte, name string, want *frontmatter.Document) error {
	doc, err := taskDocument(file, source, false)
	if err != nil {
		return err
	}
	if !sameMeaning(want, doc, name) {
		return errors.New("the field cannot be put back alone")
	}
	return nil
}

// linesOf returns the lines of a field.
func linesOf(doc *frontmatter.Document, key, value *yaml.Node) string {
	e := editor{doc}
	lines := string(doc.Source[e.lineStart(doc.Offset(key)):e.nextLine(doc.End(value, doc.Root))])
	if lines == "" || lines[len(lines)-1] != '\n' {
		lines += "\n"
	}
	return lines
}

// putLines replaces the lines of a field, or adds them at the beginning.
func putLines(doc *frontmatter.Document, name, lines string) ([]byte, error) {
	e := editor{doc}
	if doc.Root == nil || e.flowRoot() {
		return nil, errors.New("the header has no lines of its own")
	}
	key, value := doc.Field(name)
	if value == nil {
		return applyPatches(doc.Source, []patch{{doc.Start, doc.Start, lines}}), nil
	}
	return applyPatches(doc.Source, []patch{{e.lineStart(doc.Offset(key)), e.nextLine(doc.End(value, doc.Root)), lines}}), nil
}

// wholeHeader returns the file with an earlier header. Of the file's own header it leaves out what is
// surely one; all else stands below, so that no text is lost.
func wholeHeader(file string, header, source []byte) []byte {
	if isYAML(file) {
		return header
	}
	return append(bytes.Clone(header), textBelow(source)...)
}

// headerLine matches a line that only a header has: a field that headers have, or a line that goes on
// with one.
var headerLine = regexp.MustCompile(`^((role|assignee|needs|files|watch|approve|source|state|status|title|priority|labels|id)[ \t]*:|[ \t]+\S|- |#|\]|\})`)

// textBelow returns the text of a file below its header, which cannot be read. Without a fence that
// surely ends the header, it returns all of the file.
func textBelow(source []byte) []byte {
	rest, is := bytes.CutPrefix(bytes.TrimPrefix(source, []byte("\ufeff")), []byte("---\n"))
	if !is {
		rest, is = bytes.CutPrefix(bytes.TrimPrefix(source, []byte("\ufeff")), []byte("---\r\n"))
	}
	for text := rest; is; {
		line, below, more := bytes.Cut(text, []byte("\n"))
		line = bytes.TrimSuffix(line, []byte("\r"))
		switch {
		case string(line) == "---":
			return below
		case !more || !headerLine.Match(line):
			return source
		}
		text = below
	}
	return source
}

// IsLink reports whether the file of a task is a symbolic link.
func (p *Place) IsLink(name string) bool {
	ref, err := p.Resolve(name)
	if err != nil {
		return false
	}
	info, err := os.Lstat(ref.Abs)
	return err == nil && info.Mode().Type() == fs.ModeSymlink
}
