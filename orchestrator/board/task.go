package board

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"kanban-run/orchestrator/frontmatter"
)

// taskLimit is the number of bytes that are read of a task file. A header must end within them.
const taskLimit = 64 << 10

// Task is a task file's header.
type Task struct {
	Ref      Ref
	Role     string   // field "role", otherwise field "assignee"; "" if both are missing
	RoleLine int      // line of Role in the file; 0 if Role is ""
	State    string   // field "state", otherwise field "status"
	Mark     Mark     // the two fields as the file has them
	Header   string   // the bytes of the file up to its text
	Title    string   // field "title", otherwise the first heading
	Files    []string // patterns of the files that the work changes
	Needs    []string // tasks that must be done first, as the file spells them

	stateLine  int // line of State in the file; 0 if State is ""
	roleColumn int
	assignee   string // field "assignee"; "" if it is missing
	misspelt   *frontmatter.Problem
}

// Done reports whether State marks the task as done or cancelled.
func (t *Task) Done() bool { return isDone(t.State) }

// RoleProblem adds the place of the role in the file to an error about the task's role.
func (t *Task) RoleProblem(err error) error {
	return addPlace(err, &frontmatter.Problem{File: t.Ref.Path, Line: t.RoleLine, Column: t.roleColumn})
}

// ReadTask resolves a path on the board and reads the header in the first 64 KiB of the file.
// Errors: those of Resolve, and *frontmatter.Problem for a header that cannot be read, for an
// invalid role, or for an invalid field "needs".
func (p *Place) ReadTask(name string) (*Task, error) {
	r, err := p.openWorkdir()
	if err != nil {
		return nil, err
	}
	t, err := p.readTask(r, name)
	if err := r.Close(); err != nil {
		return nil, err
	}
	return t, err
}

// TaskResult is the result of ReadTask for one of several paths.
type TaskResult struct {
	Task *Task
	Err  error
}

// ReadTasks reads several tasks as ReadTask does, but opens the work directory only once.
func (p *Place) ReadTasks(names []string) []TaskResult {
	all := make([]TaskResult, len(names))
	r, err := p.openWorkdir()
	for i, name := range names {
		if all[i].Err = err; err == nil {
			all[i].Task, all[i].Err = p.readTask(r, name)
		}
	}
	if err == nil {
		_ = r.Close() // nothing was written
	}
	return all
}

func (p *Place) readTask(r workdir, name string) (*Task, error) {
	ref, data, cut, err := p.read(r, name)
	if err != nil {
		return nil, err
	}
	return readTask(ref, data, cut, p.knows)
}

// ReadText resolves a path on the board and returns the first 64 KiB of the file. Errors: those of
// Resolve.
func (p *Place) ReadText(name string) (string, error) {
	r, err := p.openWorkdir()
	if err != nil {
		return "", err
	}
	_, data, _, err := p.read(r, name)
	return strings.ToValidUTF8(string(data), "\uFFFD"), errors.Join(err, r.Close())
}

// read resolves a path and reads the beginning of its file.
func (p *Place) read(r workdir, name string) (ref Ref, data []byte, cut bool, err error) {
	ref, _, err = p.resolve(r, name)
	if err != nil {
		return ref, nil, false, err
	}
	data, cut, err = readHead(r, ref)
	if err != nil {
		err = &PathError{Path: name, Text: cause(err).Error(), Err: err}
	}
	return ref, data, cut, err
}

func readTask(ref Ref, data []byte, cut bool, knows func(role string) bool) (*Task, error) {
	doc, err := taskDocument(ref.Path, data, cut)
	if err == nil {
		err = refuseNearMiss(doc)
	}
	if err != nil {
		return nil, err
	}
	t := &Task{Ref: ref, Header: string(doc.Source[:doc.Body])}
	if err := t.readRole(doc, knows); err != nil {
		return nil, err
	}
	t.State, t.Mark = firstText(doc, markFields...), markOf(doc)
	for _, name := range markFields {
		if _, value := doc.Field(name); t.stateLine == 0 && scalarText(value) != "" {
			t.stateLine, _ = doc.Position(value)
		}
	}
	t.misspelt = findMisspelt(doc)
	t.Title = firstText(doc, "title")
	if t.Title == "" {
		t.Title = firstHeading(doc.Source[doc.Body:])
	}
	_, files := doc.Field("files")
	t.Files = texts(files)
	_, needs := doc.Field("needs")
	if t.Needs = texts(needs); !isTexts(needs) {
		return nil, doc.Problem(needs, "needs is no list of tasks", "write for example needs: [tasks/1-schema.md]")
	}
	return t, nil
}

// readHead reads the first 64 KiB of a task file. cut is true if the file is longer.
func readHead(r workdir, ref Ref) (data []byte, cut bool, err error) {
	f, err := r.open(ref.Path)
	if err != nil {
		return nil, false, err
	}
	// A file that was regular when its path was resolved may be a FIFO by now.
	if err := f.regular(); err != nil {
		return nil, false, errors.Join(err, f.Close())
	}
	data, err = io.ReadAll(io.LimitReader(f, taskLimit+1))
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, false, err
	}
	if len(data) > taskLimit {
		return data[:taskLimit], true, nil
	}
	return data, false, nil
}

func taskDocument(file string, data []byte, cut bool) (*frontmatter.Document, error) {
	if isYAML(file) {
		if cut {
			return nil, &frontmatter.Problem{File: file, Text: "a task in YAML may have 64 KiB",
				Fix: "use Markdown with frontmatter: its text may be of any length"}
		}
		return frontmatter.ParseYAML(file, data)
	}
	doc, err := frontmatter.Parse(file, data)
	var problem *frontmatter.Problem
	if cut && errors.Is(err, frontmatter.ErrUnclosed) && errors.As(err, &problem) {
		problem.Text = "the frontmatter does not end within the first 64 KiB"
	}
	return doc, err
}

// readRole reads the role from the field "role", or else from the field "assignee", because task
// files use both. From a list of assignees it takes the first known role, or else the first name.
// Errors: *frontmatter.Problem.
func (t *Task) readRole(doc *frontmatter.Document, knows func(role string) bool) error {
	var empty *frontmatter.Problem
	for _, name := range []string{"role", "assignee"} {
		_, value := doc.Field(name)
		if value == nil {
			continue
		}
		if name == "assignee" && value.Kind == yaml.SequenceNode { // other tools write a list of persons
			if len(value.Content) == 0 {
				continue
			}
			at := slices.IndexFunc(value.Content, func(v *yaml.Node) bool { return v.Tag == "!!str" && knows(v.Value) })
			value = value.Content[max(at, 0)]
		}
		if value.Tag == "!!null" || value.Value == "" && value.Kind == yaml.ScalarNode {
			empty = doc.Problem(value, name+" is empty",
				"name a role, or remove the line: the phase of the board decides then")
			continue
		}
		if value.Kind != yaml.ScalarNode || value.Tag != "!!str" {
			return doc.Problem(value, name+" must be the name of one role", "write for example role: Implementor")
		}
		if pathFault(value.Value) != "" {
			return doc.Problem(value, name+" is no name of a role", "write for example role: Implementor")
		}
		if name == "assignee" {
			t.assignee = value.Value
		}
		if t.Role == "" {
			t.Role = value.Value
			t.RoleLine, t.roleColumn = doc.Position(value)
		}
	}
	if t.Role == "" && empty != nil {
		return empty
	}
	return nil
}

// nearMissLines is the number of lines that are searched for a role in a file without frontmatter.
const nearMissLines = 20

// refuseNearMiss returns a problem if the field "role" or "assignee" is misspelt, or is outside of
// frontmatter. Otherwise the task would silently go to an Implementor.
func refuseNearMiss(doc *frontmatter.Document) error {
	if doc.Root == nil {
		return refuseStrayRole(doc)
	}
	for i := 0; i+1 < len(doc.Root.Content); i += 2 {
		key := doc.Root.Content[i]
		for _, name := range []string{"role", "assignee"} {
			if key.Value != name && (strings.EqualFold(key.Value, name) || strings.EqualFold(key.Value, name+"s")) {
				return doc.Problem(key, fmt.Sprintf("the field %s means nothing", key.Value),
					fmt.Sprintf("write %s: and the name of one role", name))
			}
		}
	}
	return nil
}

// findMisspelt returns a warning about a field whose name is nearly that of one with a meaning, or nil. A
// header may have fields of other tools.
func findMisspelt(doc *frontmatter.Document) *frontmatter.Problem {
	if doc.Root == nil {
		return nil
	}
	for i := 0; i+1 < len(doc.Root.Content); i += 2 {
		key := doc.Root.Content[i]
		for _, name := range []string{"role", "needs", "files", "watch"} {
			if key.Value != name && frontmatter.OneEditApart(key.Value, name) {
				p := doc.Problem(key, fmt.Sprintf("the field %s means nothing", key.Value), "did you mean "+name+":?")
				p.Warning = true
				return p
			}
		}
	}
	return nil
}

func refuseStrayRole(doc *frontmatter.Document) error {
	for i, line := range bytes.SplitN(doc.Source, []byte{'\n'}, nearMissLines+1) {
		if i < nearMissLines && isRoleLine(line) {
			return &frontmatter.Problem{File: doc.File, Line: i + 1, Column: 1,
				Text: "a role outside of frontmatter means nothing",
				Fix:  "begin the file with a line --- and close the header with another"}
		}
	}
	return nil
}

func isRoleLine(line []byte) bool {
	name, value, found := bytes.Cut(line, []byte{':'})
	return found && len(value) > 0 && bytes.IndexByte([]byte(" \t\n\f\r"), value[0]) >= 0 &&
		(bytes.EqualFold(name, []byte("role")) || bytes.EqualFold(name, []byte("assignee")))
}

// firstText returns the first text that it finds in the named fields, in their order, or "".
func firstText(doc *frontmatter.Document, names ...string) string {
	for _, name := range names {
		if _, value := doc.Field(name); scalarText(value) != "" {
			return scalarText(value)
		}
	}
	return ""
}

func firstHeading(body []byte) string {
	for len(body) > 0 {
		line, rest, _ := bytes.Cut(body, []byte{'\n'})
		if title, ok := bytes.CutPrefix(line, []byte("# ")); ok {
			return string(bytes.ToValidUTF8(bytes.TrimSpace(title), []byte("\ufffd")))
		}
		body = rest
	}
	return ""
}

// RoleFor returns the role that works on a task. It returns the role that the task names. If the
// task names no role, it returns the role for the board's phase, or Implementor if the phase has
// none. Seed 004, "Agent Role Mapping".
func RoleFor(b *Board, t *Task) string {
	if t != nil && t.Role != "" {
		return t.Role
	}
	switch fold(b.Phase) {
	case "design", "validate":
		return "Architect"
	case "plan":
		return "Manager"
	case "execute":
		if fold(b.SubPhase) == "review" {
			return "Architect"
		}
	}
	return "Implementor"
}

// InReview reports whether the board is in a phase in which an Architect reviews.
func (b *Board) InReview() bool {
	return fold(b.Phase) == "validate" || fold(b.Phase) == "execute" && fold(b.SubPhase) == "review"
}
