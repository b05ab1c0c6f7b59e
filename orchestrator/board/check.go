package board

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/frontmatter"
)

// maxFindings bounds the findings about the tasks of one board. After that many, Check skips the
// tasks that are left.
const maxFindings = 200

// mostNamed bounds a list of tasks in a sentence.
const mostNamed = 5

// Check returns the faults and oddities of a board and its tasks, in the order of the board. A
// Problem with Warning set stops no run.
func Check(b *Board, p *Place) []*frontmatter.Problem {
	c := &checker{board: b, place: p, found: slices.Clone(b.Warnings)}
	c.checkCurrent()
	c.checkCheckpoints()
	c.checkTasks()
	return c.found
}

type checker struct {
	board *Board
	place *Place
	found []*frontmatter.Problem
}

func (c *checker) add(warning bool, err error) {
	var p *frontmatter.Problem
	if !errors.As(err, &p) {
		p = &frontmatter.Problem{File: c.board.File, Text: err.Error(), Fix: failure.HintOf(err)}
	}
	p.Warning = warning
	if !slices.ContainsFunc(c.found, func(q *frontmatter.Problem) bool { return covers(q, p) }) {
		c.found = append(c.found, p)
	}
}

// covers reports whether the finding q makes the finding p redundant, because both report the same
// fault at the same place. This happens if the current task is also in the list, because then it is
// checked twice. A warning does not cover an error.
func covers(q, p *frontmatter.Problem) bool {
	a, b := *q, *p
	a.Warning, a.Fix, a.Err = b.Warning, b.Fix, b.Err
	return a == b && (p.Warning || !q.Warning)
}

func (c *checker) checkCurrent() {
	b := c.board
	switch {
	case b.EndedWith() == "incomplete":
		c.warn("the Manager ended the board with tasks undone, so a person is needed",
			"kanban-run ack BOARD, or name in current the task to go on with")
	case b.EndedWith() != "":
		c.warn(fmt.Sprintf("the Manager ended the board with status %s, so a person is needed", b.Ended),
			"kanban-run ack BOARD, or name in current the task to go on with")
	case !b.Current.Set && !b.Terminal():
		c.add(false, b.MissingCurrent())
	case b.Current.Null && !isTerminal(b.Phase) && b.hasOpenEntry():
		c.warn(fmt.Sprintf("current is null, so the work is over, and phase is %q", b.Phase),
			"write phase: complete, or name the task to work on in current")
	case isTerminal(b.Phase) && b.Current.Path != "":
		c.warn(fmt.Sprintf("phase is %s, so the work is over, and current still names a task", b.Phase),
			"write current: null")
	case b.Current.Path != "":
		c.checkCurrentTask()
	}
}

// hasOpenEntry reports whether the list has an entry that is not marked as done.
func (b *Board) hasOpenEntry() bool {
	for i := range b.Len() {
		if !b.Entry(i).Done() {
			return true
		}
	}
	return false
}

func (c *checker) warn(text, fix string) {
	at := c.board.Current
	c.add(true, &frontmatter.Problem{File: c.board.File, Line: at.Line, Column: at.Column, Text: text, Fix: fix})
}

func (c *checker) checkCurrentTask() {
	b := c.board
	task, err := c.place.ReadTask(b.Current.Path)
	if err != nil {
		c.add(false, b.CurrentProblem(err))
		return
	}
	if task.Ref.Path != b.Current.Path {
		c.warn(fmt.Sprintf("current is found beside the board only; agents will see %s", task.Ref.Path),
			"kanban-run check --fix writes that path")
	}
	if !c.lists(task) {
		c.warn("current is not in the list of tasks", "add it to tasks, or correct it")
	}
	if task.Done() {
		c.warn(fmt.Sprintf("the current task says that its state is %s", task.State),
			"name the next task in current, or write current: null")
	}
	c.checkRole(task, false)
}

// checkTasks reads every listed file. An unfinished task can have these errors: an unreadable file,
// an unknown role, an invalid brief, and needs that cannot be met. A missing file is a warning, and
// so is every fault of a finished task.
func (c *checker) checkTasks() {
	var needs Needs
	open := map[int]bool{}
	most := len(c.found) + maxFindings
	for i := range c.board.Len() {
		e := c.board.Entry(i)
		if len(c.found) >= most {
			c.add(true, &frontmatter.Problem{File: c.board.File,
				Text: fmt.Sprintf("%d more tasks were not looked at", c.board.Len()-i),
				Fix:  "mend the ones above first"})
			return
		}
		over := c.board.Terminal() || e.Done()
		task, err := c.place.ReadTask(e.Path)
		if err != nil {
			c.add(over || errors.Is(err, fs.ErrNotExist), c.board.EntryProblem(e, err))
			continue
		}
		if !over && !task.Done() {
			open[i] = true
			needs.Add(e, task)
			c.found = append(c.found, c.place.BriefProblems(e.Path)...)
			c.found = append(c.found, c.board.Oddities(e, task)...)
		}
		if e.Path != c.board.Current.Path {
			c.checkRole(task, over || task.Done())
		}
	}
	for _, p := range needs.Check(c.board) {
		c.add(false, p)
	}
	if unmet := needs.unmet(c.board, c.board.Current.Path, open); len(unmet) > 0 {
		c.warn(fmt.Sprintf("current needs %s, and is worked on first all the same", event.List(unmet, mostNamed)),
			"name a task in current that needs none")
	}
}

// Oddities returns warnings about an open task and its entry: an assignee that is ignored, a state that
// is no known word, and a field that is misspelt.
func (b *Board) Oddities(e Entry, t *Task) (found []*frontmatter.Problem) {
	for _, w := range []*frontmatter.Problem{b.ignoredAssignee(e, t), b.unknownState(e, t), t.misspelt} {
		if w != nil {
			found = append(found, w)
		}
	}
	return found
}

// ignoredAssignee returns a warning if the entry's assignee is not the role that gets the task. It
// returns nil otherwise. Only the task's header and the phase choose the role (seed 004, "Agent
// Role Mapping").
func (b *Board) ignoredAssignee(e Entry, t *Task) *frontmatter.Problem {
	role := RoleFor(b, t)
	if e.Assignee == "" || fold(e.Assignee) == fold(role) {
		return nil
	}
	return &frontmatter.Problem{File: b.File, Line: e.Line, Warning: true,
		Text: fmt.Sprintf("assignee %s on the board does not choose the role: %s goes to %s", e.Assignee, e.Path, role),
		Fix:  fmt.Sprintf("put role: %s into the header of %s", e.Assignee, e.Path)}
}

// unknownState returns a warning if the state of an open task is a word that might mean done in
// another tool. It returns nil otherwise.
func (b *Board) unknownState(e Entry, t *Task) *frontmatter.Problem {
	file, line, state := b.File, e.Line, e.State
	if isKnownState(state) {
		file, line, state = t.Ref.Path, t.stateLine, t.State
	}
	if isKnownState(state) {
		return nil
	}
	return &frontmatter.Problem{File: file, Line: line, Warning: true,
		Text: fmt.Sprintf("status %s is no known word, so %s counts as open", event.Headline(state), e.Path),
		Fix:  "write done if nothing is left to do; open words are " + strings.Join(openWords[:], ", ")}
}

// lists reports whether the list has the current task. It compares paths first, because looking at
// files takes longer.
func (c *checker) lists(current *Task) bool {
	paths, path := c.board.TaskPaths(), c.board.Current.Path
	return slices.ContainsFunc(paths, func(p string) bool {
		return cleanPath(p) == cleanPath(current.Ref.Path) || cleanPath(p) == cleanPath(path)
	}) || slices.ContainsFunc(paths, func(p string) bool { return c.place.SameTask(p, path) })
}

func (c *checker) checkRole(t *Task, over bool) {
	if t.assignee != "" && fold(t.assignee) != fold(t.Role) {
		c.add(true, &frontmatter.Problem{File: t.Ref.Path, Line: t.RoleLine, Column: t.roleColumn,
			Text: fmt.Sprintf("role is %s and assignee is %s; role counts", t.Role, t.assignee),
			Fix:  "remove one of the two"})
	}
	if role := RoleFor(c.board, t); !c.place.knows(role) {
		c.add(over, t.RoleProblem(&unknownRole{role}))
	}
}

// unknownRole is the error about a name that has no role file.
type unknownRole struct{ name string }

func (e *unknownRole) Error() string { return fmt.Sprintf("there is no role %q", e.name) }

func (e *unknownRole) Hint() string { return "kanban-run roles lists the roles" }
