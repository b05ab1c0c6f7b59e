package frontmatter

import (
	"strings"

	"gopkg.in/yaml.v3"
)

// List is a plain list of text, one unquoted value a line. It takes 8 bytes a value where nodes
// take 170. It is immutable: documents share it.
type List struct {
	text   string   // the field up to the last value
	spans  []span   // the values in text
	lines  []uint32 // the line of each value; nil while they stand on consecutive lines
	line   int      // of the first dash, counted from 1 in the YAML
	column int      // of the dashes
	mixed  bool     // some value is a number, a date, true or null: such a list gets nodes
}

// span is a piece of text. Offsets stay below MaxYAML.
type span struct{ from, to uint32 }

// Len returns the number of values.
func (l *List) Len() int { return len(l.spans) }

// Value returns a piece of the file's Source, and keeps all of Source alive.
func (l *List) Value(i int) string { return l.text[l.spans[i].from:l.spans[i].to] }

// Line returns the line of a value, counted from 1 in the YAML.
func (l *List) Line(i int) int {
	if l.lines != nil {
		return int(l.lines[i])
	}
	return l.line + i
}

// Span returns where a value lies, counted from the offset that Document.Base returns.
func (l *List) Span(i int) (from, to int) { return int(l.spans[i].from), int(l.spans[i].to) }

// Node makes the node of a value.
func (l *List) Node(i int) *yaml.Node {
	n := new(yaml.Node)
	l.fillNode(n, i)
	return n
}

func (l *List) fillNode(n *yaml.Node, i int) {
	n.Kind, n.Value, n.Line, n.Column = yaml.ScalarNode, l.Value(i), l.Line(i), l.column+len("- ")
	n.Tag = plainTag(n.Value)
}

// makeNodes makes the nodes of all values.
func (l *List) makeNodes() []*yaml.Node {
	made, all := make([]yaml.Node, l.Len()), make([]*yaml.Node, l.Len())
	for i := range made {
		l.fillNode(&made[i], i)
		all[i] = &made[i]
	}
	return all
}

// List returns the value of a top-level field that is a plain list of text in a compact document,
// else nil.
func (d *Document) List(name string) *List {
	for i, f := range d.fields {
		if d.Root.Content[2*i].Value == name {
			return f.list
		}
	}
	return nil
}

// Base returns the offset in Source from which the spans of a list count.
func (d *Document) Base(l *List) int {
	for _, f := range d.fields {
		if f.list == l {
			return d.Start + f.start
		}
	}
	return d.Start
}

// endOfList returns the offset in Source behind the last value of a list without nodes; 0 for any
// other node.
func (d *Document) endOfList(n *yaml.Node) int {
	for i, f := range d.fields {
		if f.list != nil && d.Root.Content[2*i+1] == n {
			return d.Start + f.start + len(f.list.text)
		}
	}
	return 0
}

// readList reads the lines of a list. All dashes stand in the column of the first.
func (s *scanner) readList() *yaml.Node {
	dash := s.at
	for s.text[dash] == ' ' && dash-s.at < maxIndent && dash+1 < len(s.text) {
		dash++
	}
	prefix := s.text[s.at:min(dash+2, len(s.text))]
	if !strings.HasSuffix(prefix, "- ") {
		return nil
	}
	l := &List{line: s.line, column: len(prefix) - 1}
	s.reserveSpans(len(prefix))
	first := len(s.spans)
	for s.at < len(s.text) {
		if strings.HasPrefix(s.text[s.at:], prefix) {
			if !s.readItem(l, len(prefix), len(s.spans)-first) {
				return nil
			}
		} else if !s.skipBlank() {
			break
		}
	}
	l.spans = s.spans[first:len(s.spans):len(s.spans)]
	l.text = s.text[s.fieldAt : s.fieldAt+int(l.spans[l.Len()-1].to)]
	return s.makeSequence(l)
}

// makeSequence makes the node of a list; a compact document keeps no nodes of its values.
func (s *scanner) makeSequence(l *List) *yaml.Node {
	n := s.newNode()
	n.Kind, n.Tag, n.Line, n.Column = yaml.SequenceNode, "!!seq", l.line, l.column
	if s.compact && !l.mixed {
		s.list = l
	} else {
		n.Content = l.makeNodes()
	}
	return n
}

// readItem reads line i of a list, whose value stands behind a prefix of so many bytes.
func (s *scanner) readItem(l *List, prefix, i int) bool {
	from := s.at + prefix
	end, ok := s.findPlainEnd(from)
	if !ok || from == end {
		return false
	}
	switch plainTag(s.text[from:end]) {
	case "!!str":
	case "":
		return false
	default:
		l.mixed = true
	}
	if l.lines != nil || l.line+i != s.line {
		l.noteLine(i, s.line)
	}
	s.spans = append(s.spans, span{uint32(from - s.fieldAt), uint32(end - s.fieldAt)})
	s.weight++ // the dash
	return s.skipLineEnd(end) && s.weight <= maxPlain
}

// reserveSpans makes room for as many values as the remaining lines can hold. Later lists use what
// the first leaves over.
func (s *scanner) reserveSpans(prefix int) {
	if s.spans != nil {
		return
	}
	rest := s.text[s.at:]
	s.spans = make([]span, 0, min(strings.Count(rest, "\n")+1, len(rest)/(prefix+1)+1, maxPlain))
}

// noteLine records that value i does not stand on the line below the value before it.
func (l *List) noteLine(i, line int) {
	for j := len(l.lines); j < i; j++ {
		l.lines = append(l.lines, uint32(l.line+j))
	}
	l.lines = append(l.lines, uint32(line))
}
