// Package marks reads the marks in the headers of tasks, and puts them back. Package divergence says which of them count.
package marks

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/rundir"
)

// Marks are the marks in the headers of the tasks on a board's list. It is not changed after it is
// made.
type Marks struct {
	list []string              // the paths on the board
	of   map[string]board.Mark // by path; a task without an entry has no mark, or its header was never read
}

// SHA returns the SHA-256 of the marks, in hex.
func (m *Marks) SHA() string {
	data, err := json.Marshal(m.of) // with the paths in order
	if err != nil {
		return ""
	}
	return board.SHA(data)
}

// Changed returns the tasks whose headers have gained or lost a mark since an earlier look, sorted.
// Tasks that were not on the list then are left out.
func (m *Marks) Changed(before *Marks) (tasks []string) {
	if m == before {
		return nil
	}
	changed := func(p string) {
		if m.of[p].Done != before.of[p].Done && slices.Contains(before.list, p) && slices.Contains(m.list, p) {
			tasks = append(tasks, p)
		}
	}
	for p := range m.of {
		changed(p)
	}
	for p := range before.of {
		if _, both := m.of[p]; !both {
			changed(p)
		}
	}
	slices.Sort(tasks)
	return tasks
}

// List returns the tasks that the marks are of.
func (m *Marks) List() []string { return m.list }

// Of returns the mark of a task; the zero value is none.
func (m *Marks) Of(task string) board.Mark { return m.of[task] }

// With returns the marks with another mark of one task.
func (m *Marks) With(task string, mark board.Mark) *Marks {
	of := maps.Clone(m.of)
	of[task] = mark
	return &Marks{m.list, of}
}

// Reader reads the headers of tasks. It reads a file again only if the file has changed.
type Reader struct {
	place *board.Place
	list  []string // the list of the last look
	last  []header // of each task of the list
	edits []Edit   // headers that have changed since the look before
	marks *Marks   // the marks of the last look; nil: there was none
}

// header is the header of a task as it was read last.
type header struct {
	places []string // files that the task's path may lead to
	stamps []stamp  // their states before the header was read
	file   string   // the task's file; "": it was never read
	mark   board.Mark
	text   string // the header's bytes
	role   string
	isLink bool // the file is a symbolic link
	broken bool // the header could not be read at the last look
}

// Edit is a change of a header, or a header that cannot be read any more.
type Edit struct {
	Task     string
	Was, Now string // the header before and after; Now is "" if it cannot be read
	From, To string // the role before and after; both are "" if the header cannot be read
	IsNew    bool   // the file was never read before
	Broken   bool   // it cannot be read any more
	Linked   bool   // the file was no symbolic link before, and is one now
}

// NewReader returns a reader that has not looked yet.
func NewReader(place *board.Place) *Reader { return &Reader{place: place} }

// Edits returns the headers that the last look found changed.
func (r *Reader) Edits() []Edit { return r.edits }

// Last returns the marks of the last look, or nil.
func (r *Reader) Last() *Marks { return r.marks }

// Read returns the marks of the tasks on a list. A header that cannot be read keeps its last mark.
// Errors: this machine is out of a resource.
func (r *Reader) Read(list []string) (*Marks, error) {
	changed := r.marks == nil || !slices.Equal(list, r.list)
	if changed {
		r.take(list)
	}
	isFirst := r.marks == nil
	r.edits = nil
	for i := range list {
		h := &r.last[i]
		was := *h
		unread, err := h.look(r.place, list[i])
		if err != nil {
			return nil, fmt.Errorf("read the mark of %s: %w", list[i], err)
		}
		changed = changed || h.mark != was.mark
		switch {
		case was.file == "" && (isFirst || unread || h.file == ""):
		case was.file == "":
			r.edits = append(r.edits, Edit{Task: list[i], Now: h.text, To: h.role, IsNew: true})
		case unread && !was.broken:
			r.edits = append(r.edits, Edit{Task: list[i], Was: was.text, Broken: true, Linked: !was.isLink && r.place.IsLink(list[i])})
		case !unread && h.text != was.text:
			r.edits = append(r.edits, Edit{Task: list[i], Was: was.text, Now: h.text, From: was.role, To: h.role, Linked: h.isLink && !was.isLink})
		}
	}
	if changed {
		r.marks = &Marks{list, map[string]board.Mark{}}
		for i, p := range list {
			if r.last[i].mark != (board.Mark{}) {
				r.marks.of[p] = r.last[i].mark
			}
		}
	}
	return r.marks, nil
}

// take makes room for the headers of another list, and keeps those that were read before.
func (r *Reader) take(list []string) {
	known := map[string]header{}
	for i := range r.last {
		known[r.list[i]] = r.last[i]
	}
	r.list, r.last = list, make([]header, len(list))
	for i, p := range list {
		h, ok := known[p]
		if !ok {
			h.places = r.place.Places(p)
			h.stamps = make([]stamp, len(h.places))
		}
		r.last[i] = h
	}
}

// File returns the file of a task, or "" if it was never read.
func (r *Reader) File(task string) string {
	if i := slices.Index(r.list, task); i >= 0 {
		return r.last[i].file
	}
	return ""
}

// ChangedAt returns the time of the last change of a task's file.
func (r *Reader) ChangedAt(task string) (at time.Time) {
	if i := slices.Index(r.list, task); i >= 0 {
		for _, s := range r.last[i].stamps {
			if s != (stamp{}) {
				at = s.changedAt()
			}
		}
	}
	return at
}

// ChangedAt returns the time of the last change of a file.
func ChangedAt(path string) time.Time { return stampOf(path).changedAt() }

// look reads the header if one of the files has changed, and reports whether it could not. The stamps
// are taken before the header is read, so that a change in between is seen at the next look.
func (h *header) look(place *board.Place, path string) (unread bool, err error) {
	same := true
	for i, p := range h.places {
		now := stampOf(p)
		same = same && now == h.stamps[i]
		h.stamps[i] = now
	}
	if same {
		return false, nil
	}
	task, err := place.ReadTask(path)
	switch {
	case durable.IsMachineFault(err):
		clear(h.stamps)
		return false, err
	case err != nil:
		h.broken = true
	default:
		h.broken = false
		h.file, h.mark, h.text, h.role = task.Ref.Abs, task.Mark, task.Header, task.Role
		h.isLink = place.IsLink(path)
	}
	return err != nil, nil
}

// Name names the marks in the note of a turn.
const Name = "marks"

// kept is the form of marks in the note of a turn.
type kept struct {
	List  []string              `json:"list"`
	Marks map[string]board.Mark `json:"marks"`
}

func (m *Marks) MarshalJSON() ([]byte, error) { return json.Marshal(kept{m.list, m.of}) }

// In returns the marks with the given SHA-256 if they are in a note, or nil.
func In(note rundir.Note, sha string) *Marks {
	var k kept
	if sha == "" || json.Unmarshal(note.Parts[Name], &k) != nil {
		return nil
	}
	if m := (&Marks{k.List, k.Marks}); m.SHA() == sha {
		return m
	}
	return nil
}

// IsOpen reports whether a task was on the list, and its header did not mark it as done.
func (m *Marks) IsOpen(task string) bool { return !m.of[task].Done && slices.Contains(m.list, task) }

// ErrUnknown reports that the marks as a turn began are not known any more.
var ErrUnknown = errors.New("the marks of the tasks as the turn began are not known any more")

// Restore gives the headers of tasks the marks that they had before the turn whose marks have the
// given SHA-256. Where the tasks of a list have these marks there is nothing to do. Errors: [ErrUnknown], and
// those of [board.Place.SetMark].
func Restore(place *board.Place, dir rundir.Dir, list []string, sha string) error {
	if sha == "" {
		return nil // the marks were never looked at
	}
	if now, err := NewReader(place).Read(list); err != nil || now.SHA() == sha {
		return err
	}
	before := In(dir.ReadNote(), sha)
	if before == nil {
		return ErrUnknown
	}
	now, err := NewReader(place).Read(before.list)
	if err != nil {
		return err
	}
	_, err = PutBack(place, dir, now.Changed(before), before, strings.Clone)
	return err
}

// ChangedSince returns the tasks of a list, without the given one, whose headers have gained or lost
// a mark since the turn whose marks have the given SHA-256. known is false if these marks are lost,
// and not the same as now.
func ChangedSince(place *board.Place, dir rundir.Dir, list []string, sha, own string) (tasks []string, known bool) {
	now, err := NewReader(place).Read(list)
	if sha == "" || err == nil && now.SHA() == sha {
		return nil, true
	}
	before := In(dir.ReadNote(), sha)
	if before == nil || err != nil {
		return nil, false
	}
	changed := now.Changed(before)
	return slices.DeleteFunc(changed, func(t string) bool { return place.SameTask(t, own) }), true
}

// PutBack gives the headers of tasks the marks that they had before. It keeps the bytes of each file
// that it changes in the run's folder, and returns the place in words. Errors: those of
// [board.Place.SetMark].
func PutBack(place *board.Place, dir rundir.Dir, tasks []string, before *Marks, redact func(string) string) (where string, err error) {
	where = "as the files were left: " + dir.TasksAfter()
	for _, task := range tasks {
		source, err := place.SetMark(task, before.of[task])
		if err != nil {
			return "", fmt.Errorf("put back the mark in the header of %s: %w", task, err)
		}
		if source != nil && dir.KeepTask(task, []byte(redact(string(source)))) != nil {
			where = "not all files could be kept as they were left" // their marks are put back all the same
		}
	}
	return where, nil
}
