package flow

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"kanban-run/orchestrator/event"
)

// Aside is a task that is set aside: the board goes on without it, and the next run tries it again.
type Aside struct {
	Task   string `json:"task"`
	Role   string `json:"role"`
	Status string `json:"status"` // of its reply, or one of the constants
	Text   string `json:"text"`   // why
	Tried  bool   `json:"tried"`  // in this run
	Times  int    `json:"times"`  // that it was set aside in this run

	Decided event.Choice `json:"decided,omitempty"` // by a person: the Manager is asked to go on from it; "": nothing is decided
}

// SetAside sets the task of the open step aside.
type SetAside struct {
	Step   int
	Task   string
	Role   string
	Status string // of the task from now on
	Reason string
	Said   bool // the status is that of its agent's reply
}

func (SetAside) effect() {}

// isWalked reports whether walk plays the Manager.
func (s *State) isWalked() bool {
	substitute := ""
	if s.Step != nil && !s.Step.IsWork() {
		substitute = s.Substitute()
	}
	return cmp.Or(substitute, s.Manager) == event.Walker
}

// orSetAside returns the end of a run that the open step came to, or sets its task aside in place of that. A
// Manager that is not told of it could not name the next task.
func (s *State) orSetAside(e Effect, status string) Effect {
	end, ends := e.(Finish)
	step := s.Step
	if !ends || end.Outcome == event.Frozen || !s.MaySetAside() {
		return e
	}
	return SetAside{Step: step.Number, Task: step.Task, Role: step.Role, Status: status, Reason: end.Text}
}

// MaySetAside reports whether the board goes on if the open call fails.
func (s *State) MaySetAside() bool {
	return s.KeepGoing && s.Step.IsWork() && (s.ManagerIsTold || s.isWalked())
}

// passOver returns the effect that sets the task of the open step aside where only a Manager with a model
// could decide about it: its agent replied that it is not done, or it is for the Manager itself.
func (s *State) passOver() (e SetAside, yes bool) {
	step := s.Step
	if !s.KeepGoing || !s.isWalked() || step.IsWork() || step.Anomaly != nil || step.Checkpoint != nil || step.Reply != nil {
		return e, false
	}
	e = SetAside{Step: step.Number, Task: step.Task, Role: step.Role}
	switch {
	case step.TaskStatus == "" && step.Role == event.ManagerRole:
		e.Status, e.Reason = "blocked", "it is a task for the Manager itself, and walk only goes down the list"
	case step.TaskStatus != "" && step.TaskStatus != StatusOK:
		e.Status, e.Reason, e.Said = step.TaskStatus, step.Role+" replied "+step.TaskStatus, true
	default:
		return e, false
	}
	return e, true
}

// applyTaskSetAside calls the Manager with the reason. With walk a task may be set aside whose agent's reply
// was accepted.
func (s *State) applyTaskSetAside(e event.TaskSetAside) error {
	step := s.Step
	if step == nil || step.Number != e.Step || step.Running != 0 || step.Reply != nil || step.Checkpoint != nil {
		return refuse(e, "step %d has no task that could be set aside", e.Step)
	}
	times := 1
	if a := s.aside(e.Task); a != nil {
		times += a.Times
	}
	s.removeAside(e.Task)
	s.Aside = append(slices.Clip(s.Aside), Aside{Task: e.Task, Role: e.Role, Status: e.Status, Text: e.Reason, Tried: true, Times: times})
	if step.IsWork() {
		step.callManager()
	}
	step.TaskStatus, step.Unsettled = e.Status, ""
	step.Anomaly = asideAnomaly(e.Status, e.Role, e.Task+" is set aside: "+e.Reason)
	return nil
}

// MayAskAgain reports whether a Manager with a model that ends the board is asked once more, because tasks are
// set aside of which it was not told in this very call.
func (s *State) MayAskAgain() bool {
	step := s.Step
	untold := func(a Aside) bool { return step.Anomaly == nil || path.Clean(a.Task) != path.Clean(step.Task) }
	return s.KeepGoing && s.ManagerIsTold && step.Checkpoint == nil && !step.Again && slices.ContainsFunc(s.Asides(), untold)
}

// askOnceMore makes the Manager's call due again, on the board as its first reply left it.
func (s *State) askOnceMore(e event.ReplyAccepted) error {
	if !s.MayAskAgain() {
		return refuse(e, "no task of the board is set aside")
	}
	s.Step.callManager()
	s.Step.Again, s.Step.Before, s.Step.BoardSHA, s.Step.Left = true, nil, e.Left, e.Left
	return nil
}

// asideAnomaly returns the anomaly by which the Manager is told of a task that is set aside. check is the
// task's status, or what a person has decided.
func asideAnomaly(check, role, details string) *event.Anomaly {
	return &event.Anomaly{Type: event.SetAsideType, Check: check, Executor: role, Severity: "critical",
		Details: details, Advice: "replan"}
}

// Anomalies returns what the Manager is told in its call of the open step.
func (s *State) Anomalies() (all []event.Anomaly) {
	step := s.Step
	if step.Anomaly != nil && (!step.Again || s.AsideOf(step.Task) == nil) {
		all = append(all, *step.Anomaly)
	}
	if step.Again {
		for _, a := range s.Asides() {
			text := a.Task + " is set aside, and the board would end without it: " + a.Text
			all = append(all, *asideAnomaly(a.Status, a.Role, text))
		}
	}
	return all
}

// AsideOf returns the entry of a task that is set aside, or nil.
func (s *State) AsideOf(task string) *Aside {
	if a := s.aside(task); a != nil && a.Decided == "" {
		return a
	}
	return nil
}

// Asides returns the tasks that are set aside, without those about which a person has decided.
func (s *State) Asides() (all []Aside) {
	for _, a := range s.Aside {
		if a.Decided == "" {
			all = append(all, a)
		}
	}
	return all
}

// AsidesOn returns the tasks of a list that are set aside and not at work again. marked are those that a
// person has since marked as done, and removed those that a person has taken off the list.
func (s *State) AsidesOn(l List) (all []Aside, marked, removed []string) {
	for _, a := range s.Asides() {
		switch i := l.Find(a.Task); {
		case i < 0:
			removed = append(removed, a.Task)
		case l.Marked(i), l.Done(i):
			marked = append(marked, a.Task)
		case s.Step == nil || path.Clean(s.Step.Task) != path.Clean(a.Task):
			all = append(all, a)
		}
	}
	return all, marked, removed
}

// IsWhole reports whether the next task may be anywhere on the list, and not only behind the finished one.
func (s *State) IsWhole() bool { return s.KeepGoing || s.ByNeeds }

func (s *State) aside(task string) *Aside {
	for i := range s.Aside {
		if path.Clean(s.Aside[i].Task) == path.Clean(task) {
			return &s.Aside[i]
		}
	}
	return nil
}

func (s *State) removeAside(task string) {
	if s.aside(task) != nil {
		s.Aside = slices.DeleteFunc(slices.Clone(s.Aside), func(a Aside) bool { return path.Clean(a.Task) == path.Clean(task) })
	}
	if len(s.Aside) == 0 {
		s.Aside = nil // a snapshot has no empty list, so it is read as nil
	}
}

// unfinished returns the tasks whose last reply was not ok, without those that are set aside: a checkpoint
// looks at these, too.
func (s *State) unfinished() []TaskStatus {
	return slices.DeleteFunc(s.NotOK(), func(t TaskStatus) bool { return s.AsideOf(t.Task) != nil })
}

// tryAgain lets the next run try the tasks that are set aside. A run that goes on after an interruption does not.
func (s *State) tryAgain() {
	s.Aside = slices.Clone(s.Aside)
	for i := range s.Aside {
		s.Aside[i].Tried, s.Aside[i].Times = false, 0
	}
}

// takeMended forgets the tasks that a person took off the list. One that a person marked as done since counts
// as accepted.
func (s *State) takeMended(e event.RunStarted) {
	for _, task := range e.Removed {
		s.removeAside(task)
	}
	for _, task := range e.Marked {
		if s.AsideOf(task) != nil {
			s.decideAside(event.Acknowledged{Task: task, Choice: event.Accept})
		}
	}
}

// forgetDecided removes the tasks about which a person has decided, but for the one from which a step goes on.
func (s *State) forgetDecided(task string) {
	for _, a := range s.Aside {
		if a.Decided != "" && path.Clean(a.Task) != path.Clean(task) {
			s.removeAside(a.Task)
		}
	}
}

// isTried reports whether nothing is left to try in this run: walk names a task that was set aside in it, or a
// Manager with a model, which may plan it anew once, one that was set aside twice.
func (s *State) isTried(b Board) bool {
	a := s.AsideOf(b.Task)
	return a != nil && a.Tried && (s.Manager == event.Walker || s.Last.Walked || a.Times > 1) && !b.Terminal
}

// leaveAside returns the end of a run that has tried all that it could.
func (s *State) leaveAside() Finish {
	end := Finish{Outcome: event.Exhausted, Text: IncompleteText}
	all := s.Asides()
	for i, a := range all {
		if a.Status != StatusNoReply {
			end.Outcome = event.Incomplete
		}
		switch {
		case i < mostAside:
			end.Text += fmt.Sprintf("%s is set aside (%s); ", a.Task, event.Headline(a.Text))
		case i == mostAside:
			end.Text += fmt.Sprintf("so are %d more; ", len(all)-mostAside)
		}
	}
	end.Text = strings.TrimSuffix(end.Text, "; ") + s.skipped() + s.left()
	if len(s.Quarantine) > 0 {
		end.Outcome = event.Incomplete
		end.Text += "; " + s.quarantines()
	}
	return end
}

// left tells of the tasks that walk could not name, with their reasons, as the end of a sentence.
func (s *State) left() string {
	if len(s.Last.Left) == 0 {
		return ""
	}
	return "; " + strings.Join(s.Last.Left, "; ")
}

// mostAside is the number of tasks that the end of a run names.
const mostAside = 3

// HasSkipped reports whether a person has the board go on without a task.
func (s *State) HasSkipped() bool {
	return slices.ContainsFunc(s.Statuses, func(t TaskStatus) bool { return t.Status == StatusSkipped })
}

// isDecided reports whether a person has decided about a task that was set aside, so that only the Manager has
// to go on from it.
func (s *State) isDecided(task string) bool {
	a := s.aside(task)
	return a != nil && a.Decided != ""
}

// decideAside counts a task that is set aside as done, or goes on without it.
func (s *State) decideAside(e event.Acknowledged) {
	status := StatusSkipped
	if e.Choice == event.Accept {
		status = StatusAccepted
	}
	s.keepStatus(e.Task, status)
	s.Aside = slices.Clone(s.Aside)
	s.aside(e.Task).Decided = e.Choice
}
