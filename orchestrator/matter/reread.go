package matter

import (
	"bytes"
	"slices"

	"gopkg.in/yaml.v3"
)

// Reread reads what the file became. The answer is that of ParseMatter or ParseYAML; the two documents share the nodes of the
// fields that stayed as they were and where they were, so a change of one line in a large board costs little. Errors: *Problem.
func (d *Document) Reread(source []byte) (*Document, error) {
	if d.fenced {
		return parseMatter(d.File, source, d.compact, d)
	}
	return parseYAML(d.File, source, d.compact, d)
}

// scan reads the YAML when it is plain. before is what the file was, or nil.
func (d *Document) scan(before *Document) bool {
	if len(d.YAML) > MaxYAML {
		return false
	}
	if before != nil && len(before.fields) > 0 && d.rescan(before) {
		return true
	}
	s, ok := scanFields(d.YAML, 0, 1, d.compact)
	return ok && d.assemble(s.fields, s.content)
}

// rescan takes over the fields that are the same at the beginning and at the end, and scans what lies between. A plain field is
// read alike wherever it stands: it begins with its key in column 1 and ends before the next one, or where the text ends.
func (d *Document) rescan(before *Document) bool {
	head := d.sameHead(before)
	tail := d.sameTail(before, head)
	shift := len(d.YAML) - len(before.YAML)
	from, to := before.offset(head), before.offset(tail)+shift
	fields, content := slices.Clone(before.fields[:head]), slices.Clone(before.Root.Content[:2*head])
	if from < to {
		s, ok := scanFields(d.YAML[from:to], from, before.lineOf(head), d.compact)
		if !ok {
			return false
		}
		fields, content = append(fields, s.fields...), append(content, s.content...)
	}
	for _, f := range before.fields[tail:] {
		f.start += shift
		fields = append(fields, f)
	}
	return d.assemble(fields, append(content, before.Root.Content[2*tail:]...))
}

// offset is where a field begins, or where the YAML ends.
func (d *Document) offset(field int) int {
	if field == len(d.fields) {
		return len(d.YAML)
	}
	return d.fields[field].start
}

// lineOf is the line on which a field begins, or the one behind all fields.
func (d *Document) lineOf(field int) int {
	if field == len(d.fields) {
		last := d.fields[field-1]
		return last.line + bytes.Count(d.YAML[last.start:], []byte{'\n'})
	}
	return d.fields[field].line
}

// sameHead counts the fields at the beginning that are the same.
func (d *Document) sameHead(before *Document) int {
	for i := range before.fields {
		from, to := before.offset(i), before.offset(i+1)
		if !bytes.HasPrefix(d.YAML[from:], before.YAML[from:to]) || !d.fieldEnds(to) {
			return i
		}
	}
	return len(before.fields)
}

// sameTail is the first of the fields at the end that are the same and on the same lines, none of them counted in head.
func (d *Document) sameTail(before *Document, head int) int {
	shift := len(d.YAML) - len(before.YAML)
	start := before.offset(head)
	tail := len(before.fields)
	for ; tail > head; tail-- {
		from, to := before.offset(tail-1), before.offset(tail)
		if from+shift < start || !d.fieldEnds(from+shift) || !bytes.Equal(d.YAML[from+shift:to+shift], before.YAML[from:to]) {
			break
		}
	}
	if tail < len(before.fields) && bytes.Count(d.YAML[start:before.offset(tail)+shift], []byte{'\n'}) != before.lineOf(tail)-before.lineOf(head) {
		return len(before.fields)
	}
	return tail
}

// fieldEnds says whether a field ends at an offset: behind a line, and where the next field begins or nothing follows.
func (d *Document) fieldEnds(at int) bool {
	if at == len(d.YAML) {
		return true
	}
	return (at == 0 || d.YAML[at-1] == '\n') && isLetter(d.YAML[at])
}

// assemble makes the Root of what was scanned. It refuses what the guard or the inspection of the tree would.
func (d *Document) assemble(fields []field, content []*yaml.Node) bool {
	weight := 2
	for _, f := range fields {
		weight += f.weight
	}
	if weight > maxPlain || len(fields) == 0 || len(fields) > maxFields || twice(content) {
		return false
	}
	d.Root = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: content[0].Line, Column: 1, Content: content}
	d.fields = fields
	return true
}
