package board

import (
	"strings"

	"gopkg.in/yaml.v3"
)

// encode returns a path as a YAML scalar in the given style, or in quotes if it needs them. flow is
// true if the scalar is in brackets, where more paths need quotes.
func encode(s string, style yaml.Style, flow bool) string {
	switch {
	case style&yaml.DoubleQuotedStyle != 0:
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
	case style&yaml.SingleQuotedStyle != 0, !isPlain(s, flow):
		return "'" + strings.ReplaceAll(s, "'", "''") + "'"
	}
	return s
}

// isPlain reports whether a path needs no quotes. For an unusual path it tries the YAML library.
func isPlain(s string, flow bool) bool {
	if isSimple(s) {
		return true
	}
	if s == "" || strings.HasPrefix(s, "---") || isBoolean11(s) {
		return false
	}
	if flow {
		return readsBack("["+s+", x]", s, 2)
	}
	return readsBack("- "+s, s, 1) && readsBack("x: "+s, s, 2)
}

// isSimple reports whether a path looks like dir/name.ext: a letter, then letters, digits, - and _,
// and at least one slash or dot.
func isSimple(s string) bool {
	mark := false
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
		case i == 0:
			return false
		case c == '/', c == '.':
			mark = true
		case c >= '0' && c <= '9', c == '-', c == '_':
		default:
			return false
		}
	}
	return mark
}

// readsBack reports whether source parses as a list or a map whose first value is the plain text
// want. length is the number of its nodes: a map has two for each entry.
func readsBack(source, want string, length int) bool {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(source), &doc); err != nil || len(doc.Content) != 1 ||
		len(doc.Content[0].Content) != length {
		return false
	}
	n := doc.Content[0].Content[0]
	if doc.Content[0].Kind == yaml.MappingNode {
		n = doc.Content[0].Content[1]
	}
	return n.Kind == yaml.ScalarNode && n.Tag == "!!str" && n.Style == 0 && n.Value == want && n.Anchor == "" &&
		n.LineComment == ""
}
