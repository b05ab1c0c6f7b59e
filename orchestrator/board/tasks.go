package board

import (
	"fmt"

	"gopkg.in/yaml.v3"

	"kanban-run/orchestrator/frontmatter"
)

// taskList is the list of tasks, immutable: boards share it while its lines stay the same. A long
// list without quotes, maps and comments is plain: entries and nodes are nil and are made from its
// values on demand.
type taskList struct {
	paths    []string // never nil
	plain    *frontmatter.List
	firstRow int // turns a line of plain into a line of the file

	entries  []Entry
	nodes    []*yaml.Node // of each entry
	warnings []*frontmatter.Problem
}

// Len returns the number of tasks in the list.
func (b *Board) Len() int { return len(b.TaskPaths()) }

// TaskPaths returns the paths of the tasks, never nil. It is the same slice while a Reader finds
// the list unchanged on the same lines, and must not be changed.
func (b *Board) TaskPaths() []string {
	if b.tasks == nil {
		return []string{}
	}
	return b.tasks.paths
}

// Entry returns task i of the list, from 0.
func (b *Board) Entry(i int) Entry { return b.tasks.entry(i) }

// Entries makes a new list of the tasks; Entry and TaskPaths cost less for a long list.
func (b *Board) Entries() []Entry {
	entries := make([]Entry, b.Len())
	for i := range entries {
		entries[i] = b.tasks.entry(i)
	}
	return entries
}

func (l *taskList) entry(i int) Entry {
	if l.plain == nil {
		return l.entries[i]
	}
	e := Entry{Path: l.paths[i], Line: l.plain.Line(i) + l.firstRow}
	if value := l.plain.Value(i); len(value) != len(e.Path) {
		_, e.State = splitState(value)
	}
	return e
}

// keepTasks shares the tasks of the last version when the same list stands on the same lines.
func (b *Board) keepTasks(before *Board) bool {
	if before == nil || before.doc.FirstLine != b.doc.FirstLine || !b.sameList(before) {
		return false
	}
	b.tasks = before.tasks
	b.Warnings = append(b.Warnings, b.tasks.warnings...)
	return true
}

// sameList reports whether both boards share one list of tasks.
func (b *Board) sameList(other *Board) bool {
	_, was := other.doc.Field("tasks")
	_, is := b.doc.Field("tasks")
	return is != nil && is == was
}

func (b *Board) readTasks() error {
	_, list := b.doc.Field("tasks")
	before := len(b.Warnings)
	b.tasks = &taskList{paths: []string{}}
	defer func() { b.tasks.warnings = b.Warnings[before:len(b.Warnings):len(b.Warnings)] }()
	if list == nil || list.Tag == "!!null" {
		b.warn(list, "the board has no list of tasks", "write tasks: and below it one - PATH a line")
		return nil
	}
	if plain := b.doc.List("tasks"); plain != nil {
		return b.readPlain(plain)
	}
	return b.readNodes(list.Content)
}

// readPlain reads the paths of a plain list.
func (b *Board) readPlain(plain *frontmatter.List) error {
	t := b.tasks
	t.plain, t.firstRow = plain, b.doc.FirstLine-1
	t.paths = make([]string, plain.Len())
	visible := b.doc.Visible()
	var repeated repeats
	for i := range t.paths {
		value := plain.Value(i)
		t.paths[i], _ = splitState(value)
		if !visible && pathFault(value) != "" {
			return b.checkPath(plain.Node(i), "tasks")
		}
		if first, twice := repeated.find(t.paths, i); twice {
			b.warnRepeated(plain.Node(i), first, i)
		}
	}
	return nil
}

// readNodes reads a list that has nodes.
func (b *Board) readNodes(nodes []*yaml.Node) error {
	t := b.tasks
	t.nodes, t.entries, t.paths = nodes, make([]Entry, len(nodes)), make([]string, len(nodes))
	visible := b.doc.Visible()
	var repeated repeats
	for i, n := range nodes {
		if err := b.readEntry(n, &t.entries[i], visible); err != nil {
			return err
		}
		t.paths[i] = t.entries[i].Path
		if first, twice := repeated.find(t.paths, i); twice {
			b.warnRepeated(n, first, i)
		}
	}
	return nil
}

func (b *Board) warnRepeated(n *yaml.Node, first, i int) {
	b.warn(n, fmt.Sprintf("the task %s is already on line %d", b.tasks.paths[i], b.tasks.entry(first).Line),
		"remove one of the two")
}

// The methods below serve edits, for both forms of the list.

// isScalar reports whether an entry is text, not a map.
func (b *Board) isScalar(i int) bool {
	return b.tasks.plain != nil || b.tasks.nodes[i].Kind == yaml.ScalarNode
}

// style returns how an entry is quoted.
func (b *Board) style(i int) yaml.Style {
	if b.tasks.plain != nil {
		return 0
	}
	return b.tasks.nodes[i].Style
}

// extent returns where an entry lies in Source, without its dash.
func (b *Board) extent(list *yaml.Node, i int) (from, to int) {
	if l := b.tasks.plain; l != nil {
		from, to = l.Span(i)
		base := b.doc.Base(l)
		return base + from, base + to
	}
	n := b.tasks.nodes[i]
	return b.doc.Offset(n), b.doc.End(n, list)
}

// node returns the node of an entry, a new one in a plain list.
func (b *Board) node(i int) *yaml.Node {
	if b.tasks.plain != nil {
		return b.tasks.plain.Node(i)
	}
	return b.tasks.nodes[i]
}

// keepsEntry reports whether entry i of this board is entry j of another, with all that the author
// put into it.
func (b *Board) keepsEntry(i int, other *Board, j int) bool {
	if l, m := b.tasks.plain, other.tasks.plain; l != nil && m != nil {
		return l.Value(i) == m.Value(j)
	}
	return equalNodes(b.node(i), other.node(j))
}

// keepsAll reports whether all entries are those of another board.
func (b *Board) keepsAll(other *Board) bool {
	if b.sameList(other) {
		return true
	}
	if b.Len() != other.Len() {
		return false
	}
	for i := range b.Len() {
		if !b.keepsEntry(i, other, i) {
			return false
		}
	}
	return true
}

// sameField reports whether two values of a top-level field are the same.
func sameField(name string, a *frontmatter.Document, m *yaml.Node, b *frontmatter.Document, n *yaml.Node) bool {
	return m == n || equalNodes(expandNodes(name, a, m), expandNodes(name, b, n))
}

// expandNodes returns a value with the nodes of all that is in it.
func expandNodes(name string, doc *frontmatter.Document, n *yaml.Node) *yaml.Node {
	l := doc.List(name)
	if l == nil {
		return n
	}
	whole := *n
	for i := range l.Len() {
		whole.Content = append(whole.Content, l.Node(i))
	}
	return &whole
}
