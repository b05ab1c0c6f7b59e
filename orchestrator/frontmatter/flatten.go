package frontmatter

import "gopkg.in/yaml.v3"

// Value is a scalar somewhere below a field. Name has the keys that lead to the scalar, such as
// "mcp_timeout.end".
type Value struct {
	Name string
	Text string
	Node *yaml.Node
	Line int // line in the file, counted from 1
}

// Flatten lists the scalars at and below a node, in file order. A list or an empty mapping is one
// entry, with the text "".
func (d *Document) Flatten(node *yaml.Node) []Value { return d.flatten("", node) }

func (d *Document) flatten(name string, node *yaml.Node) (all []Value) {
	if node == nil {
		return nil
	}
	if node.Kind != yaml.MappingNode || len(node.Content) == 0 {
		line, _ := d.Position(node)
		return []Value{{name, scalarOf(node), node, line}}
	}
	if name != "" {
		name += "."
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		all = append(all, d.flatten(name+node.Content[i].Value, node.Content[i+1])...)
	}
	return all
}

func scalarOf(node *yaml.Node) string {
	if node.Kind == yaml.ScalarNode {
		return node.Value
	}
	return ""
}
