package board

import (
	"bytes"
	"path"
	"path/filepath"
	"slices"

	"gopkg.in/yaml.v3"

	"kanban-run/orchestrator/frontmatter"
)

// Edit is a change of a board's fields. The zero Edit changes nothing.
type Edit struct {
	Current  *string // nil leaves the field "current" as it is
	Null     bool    // set the field "current" to null
	Ended    *string // nil leaves the field "ended" as it is, "" removes the field
	Done     *int    // index of the entry to mark as done, see MarkDone; nil marks none. Not with SetTasks
	Tasks    []string
	SetTasks bool // replace the list with Tasks; an entry that stays keeps its map or its state
}

// patch replaces Source[from:to] with text.
type patch struct {
	from, to int
	text     string
}

// Splice returns the board after an edit, or b itself if nothing changes. It replaces only the
// bytes of values that change. Comments, order, style and line endings stay. It then checks that
// the result has the edit and no other change. Errors: *PathError for a path that is not allowed on
// a board, *SpliceError if the edit cannot be made in this way.
func (b *Board) Splice(e Edit) (*Board, error) {
	e = b.resolveMark(e)
	wanted, err := e.parseEntries()
	if err != nil {
		return nil, err
	}
	var patches []patch
	if p, ok := b.patchCurrent(e); ok {
		patches = append(patches, p)
	}
	if e.SetTasks {
		more, err := b.patchTasks(wanted)
		if err != nil {
			return nil, err
		}
		patches = append(patches, more...)
	}
	if e.Done != nil {
		patches = append(patches, b.patchState(b.nodes[*e.Done])...)
	}
	out, err := b.spliceEnded(applyPatches(b.Source, patches), e.Ended)
	if err != nil {
		return nil, err
	}
	if len(patches) == 0 && bytes.Equal(out, b.Source) {
		return b, nil
	}
	after, err := b.reparse(out)
	if err != nil {
		return nil, err
	}
	if err := b.verify(after, e, wanted); err != nil {
		return nil, err
	}
	return after, nil
}

// spliceEnded edits the field "ended" in a board's text, which already has the other edits. If all
// edits were made together, two patches of the same line could overlap.
func (b *Board) spliceEnded(source []byte, status *string) ([]byte, error) {
	if status == nil || *status == b.Ended || !b.CanWriteEnded() {
		return source, nil
	}
	edited, err := b.reparse(source)
	if err != nil {
		return nil, err
	}
	return applyPatches(source, []patch{edited.patchEnded(*status)}), nil
}

// parseEntries checks an edit's paths and splits its tasks into paths and states. Errors:
// *PathError.
func (e Edit) parseEntries() ([]Entry, error) {
	if e.Current != nil {
		if text := pathFault(*e.Current); text != "" {
			return nil, &PathError{Path: *e.Current, Text: text}
		}
	}
	for _, p := range e.Tasks {
		if text := pathFault(p); text != "" {
			return nil, &PathError{Path: p, Text: text}
		}
	}
	entries := make([]Entry, len(e.Tasks))
	for i, p := range e.Tasks {
		entries[i].Path, entries[i].State = splitState(p)
	}
	return entries, nil
}

func applyPatches(source []byte, patches []patch) []byte {
	slices.SortStableFunc(patches, func(a, b patch) int { return a.from - b.from })
	pieces := make([][]byte, 0, 2*len(patches)+1)
	at := 0
	for _, p := range patches {
		pieces = append(pieces, source[at:p.from], []byte(p.text))
		at = p.to
	}
	return bytes.Join(append(pieces, source[at:]), nil)
}

func (b *Board) patchCurrent(e Edit) (patch, bool) {
	_, value := b.doc.Field("current")
	switch {
	case !e.Null && e.Current == nil,
		e.Null && b.Current.Null,
		!e.Null && b.Current.Set && !b.Current.Null && b.Current.Path == *e.Current:
		return patch{}, false
	case value == nil && e.Null:
		return b.insertCurrent("null"), true
	case value == nil:
		return b.insertCurrent(encode(*e.Current, 0, b.flowRoot())), true
	case e.Null:
		return b.patchScalar(value, b.doc.Root, "null"), true
	}
	return b.patchScalar(value, b.doc.Root, encode(*e.Current, value.Style, b.flowRoot())), true
}

// patchEnded returns the edit that writes the field "ended", or removes the field if status is "".
// A new field goes below the field "current".
func (b *Board) patchEnded(status string) patch {
	key, value := b.doc.Field("ended")
	switch {
	case status == "":
		return b.removeField(key, value)
	case value != nil:
		return b.patchScalar(value, b.doc.Root, status)
	}
	line := "ended: " + status
	if _, current := b.doc.Field("current"); current != nil && !b.flowRoot() {
		return b.insertBelow(b.doc.End(current, b.doc.Root), b.rootIndent()+line)
	}
	return b.insertField(line)
}

// insertCurrent adds the field "current" below the field "sub_phase" or "phase", where readers
// expect it. If the board has neither, it adds the field before all others.
func (b *Board) insertCurrent(text string) patch {
	line := "current: " + text
	if b.flowRoot() || len(b.doc.Root.Content) == 0 {
		return b.insertField(line)
	}
	for _, name := range []string{"sub_phase", "phase"} {
		if _, value := b.doc.Field(name); value != nil && value.Kind == yaml.ScalarNode {
			return b.insertBelow(b.doc.End(value, b.doc.Root), b.rootIndent()+line)
		}
	}
	at := b.lineStart(b.doc.Offset(b.doc.Root))
	return patch{at, at, b.rootIndent() + line + b.lineEnding()}
}

// verify returns a *SpliceError unless the result has the edit and no other change.
func (b *Board) verify(after *Board, e Edit, wanted []Entry) error {
	switch {
	case e.Null != after.Current.Null && (e.Null || e.Current != nil),
		e.Current == nil && !e.Null && !sameCurrent(after.Current, b.Current),
		e.Current != nil && !e.Null && after.Current.Path != currentPath(*e.Current):
		return &SpliceError{b.File, "current would not be what was meant"}
	case e.Ended != nil && after.Ended != *e.Ended && b.CanWriteEnded(), e.Ended == nil && after.Ended != b.Ended:
		return &SpliceError{b.File, "ended would not be what was meant"}
	case !b.CanWriteEnded() && !sameValue(after.doc, b.doc, "ended"):
		return &SpliceError{b.File, "a field of the author's would change"}
	case e.SetTasks && !samePaths(after.TaskPaths(), wanted),
		!e.SetTasks && !b.keepsList(after, e.Done):
		return &SpliceError{b.File, "tasks would not be what was meant"}
	case e.SetTasks && !b.keepsEntries(after, wanted):
		return &SpliceError{b.File, "an entry that stays would change"}
	case !sameUntouched(after.doc, b.doc):
		return &SpliceError{b.File, "other fields would change"}
	}
	return nil
}

// keepsEntries reports whether the entries that stay keep all that the author put into them, and
// whether an entry that was to get a new state has it.
func (b *Board) keepsEntries(after *Board, wanted []Entry) bool {
	p := b.planTasks(wanted)
	for i := range p.keep {
		if !b.keepsEntry(i, after, i) {
			return false
		}
	}
	for i, it := range p.items {
		switch at := p.keep + i; {
		case it.from < 0:
		case it.restate && !after.matches(at, it.entry), !it.restate && !b.keepsEntry(it.from, after, at):
			return false
		}
	}
	shift := p.keep + len(p.items) - p.tail
	for i := p.tail; i < b.Len(); i++ {
		if !b.keepsEntry(i, after, i+shift) {
			return false
		}
	}
	return after.Len() == b.Len()+shift
}

func sameCurrent(a, b Current) bool { return a.Set == b.Set && a.Null == b.Null && a.Path == b.Path }

func currentPath(s string) string {
	p, _ := splitState(s)
	return p
}

func samePaths(a []string, b []Entry) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !meansSame(a[i], b[i].Path) {
			return false
		}
	}
	return true
}

func meansSame(a, b string) bool { return a == b || cleanPath(a) == cleanPath(b) }

func cleanPath(p string) string { return path.Clean(filepath.ToSlash(p)) }

// sameUntouched reports whether both documents have the same keys and values. It ignores the named
// fields and those that edits change.
func sameUntouched(a, b *frontmatter.Document, named ...string) bool {
	m, n := untouchedNodes(a, named), untouchedNodes(b, named)
	if len(m) != len(n) {
		return false
	}
	for i := 0; i < len(m); i += 2 {
		if !equalNodes(m[i], n[i]) || !equalNodes(m[i+1], n[i+1]) {
			return false
		}
	}
	return true
}

// sameValue reports whether a field has the same value and style in both documents, or is in
// neither.
func sameValue(a, b *frontmatter.Document, name string) bool {
	_, m := a.Field(name)
	_, n := b.Field(name)
	return m == n || m != nil && n != nil && equalNodes(m, n)
}

// untouchedNodes returns the keys and values of a document. It leaves out the named fields and
// those that edits change.
func untouchedNodes(doc *frontmatter.Document, named []string) []*yaml.Node {
	edited := append([]string{"current", "tasks", "ended"}, named...)
	var rest []*yaml.Node
	for i := 0; i+1 < len(doc.Root.Content); i += 2 {
		if name := doc.Root.Content[i].Value; !slices.Contains(edited, name) {
			rest = append(rest, doc.Root.Content[i], doc.Root.Content[i+1])
		}
	}
	return rest
}

func equalNodes(a, b *yaml.Node) bool {
	return a == b || a.Kind == b.Kind && a.Tag == b.Tag && a.Value == b.Value && a.Style == b.Style &&
		slices.EqualFunc(a.Content, b.Content, equalNodes)
}
