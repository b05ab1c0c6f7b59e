package frontmatter

import (
	"fmt"

	"gopkg.in/yaml.v3"
)

// inspect refuses legal YAML that programs read differently: anchors, aliases, merge keys, tags and
// duplicate keys. The YAML library accepts all of these in a tree.
func (d *Document) inspect(n *yaml.Node, depth int) error {
	if err := d.inspectNode(n); err != nil {
		return err
	}
	if n.Kind == yaml.ScalarNode {
		return nil
	}
	if depth > maxDepth {
		return d.Problem(n, fmt.Sprintf("the YAML is nested more than %d deep", maxDepth), "flatten it")
	}
	if n.Kind == yaml.MappingNode {
		if err := d.inspectKeys(n); err != nil {
			return err
		}
	}
	for _, child := range n.Content {
		if err := d.inspect(child, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (d *Document) inspectNode(n *yaml.Node) error {
	const plainly = "write the value out"
	switch {
	case n.Kind == yaml.AliasNode:
		return d.Problem(n, fmt.Sprintf("aliases (*%s) are not allowed", n.Value), plainly)
	case n.Anchor != "":
		return d.Problem(n, fmt.Sprintf("anchors (&%s) are not allowed", n.Anchor), plainly)
	case n.Style&yaml.TaggedStyle != 0:
		return d.Problem(n, fmt.Sprintf("tags (%s) are not allowed", n.Tag), "quote the value instead when it is text")
	case n.Tag == "!!merge":
		return d.Problem(n, "merge keys (<<) are not allowed", plainly)
	}
	// The library drops the tag ! silently, but the node then begins at the !.
	if at := d.Offset(n); at < len(d.Source) && d.Source[at] == '!' {
		return d.Problem(n, "tags (!) are not allowed", "quote the value instead when it is text")
	}
	return nil
}

// inspectKeys refuses missing keys, keys that are not scalars, and duplicate keys. Keys are
// compared as text, so a key in quotes, such as "1", equals the same key without quotes.
func (d *Document) inspectKeys(n *yaml.Node) error {
	seen := make(map[string]*yaml.Node, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if key.Kind != yaml.ScalarNode {
			if err := d.inspectNode(key); err != nil {
				return err
			}
			return d.Problem(key, "a key must be plain text", "quote the value before it, or put the key in quotes")
		}
		if key.Tag == "!!null" {
			return d.Problem(key, "a value has no key", "write key: value; quote the key when it is the word null")
		}
		if first, twice := seen[key.Value]; twice {
			line, _ := d.Position(first)
			return d.Problem(key, fmt.Sprintf("the key %q is already on line %d", key.Value, line),
				"remove one of the two")
		}
		seen[key.Value] = key
	}
	return nil
}
