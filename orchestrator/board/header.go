package board

import (
	"errors"
	"fmt"

	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/frontmatter"
)

// Mark is what the header of a task says of the task's state: the fields "state" and "status". The
// zero value is a header without them.
type Mark struct {
	State  Field `json:"state,omitzero"`
	Status Field `json:"status,omitzero"`
	Done   bool  `json:"done,omitempty"` // the fields mark the task as done or cancelled
}

// Field is a field of a task's header.
type Field struct {
	Set  bool   `json:"set"`  // the header has the field
	Text string `json:"text"` // the value as the file has it
}

// markFields are the fields of a Mark. The first one that has a value counts.
var markFields = []string{"state", "status"}

func (m *Mark) field(name string) *Field {
	if name == "state" {
		return &m.State
	}
	return &m.Status
}

func markOf(doc *frontmatter.Document) (m Mark) {
	for _, name := range markFields {
		if _, value := doc.Field(name); value != nil {
			*m.field(name) = Field{true, string(doc.Source[doc.Offset(value):doc.End(value, doc.Root)])}
		}
	}
	m.Done = isDone(firstText(doc, markFields...))
	return m
}

// SetMark gives the header of a task the fields of a Mark, and changes no other bytes. It writes
// the file only if that changes the header. The result before has the file's bytes before the
// change; it is nil if nothing was changed. Errors: those of Resolve, *frontmatter.Problem for a
// header that cannot be read, and errors of writing the file.
func (p *Place) SetMark(name string, m Mark) (before []byte, err error) {
	ref, err := p.Resolve(name)
	if err != nil {
		return nil, err
	}
	path := durable.RealPath(ref.Abs)
	source, err := readTaskFile(path)
	if err != nil {
		return nil, err
	}
	after := source
	for _, field := range markFields {
		if after, err = setField(ref.Path, after, field, *m.field(field)); err != nil {
			return nil, err
		}
	}
	doc, err := taskDocument(ref.Path, after, false)
	if err != nil || markOf(doc).Done != m.Done {
		return nil, errors.Join(err, fmt.Errorf("edit task %s: its mark cannot be put back", ref.Path))
	}
	if string(after) == string(source) {
		return nil, nil
	}
	if err := durable.WriteFile(path, after, 0o644); err != nil {
		return nil, fmt.Errorf("write task %s: %w", ref.Path, err)
	}
	return source, nil
}

// setField gives a field of a task's header another value, or removes it if the value is not set.
func setField(file string, source []byte, name string, want Field) ([]byte, error) {
	doc, err := taskDocument(file, source, false)
	if err != nil {
		return nil, err
	}
	edit := editor{doc}
	key, value := doc.Field(name)
	was := markOf(doc)
	switch {
	case *was.field(name) == want:
		return source, nil
	case doc.Root == nil:
		return append([]byte("---\n"+name+": "+want.Text+"\n---\n"), source...), nil
	case !want.Set:
		return applyPatches(source, []patch{edit.removeField(key, value)}), nil
	case value == nil:
		return applyPatches(source, []patch{edit.insertField(name + ": " + want.Text)}), nil
	default:
		return applyPatches(source, []patch{edit.patchScalar(value, doc.Root, want.Text)}), nil
	}
}
