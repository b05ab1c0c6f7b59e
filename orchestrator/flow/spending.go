package flow

import (
	"encoding/json"
	"slices"

	"kanban-run/orchestrator/event"
)

// TaskUse is what the work on one task has used under the present limits.
type TaskUse struct {
	Task  string     `json:"task"`
	Steps int        `json:"steps"` // finished steps
	Used  event.Used `json:"used"`
}

// mostTasks is the greatest number of tasks whose use is kept. The tasks that agents worked on last
// are kept, so a task that comes back again and again stays among them.
const mostTasks = 256

// task returns the use of a task. The use of an unknown task is zero.
func (s *State) task(name string) TaskUse {
	for _, t := range slices.Backward(s.Tasks) {
		if t.Task == name {
			return t
		}
	}
	return TaskUse{Task: name}
}

// keepTask stores the use of a task as the last of the list. The list is copied, because a refused
// event has to leave the state as it was.
func (s *State) keepTask(t TaskUse) {
	others := make([]TaskUse, 0, len(s.Tasks)+1)
	for _, o := range s.Tasks {
		if o.Task != t.Task {
			others = append(others, o)
		}
	}
	s.Tasks = append(others[max(0, len(others)-mostTasks+1):], t)
}

// countStep counts the finished step for its task.
func (s *State) countStep() {
	t := s.task(s.Step.Task)
	t.Steps++
	s.keepTask(t)
}

// Known returns the use by attempts, first under the present limits and then over all runs. A
// running attempt counts as an attempt of unknown cost.
func (s *State) Known() (used, total event.Used) {
	used, total = s.Used, s.Total
	if s.Step != nil && s.Step.Running != 0 {
		used.AddOpen()
		total.AddOpen()
	}
	return used, total
}

// charge counts an ended attempt of the open step, and keeps its session if it has one.
func (s *State) charge(millis int64, spent *event.Spending, session string) {
	s.count(millis, spent)
	if session != "" {
		s.Session = session
	}
}

// count adds the time, tokens and cost of a program to the sums of the run, of the board and of the
// open step's task.
func (s *State) count(millis int64, spent *event.Spending) {
	s.Used.Add(millis, spent)
	s.Total.Add(millis, spent)
	t := s.task(s.Step.Task)
	t.Used.Add(millis, spent)
	s.keepTask(t)
}

// creditTask takes time in which nothing could run off the time of the open step's task. The limit
// of the run bounds the wall clock, and keeps it.
func (s *State) creditTask(millis int64) {
	t := s.task(s.Step.Task)
	t.Used.Millis = max(0, t.Used.Millis-millis)
	s.keepTask(t)
}

// Tally is an [event.Used] for other programs. Its JSON leaves unknown values out, and does not
// write 0 for them.
type Tally struct{ event.Used }

// TallyForm is the JSON form of a Tally.
type TallyForm struct {
	Cost     string `json:"cost"`                    // in words
	Micros   *int64 `json:"cost_microusd,omitempty"` // in millionths of a US dollar
	Input    *int64 `json:"input_tokens,omitempty"`
	Cached   *int64 `json:"cached_tokens,omitempty"` // tokens of the input that came from a cache
	Output   *int64 `json:"output_tokens,omitempty"`
	Attempts int    `json:"attempts"`              // number of programs that were started
	Unpriced int    `json:"attempts_without_cost"` // attempts whose cost is not known
	Millis   int64  `json:"millis"`
}

// MarshalJSON adds the cost in words, and leaves unknown values out.
func (t Tally) MarshalJSON() ([]byte, error) {
	u := t.Used
	form := TallyForm{Cost: u.Money(), Attempts: u.Attempts, Unpriced: u.Attempts - u.Priced, Millis: u.Millis}
	if u.Priced > 0 || u.Cost > 0 || u.Attempts == 0 {
		form.Micros = &u.Cost
	}
	if u.Told > 0 {
		form.Input, form.Cached, form.Output = &u.Input, &u.Cached, &u.Output
	}
	return json.Marshal(form)
}
