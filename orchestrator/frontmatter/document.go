// Package frontmatter reads YAML, from Markdown frontmatter or from a file of its own. It accepts
// only YAML that has one meaning for all programs. An error has the file, the line and the column.
package frontmatter

import (
	"bytes"
	"errors"
	"slices"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// The greatest size of YAML in bytes, and the greatest depth of its lists and maps. A board of 10,000
// tasks has 400 KB. The costliest YAML of 2 MiB takes a second and 0.5 GB to read, and some seconds
// if it has an error to be found.
const (
	MaxYAML  = 2 << 20
	maxDepth = 100
)

// Document is a file whose YAML was read.
type Document struct {
	File      string
	Source    []byte     // the whole file
	YAML      []byte     // the YAML in it, without the fences
	Start     int        // offset of YAML in Source
	Body      int        // offset in Source after the closing fence; len(Source) in a plain YAML file
	FirstLine int        // the line of Source on which YAML starts, counted from 1
	Root      *yaml.Node // mapping of all fields; nil if the file has no frontmatter

	lines []int32 // offsets of the line starts in YAML
	chars []int32 // offsets in YAML of its characters and of its end; nil if YAML is ASCII
}

// Parse reads Markdown with YAML frontmatter between two fences, which are `---` lines. A byte
// order mark and blank lines may precede the first fence. Root is nil if the file does not begin
// with a fence. A block that only resembles frontmatter is refused. Errors: *Problem.
func Parse(file string, source []byte) (*Document, error) {
	d, err := Split(file, source)
	if err != nil || d.YAML == nil {
		return d, err
	}
	if err := d.decode(d.extract); err != nil {
		return nil, err
	}
	return d, nil
}

// ErrEmpty reports that a YAML file has no document.
var ErrEmpty = errors.New("the file is empty")

// ParseYAML reads a plain YAML file, which must hold exactly one mapping. Errors: *Problem.
func ParseYAML(file string, source []byte) (*Document, error) {
	d := newDocument(file, source)
	if err := d.decode(d.plain); err != nil {
		return nil, err
	}
	return d, nil
}

func newDocument(file string, source []byte) *Document {
	start := len(source) - len(bytes.TrimPrefix(source, []byte(bom)))
	return &Document{File: file, Source: source, YAML: source[start:], Start: start, Body: len(source), FirstLine: 1}
}

// Position returns the line and the column at which a node begins in the file, counted from 1.
func (d *Document) Position(n *yaml.Node) (line, column int) {
	line = n.Line
	if len(d.lines) > 0 {
		line = min(line, len(d.lines)) // the library puts an absent value after the last line
	}
	return line + d.FirstLine - 1, n.Column
}

// Problem returns a problem at a node, or about the whole file if n is nil.
func (d *Document) Problem(n *yaml.Node, text, fix string) *Problem {
	p := &Problem{File: d.File, Text: text, Fix: fix}
	if n != nil {
		p.Line, p.Column = d.Position(n)
	}
	return p
}

// problemAt returns a problem at an offset in YAML.
func (d *Document) problemAt(offset int, text, fix string) *Problem {
	before := d.YAML[:offset]
	line := bytes.Count(before, []byte{'\n'})
	column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
	return &Problem{File: d.File, Line: d.FirstLine + line, Column: column, Text: text, Fix: fix}
}

// Field returns a top-level key and its value. It returns nil and nil if the key is missing.
func (d *Document) Field(name string) (key, value *yaml.Node) {
	if d.Root == nil {
		return nil, nil
	}
	for i := 0; i+1 < len(d.Root.Content); i += 2 {
		if d.Root.Content[i].Value == name {
			return d.Root.Content[i], d.Root.Content[i+1]
		}
	}
	return nil, nil
}

// Offset returns the offset of a node's first byte in Source.
func (d *Document) Offset(n *yaml.Node) int {
	start := d.lines[min(max(n.Line-1, 0), len(d.lines)-1)]
	if d.chars == nil {
		return d.Start + min(int(start)+n.Column-1, len(d.YAML))
	}
	first, _ := slices.BinarySearch(d.chars, start)
	return d.Start + int(d.chars[min(first+n.Column, len(d.chars))-1])
}

// index fills the fields lines and chars, which Offset reads.
func (d *Document) index() {
	d.lines = append(make([]int32, 0, bytes.Count(d.YAML, []byte{'\n'})+1), 0)
	for at, c := range d.YAML {
		if c == '\n' {
			d.lines = append(d.lines, int32(at+1))
		}
	}
	count := utf8.RuneCount(d.YAML)
	if count == len(d.YAML) {
		return
	}
	d.chars = make([]int32, 0, count+1)
	for at := range string(d.YAML) {
		d.chars = append(d.chars, int32(at))
	}
	d.chars = append(d.chars, int32(len(d.YAML)))
}
