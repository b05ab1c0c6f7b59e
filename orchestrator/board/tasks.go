package board

import (
	"fmt"

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

// keepsList reports whether the list of another board has the same entries in the same order. The
// entry with the index done is marked as done there and has the same path; nil is for no such entry.
func (b *Board) keepsList(other *Board, done *int) bool {
	if b.Len() != other.Len() {
		return false
	}
	for i := range b.Len() {
		if done != nil && i == *done {
			if e := other.Entry(i); !e.Done() || e.Path != b.Entry(i).Path {
				return false
			}
		} else if !b.keepsEntry(i, other, i) {
			return false
		}
	}
	return true
}
