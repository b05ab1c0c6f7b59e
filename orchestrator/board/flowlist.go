package board

import (
	"bytes"
	"strings"

	"gopkg.in/yaml.v3"
)

// patchFlow edits a list in brackets. What separates two entries that stay neighbours stays too.
func (b *Board) patchFlow(list *yaml.Node, p plan) patch {
	n := len(b.entries)
	if p.keep == 0 && p.tail == n && (n == 0 || len(p.items) == 0) {
		texts := make([]string, len(p.items))
		for i, it := range p.items {
			texts[i] = b.write(it, true)
		}
		return patch{b.doc.Offset(list) + 1, b.doc.End(list, b.doc.Root) - 1, strings.Join(texts, ", ")}
	}
	from, to := b.doc.Offset(b.entries[0]), b.itemEnd(list, n-1)
	if p.keep > 0 {
		from = b.itemEnd(list, p.keep-1)
	}
	if p.tail < n {
		to = b.doc.Offset(b.entries[p.tail])
	}
	return patch{from, to, b.flowItems(list, p)}
}

func (b *Board) itemEnd(list *yaml.Node, i int) int { return b.doc.End(b.entries[i], list) }

// flowItems is the text between the entries that are left alone on both sides, with the commas.
func (b *Board) flowItems(list *yaml.Node, p plan) string {
	var out strings.Builder
	last := p.keep - 1
	for i, it := range p.items {
		if i > 0 || p.keep > 0 {
			out.WriteString(b.separator(list, last, it.from))
		}
		if it.from < 0 || it.restate {
			out.WriteString(b.write(it, true))
		} else {
			out.Write(b.Source[b.doc.Offset(b.entries[it.from]):b.itemEnd(list, it.from)])
		}
		last = it.from
	}
	switch {
	case p.tail == len(b.entries) || p.keep == 0 && len(p.items) == 0:
	case p.tail == 0:
		out.WriteString(b.separator(list, last, 0))
	default:
		out.Write(b.between(list, p.tail))
	}
	return out.String()
}

// separator is what to put between two entries, by their old numbers: as the author has it when they were neighbours or when it holds a
// comment, else as between the first two.
func (b *Board) separator(list *yaml.Node, before, after int) string {
	if after > 0 {
		if own := b.between(list, after); before == after-1 || bytes.IndexByte(own, '#') >= 0 {
			return string(own)
		}
	}
	if len(b.entries) > 1 {
		if first := b.between(list, 1); bytes.IndexByte(first, '#') < 0 {
			return string(first)
		}
	}
	return ", "
}

// between is the text from the end of entry i-1 to entry i: a comma, white space, perhaps comments.
func (b *Board) between(list *yaml.Node, i int) []byte {
	return b.Source[b.itemEnd(list, i-1):b.doc.Offset(b.entries[i])]
}
