package board

import (
	"errors"
	"fmt"

	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/frontmatter"
)

// Mark is what the header of a task says of the task's state: the fields "state" and "status", each
// with its text in the file, or nil for a missing field.
type Mark struct {
	State  *string `json:"state,omitempty"`
	Status *string `json:"status,omitempty"`
	Done   bool    `json:"done,omitempty"` // the fields mark the task as done or cancelled
}

// markFields are the fields of a Mark. The first one that has a value counts.
var markFields = []string{"state", "status"}

func (m *Mark) field(name string) **string {
	if name == "state" {
		return &m.State
	}
	return &m.Status
}

func markOf(doc *frontmatter.Document) (m Mark) {
	for _, name := range markFields {
		if _, value := doc.Field(name); value != nil {
			text := string(doc.Source[doc.Offset(value):doc.End(value, doc.Root)])
			*m.field(name) = &text
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
	source, err := ReadFile(path)
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

// setField gives a field of a task's header its text. A text of nil removes the field.
func setField(file string, source []byte, name string, text *string) ([]byte, error) {
	doc, err := taskDocument(file, source, false)
	if err != nil {
		return nil, err
	}
	edit := editor{doc}
	key, value := doc.Field(name)
	switch was := markOf(doc); {
	case text == nil && value == nil, text != nil && value != nil && **was.field(name) == *text:
		return source, nil
	case doc.Root == nil:
		return append([]byte("---\n"+name+": "+*text+"\n---\n"), source...), nil
	case text == nil:
		return applyPatches(source, []patch{edit.removeField(key, value)}), nil
	case value == nil:
		return applyPatches(source, []patch{edit.insertField(name + ": " + *text)}), nil
	default:
		return applyPatches(source, []patch{edit.patchScalar(value, doc.Root, *text)}), nil
	}
}
