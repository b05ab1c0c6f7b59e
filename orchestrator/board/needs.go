package board

import (
	"fmt"
	"maps"
	"path"

	"kanban-run/orchestrator/frontmatter"
)

// Needs holds the tasks of a board that must wait for other tasks.
type Needs []need

type need struct {
	entry Entry
	tasks []string // tasks that the entry needs, as the task file spells them
}

// Add adds a task of the board if it needs others.
func (n *Needs) Add(e Entry, t *Task) {
	if len(t.Needs) > 0 {
		*n = append(*n, need{e, t.Needs})
	}
}

// Check returns problems for needed tasks that are not on the list, and for circles of needs.
func (n Needs) Check(b *Board) (found []*frontmatter.Problem) {
	find, of, reported := b.Finder(), n.byIndex(b), map[int]bool{}
	for _, x := range n {
		for _, task := range x.tasks {
			if find(task) < 0 {
				found = append(found, &frontmatter.Problem{File: x.entry.Path, Text: fmt.Sprintf("it needs %s, which is not on the list", task),
					Fix: "needs names tasks of the same board, by their paths on it"})
			}
		}
		at := find(x.entry.Path)
		if reported[at] { // a circle is one fault, and not one for each of its tasks
			continue
		}
		if circle := circleFrom(at, of); circle != nil {
			for _, i := range circle {
				reported[i] = true
			}
			found = append(found, &frontmatter.Problem{File: x.entry.Path, Text: b.circleText(circle),
				Fix: "take one of these needs away"})
		}
	}
	return found
}

// circleText returns a circle of needs in words. See circleFrom for its tasks.
func (b *Board) circleText(circle []int) string {
	if len(circle) == 2 {
		return "it needs itself, so it can never begin"
	}
	text := "it needs " + b.Entry(circle[1]).Path
	for k := 2; k < len(circle); k++ {
		if more := len(circle) - 1 - mostNamed; k == mostNamed && more > 0 {
			text += fmt.Sprintf(", and so on over %d more,", more)
			k = len(circle) - 1
		} else {
			text += ","
		}
		text += " which needs " + b.Entry(circle[k]).Path
	}
	return text + ": none of them can begin"
}

// unmet returns the open tasks that a task needs, as the task file spells them.
func (n Needs) unmet(b *Board, task string, open map[int]bool) (all []string) {
	find := b.Finder()
	for _, x := range n {
		if find(x.entry.Path) != find(task) {
			continue
		}
		for _, need := range x.tasks {
			if open[find(need)] {
				all = append(all, need)
			}
		}
	}
	return all
}

// byIndex returns the tasks that each task needs. Keys and values are indexes on the list.
func (n Needs) byIndex(b *Board) map[int][]int {
	find, of := b.Finder(), map[int][]int{}
	for _, x := range n {
		at := find(x.entry.Path)
		for _, task := range x.tasks {
			if i := find(task); i >= 0 {
				of[at] = append(of[at], i)
			}
		}
	}
	return of
}

// circleFrom returns the tasks of a circle of needs that begins and ends with start. It returns nil
// if there is no such circle.
func circleFrom(start int, needs map[int][]int) []int {
	seen := map[int]bool{}
	var follow func(at int, way []int) []int
	follow = func(at int, way []int) []int {
		for _, next := range needs[at] {
			if next == start {
				return append(way, start)
			}
			if seen[next] {
				continue
			}
			seen[next] = true
			if found := follow(next, append(way, next)); found != nil {
				return found
			}
		}
		return nil
	}
	return follow(start, []int{start})
}

// Step is one task of the list that Plan returns.
type Step struct {
	Task  string   // the path that agents see
	Role  string   // the role that gets the task
	Needs []string // tasks that Task needs, as the task file spells them
}

// Past is the part of a board's history that Plan uses.
type Past struct {
	Never   bool         // the board has never been run
	Done    map[int]bool // indexes of the entries that the history shows as done
	Skipped map[int]bool // indexes of the entries that a person decided to skip, or that stay in quarantine
}

// Plan returns the open tasks of a board in the order in which package walk names them if every
// task is ok. It leaves out skipped and unreadable tasks, tasks that need such a task, and tasks
// that need one another.
func Plan(b *Board, p *Place, past Past) (steps []Step) {
	if b.Terminal() {
		return nil
	}
	var needs Needs
	at := -1
	if b.Current.Path != "" {
		at = b.Finder()(b.Current.Path)
	}
	marked, byNeeds := false, false
	open, missing, tasks := map[int]bool{}, map[int]bool{}, make([]*Task, b.Len())
	for i := range b.Len() {
		e := b.Entry(i)
		task, err := p.ReadTask(e.Path)
		marked, byNeeds = marked || e.Done(), byNeeds || err == nil && len(task.Needs) > 0
		if i != at && (e.Done() || err == nil && task.Done()) {
			continue // a task that is done gets work only if it is the current one
		}
		if err != nil || past.Skipped[i] {
			missing[i] = true // the tasks that need it are left out, too
			continue
		}
		open[i], tasks[i] = true, task
		needs.Add(e, task)
	}
	of := needs.byIndex(b)
	ready := func(i int) bool {
		for _, need := range of[i] {
			if open[need] || missing[need] {
				return false
			}
		}
		return open[i]
	}
	maps.DeleteFunc(open, func(i int, _ bool) bool {
		if past.Never { // without marks and needs, tasks before the current one count as done
			return i < at && !byNeeds && !marked
		}
		return past.Done[i]
	})
	add := func(t *Task) { // a task can be listed twice: all its entries are removed from open
		steps = append(steps, Step{Task: t.Ref.Path, Role: RoleFor(b, t), Needs: t.Needs})
		maps.DeleteFunc(open, func(k int, _ bool) bool { return path.Clean(tasks[k].Ref.Path) == path.Clean(t.Ref.Path) })
	}
	i := at
	if at < 0 { // the current task is not on the list
		if t, err := p.ReadTask(b.Current.Path); err == nil {
			add(t)
		}
		i = nextReady(b.Len(), at, ready)
	}
	for ; i >= 0; i = nextReady(b.Len(), i, ready) {
		if open[i] {
			add(tasks[i])
		}
	}
	return steps
}

// nextReady searches n tasks for one that is ready. It begins with the task that follows a given
// index, goes on from the last task to task 0, and ends with the task at the given index. It
// returns -1 if no task is ready.
func nextReady(n, after int, ready func(i int) bool) int {
	for k := range n {
		if i := (after + 1 + k) % n; ready(i) {
			return i
		}
	}
	return -1
}
