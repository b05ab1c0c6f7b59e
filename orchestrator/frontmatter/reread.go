package frontmatter

import (
	"bytes"
	"slices"

	"gopkg.in/yaml.v3"
)

// Reread reads the file's new bytes as Parse or ParseYAML would. The documents share the nodes of
// fields that kept their text and lines, so a one-line change of a large board costs little.
// Errors: *Problem.
func (d *Document) Reread(source []byte) (*Document, error) {
	if d.fenced {
		return parseMarkdown(d.File, source, d.compact, d)
	}
	return parseYAML(d.File, source, d.compact, d)
}

// scan reads the YAML when it is plain. before is the file's last version, or nil.
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

// rescan shares the equal fields at the beginning and the end, and scans those between. A plain
// field reads the same anywhere: it begins with its key in column 1 and ends before the next key or
// where the text ends.
func (d *Document) rescan(before *Document) bool {
	head := d.countSameHead(before)
	tail := d.findSameTail(before, head)
	shift := len(d.YAML) - len(before.YAML)
	from, to := before.fieldOffset(head), before.fieldOffset(tail)+shift
	fields, content := slices.Clone(before.fields[:head]), slices.Clone(before.Root.Content[:2*head])
	if from < to {
		s, ok := scanFields(d.YAML[from:to], from, before.fieldLine(head), d.compact)
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

// fieldOffset returns where a field begins, or the end of the YAML behind the last one.
func (d *Document) fieldOffset(field int) int {
	if field == len(d.fields) {
		return len(d.YAML)
	}
	return d.fields[field].start
}

// fieldLine returns the line on which a field begins, or the one behind all fields.
func (d *Document) fieldLine(field int) int {
	if field == len(d.fields) {
		last := d.fields[field-1]
		return last.line + bytes.Count(d.YAML[last.start:], []byte{'\n'})
	}
	return d.fields[field].line
}

// countSameHead counts the equal fields at the beginning.
func (d *Document) countSameHead(before *Document) int {
	for i := range before.fields {
		from, to := before.fieldOffset(i), before.fieldOffset(i+1)
		if !bytes.HasPrefix(d.YAML[from:], before.YAML[from:to]) || !d.endsField(to) {
			return i
		}
	}
	return len(before.fields)
}

// findSameTail returns the first of the equal fields at the end that stand on the same lines; it is
// never below head.
func (d *Document) findSameTail(before *Document, head int) int {
	shift := len(d.YAML) - len(before.YAML)
	start := before.fieldOffset(head)
	tail := len(before.fields)
	for ; tail > head; tail-- {
		from, to := before.fieldOffset(tail-1), before.fieldOffset(tail)
		if from+shift < start || !d.endsField(from+shift) ||
			!bytes.Equal(d.YAML[from+shift:to+shift], before.YAML[from:to]) {
			break
		}
	}
	if tail == len(before.fields) {
		return tail
	}
	lines := bytes.Count(d.YAML[start:before.fieldOffset(tail)+shift], []byte{'\n'})
	if lines != before.fieldLine(tail)-before.fieldLine(head) {
		return len(before.fields)
	}
	return tail
}

// endsField reports whether a field ends at an offset: at the end of the text, or on a new line
// that begins with a key.
func (d *Document) endsField(at int) bool {
	if at == len(d.YAML) {
		return true
	}
	return (at == 0 || d.YAML[at-1] == '\n') && isLetter(d.YAML[at])
}

// assemble makes the Root of the scanned fields. It declines what the guard or the inspection of
// the tree would refuse.
func (d *Document) assemble(fields []field, content []*yaml.Node) bool {
	weight := 2
	for _, f := range fields {
		weight += f.weight
	}
	if weight > maxPlain || len(fields) == 0 || len(fields) > maxFields || hasDuplicateKeys(content) {
		return false
	}
	d.Root = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: content[0].Line, Column: 1, Content: content}
	d.fields = fields
	return true
}
