package board

import (
	"fmt"
	"slices"

	"gopkg.in/yaml.v3"
)

// Len returns the number of tasks in the list.
func (b *Board) Len() int { return len(b.entries) }

// TaskPaths returns a new list of the paths of the tasks, never nil.
func (b *Board) TaskPaths() []string {
	paths := make([]string, len(b.entries))
	for i := range b.entries {
		paths[i] = b.entries[i].Path
	}
	return paths
}

// Entry returns entry i of the list. The first entry is 0.
func (b *Board) Entry(i int) Entry { return b.entries[i] }

func (b *Board) readTasks() error {
	_, list := b.doc.Field("tasks")
	if list == nil || list.Tag == "!!null" {
		b.warn(list, "the board has no list of tasks", "write tasks: and below it one - PATH a line")
		return nil
	}
	b.nodes, b.entries = list.Content, make([]Entry, len(list.Content))
	first := map[string]int{}
	for i, n := range b.nodes {
		if err := b.readEntry(n, &b.entries[i]); err != nil {
			return err
		}
		path := b.entries[i].Path
		if at, twice := first[path]; twice {
			text := fmt.Sprintf("the task %s is already on line %d", path, b.entries[at].Line)
			b.warn(n, text, "remove one of the two")
		} else {
			first[path] = i
		}
	}
	return nil
}

// The methods below serve edits.

// isScalar reports whether an entry is text, not a map.
func (b *Board) isScalar(i int) bool { return b.nodes[i].Kind == yaml.ScalarNode }

// extent returns the place of an entry in Source, without its dash.
func (b *Board) extent(list *yaml.Node, i int) (from, to int) {
	n := b.nodes[i]
	return b.doc.Offset(n), b.doc.End(n, list)
}

// keepsEntry reports whether entry i of this board and entry j of the other board have the same
// content and style.
func (b *Board) keepsEntry(i int, other *Board, j int) bool {
	return equalNodes(b.nodes[i], other.nodes[j])
}

// keepsAll reports whether the list of another board has the same entries in the same order.
func (b *Board) keepsAll(other *Board) bool {
	return slices.EqualFunc(b.nodes, other.nodes, equalNodes)
}
