package board

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// MarkDone returns the board with entry i marked as done. If the entry is a path, [done] is added
// after it. If the entry is a map, its fields "state" and "status" get the value done. If it has
// neither, "state: done" is added. All other bytes stay. Errors: *SpliceError.
func (b *Board) MarkDone(i int) (*Board, error) {
	if b.Entry(i).Done() {
		return b, nil
	}
	if b.isScalar(i) {
		paths := slices.Clone(b.TaskPaths())
		paths[i] += " [done]"
		return b.Splice(Edit{Tasks: paths, SetTasks: true})
	}
	after, err := b.reparse(applyPatches(b.Source, b.patchState(b.nodes[i])))
	if err != nil {
		return nil, err
	}
	if !after.Entry(i).Done() || after.Len() != b.Len() ||
		!sameCurrent(after.Current, b.Current) || !sameUntouched(after.doc, b.doc) {
		return nil, &SpliceError{b.File, "the mark would change more than its entry"}
	}
	for j := range b.Len() {
		if j != i && !b.keepsEntry(j, after, j) {
			return nil, &SpliceError{b.File, "the mark would change another entry"}
		}
	}
	return after, nil
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
