package projection

import (
	"strings"
	"time"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
)

// Step is the work of an agent on a task, and the Manager's decision about it.
type Step struct {
	Step     int        `json:"step"`
	Index    int        `json:"-"` // place of the task on the list, from 1; 0 if it is not listed
	Of       int        `json:"-"`
	Task     string     `json:"task"`
	Role     string     `json:"role"`
	Began    time.Time  `json:"began"`
	Ended    time.Time  `json:"ended"`  // time of the step's last entry
	Millis   int64      `json:"millis"` // time of work, without the time between two runs
	State    StepState  `json:"state"`
	Status   string     `json:"status,omitempty"`  // status of the task's agent
	Manager  string     `json:"manager,omitempty"` // status of the Manager
	Message  string     `json:"message,omitempty"` // Manager's message; before that, the agent's
	NextTask *string    `json:"next_task"`
	Aside    string     `json:"set_aside,omitempty"` // reason why the board went on without the task, or ""
	Notes    []string   `json:"notes,omitempty"`     // divergences, warnings, and the reason why the step was given up
	Used     flow.Tally `json:"used"`
	Attempts []Attempt  `json:"attempts"` // at most 64: the first ones, and the last
	Earlier  int        `json:"attempts_left_out,omitempty"`

	Checkpoint *event.Checkpoint `json:"-"` // the checkpoint that the step holds, or nil

	rejected     int    // rejected replies of attempts that are left out
	sentBack     int    // reviews among those attempts that sent the work back
	walked       string // the decision of package walk, or "" if the Manager was a program
	took         time.Duration
	attemptBegan time.Duration // value of the field "took" at the start of the last attempt
}

// StepState is the progress of a step.
type StepState string

// The states of a step.
const (
	StepOpen      StepState = "open"
	StepDone      StepState = "done"
	StepAbandoned StepState = "abandoned"
)

// applyStep applies the begin or the end of a step, or what became of its task.
func (f *Fold) applyStep(e event.Entry, said event.Sentence) (mention, bool) {
	switch ev := e.Event.(type) {
	case event.StepStarted:
		f.begin(Step{Step: ev.Step, Index: ev.Index, Of: ev.Of, Task: ev.Task, Role: ev.Role, Began: e.Time, State: StepOpen,
			Attempts: []Attempt{}, Checkpoint: ev.Checkpoint})
		f.step, f.owner = e.Time, ev.Role
		f.Now.begin(ev)
		if !ev.Call.IsSupervision() {
			f.taskOf(ev.Task).begin(ev.Role)
		}
		return silent, true
	case event.StepFinished:
		f.resume(ev.Step, ev.Task, ev.Role, e.Time)
		if ev.Checkpoint == "" {
			f.count(func(t *Totals) { t.Steps++ })
		}
		f.LastStep().finish(ev)
		return silent, true
	case event.StepAbandoned:
		f.update(func(s *Step) { s.State = StepAbandoned })
		return noted, true
	case event.TaskSetAside:
		f.taskOf(ev.Task).Why = cut(event.Plain(ev.Reason))
		f.update(func(s *Step) { s.Aside = cut(event.Plain(ev.Reason)) })
		return noted, true
	case event.ManagerWalked:
		f.update(func(s *Step) { s.Manager, s.Message, s.walked = ev.Status, cut(ev.Message), cut(said.Text) })
		return silent, true
	default:
		c, ok := event.CheckpointOf(e.Event)
		if !ok {
			return ifHeavy, false
		}
		f.Checkpoints = last(append(f.Checkpoints, c), mostCheckpoints)
		if s := f.LastStep(); s != nil && ev.Subject() == s.Task {
			s.endCheckpoint(ev, c)
		}
		return silent, true
	}
}

// work adds time of work to the step.
func (s *Step) work(d time.Duration) {
	s.took += d
	s.Millis = s.took.Milliseconds()
}

// update changes the last step, if there is one.
func (f *Fold) update(change func(*Step)) {
	if s := f.LastStep(); s != nil {
		change(s)
	}
}

// mention shows an entry in the last step: its time, the sentence about the end of an attempt, a note and
// a sign.
func (f *Fold) mention(e event.Entry, said event.Sentence, how mention) {
	s := f.LastStep()
	if s == nil {
		return
	}
	s.keepWords(e.Event, said)
	if how != silent && !s.note(e.Event, said) && how == ifHeavy {
		return
	}
	s.addSign(e, said)
	if s.State == StepOpen || s.Ended.Before(e.Time) {
		s.Ended = e.Time
	}
}

// keepWords keeps the sentence about the end of the last attempt, and the warning about its reply.
func (s *Step) keepWords(e event.Event, said event.Sentence) {
	end, ok := event.EndOf(e)
	if !ok || end.Step != s.Step {
		return
	}
	if a := s.Last(); a != nil {
		a.Said = cut(said.Text)
	}
	if end.Warning != "" {
		s.addNote(end.Warning)
	}
}

// addNote adds a note, and drops the earliest if there are too many.
func (s *Step) addNote(text string) { s.Notes = last(append(s.Notes, cut(text)), mostNotes) }

// cut shortens a text of an agent to mostText bytes.
func cut(text string) string {
	if len(text) <= mostText {
		return text
	}
	return strings.ToValidUTF8(text[:mostText], "") + "…"
}

// note adds the sentence of an event to the step's notes for a person, and returns true. The
// sentence must belong to the step or its task, and weigh at least event.Note. Otherwise note adds
// nothing and returns false.
func (s *Step) note(e event.Event, said event.Sentence) bool {
	of := said.Step == s.Step || e.Subject() == s.Task
	if !of || said.Weight < event.Note {
		return false
	}
	s.addNote(said.Whole())
	return true
}

func (s *Step) finish(e event.StepFinished) {
	s.State, s.Manager, s.NextTask = StepDone, e.Manager, e.NextTask
	if e.Checkpoint == "" { // not the step of a checkpoint, whose status stays the verdict
		s.Status, s.Message = e.Status, cut(e.Message)
	}
	if e.Warning != "" {
		s.addNote(e.Warning)
	}
}

// Walked returns the decision that package walk made as the Manager, or "" if there is no such
// decision. A decision of package walk has no attempt.
func (s *Step) Walked() string { return s.walked }

// Count returns the numbers of attempts by their parts in the step.
func (s *Step) Count() map[event.Part]int {
	n := map[event.Part]int{}
	for i := range s.Attempts {
		n[s.Attempts[i].Call.Part()]++
	}
	return n
}

// Rejections returns the number of replies that did not have the right format.
func (s *Step) Rejections() int {
	n := s.rejected
	for _, a := range s.Attempts {
		if a.Result == Rejected {
			n++
		}
	}
	return n
}

// SentBack returns the number of reviews that sent the work back.
func (s *Step) SentBack() int {
	n := s.sentBack
	for _, a := range s.Attempts {
		if a.SentBack {
			n++
		}
	}
	return n
}

// Last returns the last attempt, or nil if there is no attempt.
func (s *Step) Last() *Attempt {
	if len(s.Attempts) == 0 {
		return nil
	}
	return &s.Attempts[len(s.Attempts)-1]
}

// Told returns the attempt that explains the end of the step: the last one of an open step, and else
// that of the work.
func (s *Step) Told() *Attempt {
	if s.State == StepOpen {
		return s.Last()
	}
	return s.Work()
}

// Work returns the step's last attempt that is not an attempt of the Manager, or nil.
func (s *Step) Work() *Attempt {
	for i := len(s.Attempts) - 1; i >= 0; i-- {
		if s.Attempts[i].Call != event.ManagerCall {
			return &s.Attempts[i]
		}
	}
	return nil
}

// TaskState returns the state that a step gives to a task of a board whose list cannot be read.
func (s *Step) TaskState(atWork bool) TaskState {
	switch {
	case s.State == StepOpen && atWork:
		return Working
	case s.State == StepOpen:
		return StoppedAt
	case s.State == StepDone && (s.Status == "ok" || s.Status == ""):
		return Done
	default:
		return NotOK
	}
}
