package flow

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"kanban-run/orchestrator/event"
)

// The statuses of a task. A reply can also give its task another status.
const (
	StatusOK       = "ok"
	StatusBefore   = "before"   // the task was done when the first run of the journal began
	StatusAccepted = "accepted" // a person counts the task as done
	StatusDropped  = "dropped"  // the Manager took the task off the list undone
	StatusSkipped  = "skipped"  // a person has decided to go on without the task

	StatusStuck       = "stuck"        // the agent hung, and nothing helped
	StatusNoReply     = "no_reply"     // the agent gave no valid reply
	StatusNotAccepted = "not_accepted" // no review accepted the work
	StatusLimit       = "limit"        // a limit of the role, or of a task, was reached
	StatusDeclined    = "declined"     // the provider declines the task
	StatusChanged     = "changed"      // its agent does not begin before a person has accepted what another agent changed
)

// IsDone reports whether a task with this last status needs no more work.
func (t TaskStatus) IsDone() bool {
	return t.Status == StatusOK || t.Status == StatusBefore || t.Status == StatusAccepted
}

// keepStatus notes the status of a task, unless the status is "". The list is copied, because a
// refused event has to leave the state as it was.
func (s *State) keepStatus(task, status string) {
	if status == "" {
		return
	}
	is := func(t TaskStatus) bool { return t.Task == task }
	if i := slices.IndexFunc(s.Statuses, is); i >= 0 {
		s.Statuses = slices.Delete(slices.Clone(s.Statuses), i, i+1)
	}
	s.Statuses = append(slices.Clip(s.Statuses), TaskStatus{Task: task, Status: status})
}

// forgetMarks notes that an agent has written the list: a mark that it lacks tells nothing, because
// no agent was told to keep marks.
func (s *State) forgetMarks() {
	s.Statuses = slices.Clone(s.Statuses)
	for i := range s.Statuses {
		s.Statuses[i].Marked = false
	}
}

// NotDone returns the tasks that are not done by their last status, in the order of s.Statuses.
func (s *State) NotDone() (all []TaskStatus) {
	for _, t := range s.Statuses {
		if !t.IsDone() {
			all = append(all, t)
		}
	}
	return all
}

// List is the list of tasks of a board.
type List struct {
	Paths  []string              // the tasks, as the board spells their paths
	Find   func(task string) int // index of the task with this path, as agents see it; -1: not listed
	Marked func(i int) bool      // the board marks task i as done
	Done   func(i int) bool      // the header of task i says that it is done
}

// Rest is what a board leaves undone.
type Rest struct {
	Tasks  int          // number of tasks, on the list or dropped
	Open   []TaskStatus // tasks that are not done; status "": never worked on
	Marked []TaskStatus // tasks that are only marked as done; status "": never worked on

	// Skipped are tasks that a person has decided to go on without. They are settled.
	Skipped []TaskStatus
}

// StatusesOn returns the last status of each task of a list, or "" for a task that was never worked
// on. If a task is on the list twice, both places have the same status.
func (s *State) StatusesOn(l List) []string {
	all := make([]string, len(l.Paths))
	for _, t := range s.Statuses {
		if i := l.Find(t.Task); i >= 0 {
			all[i] = t.Status
		}
	}
	first := cleaned(l.Paths)
	for i, p := range l.Paths {
		all[i] = all[first[path.Clean(p)]]
	}
	return all
}

// Rest returns what a board with this list leaves undone. A task is done if its last reply was ok,
// if the board marks it, or if its header or a person says so.
func (s *State) Rest(l List) Rest {
	r := Rest{Tasks: len(l.Paths)}
	for i, status := range s.StatusesOn(l) {
		t := TaskStatus{Task: l.Paths[i], Status: status}
		switch {
		case t.IsDone():
		case l.Marked(i):
			r.Marked = append(r.Marked, t)
		case l.Done(i):
		case status == StatusSkipped:
			r.Skipped = append(r.Skipped, t)
		default:
			r.Open = append(r.Open, t)
		}
	}
	for _, task := range s.StillDropped(l) {
		r.Tasks++
		r.Open = append(r.Open, TaskStatus{Task: task, Status: StatusDropped})
	}
	return r
}

// StillDropped returns the tasks that the Manager took off the list undone. Tasks that are on the
// list again, or are done by now, are left out.
func (s *State) StillDropped(l List) (tasks []string) {
	for _, task := range s.Dropped {
		if l.Find(task) < 0 && !s.isOK(path.Clean(task)) {
			tasks = append(tasks, task)
		}
	}
	return tasks
}

// Change is the change of the list of tasks by a reply of the Manager. The order of the list does
// not count.
type Change struct {
	Dropped []string       // tasks that were taken off the list undone
	Renamed []event.Rename // tasks that got another path
}

// ChangeOf returns the change of a list. The parameters "before" and "after" are the two lists,
// with paths as agents see them. A task that left the list was renamed if its file is gone and an
// added task replaces it. The replacement is the added task with the same base name. If no added
// task has this base name and the two lists have the same length, the replacement is the added task
// at the same place. Any other task that left the list was dropped. The exceptions are a task that
// is done, and a task about which the Manager was told an anomaly. If the reply also added a task
// that replaces no other task, ChangeOf reports no dropped task, because the plan is a new one. The
// function isDone reports whether a task is marked as done. The function isGone reports whether a
// task has no file.
func (s *State) ChangeOf(before, after []string, isDone, isGone func(task string) bool) (c Change) {
	if slices.Equal(before, after) {
		return c
	}
	was, is := cleaned(before), cleaned(after)
	var added []int
	for i, p := range after {
		if _, old := was[path.Clean(p)]; !old {
			added = append(added, i)
		}
	}
	told := ""
	if s.Step != nil && s.Step.Anomaly != nil {
		told = path.Clean(s.Step.Task)
	}
	for i, p := range before {
		clean := path.Clean(p)
		if _, stays := is[clean]; stays || was[clean] != i {
			continue
		}
		at := slices.IndexFunc(added, func(k int) bool { return path.Base(after[k]) == path.Base(p) })
		if at < 0 && len(before) == len(after) {
			at = slices.Index(added, i)
		}
		if at >= 0 && !isGone(p) {
			at = -1 // the file still exists, so the added task is another one
		}
		switch {
		case at >= 0:
			c.Renamed = append(c.Renamed, event.Rename{From: p, To: after[added[at]]})
			added = slices.Delete(added, at, at+1)
		case clean != told && !isDone(p) && !s.isOK(clean):
			c.Dropped = append(c.Dropped, p)
		}
	}
	if len(added) > 0 {
		c.Dropped = nil
	}
	return c
}

// cleaned maps each path, in its clean form, to its first place in paths.
func cleaned(paths []string) map[string]int {
	all := make(map[string]int, len(paths))
	for i, p := range slices.Backward(paths) {
		all[path.Clean(p)] = i
	}
	return all
}

// change notes how a reply changed the list.
func (s *State) change(dropped []string, renamed []event.Rename) {
	for _, t := range dropped {
		if !slices.Contains(s.Dropped, t) {
			s.Dropped = append(slices.Clip(s.Dropped), t)
		}
	}
	for _, r := range renamed {
		is := func(t TaskStatus) bool { return path.Clean(t.Task) == path.Clean(r.From) }
		if i := slices.IndexFunc(s.Statuses, is); i >= 0 {
			s.keepStatus(r.To, s.Statuses[i].Status)
		}
	}
}

// LeavesOpen reports whether a task of list l is undone after the open step. c is the change of the
// list by the reply of the step.
func (s *State) LeavesOpen(l List, c Change) bool {
	after := s.afterStep()
	after.change(c.Dropped, c.Renamed)
	return len(after.Rest(l).Open) > 0
}

// RestAfterStep is like [State.Rest], for the state after the open step, if there is one, and after
// the given tasks were taken off the list.
func (s *State) RestAfterStep(l List, dropped ...string) Rest {
	after := s.afterStep()
	after.change(dropped, nil)
	return after.Rest(l)
}

// afterStep returns the state with the status with which the open step leaves its task.
func (s *State) afterStep() State {
	after := *s
	if s.Step != nil && s.Step.Checkpoint == nil {
		after.keepStatus(cmp.Or(s.Step.Path, s.Step.Task), s.Step.status())
	}
	return after
}

// IsDone reports whether a task is done by its last status. The status in the open step counts, too.
func (s *State) IsDone(task string) bool { return s.isOK(path.Clean(task)) }

// isOK reports whether a task is done by its last status. The status in the open step counts, too.
func (s *State) isOK(clean string) bool {
	if s.Step != nil && path.Clean(s.Step.Task) == clean && s.Step.status() != "" {
		return s.Step.status() == StatusOK
	}
	return slices.ContainsFunc(s.Statuses, func(t TaskStatus) bool { return path.Clean(t.Task) == clean && t.IsDone() })
}

// status returns the status with which the step leaves its task. It comes from the reply of the
// task's agent or, for a task of the Manager's own, from the Manager's reply. It is "" if there is
// no such reply, or if the Manager was only told about the task.
func (s *Step) status() string {
	if s.TaskStatus == "" && s.Role == event.ManagerRole && s.Anomaly == nil && s.Reply != nil && s.Checkpoint == nil {
		return s.Reply.Status
	}
	return s.TaskStatus
}

// adjectives has the words for each status of an open task: an adjective, and the verbs for one
// task and for several tasks.
var adjectives = map[string]struct{ adjective, one, several string }{
	"":            {"never worked on", "was never worked on", "were never worked on"},
	"blocked":     {"blocked", "is blocked", "are blocked"},
	"error":       {"in error", "is in error", "are in error"},
	"escalate":    {"escalated", "is escalated", "are escalated"},
	StatusSkipped: {"skipped", "was skipped", "were skipped"},
	StatusStuck:   {"stuck", "is stuck", "are stuck"},
	StatusNoReply: {"without a valid reply", "has no valid reply", "have no valid reply"},

	StatusNotAccepted: {"never accepted", "was never accepted", "were never accepted"},
	StatusLimit:       {"at a limit of its own", "reached a limit of its own", "reached limits of their own"},
	StatusDeclined:    {"declined by the provider", "was declined by the provider", "were declined by the provider"},
	StatusChanged:     {"waiting for a look at a change", "waits for a look at a change", "wait for a look at a change"},

	StatusDropped: {"dropped", "was taken off the list undone", "were taken off the list undone"},
}

// Is returns in words, for a sentence about the task, that it has its status.
func (t TaskStatus) Is() string { return cmp.Or(adjectives[t.Status].one, "is "+t.Status) }

// Undone returns in words the tasks that are not done, such as "1 of 5 tasks is blocked:
// tasks/4.md". It returns "" if all tasks are done.
func (r Rest) Undone() string {
	if len(r.Open) == 0 {
		return ""
	}
	first := r.Open[0].Status
	words, mixed := adjectives[first], false
	if slices.ContainsFunc(r.Open, func(t TaskStatus) bool { return t.Status != first }) {
		words.several, mixed = "are not ok", true
	}
	replied := func(t TaskStatus) bool { return t.Status != "" && t.Status != StatusDropped }
	if mixed && slices.ContainsFunc(r.Open, func(t TaskStatus) bool { return !replied(t) }) {
		words.several = "are not done"
	}
	verb := words.several
	if len(r.Open) == 1 {
		verb = words.one
	}
	return fmt.Sprintf("%d of %s %s: %s", len(r.Open), event.Count(r.Tasks, "task"), verb, names(r.Open, mixed))
}

// skips returns in words the tasks that a person has decided to go on without, or "" for none.
func (r Rest) skips() string {
	if len(r.Skipped) == 0 {
		return ""
	}
	return wasWere(len(r.Skipped)) + " skipped: " + names(r.Skipped, false)
}

// marks returns in words the tasks that are marked as done although they were not worked on, or not
// with success. It returns "" if there are no such tasks.
func (r Rest) marks() string {
	var bare, failed []TaskStatus
	for _, t := range r.Marked {
		if t.Status == "" {
			bare = append(bare, t)
		} else {
			failed = append(failed, t)
		}
	}
	var parts []string
	if n := len(bare); n > 0 {
		parts = append(parts, fmt.Sprintf("%s marked without work here: %s", wasWere(n), names(bare, false)))
	}
	if n := len(failed); n > 0 {
		parts = append(parts, fmt.Sprintf("%s marked as done in spite of the reply: %s", wasWere(n),
			names(failed, true)))
	}
	return strings.Join(parts, "; ")
}

func wasWere(n int) string {
	if n == 1 {
		return "1 task was"
	}
	return event.Count(n, "task") + " were"
}

// names returns in words the first tasks, and the number of the others. If the parameter "mixed" is
// true, each task has its status.
func names(tasks []TaskStatus, mixed bool) string {
	const most = 3
	var all []string
	for _, t := range tasks[:min(most, len(tasks))] {
		if mixed {
			t.Task += " (" + adjectives[t.Status].adjective + ")"
		}
		all = append(all, t.Task)
	}
	text := strings.Join(all, ", ")
	if more := len(tasks) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// skipped returns in words the tasks that a person has decided to skip. The words can end a
// sentence.
func (s *State) skipped() (text string) {
	for _, t := range s.Statuses {
		if t.Status == StatusSkipped {
			text += "; " + t.Task + " is skipped"
		}
	}
	return text
}

// left returns the end of a sentence: the tasks that package walk could not name as next, with the
// reasons.
func (s *State) left() string {
	if len(s.Last.Left) == 0 {
		return ""
	}
	return "; " + strings.Join(s.Last.Left, "; ")
}

// StaysOpen reports whether package walk leaves a board open when all its open tasks are in
// quarantine. Then the first of these tasks is current. If StaysOpen returns false, package walk
// ends such a board.
func (s *State) StaysOpen() bool { return s.KeepGoing || s.ByNeeds }
