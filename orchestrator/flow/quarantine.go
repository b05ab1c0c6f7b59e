package flow

import (
	"cmp"
	"fmt"
	"path"
	"slices"

	"kanban-run/orchestrator/event"
)

// Quarantine is a task on which no agent works. The quarantine ends if the Lead decides so, or if
// the task or the board is changed.
type Quarantine struct {
	Task     string `json:"task"`
	Role     string `json:"role"`
	Text     string `json:"text"`           // why the task is in quarantine
	Tell     bool   `json:"tell,omitempty"` // the Manager is still to be told of the quarantine
	Person   bool   `json:"person,omitempty"`
	BoardSHA string `json:"board_sha256"` // SHA-256 of the board as the run last left it
	TaskSHA  string `json:"task_sha256"`  // SHA-256 of the task's file as the run last left it
}

// Quarantined returns the quarantine of a task, or nil if the task is not in quarantine.
func (s *State) Quarantined(task string) *Quarantine {
	for i := range s.Quarantine {
		if path.Clean(s.Quarantine[i].Task) == path.Clean(task) {
			return &s.Quarantine[i]
		}
	}
	return nil
}

// suspectedPrefix begins the text about a task in quarantine.
const suspectedPrefix = "LOOP_SUSPECTED: "

// applyLoopSuspected puts a task into quarantine. If a step is open, its work was sent back too
// often, and the Manager is called next. A step whose Manager accepts no anomalies waits for a
// person instead.
func (s *State) applyLoopSuspected(e event.LoopSuspected) error {
	step := s.Step
	sentBack := step != nil && step.Number == e.Step && step.Running == 0 && step.Call == event.TaskCall
	switch {
	case e.Step == 0 && step != nil, e.Step != 0 && !sentBack:
		return refuse(e, "step %d is not between work and review", e.Step)
	case s.Quarantined(e.Task) != nil:
		return refuse(e, "%s is in quarantine", e.Task)
	}
	q := Quarantine{
		Task:     e.Task,
		Role:     e.Role,
		Text:     suspectedPrefix + e.Suspicion.String(),
		Tell:     e.Told && step == nil,
		Person:   !e.Told,
		BoardSHA: e.BoardSHA,
		TaskSHA:  e.TaskSHA,
	}
	s.Quarantine = append(slices.Clip(s.Quarantine), q)
	s.Turns = nil
	switch {
	case step == nil:
	case e.Told:
		step.TaskStatus = "blocked"
		step.callManager()
		step.Anomaly = q.anomaly()
	default:
		step.Unsettled = q.Text
	}
	return nil
}

func (s *State) applyQuarantineEnded(e event.QuarantineEnded) error {
	if s.Quarantined(e.Task) == nil {
		return refuse(e, "%s is not in quarantine", e.Task)
	}
	s.Quarantine = slices.DeleteFunc(slices.Clone(s.Quarantine), func(q Quarantine) bool { return q.Task == e.Task })
	s.endLoop(e.Task)
	return nil
}

// tellQuarantine gives the open step an anomaly if its task is in a quarantine that the Manager does
// not know yet.
func (s *State) tellQuarantine() {
	if q := s.Quarantined(s.Step.Task); q != nil && q.Tell {
		s.Quarantine = slices.Clone(s.Quarantine)
		s.Quarantined(s.Step.Task).Tell = false
		s.Step.Anomaly = q.anomaly()
	}
}

// noteQuarantine notes how a step leaves the board and the files of tasks in quarantine.
func (s *State) noteQuarantine(e event.StepFinished) {
	s.keepFiles(e.Quarantined)
	for i := range s.Quarantine {
		s.Quarantine[i].BoardSHA = e.BoardSHA
	}
}

// keepFiles notes how the run leaves the files of tasks in quarantine.
func (s *State) keepFiles(files []event.TaskFile) {
	s.Quarantine = slices.Clone(s.Quarantine)
	for i := range s.Quarantine {
		for _, f := range files {
			if f.Task == s.Quarantine[i].Task {
				s.Quarantine[i].TaskSHA = f.SHA
			}
		}
	}
}

// suspectReviews puts the task of the open step into quarantine if its work is sent back again and
// again without progress.
func (s *State) suspectReviews(Board) Effect {
	step := s.Step
	if found := step.suspect(); found != nil {
		return SuspectLoop{Step: step.Number, Task: step.Task, Role: step.Role, Suspicion: *found}
	}
	return nil
}

// endQuarantined ends a run if no agent is allowed to work on the board's task.
func (s *State) endQuarantined(b Board) Effect {
	if text := s.mayNotWork(b); text != "" {
		return Finish{Outcome: event.NeedsPerson, By: event.ByLoop, Text: text}
	}
	return nil
}

// suspectLoop puts the board's task into quarantine if it is given to its role again and again.
func (s *State) suspectLoop(b Board) Effect {
	if s.Quarantined(b.Task) != nil {
		return nil
	}
	if found := s.suspect(b); found != nil {
		return SuspectLoop{Task: b.Task, Role: b.Role, Suspicion: *found}
	}
	return nil
}

// mayNotWork returns why no agent is allowed to work on the board's task. It returns "" if the task
// is not in quarantine, or if the Manager is still to be told of the quarantine.
func (s *State) mayNotWork(b Board) string {
	q := s.Quarantined(b.Task)
	switch {
	case q == nil || q.Tell:
		return ""
	case q.Person:
		return q.Text + " (the role Manager accepts no anomalies, so that a person decides)"
	case s.StaysOpen() && s.isWalked():
		return IncompleteText + s.quarantines() + s.skipped() + s.left()
	default:
		return q.Text + "; the Manager was told, and names the task again"
	}
}

// Release ends the quarantine of each task that [State.WhyReleased] gives a reason for. On a
// terminal board Release does nothing, because the board waits for its Lead. Errors: those of the
// function record.
func Release(s *State, b Board, taskSHA func(task string) string, record func(event.Event) error) error {
	if b.Terminal {
		return nil
	}
	for _, q := range slices.Clone(s.Quarantine) {
		reason := s.WhyReleased(q, b, taskSHA)
		if reason == "" {
			continue
		}
		if err := record(event.QuarantineEnded{Task: q.Task, Reason: reason}); err != nil {
			return err
		}
	}
	return nil
}

// WhyReleased returns the reason why the next run ends a quarantine, or "" if the run keeps it. A
// run ends the quarantine of a task if a person has changed the task's file since the last run. If
// no step is open, a change of the board ends the quarantine, too. The function taskSHA returns the
// SHA-256 of a task's file.
func (s *State) WhyReleased(q Quarantine, b Board, taskSHA func(task string) string) string {
	switch {
	case taskSHA(q.Task) != q.TaskSHA:
		return "its file was edited since the last run"
	case s.Step == nil && b.SHA != q.BoardSHA:
		return "the board was edited since the last run"
	default:
		return ""
	}
}

// settleQuarantine carries out a person's decision to end the quarantine of a task, or of all tasks if
// e names none.
func (s *State) settleQuarantine(e event.Acknowledged) error {
	if len(s.Quarantine) == 0 {
		return refuse(e, "no task is in quarantine")
	}
	s.release(e.Task)
	s.goOn(e)
	return nil
}

// release ends the quarantine of a task, or of all tasks if task is "".
func (s *State) release(task string) {
	last := s.Quarantine[len(s.Quarantine)-1].Task
	s.Quarantine = slices.DeleteFunc(slices.Clone(s.Quarantine), func(q Quarantine) bool { return task == "" || q.Task == task })
	s.endLoop(cmp.Or(task, last))
}

// endLoop forgets the evidence of a loop. If the loop has stopped the open step, the work of that
// step begins again.
func (s *State) endLoop(task string) {
	if len(s.Quarantine) == 0 {
		s.Quarantine = nil // an empty list has to be nil, as it is when read from a snapshot
	}
	s.Repeat, s.Visits, s.Turns = Repeat{}, nil, nil
	if step := s.Step; step != nil && step.Unsettled != "" && step.Task == task {
		step.beginWork()
		step.Unsettled = ""
	}
}

// quarantines returns in words the tasks in quarantine, with the reason of the first.
func (s *State) quarantines() string {
	first := s.Quarantine[0]
	if more := len(s.Quarantine) - 1; more > 0 {
		return fmt.Sprintf("%s and %s are in quarantine: %s", first.Task, event.Count(more, "more task"), first.Text)
	}
	return first.Task + " is in quarantine: " + first.Text
}

// anomaly returns the anomaly that tells the Manager of the quarantine.
func (q Quarantine) anomaly() *event.Anomaly {
	return &event.Anomaly{
		Type: "loop_suspected", Check: "loop", Executor: q.Role,
		Severity: "critical", Details: q.Text, Advice: "replan",
	}
}
