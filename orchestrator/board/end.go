package board

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"kanban-run/orchestrator/event"
)

// endFields are the fields that decide the end of a board: they end it, name its next task, or say what
// looks in on it, what its order is and where its tasks come from.
var endFields = []string{"current", "phase", "ended", "checkpoints", "needs", "split", "source"}

// EndChanges describes how the board's end differs from the end of an earlier board. The end
// consists of the fields in endFields, and of two facts about each entry of the earlier board: whether
// the entry is still listed, and whether it is done. Added entries and other fields are not part of the
// end, and neither is a new mark of the entry with the path own.
func (b *Board) EndChanges(before *Board, own ...string) []string {
	var changes []string
	for _, name := range endFields {
		if !b.sameEndField(before, name) {
			changes = append(changes, name)
		}
	}
	set, unset, lost := b.EntryChanges(before, own...)
	if marks := len(set) + len(unset); marks > 0 {
		changes = append(changes, "the marks of "+event.Count(marks, "task"))
	}
	if len(lost) > 0 {
		changes = append(changes, event.Count(len(lost), "task")+" less on the list")
	}
	return changes
}

// EntryChanges returns the entries of an earlier board that have got a mark as done, but for those with
// the path own, that have lost one, and that are not listed any more.
func (b *Board) EntryChanges(before *Board, own ...string) (set, unset, lost []string) {
	paths := before.TaskPaths()
	for i, at := range before.findIn(b) {
		switch {
		case at < 0:
			lost = append(lost, paths[i])
		case !b.isMarked(at, before, i, own):
		case before.Entry(i).Done():
			unset = append(unset, paths[i])
		default:
			set = append(set, paths[i])
		}
	}
	return set, unset, lost
}

// isMarked reports whether entry at has another mark than entry i of an earlier board. A new mark of an
// own entry is none.
func (b *Board) isMarked(at int, before *Board, i int, own []string) bool {
	was, is := before.Entry(i).Done(), b.Entry(at).Done()
	return was != is && (was || !slices.Contains(own, before.Entry(i).Path))
}

// sameEndField reports whether a field of endFields has the same value on both boards.
func (b *Board) sameEndField(before *Board, name string) bool {
	switch name {
	case "current":
		return sameCurrent(b.Current, before.Current)
	case "phase":
		return b.Phase == before.Phase
	case "ended":
		return sameValue(b.doc, before.doc, name)
	default:
		return sameContent(b.doc, before.doc, name)
	}
}

// findIn returns for each entry its index on the list of another board, or -1 if it is not on that
// list. Two entries with the same path never get the same index.
func (b *Board) findIn(other *Board) []int {
	unused := newQueues(other.TaskPaths(), 0, other.Len())
	at := make([]int, b.Len())
	for i, p := range b.TaskPaths() {
		at[i] = unused.pop(p)
	}
	return at
}

// WithEndOf returns the board with the end of an earlier board. It restores the exact text of the
// parts that [Board.EndChanges] names, and changes nothing else. An entry that left the list is put
// back after the entry that it followed. Errors: *SpliceError if the two boards are too different.
func (b *Board) WithEndOf(before *Board, own ...string) (*Board, error) {
	out, err := b.restoreEntries(before, func(i, at int) bool { return at < 0 || b.isMarked(at, before, i, own) })
	for _, name := range endFields {
		if err != nil {
			return nil, err
		}
		out, err = b.restoreField(out, before, name)
	}
	if err != nil {
		return nil, err
	}
	after, err := b.reparse(out)
	switch {
	case err != nil:
		return nil, err
	case len(after.EndChanges(before, own...)) > 0:
		changes := strings.Join(after.EndChanges(before, own...), ", ")
		return nil, &SpliceError{b.File, "its end would not be what it was: " + changes}
	case !sameUntouched(after.doc, b.doc, endFields...):
		return nil, &SpliceError{b.File, "other fields would change"}
	case slices.Contains(b.findIn(after), -1):
		return nil, &SpliceError{b.File, "an entry would be lost"}
	}
	return after, nil
}

// Unmarked returns the board with the entry of a path as it was on an earlier board, if it has got a mark
// as done since. It changes nothing else. Errors: *SpliceError.
func (b *Board) Unmarked(before *Board, entry string) (*Board, error) {
	out, err := b.restoreEntries(before, func(i, at int) bool {
		return at >= 0 && before.Entry(i).Path == entry && !before.Entry(i).Done() && b.isMarked(at, before, i, nil)
	})
	if err != nil {
		return nil, err
	}
	return b.reparse(out)
}

// restoreField gives a field of endFields its text from the earlier board. It removes a field that
// the earlier board lacks. source is this board with other parts already restored.
func (b *Board) restoreField(source []byte, before *Board, name string) ([]byte, error) {
	now, err := b.reparse(source)
	if err != nil {
		return nil, err
	}
	if now.sameEndField(before, name) {
		return source, nil
	}
	key, value := now.doc.Field(name)
	wasKey, was := before.doc.Field(name)
	switch {
	case was != nil && name != "current" && (was.Kind != yaml.ScalarNode || value != nil && value.Kind != yaml.ScalarNode):
		out, err := putLines(now.doc, name, linesOf(before.doc, wasKey, was))
		if err != nil {
			return nil, &SpliceError{b.File, name + ": " + err.Error()}
		}
		return out, nil
	case was == nil:
		return applyPatches(source, []patch{now.removeField(key, value)}), nil
	case value == nil && name == "current":
		return applyPatches(source, []patch{now.insertCurrent(before.textOf(was))}), nil
	case value == nil:
		return applyPatches(source, []patch{now.insertField(name + ": " + before.textOf(was))}), nil
	default:
		return applyPatches(source, []patch{now.patchScalar(value, now.doc.Root, before.textOf(was))}), nil
	}
}

// textOf returns a field's value as its author wrote it.
func (b *Board) textOf(value *yaml.Node) string {
	return string(b.Source[b.doc.Offset(value):b.doc.End(value, b.doc.Root)])
}

// restoreEntries puts back those entries of an earlier board that the function restores names: it gets
// the index of an entry there, and its index here or -1. An entry that is still listed gets its old text.
func (b *Board) restoreEntries(before *Board, restores func(i, at int) bool) ([]byte, error) {
	_, was := before.doc.Field("tasks")
	key, list := b.doc.Field("tasks")
	if was == nil || was.Kind != yaml.SequenceNode {
		return b.Source, nil
	}
	p, changed := b.planEnd(before, was, restores)
	if !changed {
		return b.Source, nil
	}
	isFlow := func(n *yaml.Node) bool { return n.Style&yaml.FlowStyle != 0 }
	if list == nil || list.Kind != yaml.SequenceNode || b.Len() == 0 ||
		isFlow(list) != isFlow(was) || list.Column != was.Column {
		return nil, &SpliceError{b.File, "the list of tasks has another form than before"}
	}
	if list.Style&yaml.FlowStyle != 0 {
		return applyPatches(b.Source, []patch{b.patchFlow(list, p)}), nil
	}
	patches, err := b.patchBlock(key, list, p)
	return applyPatches(b.Source, patches), err
}

// planEnd plans the list that restoreEntries writes. The parameter "was" is the list of the earlier
// board. The second result is true if the plan differs from the present list.
func (b *Board) planEnd(before *Board, was *yaml.Node, restores func(i, at int) bool) (p plan, changed bool) {
	text := func(i int) string {
		from, to := before.extent(was, i)
		return string(before.Source[from:to])
	}
	p.tail = b.Len()
	// The keys of both maps are indexes of b's list. The items of behind[i] follow entry i, those
	// of behind[-1] precede all entries.
	restated, behind, last := map[int]string{}, map[int][]item{}, -1
	for i, at := range before.findIn(b) {
		switch {
		case at < 0 && restores(i, at):
			behind[last] = append(behind[last], item{from: -1, text: text(i)})
		case at < 0:
		case restores(i, at):
			restated[at], last = text(i), at
		default:
			last = at
		}
	}
	p.items = append(p.items, behind[-1]...)
	for i := range b.Len() {
		old, restate := restated[i]
		p.items = append(append(p.items, item{from: i, restate: restate, text: old}), behind[i]...)
	}
	return p, len(restated)+len(behind) > 0
}
