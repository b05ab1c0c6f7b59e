package stub

import (
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"sync"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/walk"
)

// nextTask returns the Manager's next task, or nil if there is none. If the rule does not name the
// task, package walk chooses it from the list in the input. If any task of the list needs another
// one, nextTask also marks as done the task that was just worked on. It writes the mark to the
// board, so that the next call sees it.
func (c *call) nextTask() *string {
	place, err := board.OpenPlace(c.dir, c.input.KanbanFile)
	if err != nil {
		fmt.Fprintf(c.stderr, "warning: no task is looked at: %v\n", err)
		return nil
	}
	done := path.Clean(c.input.task())
	b, unreadable := c.readBoard()
	list := readEntries(c.tasks.reader(place, c.input.KanbanFile), c.input.Tasks, b, done)
	at := slices.IndexFunc(list, func(e entry) bool { return path.Clean(e.file) == done })
	byNeeds := slices.ContainsFunc(list, func(e entry) bool { return len(e.needs) > 0 })
	if byNeeds && at >= 0 && !list[at].marked {
		err := unreadable
		if err == nil {
			err = c.markDone(b, list[at].place)
		}
		if err != nil {
			fmt.Fprintf(c.stderr, "warning: %s is not marked as done: %v\n", done, err)
		}
	}
	if c.rule.Next.set {
		return c.rule.Next.path
	}
	d := walk.Decide(walk.Turn{
		Task:   done,
		At:     at,
		Status: "ok",
		Len:    len(list),
		Marked: func(i int) bool { return list[i].marked },
		Past: func(i int) walk.Past {
			if i < at && !byNeeds { // without needs, the order of the list counts
				return walk.Settled
			}
			return walk.Open
		},
		Head: func(i int) walk.Head {
			e := list[i]
			if e.fault != nil {
				fmt.Fprintf(c.stderr, "warning: %s is skipped: %v\n", e.file, e.fault)
			}
			return walk.Head{Path: e.file, Done: e.done, Needs: unmet(e.needs, list), Fault: e.fault}
		},
	})
	if d.Next == "" {
		return nil
	}
	return &d.Next
}

// placesOf returns the index on the board's list of each task of the input, or -1. Agents see the paths of
// a board in a subfolder with the folder, so the tasks are told by their order, unless the list has another
// length. If b is nil, no task is found.
func placesOf(b *board.Board, tasks []string) []int {
	places := make([]int, len(tasks))
	for i, text := range tasks {
		file, _ := cutMark(text)
		switch {
		case b == nil:
			places[i] = -1
		case b.Len() == len(tasks):
			places[i] = i
		default:
			places[i] = b.Finder()(file)
		}
	}
	return places
}

// markDone marks the task with the index i as done on the board. It does nothing if the board lacks the
// task.
func (c *call) markDone(b *board.Board, i int) error {
	if i < 0 {
		return nil
	}
	marked, err := b.MarkDone(i)
	if err != nil {
		return err
	}
	return rewrite(c.input.KanbanFile, marked.Source)
}

func (c *call) readBoard() (*board.Board, error) {
	source, err := board.ReadFile(c.input.KanbanFile)
	if err != nil {
		return nil, err
	}
	return board.Parse(c.input.KanbanFile, source)
}

// entry is an entry of the list, with facts from its file.
type entry struct {
	file   string
	place  int    // index on the board's list; -1: the board lacks the task, or cannot be read
	listed string // path on the board's list
	marked bool
	done   bool // its file is marked as done, or it is the task just worked on
	needs  []string
	fault  error // the error of reading its file; nil if there is none
}

// taskCache has the tasks that stubs in this process have read. Each call of a Manager needs all of
// them, and nothing changes them in a dry run. A nil *taskCache keeps nothing.
type taskCache struct {
	mu    sync.Mutex
	known map[listed]board.TaskResult
}

// listed is a task on the list of a board, by their paths in the input of a stub.
type listed struct{ board, task string }

// reader returns a function that reads a task of a board. The caller must not change the task.
func (t *taskCache) reader(place *board.Place, kanbanFile string) func(task string) (*board.Task, error) {
	if t == nil {
		return place.ReadTask
	}
	return func(task string) (*board.Task, error) {
		t.mu.Lock()
		defer t.mu.Unlock()
		r, read := t.known[listed{kanbanFile, task}]
		if !read {
			r.Task, r.Err = place.ReadTask(task)
			t.known[listed{kanbanFile, task}] = r
		}
		return r.Task, r.Err
	}
}

// readEntries reads the list of the input, and the files of its tasks with the function read. The board b
// has the marks; it may be nil. The parameter done is the task that was just worked on.
func readEntries(
	read func(task string) (*board.Task, error), tasks []string, b *board.Board, done string,
) []entry {
	list, places, seen := make([]entry, len(tasks)), placesOf(b, tasks), map[string]bool{}
	for i, text := range tasks {
		e := &list[i]
		e.file, e.marked = cutMark(text)
		clean := path.Clean(e.file)
		e.place, e.listed = places[i], e.file
		if e.place >= 0 { // the list in the input of a run has no marks
			e.marked, e.listed = e.marked || b.Entry(e.place).Done(), b.Entry(e.place).Path
		}
		e.done = clean == done || seen[clean] // a task that is listed twice is worked on at its first place
		seen[clean] = true
		if task, err := read(e.file); err != nil {
			e.fault = err
		} else {
			e.done, e.needs = e.done || task.Done(), task.Needs
		}
	}
	return list
}

// unmet returns those needs whose tasks are not done.
func unmet(needs []string, list []entry) (all []string) {
	for _, need := range needs {
		if !slices.ContainsFunc(list, func(e entry) bool {
			return (e.marked || e.done) && (path.Clean(e.file) == path.Clean(need) || path.Clean(e.listed) == path.Clean(need))
		}) {
			all = append(all, need)
		}
	}
	return all
}

// cutMark returns an entry of the list without its trailing [done], and whether the entry had it.
func cutMark(entry string) (file string, marked bool) {
	file, marked = strings.CutSuffix(strings.TrimSpace(entry), "[done]")
	return strings.TrimSpace(file), marked
}

// writeBoard changes the board, which an agent other than the Manager must not do.
func (c *call) writeBoard() error {
	if c.rule.Board != nil {
		return rewrite(c.input.KanbanFile, []byte(*c.rule.Board))
	}
	source, err := os.ReadFile(c.input.KanbanFile)
	if err != nil {
		return fmt.Errorf("read board: %w", err)
	}
	return rewrite(c.input.KanbanFile, append(source, "\n# written by "+c.role+"\n"...))
}

func rewrite(file string, data []byte) error {
	if err := os.WriteFile(file, data, 0o644); err != nil {
		return fmt.Errorf("write board: %w", err)
	}
	return nil
}
