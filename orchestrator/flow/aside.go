package flow

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"kanban-run/orchestrator/event"
)

// Aside is a task that is set aside, so that the board goes on without it. The next run tries it
// again.
type Aside struct {
	Task   string `json:"task"`
	Role   string `json:"role"`
	Status string `json:"status"`          // the status in the last reply, or a constant such as [StatusStuck]
	Text   string `json:"text"`            // why the task is set aside
	Words  string `json:"words,omitempty"` // the agent's own words, if its reply or the failure of its program is why
	Tried  bool   `json:"tried"`           // this run has tried the task
	Times  int    `json:"times"`           // how often this run has set the task aside
	// Done reports that the task was already marked as done when it was set aside. The mark was on
	// the list or in the task's header.
	Done bool `json:"done,omitempty"`

	// Decided is a person's decision about the task; "": none. The Manager is told of it and asked
	// to go on. A Status of [StatusAccepted] or [StatusSkipped] says that the task was never set aside.
	Decided event.Choice `json:"decided,omitempty"`
}

// SetAside sets the task of the open step aside.
type SetAside struct {
	Step   int
	Task   string
	Role   string
	Status string // the status of the task from now on
	Reason string
}

func (SetAside) effect() {}

// applyTaskSetAside makes the Manager's call due, with the reason as an anomaly. If package walk
// plays the Manager, this call can be due already, after an accepted reply of the task's agent.
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
	s.Aside = append(slices.Clip(s.Aside), Aside{Task: e.Task, Role: e.Role, Status: e.Status, Text: e.Reason, Tried: true, Times: times, Done: e.Done})
	if a := s.aside(e.Task); e.Status == step.TaskStatus {
		a.Words = step.Said
	} else if e.Status == StatusNoReply {
		a.Words = step.cried()
	}
	s.owe(e.Status, "")
	if step.IsWork() {
		step.callManager()
	}
	step.TaskStatus, step.Unsettled = e.Status, ""
	step.Anomaly = asideAnomaly(e.Status, e.Role, e.Task+" is set aside: "+e.Reason)
	return nil
}

// takeMended applies a person's changes of the board to the tasks that are set aside. A task that
// was taken off the list is forgotten. A task that was marked as done counts as accepted.
func (s *State) takeMended(e event.RunStarted) {
	for _, task := range e.Removed {
		s.removeAside(task)
	}
	for _, task := range e.Marked {
		if s.AsideOf(task) != nil {
			s.decideAside(event.Acknowledged{Task: task, Choice: event.Accept})
		} else if s.Step == nil {
			s.noteDecided(task, event.Accept)
		}
	}
	s.tryAside(e.Named)
}

// tryAgain lets a new run try the tasks that are set aside. A run that goes on after an
// interruption does not try them again.
func (s *State) tryAgain() {
	s.Aside = slices.Clone(s.Aside)
	for i := range s.Aside {
		s.Aside[i].Tried, s.Aside[i].Times = false, 0
	}
}

// tryAside lets this run try the given task again, if the task is set aside. A person has named the
// task as the current one.
func (s *State) tryAside(task string) {
	if s.AsideOf(task) == nil {
		return
	}
	s.Aside = slices.Clone(s.Aside)
	a := s.aside(task)
	a.Tried, a.Times = false, 0
}

// forgetDecided removes from State.Aside the tasks about which a person has decided. It keeps the
// given task, because the new step is about that task.
func (s *State) forgetDecided(task string) {
	for _, a := range s.Aside {
		if a.Decided != "" && path.Clean(a.Task) != path.Clean(task) {
			s.removeAside(a.Task)
		}
	}
}

// tellDecided gives the open step an anomaly if a person has decided about its task.
func (s *State) tellDecided() {
	if a := s.aside(s.Step.Task); a != nil && a.Decided != "" {
		choice, was := string(a.Decided), " was set aside, and"
		if a.Status == decidedStatus(a.Decided) {
			was = " is not worked on:"
		}
		s.Step.Anomaly = asideAnomaly(choice, "", fmt.Sprintf("%s%s a person has decided about it: %s", a.Task, was, choice))
	}
}

// finishAside takes the task of the finished step off the tasks that are set aside, if it is done, or if
// a person has decided about it.
func (s *State) finishAside() {
	if s.Step.status() == StatusOK || s.IsDecided(s.Step.Task) {
		s.removeAside(s.Step.Task)
	}
}

// askOnceMore makes the Manager's call due again, on the board as the Manager's first reply left
// it.
func (s *State) askOnceMore(e event.ReplyAccepted) error {
	if s.Step.Again {
		return refuse(e, "the Manager was asked once more already")
	}
	s.Step.callManager()
	s.Step.Again, s.Step.Before, s.Step.BoardSHA, s.Step.Left = true, nil, e.Left, e.Left
	return nil
}

// passOver returns the effect that sets the task of the open step aside, if package walk plays the
// Manager and cannot decide about the task, and else nil. Package walk cannot decide if the task's agent replied
// that the task is not done, or if the task is for the Manager itself.
func (s *State) passOver(Board) Effect {
	step := s.Step
	if !s.KeepGoing || !s.isWalked() || step.IsWork() || step.Anomaly != nil || step.Checkpoint != nil || step.Reply != nil {
		return nil
	}
	e := SetAside{Step: step.Number, Task: step.Task, Role: step.Role}
	switch {
	case step.TaskStatus == "" && step.Role == event.ManagerRole:
		e.Status, e.Reason = "blocked", "it is a task for the Manager itself, and walk only goes down the list"
	case step.TaskStatus != "" && step.TaskStatus != StatusOK:
		e.Status, e.Reason = step.TaskStatus, step.Role+" replied "+step.TaskStatus+step.said()
	default:
		return nil
	}
	return e
}

// orSetAside returns the effect that sets the task of the open step aside, if the board may go on
// without this task. Otherwise it returns the given end of the run.
func (s *State) orSetAside(end Finish, status string) Effect {
	step := s.Step
	aside := end.Outcome != event.Frozen && s.MaySetAside()
	if step.Printed != "" && step.cried() == "" && (aside || end.Outcome == event.Exhausted) {
		end.Text += "; it said on stderr: " + step.Printed
	}
	if !aside {
		return end
	}
	return SetAside{Step: step.Number, Task: step.Task, Role: step.Role, Status: status, Reason: end.Text}
}

// said returns ": " and what the task's agent said last, because that tells more than a status, or "".
func (s *Step) said() string {
	if s.Said == "" {
		return ""
	}
	return ": " + s.Said
}

// leaveAside returns the end of a run that has nothing left to try, or nil.
func (s *State) leaveAside(b Board) Effect {
	if !s.isTried(b) {
		return nil
	}
	return s.endAside()
}

// endAside returns the end of a run that leaves tasks set aside.
func (s *State) endAside() Finish {
	all := s.Asides()
	end := Finish{Outcome: asideOutcome(all), By: event.BySetAside, Quotes: true}
	if MayGoOn(all) {
		end.By = event.ByTaskLimit
	}
	var texts []string
	for _, a := range all[:min(mostAside, len(all))] {
		texts = append(texts, a.sentence())
	}
	if more := len(all) - mostAside; more > 0 {
		texts = append(texts, fmt.Sprintf("%d more are set aside", more))
	}
	end.Text = strings.Join(texts, "; ") + s.skipped() + s.left()
	if len(s.Quarantine) > 0 {
		end.Outcome = event.Incomplete
		end.Text += "; " + s.quarantines()
	}
	end.Text += " (the board is incomplete)"
	return end
}

// sentence says why the task is set aside, with the agent's own words first if there are any.
func (a Aside) sentence() string {
	if a.Words == "" {
		return fmt.Sprintf("%s is set aside: %s", a.Task, event.Headline(a.Text))
	}
	return fmt.Sprintf("%s %s: %s", a.Task, TaskStatus{Status: a.Status}.Is(), event.Headline(a.Words))
}

// isTried reports whether the board names a task that this run has set aside. In this case the run
// has no task left to try. A model is allowed to name such a task once more. If a model named the
// task, isTried therefore returns true only after this run has set the task aside twice.
func (s *State) isTried(b Board) bool {
	a := s.AsideOf(b.Task)
	return a != nil && a.Tried && (s.Manager == event.Walker || s.Last.Walked || a.Times > 1) && !b.Terminal
}

// MaySetAside reports whether the board goes on without the task if the open call fails.
func (s *State) MaySetAside() bool { return s.Step.IsWork() && s.goesOnWithout() }

// MayPassOver reports whether the board goes on without the task of a call that is not started because
// the task waits for a person. It needs no --keep-going, because nothing has failed.
func (s *State) MayPassOver(e Spawn) bool {
	return e.Call.IsOfTask() && s.mayTellManager()
}

// goesOnWithout reports whether the board goes on without a task whose agent fails. If the Manager
// is a model, its role has to accept anomalies, because the Manager has to know why it is to name
// another task.
func (s *State) goesOnWithout() bool { return s.KeepGoing && s.mayTellManager() }

func (s *State) mayTellManager() bool { return s.ManagerIsTold || s.isWalked() }

// MayAskAgain reports whether a Manager that is a model is asked once more after it has ended the
// board. It is asked if the list has grown since it was told of it, or if the open call did not tell it of
// all the tasks that are set aside.
func (s *State) MayAskAgain(hasGrown bool) bool {
	step := s.Step
	if hasGrown {
		return step.Checkpoint == nil && !step.Again
	}
	untold := func(a Aside) bool { return step.Anomaly == nil || path.Clean(a.Task) != path.Clean(step.Task) }
	return s.KeepGoing && s.ManagerIsTold && step.Checkpoint == nil && !step.Again && slices.ContainsFunc(s.Asides(), untold)
}

// Anomalies returns the anomalies to tell the Manager in its call of the open step.
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

// NoteEdits sets the fields of e about tasks that are set aside and that a person has marked as done,
// taken off the list or made current since the last run. The parameter current is the current task as
// agents see it.
func (s *State) NoteEdits(e *event.RunStarted, l List, current string) {
	_, e.Marked, e.Removed = s.AsidesOn(l)
	e.Named = s.NamedAgain(current)
}

// NamedAgain returns the given task if it is set aside, and if a person has made it the current task
// since the last step or during the open one. Otherwise it returns "". The parameter is the current
// task as agents see it. If the Manager is at work, its agent may have named the task.
func (s *State) NamedAgain(task string) string {
	same := func(other string) bool { return path.Clean(task) == path.Clean(other) }
	switch {
	case s.AsideOf(task) == nil, same(s.Last.Next):
		return ""
	case s.Step != nil && (s.Step.Before != nil || same(s.Step.Task)):
		return ""
	default:
		return task
	}
}

// settleAside carries out a person's decision about a task that is set aside, while no run is at work.
// The others still wait for a decision.
func (s *State) settleAside(e event.Acknowledged) error {
	if s.AsideOf(e.Task) == nil {
		return refuse(e, "%s is not set aside", e.Task)
	}
	asked := s.Outcome == event.Incomplete || s.Outcome == event.Exhausted
	s.decideAside(e)
	s.goOnFrom(e)
	if left := s.Asides(); asked && len(left) > 0 && !MayGoOn(left) {
		end := s.endAside()
		s.endAsDecided(end.Outcome, end.Text)
	}
	return nil
}

// settleTask carries out a decision about a task on which no agent is at work. While a step about another
// task is open, the Manager passes the task over after that step. Otherwise the next run calls the Manager
// at once if the task is current.
func (s *State) settleTask(e event.Acknowledged) error {
	step := s.Step
	inTurn := step != nil && step.Checkpoint == nil && path.Clean(step.Task) == path.Clean(e.Task)
	if inTurn && step.Running != 0 {
		return refuse(e, "%s is in turn", e.Task)
	}
	if q := s.Quarantined(e.Task); q != nil {
		s.release(q.Task)
	}
	switch {
	case s.AsideOf(e.Task) != nil:
		s.decideAside(e)
	default:
		s.decide(e.Task, decidedStatus(e.Choice))
	}
	if inTurn {
		s.Step = nil
	}
	if s.Step == nil {
		s.noteDecided(e.Task, e.Choice)
	}
	return nil
}

// noteDecided has the Manager called at once if the next step is about the task.
func (s *State) noteDecided(task string, choice event.Choice) {
	if s.aside(task) == nil {
		s.Aside = append(slices.Clip(s.Aside), Aside{Task: task, Status: decidedStatus(choice), Decided: choice})
	}
}

// decideAside carries out a person's decision about a task that is set aside. The task then counts
// as accepted, or the board goes on without it.
func (s *State) decideAside(e event.Acknowledged) {
	s.decide(e.Task, decidedStatus(e.Choice))
	s.Aside = slices.Clone(s.Aside)
	s.aside(e.Task).Decided = e.Choice
}

// decidedStatus returns the status of a task about which a person has decided.
func decidedStatus(choice event.Choice) string {
	if choice == event.Accept {
		return StatusAccepted
	}
	return StatusSkipped
}

// IsDecided reports whether a person has decided about a task that was set aside. No agent works on
// the task then, and the Manager is called at once.
func (s *State) IsDecided(task string) bool {
	a := s.aside(task)
	return a != nil && a.Decided != ""
}

// AsideOf returns the Aside of a task. It returns nil if the task is not set aside, or if a person
// has decided about it.
func (s *State) AsideOf(task string) *Aside {
	if a := s.aside(task); a != nil && a.Decided == "" {
		return a
	}
	return nil
}

// Asides returns the tasks that are set aside and about which no person has decided yet.
func (s *State) Asides() (all []Aside) {
	for _, a := range s.Aside {
		if a.Decided == "" {
			all = append(all, a)
		}
	}
	return all
}

// AsidesOn compares the tasks that are set aside with list l. The result "removed" has the tasks
// that a person has taken off the list. The result "marked" has the tasks that a person has marked
// as done. The result "all" has the other tasks, without the task of the open step.
func (s *State) AsidesOn(l List) (all []Aside, marked, removed []string) {
	for _, a := range s.Asides() {
		switch i := l.Find(a.Task); {
		case i < 0:
			removed = append(removed, a.Task)
		case !a.Done && (l.Marked(i) || l.Done(i)):
			marked = append(marked, a.Task)
		case s.Step == nil || path.Clean(s.Step.Task) != path.Clean(a.Task):
			all = append(all, a)
		}
	}
	return all, marked, removed
}

// MayGoOn reports whether none of the tasks that are set aside needs a person: they have reached limits of
// their own, which the next run has anew.
func MayGoOn(asides []Aside) bool {
	return !slices.ContainsFunc(asides, func(a Aside) bool { return a.Status != StatusLimit })
}

// asideAnomaly returns the anomaly that tells the Manager of a task that is set aside. The
// parameter "check" is the task's status, or a person's decision about the task.
func asideAnomaly(check, role, details string) *event.Anomaly {
	return &event.Anomaly{Type: event.SetAsideType, Check: check, Executor: role, Severity: "critical",
		Details: details, Advice: "replan"}
}

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
		s.Aside = nil // an empty list has to be nil, as it is when read from a snapshot
	}
}

// unfinished returns the tasks whose last reply was not ok. Tasks that are set aside are left out,
// because a checkpoint treats them like finished tasks.
func (s *State) unfinished() []TaskStatus {
	return slices.DeleteFunc(s.NotDone(), func(t TaskStatus) bool { return s.AsideOf(t.Task) != nil })
}

// asideOutcome returns the outcome of a run that leaves tasks set aside. Those that need a person win.
func asideOutcome(asides []Aside) event.Outcome {
	other := func(a Aside) bool { return a.Status != StatusLimit && a.Status != StatusNoReply }
	switch {
	case MayGoOn(asides):
		return event.LimitReached
	case slices.ContainsFunc(asides, other):
		return event.Incomplete
	default:
		return event.Exhausted
	}
}

// mostAside is the greatest number of tasks that the text about the end of a run names.
const mostAside = 3
