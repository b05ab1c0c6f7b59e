package matter

import (
	"strings"

	"gopkg.in/yaml.v3"
)

// List is a list of the plain case that holds nothing but text: one value a line, without quotes. It takes 8 bytes a value, where
// nodes take 170. It is not changed once it is made: documents share it, and so does whatever keeps one of its values.
type List struct {
	text   string   // the field that it was read from, up to its last value
	spans  []span   // where the values lie in text
	lines  []uint32 // the line of each value; nil while each stands on the line below the one before
	line   int      // of the first dash, counted from 1 in the YAML
	column int      // of the dashes
	mixed  bool     // a value is not text but a number, a date, true or null: such a list gets nodes
}

// span is a piece of a text of at most MaxYAML bytes.
type span struct{ from, to uint32 }

// Len is the number of values.
func (l *List) Len() int { return len(l.spans) }

// Value is a piece of the file's Source: whoever keeps it keeps all of that.
func (l *List) Value(i int) string { return l.text[l.spans[i].from:l.spans[i].to] }

// Line is the line of a value, counted from 1 in the YAML.
func (l *List) Line(i int) int {
	if l.lines != nil {
		return int(l.lines[i])
	}
	return l.line + i
}

// Span is where a value lies, counted from the offset that Document.Base says.
func (l *List) Span(i int) (from, to int) { return int(l.spans[i].from), int(l.spans[i].to) }

// Node makes the node of a value.
func (l *List) Node(i int) *yaml.Node {
	n := new(yaml.Node)
	l.fill(n, i)
	return n
}

func (l *List) fill(n *yaml.Node, i int) {
	n.Kind, n.Value, n.Line, n.Column = yaml.ScalarNode, l.Value(i), l.Line(i), l.column+len("- ")
	n.Tag = plainTag(n.Value)
}

// nodes makes the nodes of all values.
func (l *List) nodes() []*yaml.Node {
	made, all := make([]yaml.Node, l.Len()), make([]*yaml.Node, l.Len())
	for i := range made {
		l.fill(&made[i], i)
		all[i] = &made[i]
	}
	return all
}

// List returns the value of a top-level field when it is a plain list of text in a compact document, else nil.
func (d *Document) List(name string) *List {
	for i, f := range d.fields {
		if d.Root.Content[2*i].Value == name {
			return f.list
		}
	}
	return nil
}

// Base is the offset in Source from which a list of this document counts.
func (d *Document) Base(l *List) int {
	for _, f := range d.fields {
		if f.list == l {
			return d.Start + f.start
		}
	}
	return d.Start
}

// endOfList is the offset in Source behind the last value of a list that has no nodes; 0 when a node is none.
func (d *Document) endOfList(n *yaml.Node) int {
	for i, f := range d.fields {
		if f.list != nil && d.Root.Content[2*i+1] == n {
			return d.Start + f.start + len(f.list.text)
		}
	}
	return 0
}

// list reads the lines of a list. Every dash stands in the column of the first.
func (s *scanner) list() *yaml.Node {
	dash := s.at
	for s.text[dash] == ' ' && dash-s.at < maxIndent && dash+1 < len(s.text) {
		dash++
	}
	prefix := s.text[s.at:min(dash+2, len(s.text))]
	if !strings.HasSuffix(prefix, "- ") {
		return nil
	}
	l := &List{line: s.line, column: len(prefix) - 1}
	s.reserve(len(prefix))
	first := len(s.spans)
	for s.at < len(s.text) {
		if strings.HasPrefix(s.text[s.at:], prefix) {
			if !s.item(l, len(prefix), len(s.spans)-first) {
				return nil
			}
		} else if !s.blank() {
			break
		}
	}
	l.spans = s.spans[first:len(s.spans):len(s.spans)]
	l.text = s.text[s.origin : s.origin+int(l.spans[l.Len()-1].to)]
	return s.sequence(l)
}

// sequence makes the node of a list, with the nodes of its values unless the document is to be compact.
func (s *scanner) sequence(l *List) *yaml.Node {
	n := s.node()
	n.Kind, n.Tag, n.Line, n.Column = yaml.SequenceNode, "!!seq", l.line, l.column
	if s.compact && !l.mixed {
		s.kept = l
	} else {
		n.Content = l.nodes()
	}
	return n
}

// item reads a line of a list, of which value number i stands behind the first bytes.
func (s *scanner) item(l *List, prefix, i int) bool {
	from := s.at + prefix
	end, ok := s.plainEnd(from)
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
		l.skip(i, s.line)
	}
	s.spans = append(s.spans, span{uint32(from - s.origin), uint32(end - s.origin)})
	s.weight++ // the dash
	return s.endLine(end) && s.weight <= maxPlain
}

// reserve makes room for a list of as many lines as are left, each with so many bytes before its value. What one list leaves
// over is there for the next.
func (s *scanner) reserve(prefix int) {
	if s.spans != nil {
		return
	}
	rest := s.text[s.at:]
	s.spans = make([]span, 0, min(strings.Count(rest, "\n")+1, len(rest)/(prefix+1)+1, maxPlain))
}

// skip notes that value i stands on another line than the one below the value before.
func (l *List) skip(i, line int) {
	for j := len(l.lines); j < i; j++ {
		l.lines = append(l.lines, uint32(l.line+j))
	}
	l.lines = append(l.lines, uint32(line))
}
