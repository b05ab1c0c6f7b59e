package frontmatter

import (
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// makeScalar makes the node of an unquoted value on the current line.
func (s *scanner) makeScalar(from, end, column int) (*yaml.Node, bool) {
	if from == end {
		return nil, false
	}
	value := s.firstLineText(from, end)
	tag := plainTag(value)
	if tag == "" {
		return nil, false
	}
	n := s.newNode()
	n.Kind, n.Tag, n.Value, n.Line, n.Column = yaml.ScalarNode, tag, value, s.line, column
	return n, true
}

// plainTag returns the tag that the library gives to an unquoted value, "" when its first character
// may mean something. It asks the library about what could be true, false, null, a number or a
// date: the words are short, and no number or date holds one of notInNumbers.
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

// findPlainEnd finds the end of an unquoted value, which is the end of its line.
func (s *scanner) findPlainEnd(from int) (end int, ok bool) {
	at := findWordEnd(s.source, from)
	if at < len(s.source) && s.source[at] == '\n' && s.source[at-1] != '-' {
		return at, true
	}
	return s.findTextEnd(at)
}

// isWordByte holds the characters without a meaning anywhere in a value: those of most paths.
var isWordByte = func() (is [256]bool) {
	for _, c := range []byte("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-") {
		is[c] = true
	}
	return is
}()

func findWordEnd(b []byte, at int) int {
	for i, c := range b[at:] {
		if !isWordByte[c] {
			return at + i
		}
	}
	return len(b)
}

// findTextEnd reads on behind the first word of an unquoted value.
func (s *scanner) findTextEnd(at int) (end int, ok bool) {
	if s.text[at-1] == '-' {
		s.weight += weigh(s.source, at-1)
	}
	for !s.isBreakAt(at) {
		size := s.admit(at)
		next := at + size
		switch {
		case size == 0,
			s.text[at] == ':' && (s.isBreakAt(next) || s.text[next] == ' '), // a key
			s.text[at] == ' ' && (s.isBreakAt(next) || s.text[next] == '#'): // nothing, or a comment
			return 0, false
		}
		at = next
	}
	return at, s.depth == 0
}

func (s *scanner) isBreakAt(at int) bool {
	return at == len(s.text) || s.text[at] == '\n' || s.text[at] == '\r'
}

// maxBrackets bounds nested brackets in a value. They must be balanced, or harmless lines could
// together exceed maxNesting.
const maxBrackets = 8

// admit returns the length of the character at an offset when a value may hold it, else 0. It
// repeats guard, which does not see the scanner's text.
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

// readQuoted reads a quoted value without escapes and without quotes in it.
func (s *scanner) readQuoted(from, column int) (n *yaml.Node, end int, ok bool) {
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
	n = s.newNode()
	n.Kind, n.Style, n.Tag, n.Value, n.Line, n.Column = yaml.ScalarNode, yaml.DoubleQuotedStyle, "!!str",
		s.firstLineText(from+1, at), s.line, column
	if quote == '\'' {
		n.Style = yaml.SingleQuotedStyle
	}
	return n, at + 1, true
}

// readFlow reads a list in brackets on one line, of words and quoted values, all ASCII: columns
// count characters.
func (s *scanner) readFlow(from, column int) (list *yaml.Node, end int, ok bool) {
	list = s.newNode()
	list.Kind, list.Style, list.Tag, list.Line, list.Column = yaml.SequenceNode, yaml.FlowStyle, "!!seq", s.line, column
	s.weight += weigh(s.source, from)
	at := from + 1
	if at < len(s.text) && s.text[at] == ']' {
		return list, at + 1, true
	}
	first := len(s.items)
	for {
		n, end, ok := s.readFlowItem(at, column+at-from)
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

func (s *scanner) readFlowItem(from, column int) (n *yaml.Node, end int, ok bool) {
	if from < len(s.text) && (s.text[from] == '"' || s.text[from] == '\'') {
		n, end, ok = s.readQuoted(from, column)
		return n, end, ok && isASCII(s.source[from:end])
	}
	end = findWordEnd(s.source, from)
	if s.text[end-1] == '-' {
		s.weight += weigh(s.source, end-1)
	}
	n, ok = s.makeScalar(from, end, column)
	return n, end, ok
}
