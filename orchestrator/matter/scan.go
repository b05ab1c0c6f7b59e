package matter

import (
	"unsafe"

	"gopkg.in/yaml.v3"
)

// The plain case is what nearly every board is: fields in column 1, each with a value on its own line or with a list below it
// that has one dash, one space and one value a line. The YAML library needs a microsecond for every value of it; a board of
// 100,000 tasks is read at every step of a run. So the scanner reads the plain case, and whatever is not beyond doubt plain it
// leaves to the library, whose tree is the only truth: a fuzz test compares the two.

const (
	maxPlain  = 250_000 // values; so much is wasted at most before something turns out not to be plain
	maxFields = 64      // each key is compared with all others
	maxKey    = 128     // the library refuses keys of more than 1024 characters
	maxIndent = 32
)

// scanner reads the plain case. false from one of its methods means not that the YAML is wrong, but that it is not plain.
type scanner struct {
	source []byte
	text   string // the same bytes: only a List keeps pieces of them
	base   int    // offset of source in the YAML
	at     int    // where the line to read begins
	line   int    // its number, counted from 1
	depth  int    // of the brackets in the value that is being read; 0 between values
	wide   bool   // the field that is being read holds characters beyond ASCII

	compact bool   // lists of text get no nodes
	origin  int    // offset in text of the field that is being read
	kept    *List  // its value, when it is a list without nodes
	own     string // a copy of its first line, of which its values are pieces
	ownAt   int    // offset in text of that line

	fields  []field
	content []*yaml.Node // of the mapping: keys and values in turn
	weight  int          // what recount adds up for source

	nodes []yaml.Node  // made in bulk and not used yet
	items []*yaml.Node // of all lists in brackets, one behind the other
	spans []span       // of all other lists, one behind the other
}

// field is a top-level key with its value and the blank lines below it. The first one has the blank lines above it, too.
type field struct {
	start  int   // offset in the YAML
	line   int   // the number of its first line, counted from 1
	weight int   // what recount adds up for it
	wide   bool  // it holds characters beyond ASCII
	list   *List // its value, when it is a list without nodes
}

// scanFields reads a piece of the YAML, which begins where a line does and ends where one ends. base and line say where that is.
func scanFields(source []byte, base, line int, compact bool) (*scanner, bool) {
	// Source is never changed, so its bytes can be read as a string: a copy of a board of 100,000 tasks is 4 MB.
	text := unsafe.String(unsafe.SliceData(source), len(source))
	s := &scanner{source: source, text: text, base: base, line: line, compact: compact}
	return s, s.scan()
}

func (s *scanner) scan() bool {
	first := field{start: s.base, line: s.line}
	for s.at < len(s.text) {
		if s.blank() {
			continue
		}
		if len(s.fields) == maxFields || !s.field() {
			return false
		}
	}
	if len(s.fields) == 0 {
		return false
	}
	s.fields[0].start, s.fields[0].line = first.start, first.line
	return true
}

// blank steps over a line with nothing on it.
func (s *scanner) blank() bool {
	c := s.text[s.at]
	return (c == '\n' || c == '\r') && s.endLine(s.at)
}

// endLine steps over the line ending at an offset. The end of the text is one as well.
func (s *scanner) endLine(end int) bool {
	if end == len(s.text) {
		s.at = end
		return true
	}
	if s.text[end] == '\r' {
		end++
	}
	if end == len(s.text) || s.text[end] != '\n' {
		return false
	}
	s.at = end + 1
	s.line++
	return true
}

// field reads a key and its value.
func (s *scanner) field() bool {
	f := field{start: s.base + s.at, line: s.line, weight: s.weight}
	s.begin()
	end := s.at
	for end < len(s.text) && isKeyByte(s.text[end]) {
		end++
	}
	if end == len(s.text) || s.text[end] != ':' || end == s.at || end-s.at > maxKey || !isLetter(s.text[s.at]) {
		return false
	}
	key, ok := s.scalar(s.at, end, 1)
	if !ok || key.Tag != "!!str" {
		return false
	}
	s.weight += 2 // the colon
	value := s.value(end + 1)
	if value == nil {
		return false
	}
	f.weight, f.wide, f.list = s.weight-f.weight, s.wide, s.kept
	s.fields = append(s.fields, f)
	s.content = append(s.content, key, value)
	return true
}

// begin is called where a field begins. The first one has what is above it.
func (s *scanner) begin() {
	s.origin, s.wide, s.kept = s.at, false, nil
	if len(s.fields) == 0 {
		s.origin = 0
	}
	line, _ := lineOf(s.source, s.at)
	s.own, s.ownAt = string(line), s.at
}

// piece is a part of the first line of a field, as a value that may be kept.
func (s *scanner) piece(from, to int) string { return s.own[from-s.ownAt : to-s.ownAt] }

func isKeyByte(c byte) bool { return isLetter(c) || c >= '0' && c <= '9' || c == '-' }

// value reads what stands behind the colon, and the line ending; nil when it is not plain.
func (s *scanner) value(at int) *yaml.Node {
	line, column := s.line, at-s.at+1
	if s.endLine(at) {
		return s.below(line, column)
	}
	from := at
	for from < len(s.text) && s.text[from] == ' ' {
		from++
	}
	if from == at || from == len(s.text) {
		return nil
	}
	column += from - at
	var n *yaml.Node
	var end int
	var ok bool
	switch s.text[from] {
	case '"', '\'':
		n, end, ok = s.quoted(from, column)
	case '[':
		n, end, ok = s.flow(from, column)
	default:
		if end, ok = s.plainEnd(from); ok {
			n, ok = s.scalar(from, end, column)
		}
	}
	if !ok || !s.endLine(end) {
		return nil
	}
	return n
}

// below reads the value of a key that has none on its line: a list, or the absent value, which the library puts behind the
// colon.
func (s *scanner) below(line, column int) *yaml.Node {
	for s.at < len(s.text) && s.blank() {
	}
	if s.at < len(s.text) && (s.text[s.at] == ' ' || s.text[s.at] == '-') {
		return s.list()
	}
	n := s.node()
	n.Kind, n.Tag, n.Line, n.Column = yaml.ScalarNode, "!!null", line, column
	return n
}

func (s *scanner) node() *yaml.Node {
	if len(s.nodes) == 0 {
		s.nodes = make([]yaml.Node, 8) // a task file has so many, most boards fewer
	}
	n := &s.nodes[0]
	s.nodes = s.nodes[1:]
	return n
}

// twice says whether two keys are the same.
func twice(content []*yaml.Node) bool {
	for i := 0; i < len(content); i += 2 {
		for j := 0; j < i; j += 2 {
			if content[i].Value == content[j].Value {
				return true
			}
		}
	}
	return false
}
