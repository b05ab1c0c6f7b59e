// Package marks keeps the marks in the headers of tasks, so that only those count that a person, the
// Manager or the work on the task itself has set. What an agent marks otherwise is put back.
package marks

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/plainfile"
	"kanban-run/orchestrator/rundir"
)

// Marks are the marks in the headers of the tasks on a board's list, by their paths on the board. A
// task whose header was never read has an empty mark.
type Marks map[string]board.Mark

// Changed returns the tasks whose headers have gained or lost a mark since an earlier look, sorted.
// Tasks that were not on the list then are left out.
func (m Marks) Changed(before Marks) (tasks []string) {
	for path, was := range before {
		if now, listed := m[path]; listed && now.Done != was.Done {
			tasks = append(tasks, path)
		}
	}
	slices.Sort(tasks)
	return tasks
}

// reader reads the headers of tasks. It reads a file again only if the file has changed.
type reader struct {
	place *board.Place
	last  map[string]header // by path on the board
}

// header is the header of a task as it was read last.
type header struct {
	file  string // path of the task's file; "": it was never read
	stamp string // state of the file before the header was read
	mark  board.Mark
}

// read returns the marks of tasks. A header that cannot be read keeps its last mark. Errors: this
// machine is out of a resource.
func (r *reader) read(tasks []string) (Marks, error) {
	marks := Marks{}
	for _, path := range tasks {
		h, err := r.readTask(path)
		if err != nil {
			return nil, fmt.Errorf("read the mark of %s: %w", path, err)
		}
		r.last[path], marks[path] = h, h.mark
	}
	return marks, nil
}

func (r *reader) readTask(path string) (header, error) {
	last := r.last[path]
	if last.file != "" {
		if info, err := os.Stat(last.file); err == nil && stampOf(info) == last.stamp {
			return last, nil
		}
	}
	task, err := r.place.ReadTask(path)
	switch {
	case durable.IsOutOfResources(err):
		return last, err
	case err != nil:
		return last, nil
	}
	return header{task.Ref.Abs, stampOf(task.Info), task.Mark}, nil
}

// kept is the content of the file that [rundir.Dir.Marks] names.
type kept struct {
	Marks Marks `json:"marks"`
	// Turns is the place in the log of turns, and Open whether a turn of another board was open.
	Turns int64 `json:"turns"`
	Open  bool  `json:"open,omitempty"`
}

// SHA returns the SHA-256 of the marks, in hex.
func (m Marks) SHA() string {
	data, err := json.Marshal(m) // with the paths in order
	if err != nil {
		return ""
	}
	return board.SHA(data)
}

// load returns the kept marks, if they have the given SHA-256.
func load(dir rundir.Dir, sha string) (k kept, ok bool) {
	data, err := plainfile.Read(dir.Marks(), maxKept)
	if err != nil || json.Unmarshal(data, &k) != nil || k.Marks.SHA() != sha {
		return kept{}, false
	}
	return k, true
}

// maxKept bounds the file of the kept marks, in bytes.
const maxKept = 64 << 20

// Restore gives the headers of tasks the marks that they had before the turn whose marks have the
// given SHA-256. It does nothing if these marks are not known any more. Errors: those of
// [board.Place.SetMark].
func Restore(place *board.Place, dir rundir.Dir, sha string) error {
	k, ok := load(dir, sha)
	if !ok {
		return nil
	}
	now, err := (&reader{place, map[string]header{}}).read(pathsOf(k.Marks))
	if err != nil {
		return err
	}
	_, err = putBack(place, dir, now.Changed(k.Marks), k.Marks)
	return err
}

// ChangedSince returns the tasks of a list, without the given one, whose headers have gained or lost
// a mark since the turn whose marks have the given SHA-256. known is false if these marks are lost,
// and not the same as now.
func ChangedSince(place *board.Place, dir rundir.Dir, list []string, sha, own string) (tasks []string, known bool) {
	now, err := (&reader{place, map[string]header{}}).read(list)
	if sha == "" || err == nil && now.SHA() == sha {
		return nil, true
	}
	k, ok := load(dir, sha)
	if !ok || err != nil {
		return nil, false
	}
	return without(place, now.Changed(k.Marks), own), true
}

func pathsOf(m Marks) (paths []string) {
	for path := range m {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	return paths
}

// without returns the tasks without those that are the same file as the given one.
func without(place *board.Place, tasks []string, task string) []string {
	return slices.DeleteFunc(tasks, func(t string) bool { return place.SameTask(t, task) })
}

// putBack gives the headers of tasks the marks that they had before. It keeps the bytes of each file
// that it changes in the run's folder, and returns the place in words. Errors: those of
// [board.Place.SetMark].
func putBack(place *board.Place, dir rundir.Dir, tasks []string, before Marks) (where string, err error) {
	where = "as the files were left: " + dir.TasksAfter()
	for _, task := range tasks {
		source, err := place.SetMark(task, before[task])
		if err != nil {
			return "", fmt.Errorf("put back the mark in the header of %s: %w", task, err)
		}
		if source != nil && dir.KeepTask(task, source) != nil {
			where = "not all files could be kept as they were left" // their marks are put back all the same
		}
	}
	return where, nil
}
