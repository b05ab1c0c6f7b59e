package frontmatter

import (
	"bytes"

	"gopkg.in/yaml.v3"
)

// End returns the offset in Source after a node's last byte: after the closing quote or bracket, or
// after the last line of text without its newline. parent is the node that holds n. The indentation
// of parent decides where a text block ends.
func (d *Document) End(n, parent *yaml.Node) int {
	at := d.Offset(n)
	switch {
	case n.Kind == yaml.ScalarNode:
		return d.endScalar(n, parent, at)
	case at < len(d.Source) && d.Source[at] == '[' && n.Kind == yaml.SequenceNode:
		return d.endFlow(n, at+1, ']')
	case at < len(d.Source) && d.Source[at] == '{' && n.Kind == yaml.MappingNode:
		return d.endFlow(n, at+1, '}')
	}
	if len(n.Content) > 0 {
		at = max(at, d.End(n.Content[len(n.Content)-1], n))
		if n.Kind == yaml.MappingNode {
			at = max(at, d.End(n.Content[len(n.Content)-2], n))
		}
	}
	return at
}

// endFlow returns the offset after the closing bracket. It starts at the last child and skips
// commas, white space and comments.
func (d *Document) endFlow(n *yaml.Node, at int, closing byte) int {
	for _, child := range n.Content[max(0, len(n.Content)-2):] {
		at = max(at, d.End(child, n))
	}
	limit := d.Start + len(d.YAML)
	for at < limit && d.Source[at] != closing {
		if d.Source[at] == '#' {
			_, at = cutLine(d.Source[:limit], at)
			continue
		}
		at++
	}
	return min(at+1, limit)
}

func (d *Document) endScalar(n, parent *yaml.Node, at int) int {
	limit := d.Start + len(d.YAML)
	text := d.Source[:limit]
	switch {
	case n.Style&yaml.DoubleQuotedStyle != 0:
		return endQuoted(text, at+1, '"')
	case n.Style&yaml.SingleQuotedStyle != 0:
		return endQuoted(text, at+1, '\'')
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		return endBlock(text, at, parent.Column-1)
	}
	return endPlain(text, at, n.Value)
}

// endQuoted returns the offset after the closing quote. It skips \" in double quotes and a doubled
// quote in single quotes.
func endQuoted(text []byte, at int, quote byte) int {
	for at < len(text) {
		switch {
		case text[at] == '\\' && quote == '"':
			at++
		case text[at] == quote && quote == '\'' && at+1 < len(text) && text[at+1] == quote:
			at++
		case text[at] == quote:
			return at + 1
		}
		at++
	}
	return len(text)
}

// endBlock returns the offset after the last text of a | or > block. The block ends before the
// first line that is indented no further than the block's parent. The parameter indent is the
// parent's indentation in characters.
func endBlock(text []byte, at, indent int) int {
	line, next := cutLine(text, at)
	end := at + len(bytes.TrimRight(line, "\r"))
	for next < len(text) {
		start := next
		line, next = cutLine(text, start)
		line = bytes.TrimRight(line, "\r")
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if len(line)-len(bytes.TrimLeft(line, " ")) <= indent {
			break
		}
		end = start + len(line)
	}
	return end
}

// endPlain returns the offset after a plain scalar. Line breaks and indentation in the text match
// spaces or newlines in the scalar's value.
func endPlain(text []byte, at int, value string) int {
	for i := 0; i < len(value); {
		if at < len(text) && text[at] == value[i] && value[i] != '\n' {
			at, i = at+1, i+1
			continue
		}
		for i < len(value) && (value[i] == ' ' || value[i] == '\n') {
			i++
		}
		from := at
		for at < len(text) && (text[at] == ' ' || text[at] == '\t' || text[at] == '\r' || text[at] == '\n') {
			at++
		}
		if from == at {
			break
		}
	}
	return at
}
