package workspace

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/walk"
)

// Walk returns the decision of package walk, the Manager without a model, about the open step. It also returns the board with the decision: with the task's mark and the
// fields "current" and "ended". Errors: *failure.Invalid if the board cannot hold the decision. If this machine is out
// of a resource, such as open files, Walk returns the system's error.
func (w *Workspace) Walk(b *board.Board, s *flow.State) (e event.ManagerWalked, after *board.Board, err error) {
	step := s.Step
	d, at, byNeeds, err := w.decideWalk(b, s)
	if err != nil {
		return e, nil, err
	}
	e = event.ManagerWalked{
		Step:    step.Number,
		Task:    step.Task,
		Status:  d.Status,
		Message: event.Clip(w.Redactor.String(d.Message)),
		ByNeeds: byNeeds,
		Before:  b.SHA,
		Current: w.fields(b).Current,
	}
	for _, text := range d.Left {
		e.Left = append(e.Left, w.Redactor.String(text))
	}
	if d.Next != "" {
		e.NextTask = &d.Next
		if err := w.checkNext(d.Next); err != nil {
			return e, nil, err
		}
	}
	e.Marked = d.Mark && !b.Entry(at).Done()
	after, e.Warning, err = w.spliceWalked(b, at, e)
	if err == nil && d.Next == "" && d.Status == flow.StatusOK && after.CanWriteEnded() &&
		s.LeavesOpen(ListOf(after, w.Place.ReadTask), flow.Change{}) {
		incomplete := flow.EndedIncomplete
		after, err = after.Splice(board.Edit{Ended: &incomplete})
	}
	if err != nil {
		return e, nil, &failure.Invalid{
			Err: fmt.Errorf("walk cannot write its decision onto the board: %w", err),
			Fix: "write the list of tasks with a path a line, or give the Manager an agent with a model",
		}
	}
	e.After = after.SHA
	return e, after, nil
}

// Moved returns a message if an edit after walk's decision changed the current task, made the board
// terminal or reopened it. Otherwise it returns "".
func (w *Workspace) Moved(b *board.Board, e event.ManagerWalked) string {
	now := w.fields(b)
	if now.Current == e.Current && now.Terminal == (e.Current == "") {
		return ""
	}
	return "the board was edited after walk had decided, and stays as it is: current is " + cmp.Or(now.Current, "null")
}

// decideWalk returns walk's decision, and the index of the step's task in the list. The result
// byNeeds is true if walk met a task that depends on undone tasks. decideWalk reads only the files
// of entries that are not marked.
func (w *Workspace) decideWalk(b *board.Board, s *flow.State) (d walk.Decision, at int, byNeeds bool, err error) {
	step, list := s.Step, ListOf(b, w.Place.ReadTask)
	at = list.Find(step.Task)
	past := pastOf(s, list)
	var unseen error // why a file could not be looked at; the file may be sound
	d = walk.Decide(walk.Turn{Task: step.Task, At: at, Status: step.TaskStatus, Is: flow.TaskStatus{Status: step.TaskStatus}.Is(), Said: event.Headline(step.Said), Anomaly: step.Anomaly,
		Len: b.Len(), Marked: func(i int) bool { return b.Entry(i).Done() }, Past: past, Head: func(i int) walk.Head {
			path := b.Entry(i).Path
			task, err := w.Place.ReadTask(path)
			switch {
			case durable.IsMachineFault(err):
				unseen = err
				return walk.Head{Path: path, Done: true}
			case w.isOutOfSight(path, step.Task):
				unseen = outOfSight(step, path, err)
				return walk.Head{Path: path, Done: true}
			case err != nil:
				return walk.Head{Path: path, Fault: err}
			}
			if unknown := w.lookup(b, task); unknown != nil && !task.Done() {
				return walk.Head{Path: path, Fault: unknown}
			}
			needs := unmet(task.Needs, list, past, at, step)
			byNeeds = byNeeds || len(needs) > 0 && !task.Done()
			return walk.Head{Path: task.Ref.Path, Done: task.Done(), Needs: needs}
		}})
	return d, at, byNeeds, unseen
}

// outOfSight returns the error for a task whose folder is out of sight.
func outOfSight(step *flow.Step, task string, err error) error {
	return &failure.Invalid{
		Err: fmt.Errorf("the folder of %s and %s is out of sight: %w", step.Task, task, err),
		Fix: "bring it back; then the same command goes on",
	}
}

// isOutOfSight reports whether the folder of a task is gone in which the task before it was. A
// folder that is moved for a moment decides nothing.
func (w *Workspace) isOutOfSight(task, before string) bool {
	if path.Dir(path.Clean(task)) != path.Dir(path.Clean(before)) {
		return false
	}
	_, err := os.Stat(filepath.Join(w.HomeDir(), filepath.FromSlash(path.Dir(path.Clean(task)))))
	return errors.Is(err, fs.ErrNotExist)
}

// lookup returns an error if the role of a task is not known.
func (w *Workspace) lookup(b *board.Board, t *board.Task) error {
	if w.Place.Lookup == nil {
		return nil
	}
	if err := w.Place.Lookup(board.RoleFor(b, t)); err != nil {
		return t.RoleProblem(err)
	}
	return nil
}

// pastOf returns a function that maps the index of an entry in the list to the entry's past.
func pastOf(s *flow.State, l flow.List) func(i int) walk.Past {
	statuses, asides := s.StatusesOn(l), map[string]flow.Aside{}
	for _, a := range s.Asides() {
		if i := l.Find(a.Task); i >= 0 {
			asides[path.Clean(l.Paths[i])] = a // a task can be on the list twice
		}
	}
	return func(i int) walk.Past {
		a, isAside := asides[path.Clean(l.Paths[i])]
		switch t := (flow.TaskStatus{Status: statuses[i]}); {
		case isAside && a.Tried:
			return walk.Aside
		case isAside && a.Done:
			return walk.Again
		case s.Quarantined(l.Paths[i]) != nil && s.StaysOpen():
			return walk.Quarantined
		case s.Quarantined(l.Paths[i]) != nil:
			return walk.Skipped
		case t.IsDone(), statuses[i] == flow.StatusSkipped: // what needs a task that a person skipped is worked on
			return walk.Settled
		default:
			return walk.Open
		}
	}
}

// SaysDone reports whether the list or the header of a task says that the task is done.
func (w *Workspace) SaysDone(task string) bool {
	b, err := w.Look()
	if err != nil {
		return false
	}
	l := ListOf(b, w.Place.ReadTask)
	i := l.Find(task)
	return i >= 0 && (l.Marked(i) || l.Done(i))
}

// missingNeeds returns a warning if a Manager names a next task that depends on undone tasks. The
// Manager is allowed to name such a task. If needs do not decide the order of the board,
// missingNeeds always returns "".
func (w *Workspace) missingNeeds(b *board.Board, s *flow.State, next *string) string {
	if next == nil || !s.ByNeeds {
		return ""
	}
	task, err := w.Place.ReadTask(*next)
	if err != nil || len(task.Needs) == 0 {
		return ""
	}
	list := ListOf(b, w.Place.ReadTask)
	missing := unmet(task.Needs, list, pastOf(s, list), list.Find(s.Step.Task), s.Step)
	if len(missing) == 0 {
		return ""
	}
	return fmt.Sprintf("%s needs %s, and is next all the same, says the Manager", *next, event.List(missing, 5))
}

// unmet returns the needed tasks that are not done. The task of the step is done if its status is
// ok and it has no anomaly. The parameter at is the index of this task in the list.
func unmet(needs []string, l flow.List, past func(i int) walk.Past, at int, step *flow.Step) (all []string) {
	for _, need := range needs {
		i := l.Find(need)
		switch {
		case i < 0:
		case past(i) == walk.Aside, past(i) == walk.Again:
		case l.Marked(i), l.Done(i), past(i) == walk.Settled, i == at && step.Anomaly == nil && step.TaskStatus == flow.StatusOK:
			continue
		}
		all = append(all, need)
	}
	return all
}

// checkNext refuses a task that a Manager is not allowed to name. Errors: *failure.Invalid.
func (w *Workspace) checkNext(task string) error {
	if w.isOwn(task) {
		return &failure.Invalid{
			Err: fmt.Errorf("%s is on the list, and is a file of kanban-run's own or the board, and no task", task),
			Fix: "take it off the list",
		}
	}
	return CheckSecrets(w.Redactor, task)
}

// spliceWalked writes the mark of entry at and the fields "current" and "ended" onto the board. It
// makes one edit of them, because the proof of an edit parses the whole board.
func (w *Workspace) spliceWalked(b *board.Board, at int, e event.ManagerWalked) (after *board.Board, warning string, err error) {
	now := w.fields(b)
	d := Decision{Status: contract.Status(e.Status), Next: e.NextTask, Tasks: now.Tasks}
	verdict := flow.Reconcile(now, now, w.next(d), d.Tasks, d.ended())
	edit := w.edit(b, verdict, d)
	if e.Marked {
		edit.Done = &at
	}
	after, err = b.Splice(edit)
	return after, verdict.Warning, err
}
