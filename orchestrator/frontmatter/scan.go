package frontmatter

import (
	"unsafe"

	"gopkg.in/yaml.v3"
)

// Nearly every board is plain: fields in column 1, each with a value on its line or with a list
// below it that has one dash, one space and one value a line. The YAML library takes a microsecond
// a value, and a run reads a board of 100,000 tasks at every step. So the scanner reads what is
// plain beyond doubt and leaves the rest to the library, whose tree is the truth: a fuzz test
// compares the two.

const (
	maxPlain  = 250_000 // values; bounds the work lost when a later line turns out not to be plain
	maxFields = 64      // each key is compared with all others
	maxKey    = 128     // the library refuses keys of more than 1024 characters
	maxIndent = 32
)

// scanner reads plain YAML. A method that returns false declines: the text is not plain, but may be
// valid.
type scanner struct {
	source []byte
	text   string // the same bytes; only a List keeps pieces of them
	base   int    // offset of source in the YAML
	at     int    // offset of the line to read
	line   int    // its number, counted from 1
	depth  int    // of brackets in the value being read; 0 between values
	wide   bool   // the field being read holds characters beyond ASCII

	compact     bool   // lists of text get no nodes
	fieldAt     int    // offset in text of the field being read
	list        *List  // the field's value, when it is a list without nodes
	firstLine   string // a copy of the field's first line, so that its nodes do not keep Source alive
	firstLineAt int    // offset in text of that line

	fields  []field
	content []*yaml.Node // keys and values of the mapping in turn
	weight  int          // of source, as recountValues adds it up

	nodes []yaml.Node  // made in bulk, not used yet
	items []*yaml.Node // of all lists in brackets, one behind the other
	spans []span       // of all other lists, one behind the other
}

// field is a top-level key with its value and the blank lines below it. The first field has the
// blank lines above it, too.
type field struct {
	start  int   // offset in the YAML
	line   int   // its first line, counted from 1
	weight int   // as recountValues adds it up
	wide   bool  // it holds characters beyond ASCII
	list   *List // its value, when it is a list without nodes
}

// scanFields reads whole lines of the YAML. base and line are the offset and the line where they
// begin.
func scanFields(source []byte, base, line int, compact bool) (*scanner, bool) {
	// The bytes are read as a string without a copy, which would be 4 MB for a board of 100,000
	// tasks. Source is never changed.
	text := unsafe.String(unsafe.SliceData(source), len(source))
	s := &scanner{source: source, text: text, base: base, line: line, compact: compact}
	return s, s.scan()
}

func (s *scanner) scan() bool {
	first := field{start: s.base, line: s.line}
	for s.at < len(s.text) {
		if s.skipBlank() {
			continue
		}
		if len(s.fields) == maxFields || !s.readField() {
			return false
		}
	}
	if len(s.fields) == 0 {
		return false
	}
	s.fields[0].start, s.fields[0].line = first.start, first.line
	return true
}

// skipBlank steps over a blank line.
func (s *scanner) skipBlank() bool {
	c := s.text[s.at]
	return (c == '\n' || c == '\r') && s.skipLineEnd(s.at)
}

// skipLineEnd steps over the line ending at an offset, or over the end of the text.
func (s *scanner) skipLineEnd(end int) bool {
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

// readField reads a key and its value.
func (s *scanner) readField() bool {
	f := field{start: s.base + s.at, line: s.line, weight: s.weight}
	s.beginField()
	end := s.at
	for end < len(s.text) && isKeyByte(s.text[end]) {
		end++
	}
	if end == len(s.text) || s.text[end] != ':' || end == s.at || end-s.at > maxKey || !isLetter(s.text[s.at]) {
		return false
	}
	key, ok := s.makeScalar(s.at, end, 1)
	if !ok || key.Tag != "!!str" {
		return false
	}
	s.weight += 2 // the colon
	value := s.readValue(end + 1)
	if value == nil {
		return false
	}
	f.weight, f.wide, f.list = s.weight-f.weight, s.wide, s.list
	s.fields = append(s.fields, f)
	s.content = append(s.content, key, value)
	return true
}

// beginField starts a field. The first one includes what is above it.
func (s *scanner) beginField() {
	s.fieldAt, s.wide, s.list = s.at, false, nil
	if len(s.fields) == 0 {
		s.fieldAt = 0
	}
	line, _ := cutLine(s.source, s.at)
	s.firstLine, s.firstLineAt = string(line), s.at
}

// firstLineText returns a part of the copy of the field's first line.
func (s *scanner) firstLineText(from, to int) string {
	return s.firstLine[from-s.firstLineAt : to-s.firstLineAt]
}

func isKeyByte(c byte) bool { return isLetter(c) || c >= '0' && c <= '9' || c == '-' }

// readValue reads what follows the colon, and the line ending; nil when it is not plain.
func (s *scanner) readValue(at int) *yaml.Node {
	line, column := s.line, at-s.at+1
	if s.skipLineEnd(at) {
		return s.readBelow(line, column)
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
		n, end, ok = s.readQuoted(from, column)
	case '[':
		n, end, ok = s.readFlow(from, column)
	default:
		if end, ok = s.findPlainEnd(from); ok {
			n, ok = s.makeScalar(from, end, column)
		}
	}
	if !ok || !s.skipLineEnd(end) {
		return nil
	}
	return n
}

// readBelow reads the value of a key with none on its line: a list, or null, which the library puts
// behind the colon.
func (s *scanner) readBelow(line, column int) *yaml.Node {
	for s.at < len(s.text) && s.skipBlank() {
	}
	if s.at < len(s.text) && (s.text[s.at] == ' ' || s.text[s.at] == '-') {
		return s.readList()
	}
	n := s.newNode()
	n.Kind, n.Tag, n.Line, n.Column = yaml.ScalarNode, "!!null", line, column
	return n
}

func (s *scanner) newNode() *yaml.Node {
	if len(s.nodes) == 0 {
		s.nodes = make([]yaml.Node, 8) // enough for a task file and most boards
	}
	n := &s.nodes[0]
	s.nodes = s.nodes[1:]
	return n
}

// hasDuplicateKeys compares all keys of a mapping.
func hasDuplicateKeys(content []*yaml.Node) bool {
	for i := 0; i < len(content); i += 2 {
		for j := 0; j < i; j += 2 {
			if content[i].Value == content[j].Value {
				return true
			}
		}
	}
	return false
}
