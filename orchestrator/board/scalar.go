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

// isPlain reports whether a path needs no quotes.
func isPlain(s string, flow bool) bool {
	if s == "" || strings.HasPrefix(s, "---") || isBoolean11(s) {
		return false
	}
	if flow {
		return readsBack("["+s+", x]", s, 2)
	}
	return readsBack("- "+s, s, 1) && readsBack("x: "+s, s, 2)
}

// readsBack reports whether a YAML text can be read back as a list or map with the given number of
// nodes. Its first value has to be the plain text of the second argument. An entry of a map has two
// nodes.
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
