package board

import (
	"strings"

	"gopkg.in/yaml.v3"
)

// item is one entry of the list to write: old entry number from, whose text is kept, or a new one (from < 0). restate
// replaces the text of an old one, because the state behind its path changed.
type item struct {
	from    int
	restate bool
	entry   *Entry // what is wanted
}

// plan is how to turn the list into the wanted one. The first keep entries and the last ones from old number tail on stay as
// they are, byte for byte; items is what comes between.
type plan struct {
	keep, tail int
	items      []item
}

func (b *Board) planTasks(wanted []Entry) plan {
	old := b.TaskPaths()
	p := plan{tail: len(old)}
	for p.keep < len(old) && p.keep < len(wanted) && b.keeps(p.keep, &wanted[p.keep]) {
		p.keep++
	}
	end := len(wanted)
	for p.tail > p.keep && end > p.keep && b.keeps(p.tail-1, &wanted[end-1]) {
		p.tail, end = p.tail-1, end-1
	}
	unused := newQueues(old, p.keep, p.tail)
	p.items = make([]item, 0, end-p.keep)
	for i := range wanted[p.keep:end] {
		w := &wanted[p.keep+i]
		it := item{from: unused.take(w.Path), entry: w}
		it.restate = it.from >= 0 && !b.keeps(it.from, w) && b.isScalar(it.from)
		p.items = append(p.items, it)
	}
	return p
}

// queues are the numbers of old entries that were not taken yet, by their paths. Those of one path are taken in their order.
type queues struct {
	first map[string]int
	next  []int // the number of the next one with the same path, or -1
	from  int   // the number of the first in next
}

func newQueues(old []string, from, to int) queues {
	q := queues{make(map[string]int, to-from), make([]int, to-from), from}
	for i := to - 1; i >= from; i-- {
		path := clean(old[i])
		q.next[i-from] = -1
		if after, ok := q.first[path]; ok {
			q.next[i-from] = after
		}
		q.first[path] = i
	}
	return q
}

func (q queues) take(path string) int {
	path = clean(path)
	i, ok := q.first[path]
	if !ok || i < 0 {
		return -1
	}
	q.first[path] = q.next[i-q.from]
	return i
}

// keeps says whether an old entry is what is wanted. A wanted entry without a state leaves the author's.
func (b *Board) keeps(i int, wanted *Entry) bool {
	return meansSame(b.TaskPaths()[i], wanted.Path) && (wanted.State == "" || fold(wanted.State) == fold(b.Entry(i).State))
}

func (p plan) nothing() bool { return p.keep == p.tail && len(p.items) == 0 }

// removed says which of the old entries are not in the new list.
func (p plan) removed(old int) []bool {
	gone := make([]bool, old)
	for i := p.keep; i < p.tail; i++ {
		gone[i] = true
	}
	for _, it := range p.items {
		if it.from >= 0 {
			gone[it.from] = false
		}
	}
	return gone
}

// write is the text of an item without what separates it from others, in brackets or on a line.
func (b *Board) write(it item, flow bool) string {
	value := it.entry.Path
	if it.restate {
		value = b.TaskPaths()[it.from] // as the author spelled it
	}
	if it.entry.State != "" {
		value += " [" + it.entry.State + "]"
	}
	if it.from >= 0 {
		return encode(value, b.style(it.from), flow)
	}
	return encode(value, b.habit(), flow)
}

// habit is how the author quotes entries, as far as the first one shows.
func (b *Board) habit() yaml.Style {
	if b.Len() > 0 && b.isScalar(0) {
		return b.style(0)
	}
	return 0
}

// patchTasks makes the list the wanted one.
func (b *Board) patchTasks(wanted []Entry) ([]patch, error) {
	key, list := b.doc.Field("tasks")
	if list == nil {
		return b.newList(wanted), nil
	}
	p := b.planTasks(wanted)
	switch {
	case list.Kind == yaml.ScalarNode:
		return b.fillNull(list, wanted), nil
	case p.nothing():
		return nil, nil
	case list.Style&yaml.FlowStyle != 0:
		return []patch{b.patchFlow(list, p)}, nil
	}
	return b.patchBlock(key, list, p)
}

func (b *Board) newList(wanted []Entry) []patch {
	if len(wanted) == 0 || b.flowRoot() {
		return []patch{b.insertField("tasks: " + b.flowText(wanted))}
	}
	return []patch{b.insertField("tasks:" + b.eol() + b.blockText(wanted))}
}

// fillNull gives a list to a field tasks that was left empty or is null.
func (b *Board) fillNull(value *yaml.Node, wanted []Entry) []patch {
	if len(wanted) == 0 {
		return nil // no list and an empty list are the same
	}
	if b.flowRoot() {
		return []patch{b.patchScalar(value, b.doc.Root, b.flowText(wanted))}
	}
	end := b.doc.End(value, b.doc.Root)
	return []patch{{b.doc.Offset(value), end, ""}, b.insertBelow(end, b.blockText(wanted))}
}

func (b *Board) flowText(wanted []Entry) string {
	texts := make([]string, len(wanted))
	for i := range wanted {
		texts[i] = b.write(item{from: -1, entry: &wanted[i]}, true)
	}
	return "[" + strings.Join(texts, ", ") + "]"
}

// blockText is a list without the last newline.
func (b *Board) blockText(wanted []Entry) string {
	lines := make([]string, len(wanted))
	for i := range wanted {
		lines[i] = b.rootIndent() + "  - " + b.write(item{from: -1, entry: &wanted[i]}, false)
	}
	return strings.Join(lines, b.eol())
}
