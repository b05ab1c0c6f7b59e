package board

import (
	"bytes"
	"strings"

	"gopkg.in/yaml.v3"
)

// block holds the places of the entries of a list that has one dash per entry. Entry i is
// Source[start[i]:end[i]]. Blank and comment lines above entry i lie between end[i-1] and start[i].
type block struct {
	start, end []int
	indent     string // white space before each dash
}

func (b *Board) patchBlock(key, list *yaml.Node, p plan) ([]patch, error) {
	lines, ok := b.findLines(list)
	if !ok {
		return nil, &SpliceError{b.File, "the list of tasks does not begin on a line of its own"}
	}
	n := b.Len()
	if p.keep == 0 && p.tail == n && len(p.items) == 0 {
		return b.emptyList(key, lines, p), nil
	}
	from, to := lines.start[0], lines.end[n-1]
	if p.keep > 0 {
		from = lines.end[p.keep-1]
	}
	if p.tail < n {
		to = lines.start[p.tail]
	}
	return []patch{{from, to, b.formatBlockItems(lines, p, from, to)}}, nil
}

// findLines returns the lines of every entry. It returns false if an entry lacks a dash in the
// column of the list. The dash may stand above the line on which the value begins.
func (b *Board) findLines(list *yaml.Node) (block, bool) {
	n := b.Len()
	lines := block{start: make([]int, 0, n), end: make([]int, 0, n), indent: strings.Repeat(" ", list.Column-1)}
	floor := b.doc.Start
	for i := range n {
		from, to := b.extent(list, i)
		start := b.lineStart(from)
		for start > floor && !lines.dashAt(b.Source[start:]) {
			start = b.lineStart(start - 1)
		}
		if start < floor || !lines.dashAt(b.Source[start:]) {
			return lines, false
		}
		floor = b.nextLine(to)
		lines.start = append(lines.start, start)
		lines.end = append(lines.end, floor)
	}
	return lines, true
}

func (l block) dashAt(line []byte) bool {
	return len(line) > len(l.indent) && string(line[:len(l.indent)]) == l.indent && line[len(l.indent)] == '-'
}

// emptyList returns the edits that turn a list into []. Comments between the entries stay below the
// [].
func (b *Board) emptyList(key *yaml.Node, lines block, p plan) []patch {
	colon := b.doc.End(key, b.doc.Root)
	colon += bytes.IndexByte(b.Source[colon:], ':') + 1
	var comments strings.Builder
	for i := 1; i < len(lines.start); i++ {
		comments.WriteString(b.commentsAbove(lines, i))
	}
	return []patch{{colon, colon, " []"}, {lines.start[0], lines.end[len(lines.end)-1], comments.String()}}
}

// formatBlockItems returns the text of p.items, which replaces Source[from:to]. The lines above a
// moved entry move with it. Comments above a removed entry stay where they are.
func (b *Board) formatBlockItems(lines block, p plan, from, to int) string {
	var out strings.Builder
	out.Grow(to - from)
	out.WriteString(b.missingNewline(from))
	gone, cursor := p.removed(b.Len()), p.keep
	leave := func(until int) {
		for ; cursor < until; cursor++ {
			if gone[cursor] {
				out.WriteString(b.commentsAbove(lines, cursor))
			}
		}
	}
	for _, it := range p.items {
		leave(it.from)
		if it.from < 0 {
			out.WriteString(lines.indent + "- " + b.formatItem(it, false) + b.lineEnding())
			continue
		}
		out.Write(b.linesAbove(lines, it.from))
		b.writeEntry(&out, lines, it)
	}
	leave(p.tail)
	if p.tail < b.Len() {
		out.Write(b.linesAbove(lines, p.tail))
		return out.String()
	}
	return b.trimNewline(out.String(), to)
}

// missingNewline returns a line ending if the board's text up to an offset does not end with a
// newline. It returns "" otherwise.
func (b *Board) missingNewline(at int) string {
	if at > b.doc.Start && b.Source[at-1] != '\n' {
		return b.lineEnding()
	}
	return ""
}

// trimNewline removes the last newline of a text if the board has no newline right before an
// offset.
func (b *Board) trimNewline(text string, at int) string {
	if b.missingNewline(at) != "" {
		return strings.TrimSuffix(text, b.lineEnding())
	}
	return text
}

// linesAbove returns the blank and comment lines above entry i. It returns nil for the first entry,
// because the lines above that one belong to the list.
func (b *Board) linesAbove(lines block, i int) []byte {
	if i == 0 {
		return nil
	}
	return b.Source[lines.end[i-1]:lines.start[i]]
}

func (b *Board) commentsAbove(lines block, i int) string {
	var out strings.Builder
	for line := range bytes.Lines(b.linesAbove(lines, i)) {
		if bytes.IndexByte(line, '#') >= 0 {
			out.Write(line)
		}
	}
	return out.String()
}

// writeEntry writes the lines of an old entry, with a newline at the end. If the state of the entry
// changed, the entry gets a new text.
func (b *Board) writeEntry(out *strings.Builder, lines block, it item) {
	start, end := lines.start[it.from], lines.end[it.from]
	if it.restate {
		from, to := b.extent(&yaml.Node{Column: len(lines.indent) + 1}, it.from)
		out.Write(b.Source[start:from])
		out.WriteString(b.formatItem(it, false))
		start = to
	}
	out.Write(b.Source[start:end])
	out.WriteString(b.missingNewline(end))
}
