package board

import (
	"bytes"
	"strings"

	"gopkg.in/yaml.v3"
)

// patchFlow returns the edit of a list in brackets. If two entries stay neighbours, the separator
// between them stays too.
func (b *Board) patchFlow(list *yaml.Node, p plan) patch {
	n := b.Len()
	if p.keep == 0 && p.tail == n && (n == 0 || len(p.items) == 0) {
		texts := make([]string, len(p.items))
		for i, it := range p.items {
			texts[i] = b.formatItem(it, true)
		}
		return patch{b.doc.Offset(list) + 1, b.doc.End(list, b.doc.Root) - 1, strings.Join(texts, ", ")}
	}
	from, to := b.itemStart(0), b.itemEnd(list, n-1)
	if p.keep > 0 {
		from = b.itemEnd(list, p.keep-1)
	}
	if p.tail < n {
		to = b.itemStart(p.tail)
	}
	return patch{from, to, b.formatFlowItems(list, p)}
}

func (b *Board) itemStart(i int) int { return b.doc.Offset(b.nodes[i]) }

func (b *Board) itemEnd(list *yaml.Node, i int) int { return b.doc.End(b.nodes[i], list) }

// formatFlowItems returns the text of p.items. If entries stay before or after p.items, the text
// includes the separator on that side.
func (b *Board) formatFlowItems(list *yaml.Node, p plan) string {
	var out strings.Builder
	last := p.keep - 1
	for i, it := range p.items {
		if i > 0 || p.keep > 0 {
			out.WriteString(b.separator(list, last, it.from))
		}
		if it.from < 0 || it.restate {
			out.WriteString(b.formatItem(it, true))
		} else {
			out.Write(b.Source[b.itemStart(it.from):b.itemEnd(list, it.from)])
		}
		last = it.from
	}
	switch {
	case p.tail == b.Len() || p.keep == 0 && len(p.items) == 0:
	case p.tail == 0:
		out.WriteString(b.separator(list, last, 0))
	default:
		out.Write(b.between(list, p.tail))
	}
	return out.String()
}

// separator returns the text to write between two entries, given by their old numbers. It returns
// the first of these texts that fits:
//   - the author's text before the second entry, if the two entries were neighbours or this text
//     holds a comment
//   - the author's text between the first two entries of the list, if it holds no comment
//   - a comma and a space
func (b *Board) separator(list *yaml.Node, before, after int) string {
	if after > 0 {
		if own := b.between(list, after); before == after-1 || bytes.IndexByte(own, '#') >= 0 {
			return string(own)
		}
	}
	if b.Len() > 1 {
		if first := b.between(list, 1); bytes.IndexByte(first, '#') < 0 {
			return string(first)
		}
	}
	return ", "
}

// between returns the text from the end of entry i-1 to entry i: a comma, white space and perhaps
// comments.
func (b *Board) between(list *yaml.Node, i int) []byte {
	return b.Source[b.itemEnd(list, i-1):b.itemStart(i)]
}
