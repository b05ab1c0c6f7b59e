package board

import (
	"strings"

	"gopkg.in/yaml.v3"
)

// MarkDone returns the board with entry i marked as done. If the entry is a path, [done] is added
// after it. If the entry is a map, its fields "state" and "status" get the value done. If it has
// neither, "state: done" is added. All other bytes stay. Errors: *SpliceError.
func (b *Board) MarkDone(i int) (*Board, error) { return b.Splice(Edit{Done: &i}) }

// resolveMark returns an edit that does the same as e. It has Done only if the entry is a map that
// is not marked yet. The mark of a path is an edit of the list.
func (b *Board) resolveMark(e Edit) Edit {
	switch {
	case e.Done == nil:
	case b.Entry(*e.Done).Done():
		e.Done = nil
	case b.isScalar(*e.Done):
		e.Tasks, e.SetTasks = b.TaskPaths(), true
		e.Tasks[*e.Done] += " [done]"
		e.Done = nil
	}
	return e
}

// patchState returns the edits that mark a map entry as done. The fields "state" and "status" get
// the value done. If the entry has neither, "state: done" is added after its last field.
func (b *Board) patchState(entry *yaml.Node) (patches []patch) {
	var last *yaml.Node
	for k := 0; k+1 < len(entry.Content); k += 2 {
		name, value := entry.Content[k].Value, entry.Content[k+1]
		if name == "state" || name == "status" {
			patches = append(patches, b.patchScalar(value, entry, "done"))
		}
		last = value
	}
	switch end := b.doc.End(last, entry); {
	case len(patches) > 0:
		return patches
	case entry.Style&yaml.FlowStyle != 0:
		return []patch{{end, end, ", state: done"}}
	default:
		return []patch{b.insertBelow(end, strings.Repeat(" ", entry.Content[0].Column-1)+"state: done")}
	}
}
