package matter

import (
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// scalar makes the node of a plain value. Its line is the one that is being read.
func (s *scanner) scalar(from, end, column int) (*yaml.Node, bool) {
	if from == end {
		return nil, false
	}
	value := s.piece(from, end)
	tag := plainTag(value)
	if tag == "" {
		return nil, false
	}
	n := s.node()
	n.Kind, n.Tag, n.Value, n.Line, n.Column = yaml.ScalarNode, tag, value, s.line, column
	return n, true
}

// plainTag is the tag that the library gives to a value without quotes; "" leaves the value to it, because the first character
// may mean something. The library itself is asked about what could be true, false, null, a number or a date: those words are
// short, and no number or date holds one of the notInNumbers.
func plainTag(value string) string {
	switch c := value[0]; {
	case c == 't', c == 'T', c == 'f', c == 'F', c == 'n', c == 'N', c == '~':
		if len(value) <= len("false") {
			return resolvedTag(value)
		}
	case c >= '0' && c <= '9', c == '.':
		if !strings.ContainsAny(value, notInNumbers) {
			return resolvedTag(value)
		}
	case isLetter(c), c == '/', c >= utf8.RuneSelf:
	default:
		return ""
	}
	return "!!str"
}

const notInNumbers = "/ghjklmqrsuvwy"

func resolvedTag(value string) string {
	return (&yaml.Node{Kind: yaml.ScalarNode, Value: value}).ShortTag()
}

// plainEnd finds the end of a value without quotes, which is the end of its line.
func (s *scanner) plainEnd(from int) (end int, ok bool) {
	at := wordEnd(s.source, from)
	if at < len(s.source) && s.source[at] == '\n' && s.source[at-1] != '-' {
		return at, true
	}
	return s.textEnd(at)
}

// inWord are the characters that mean nothing wherever they stand in a value: those of most paths.
var inWord = func() (is [256]bool) {
	for _, c := range []byte("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-") {
		is[c] = true
	}
	return is
}()

func wordEnd(b []byte, at int) int {
	for i, c := range b[at:] {
		if !inWord[c] {
			return at + i
		}
	}
	return len(b)
}

// textEnd goes on behind the first word of a value without quotes.
func (s *scanner) textEnd(at int) (end int, ok bool) {
	if s.text[at-1] == '-' {
		s.weight += weigh(s.source, at-1)
	}
	for !s.breakAt(at) {
		size := s.admit(at)
		next := at + size
		switch {
		case size == 0,
			s.text[at] == ':' && (s.breakAt(next) || s.text[next] == ' '), // a key
			s.text[at] == ' ' && (s.breakAt(next) || s.text[next] == '#'): // nothing, or a comment
			return 0, false
		}
		at = next
	}
	return at, s.depth == 0
}

func (s *scanner) breakAt(at int) bool {
	return at == len(s.text) || s.text[at] == '\n' || s.text[at] == '\r'
}

// maxBrackets is how deep brackets in a value may be nested. They must be balanced, or lines that are harmless one by one would
// together exceed the shield.
const maxBrackets = 8

// admit is the length of the character at an offset when it may stand in a value, else 0. It does what guard does: the
// scanner's text does not pass there.
func (s *scanner) admit(at int) int {
	switch c := s.text[at]; {
	case c == '-', c == '?', c == ':', c == ',', c == '#':
		s.weight += weigh(s.source, at)
	case c == '[', c == '{':
		s.weight += weigh(s.source, at)
		if s.depth++; s.depth > maxBrackets {
			return 0
		}
	case c == ']', c == '}':
		s.depth = max(s.depth-1, 0)
	case c < ' ', c == 0x7f:
		return 0
	case c >= utf8.RuneSelf:
		r, size := utf8.DecodeRuneInString(s.text[at:])
		if text, _ := judgeRune(r, size); text != "" {
			return 0
		}
		s.wide = true
		return size
	}
	return 1
}

// quoted reads a value in quotes that holds neither escapes nor quotes.
func (s *scanner) quoted(from, column int) (n *yaml.Node, end int, ok bool) {
	quote := s.text[from]
	at := from + 1
	for at < len(s.text) && s.text[at] != quote {
		size := s.admit(at)
		if size == 0 || s.text[at] == '\\' && quote == '"' {
			return nil, 0, false
		}
		at += size
	}
	if at == len(s.text) || s.depth > 0 {
		return nil, 0, false
	}
	n = s.node()
	n.Kind, n.Style, n.Tag, n.Value, n.Line, n.Column = yaml.ScalarNode, yaml.DoubleQuotedStyle, "!!str", s.piece(from+1, at), s.line, column
	if quote == '\'' {
		n.Style = yaml.SingleQuotedStyle
	}
	return n, at + 1, true
}

// flow reads a list in brackets on one line, of words and values in quotes, all ASCII: columns count characters.
func (s *scanner) flow(from, column int) (list *yaml.Node, end int, ok bool) {
	list = s.node()
	list.Kind, list.Style, list.Tag, list.Line, list.Column = yaml.SequenceNode, yaml.FlowStyle, "!!seq", s.line, column
	s.weight += weigh(s.source, from)
	at := from + 1
	if at < len(s.text) && s.text[at] == ']' {
		return list, at + 1, true
	}
	first := len(s.items)
	for {
		n, end, ok := s.flowItem(at, column+at-from)
		if !ok || end == len(s.text) {
			return nil, 0, false
		}
		s.items = append(s.items, n)
		switch s.text[end] {
		case ']':
			list.Content = s.items[first:len(s.items):len(s.items)]
			return list, end + 1, true
		case ',':
			s.weight += weigh(s.source, end)
		default:
			return nil, 0, false
		}
		if at = end + 1; at < len(s.text) && s.text[at] == ' ' {
			at++
		}
	}
}

func (s *scanner) flowItem(from, column int) (n *yaml.Node, end int, ok bool) {
	if from < len(s.text) && (s.text[from] == '"' || s.text[from] == '\'') {
		n, end, ok = s.quoted(from, column)
		return n, end, ok && isASCII(s.source[from:end])
	}
	end = wordEnd(s.source, from)
	if s.text[end-1] == '-' {
		s.weight += weigh(s.source, end-1)
	}
	n, ok = s.scalar(from, end, column)
	return n, end, ok
}
