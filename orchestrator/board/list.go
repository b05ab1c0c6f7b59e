package board

import (
	"strings"

	"gopkg.in/yaml.v3"
)

// item is an entry to write. The field "from" is the index of the old entry whose text is kept, and
// negative for a new entry. If the field "restate" is set, the old entry gets a new text because
// its state changed.
type item struct {
	from    int
	restate bool
	entry   *Entry // the wanted entry
	text    string // text to write; "" if the wanted entry gives the text
}

// plan describes how the old list becomes the wanted one. The fields "keep" and "tail" are indexes
// of old entries. The old entries before index "keep" stay byte for byte, and so do those from
// index "tail" on. The items replace the old entries in between.
type plan struct {
	keep, tail int
	items      []item
}

func (b *Board) planTasks(wanted []Entry) plan {
	old := b.TaskPaths()
	p := plan{tail: len(old)}
	for p.keep < len(old) && p.keep < len(wanted) && b.matches(p.keep, &wanted[p.keep]) {
		p.keep++
	}
	end := len(wanted)
	for p.tail > p.keep && end > p.keep && b.matches(p.tail-1, &wanted[end-1]) {
		p.tail, end = p.tail-1, end-1
	}
	unused := newQueues(old, p.keep, p.tail)
	p.items = make([]item, 0, end-p.keep)
	for i := range wanted[p.keep:end] {
		w := &wanted[p.keep+i]
		it := item{from: unused.pop(w.Path), entry: w}
		it.restate = it.from >= 0 && !b.matches(it.from, w) && b.isScalar(it.from)
		p.items = append(p.items, it)
	}
	return p
}

// queues holds the unused old entries of each path, in their order.
type queues struct {
	first map[string]int // index of the first unused entry of a path; -1 if all are used
	next  []int          // next[i-from] is the index of the next entry with entry i's path, or -1
	from  int            // index of the entry that next[0] belongs to
}

func newQueues(old []string, from, to int) queues {
	q := queues{make(map[string]int, to-from), make([]int, to-from), from}
	for i := to - 1; i >= from; i-- {
		path := cleanPath(old[i])
		q.next[i-from] = -1
		if after, ok := q.first[path]; ok {
			q.next[i-from] = after
		}
		q.first[path] = i
	}
	return q
}

func (q queues) pop(path string) int {
	path = cleanPath(path)
	i, ok := q.first[path]
	if !ok || i < 0 {
		return -1
	}
	q.first[path] = q.next[i-q.from]
	return i
}

// matches reports whether old entry i already has the wanted path and state. A wanted entry without
// a state matches any state that the author wrote.
func (b *Board) matches(i int, wanted *Entry) bool {
	return meansSame(b.entries[i].Path, wanted.Path) &&
		(wanted.State == "" || fold(wanted.State) == fold(b.entries[i].State))
}

func (p plan) isEmpty() bool { return p.keep == p.tail && len(p.items) == 0 }

// removed returns, for each old entry, whether the new list lacks it. old is the number of old
// entries.
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

// formatItem returns the text of an item without its separators. flow is true if the list is in
// brackets.
func (b *Board) formatItem(it item, flow bool) string {
	if it.text != "" {
		return it.text
	}
	value := it.entry.Path
	if it.restate {
		value = b.entries[it.from].Path // in the author's spelling
	}
	if it.entry.State != "" {
		value += " [" + it.entry.State + "]"
	}
	if it.from >= 0 {
		return encode(value, b.nodes[it.from].Style, flow)
	}
	return encode(value, b.firstStyle(), flow)
}

// firstStyle returns the quoting style of the first entry, which new entries get.
func (b *Board) firstStyle() yaml.Style {
	if b.Len() > 0 && b.isScalar(0) {
		return b.nodes[0].Style
	}
	return 0
}

// patchTasks returns the edits that turn the list into the wanted one. Errors: *SpliceError.
func (b *Board) patchTasks(wanted []Entry) ([]patch, error) {
	key, list := b.doc.Field("tasks")
	if list == nil {
		return b.insertList(wanted), nil
	}
	p := b.planTasks(wanted)
	switch {
	case list.Kind == yaml.ScalarNode:
		return b.replaceNull(list, wanted), nil
	case p.isEmpty():
		return nil, nil
	case list.Style&yaml.FlowStyle != 0:
		return []patch{b.patchFlow(list, p)}, nil
	}
	return b.patchBlock(key, list, p)
}

func (b *Board) insertList(wanted []Entry) []patch {
	if len(wanted) == 0 || b.flowRoot() {
		return []patch{b.insertField("tasks: " + b.formatFlow(wanted))}
	}
	return []patch{b.insertField("tasks:" + b.lineEnding() + b.formatBlock(wanted))}
}

// replaceNull returns the edits that replace a null in the field "tasks" by a list.
func (b *Board) replaceNull(value *yaml.Node, wanted []Entry) []patch {
	if len(wanted) == 0 {
		return nil // a missing list counts as an empty one
	}
	if b.flowRoot() {
		return []patch{b.patchScalar(value, b.doc.Root, b.formatFlow(wanted))}
	}
	end := b.doc.End(value, b.doc.Root)
	return []patch{{b.doc.Offset(value), end, ""}, b.insertBelow(end, b.formatBlock(wanted))}
}

func (b *Board) formatFlow(wanted []Entry) string {
	texts := make([]string, len(wanted))
	for i := range wanted {
		texts[i] = b.formatItem(item{from: -1, entry: &wanted[i]}, true)
	}
	return "[" + strings.Join(texts, ", ") + "]"
}

// formatBlock returns a list with one line per entry, without the last newline.
func (b *Board) formatBlock(wanted []Entry) string {
	lines := make([]string, len(wanted))
	for i := range wanted {
		lines[i] = b.rootIndent() + "  - " + b.formatItem(item{from: -1, entry: &wanted[i]}, false)
	}
	return strings.Join(lines, b.lineEnding())
}
