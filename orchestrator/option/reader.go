package option

import (
	"fmt"
	"iter"
	"strings"

	"gopkg.in/yaml.v3"

	"kanban-run/orchestrator/frontmatter"
)

// Reader reads the values of a document and keeps the first fault, so that its user need not check
// each value for an error.
type Reader struct {
	Doc *frontmatter.Document
	Err error
}

// Fail notes a fault at a node.
func (r *Reader) Fail(n *yaml.Node, fix, format string, args ...any) {
	if r.Err == nil {
		r.Err = r.Doc.Problem(n, fmt.Sprintf(format, args...), fix)
	}
}

// Fields iterates over the keys of a mapping with their values. Any other node has none.
func Fields(n *yaml.Node) iter.Seq2[*yaml.Node, *yaml.Node] {
	return func(yield func(key, value *yaml.Node) bool) {
		for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
			if !yield(n.Content[i], n.Content[i+1]) {
				return
			}
		}
	}
}

// List returns the texts of a list, and nil for a value that is no list of texts.
func (r *Reader) List(value *yaml.Node, name string) []string {
	if value.Kind != yaml.SequenceNode {
		r.Fail(value, "write a list: [ONE, TWO]", "%s must be a list", name)
		return nil
	}
	items := []string{}
	for _, item := range value.Content {
		if item.Kind != yaml.ScalarNode || item.Tag == "!!null" || strings.ContainsRune(item.Value, 0) {
			r.Fail(item, "quote each entry", "%s must be a list of texts", name)
			return nil
		}
		items = append(items, item.Value)
	}
	return items
}
