package board

import (
	"fmt"

	"gopkg.in/yaml.v3"

	"kanban-run/orchestrator/frontmatter"
)

// taskList is the list of tasks as it was read. It is not changed afterwards: boards share it while its lines stay the same.
// A long list that nobody has put quotes, maps or comments into is plain: then entries and nodes are nil and are read off its
// values when they are wanted.
type taskList struct {
	paths    []string // never nil once the list was read
	plain    *frontmatter.List
	firstRow int // what makes a line of the file of a line of plain

	entries  []Entry
	nodes    []*yaml.Node // the node of each entry
	warnings []*frontmatter.Problem
}

// Len is the number of tasks in the list.
func (b *Board) Len() int { return len(b.TaskPaths()) }

// TaskPaths lists the paths of the tasks, never nil. It is the same slice for as long as a Reader finds the list unchanged on
// the same lines, and must not be changed.
func (b *Board) TaskPaths() []string {
	if b.tasks == nil {
		return []string{}
	}
	return b.tasks.paths
}

// Entry is task i of the list, from 0.
func (b *Board) Entry(i int) Entry { return b.tasks.entry(i) }

// Entries lists the tasks, anew for every call: of a long list, Entry and TaskPaths take less.
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

// keepTasks takes the tasks over from what the board was, when the very same list stands on the same lines.
func (b *Board) keepTasks(before *Board) bool {
	if before == nil || before.doc.FirstLine != b.doc.FirstLine || !b.sameList(before) {
		return false
	}
	b.tasks = before.tasks
	b.Warnings = append(b.Warnings, b.tasks.warnings...)
	return true
}

// sameList says whether one list of tasks stands for both boards.
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

// readPlain takes the paths off a plain list.
func (b *Board) readPlain(plain *frontmatter.List) error {
	t := b.tasks
	t.plain, t.firstRow = plain, b.doc.FirstLine-1
	t.paths = make([]string, plain.Len())
	visible := b.doc.Visible()
	var repeated repeats
	for i := range t.paths {
		value := plain.Value(i)
		t.paths[i], _ = splitState(value)
		if !visible && badPath(value) != "" {
			return b.checkPath(plain.Node(i), "tasks")
		}
		if first, twice := repeated.find(t.paths, i); twice {
			b.warnTwice(plain.Node(i), first, i)
		}
	}
	return nil
}

// readNodes reads a list that was read into nodes.
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
			b.warnTwice(n, first, i)
		}
	}
	return nil
}

func (b *Board) warnTwice(n *yaml.Node, first, i int) {
	b.warn(n, fmt.Sprintf("the task %s is already on line %d", b.tasks.paths[i], b.tasks.entry(first).Line), "remove one of the two")
}

// What follows is all that edits want to know of an entry, whichever form the list has.

// isScalar says whether an entry is written as text, not as a map.
func (b *Board) isScalar(i int) bool {
	return b.tasks.plain != nil || b.tasks.nodes[i].Kind == yaml.ScalarNode
}

// style is how an entry is quoted.
func (b *Board) style(i int) yaml.Style {
	if b.tasks.plain != nil {
		return 0
	}
	return b.tasks.nodes[i].Style
}

// extent is where an entry lies in Source, without its dash.
func (b *Board) extent(list *yaml.Node, i int) (from, to int) {
	if l := b.tasks.plain; l != nil {
		from, to = l.Span(i)
		base := b.doc.Base(l)
		return base + from, base + to
	}
	n := b.tasks.nodes[i]
	return b.doc.Offset(n), b.doc.End(n, list)
}

// node is the node of an entry, made for the occasion where there is none.
func (b *Board) node(i int) *yaml.Node {
	if b.tasks.plain != nil {
		return b.tasks.plain.Node(i)
	}
	return b.tasks.nodes[i]
}

// keepsEntry says whether entry i of this board is entry j of another one, with all that the author put into it.
func (b *Board) keepsEntry(i int, other *Board, j int) bool {
	if l, m := b.tasks.plain, other.tasks.plain; l != nil && m != nil {
		return l.Value(i) == m.Value(j)
	}
	return equal(b.node(i), other.node(j))
}

// keepsAll says whether all entries are those of another board.
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

// sameField says whether two values of a top-level field are the same.
func sameField(name string, a *frontmatter.Document, m *yaml.Node, b *frontmatter.Document, n *yaml.Node) bool {
	return m == n || equal(unfolded(name, a, m), unfolded(name, b, n))
}

// unfolded is a value with the nodes of all that is in it.
func unfolded(name string, doc *frontmatter.Document, n *yaml.Node) *yaml.Node {
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
