package flow

import (
	"cmp"
	"slices"
)

// Recount finds from all entries of a journal, in their order, what each task has used under the limits of now. A state keeps that only
// while a limit asks for it: most runs have none for tasks, and all their steps would pay for it.
type Recount struct {
	history History
	tasks   map[string]recounted
}

type recounted struct {
	TaskUse
	last uint64 // seq of the last record that it is in
}

// Add counts in what the next entry has changed.
func (r *Recount) Add(e Entry) {
	was := r.history.State
	r.history.Add(e)
	now := &r.history.State
	switch e.Event.(type) {
	case RunStarted:
		if was.Spent && !now.Spent {
			clear(r.tasks)
		}
		return
	case LockExited: // brings a state that other records have led to
		return
	}
	if was.Step == nil || now.Used == was.Used && now.Steps == was.Steps {
		return
	}
	if r.tasks == nil {
		r.tasks = map[string]recounted{}
	}
	name := was.Step.Task
	t := r.tasks[name].TaskUse
	t.Task, t.Steps, t.Used = name, t.Steps+now.Steps-was.Steps, t.Used.Plus(now.Used.minus(was.Used))
	r.tasks[name] = recounted{t, e.Seq}
}

// Tasks are those that agents had last, as [State] would have kept them.
func (r *Recount) Tasks() []TaskUse {
	all := make([]recounted, 0, len(r.tasks))
	for _, t := range r.tasks {
		all = append(all, t)
	}
	slices.SortFunc(all, func(a, b recounted) int { return cmp.Compare(a.last, b.last) })
	var last []TaskUse
	for _, t := range all[max(0, len(all)-mostTasks):] {
		last = append(last, t.TaskUse)
	}
	return last
}

// minus is what came after o.
func (u Used) minus(o Used) Used {
	return Used{Attempts: u.Attempts - o.Attempts, Told: u.Told - o.Told, Priced: u.Priced - o.Priced, Input: u.Input - o.Input,
		Cached: u.Cached - o.Cached, Output: u.Output - o.Output, Cost: u.Cost - o.Cost, Millis: u.Millis - o.Millis}
}

// LacksTasks says whether limits ask for what each task has used so far, and the state has not kept it because none did before.
func (s *State) LacksTasks(l Limits) bool {
	return l.ofTasks() && !s.Limits.ofTasks() && !s.Spent && s.Used != Used{}
}
