// Package marks keeps the marks in the headers of tasks, so that only those count that a person, the
// Manager or the work on the task itself has set. What an agent marks otherwise is put back.
package marks

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/plainfile"
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

// with returns the marks with another mark of one task.
func (m *Marks) with(task string, mark board.Mark) *Marks {
	of := maps.Clone(m.of)
	of[task] = mark
	return &Marks{m.list, of}
}

// reader reads the headers of tasks. It reads a file again only if the file has changed.
type reader struct {
	place *board.Place
	list  []string // the list of the last look
	last  []header // of each task of the list
	edits []edit   // headers that have changed since the look before
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
}

// edit is a change of a header, or a header that cannot be read any more.
type edit struct {
	task     string
	text     string // the header before
	from, to string // the role before and after; both are "" if the header cannot be read
	isNew    bool   // the file was never read before
	linked   bool   // the file was no symbolic link before, and is one now
}

// read returns the marks of the tasks on a list. A header that cannot be read keeps its last mark.
// Errors: this machine is out of a resource.
func (r *reader) read(list []string) (*Marks, error) {
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
			r.edits = append(r.edits, edit{task: list[i], to: h.role, isNew: true})
		case unread:
			r.edits = append(r.edits, edit{task: list[i], text: was.text, linked: !was.isLink && r.place.IsLink(list[i])})
		case h.text != was.text:
			r.edits = append(r.edits, edit{task: list[i], text: was.text, from: was.role, to: h.role, linked: h.isLink && !was.isLink})
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
func (r *reader) take(list []string) {
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

// file returns the file of a task, or "" if it was never read.
func (r *reader) file(task string) string {
	if i := slices.Index(r.list, task); i >= 0 {
		return r.last[i].file
	}
	return ""
}

// changedAt returns the time of the last change of a task's file.
func (r *reader) changedAt(task string) (at time.Time) {
	if i := slices.Index(r.list, task); i >= 0 {
		for _, s := range r.last[i].stamps {
			if s != (stamp{}) {
				at = s.changedAt()
			}
		}
	}
	return at
}

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
	case err == nil:
		h.file, h.mark, h.text, h.role = task.Ref.Abs, task.Mark, task.Header, task.Role
		h.isLink = place.IsLink(path)
	}
	return err != nil, nil
}

// kept is the content of the file that [rundir.Dir.Marks] names.
type kept struct {
	List  []string              `json:"list"`
	Marks map[string]board.Mark `json:"marks"`
	// Turns is the place in the log of turns, and Open has the turns of other boards that were open.
	Turns int64  `json:"turns"`
	Open  []span `json:"open,omitempty"`
	// Last is what was kept before, for a run that dies before the SHA-256 of Marks is journaled.
	Last *kept `json:"last,omitempty"`
}

// load returns the kept marks, if they have the given SHA-256.
func load(dir rundir.Dir, sha string) (m *Marks, k kept, ok bool) {
	data, err := plainfile.Read(dir.Marks(), maxKept)
	if err != nil || json.Unmarshal(data, &k) != nil || sha == "" {
		return nil, kept{}, false
	}
	for at := &k; at != nil; at = at.Last {
		if m = (&Marks{at.List, at.Marks}); m.SHA() == sha {
			return m, *at, true
		}
	}
	return nil, kept{}, false
}

// Kept returns the marks that a run kept, if they have the given SHA-256, or nil.
func Kept(dir rundir.Dir, sha string) *Marks {
	m, _, _ := load(dir, sha)
	return m
}

// IsOpen reports whether a task was on the list, and its header did not mark it as done.
func (m *Marks) IsOpen(task string) bool { return !m.of[task].Done && slices.Contains(m.list, task) }

// maxKept bounds the file of the kept marks, in bytes.
const maxKept = 64 << 20

// Forget makes the marks count that are there when the next run begins: a person has accepted them.
func Forget(dir rundir.Dir) error {
	err := os.Remove(dir.Marks())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// ErrUnknown reports that the marks as a turn began are not known any more.
var ErrUnknown = errors.New("the marks of the tasks as the turn began are not known any more")

// Restore gives the headers of tasks the marks that they had before the turn whose marks have the
// given SHA-256. Errors: [ErrUnknown], and those of [board.Place.SetMark].
func Restore(place *board.Place, dir rundir.Dir, sha string) error {
	if sha == "" {
		return nil // the marks were never looked at
	}
	before, _, ok := load(dir, sha)
	if !ok {
		return ErrUnknown
	}
	now, err := (&reader{place: place}).read(before.list)
	if err != nil {
		return err
	}
	_, err = putBack(place, dir, now.Changed(before), before, strings.Clone)
	return err
}

// ChangedSince returns the tasks of a list, without the given one, whose headers have gained or lost
// a mark since the turn whose marks have the given SHA-256. known is false if these marks are lost,
// and not the same as now.
func ChangedSince(place *board.Place, dir rundir.Dir, list []string, sha, own string) (tasks []string, known bool) {
	now, err := (&reader{place: place}).read(list)
	if sha == "" || err == nil && now.SHA() == sha {
		return nil, true
	}
	before, _, ok := load(dir, sha)
	if !ok || err != nil {
		return nil, false
	}
	changed := now.Changed(before)
	return slices.DeleteFunc(changed, func(t string) bool { return place.SameTask(t, own) }), true
}

// putBack gives the headers of tasks the marks that they had before. It keeps the bytes of each file
// that it changes in the run's folder, and returns the place in words. Errors: those of
// [board.Place.SetMark].
func putBack(place *board.Place, dir rundir.Dir, tasks []string, before *Marks, redact func(string) string) (where string, err error) {
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
