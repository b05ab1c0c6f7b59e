// Package digest condenses a board's journal to the contents of a report: the board's runs, its
// steps, and the attempts of each step.
package digest

import (
	"time"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
)

// Digest is the history of a board. Add folds the journal's entries into the digest. The caller
// sets Board, Outcome, Text and Advice. `kanban-run report --json` prints the digest as JSON.
type Digest struct {
	Version int           `json:"version"`
	Board   string        `json:"board"`
	Workdir string        `json:"workdir"` // folder of the last run, the base of task paths
	Outcome event.Outcome `json:"outcome"`
	Text    string        `json:"text"`   // text about the outcome
	Advice  string        `json:"advice"` // next action of a person, or ""
	Runs    int           `json:"runs"`
	Began   time.Time     `json:"began"`         // time of the first entry
	Ended   time.Time     `json:"ended"`         // time of the last entry
	Millis  int64         `json:"millis"`        // time of all runs, without the time between runs
	Earlier int           `json:"earlier_steps"` // number of steps that Keep left out
	Used    flow.Tally    `json:"used"`          // use by all attempts, even in steps that Keep left out
	Counts
	LastRun Counts `json:"last_run"`
	Steps   []Step `json:"steps"`

	Checkpoints []Checkpoint `json:"checkpoints,omitempty"` // last checkpoints, at most [mostCheckpoints]
	Undone      []string     `json:"undone,omitempty"`      // tasks never worked on, or dropped; see report.Conclude
	Failed      []string     `json:"failed,omitempty"`      // tasks worked on but not ok; see report.Conclude
	Lenient     bool         `json:"lenient,omitempty"`     // true if an incomplete board is no failure
	Tools       []Tool       `json:"tools,omitempty"`       // tools that agents missed; at most [mostTools]
	Supervision flow.Tally   `json:"supervision,omitzero"`  // part of Used that belongs to the resident supervisor

	Weight event.Weight `json:"-"` // weight of the outcome

	Keep int `json:"-"` // number of last steps that are kept, or 0 to keep all

	clock
}

// Counts are numbers of events, even of events in steps that Keep left out.
type Counts struct {
	Finished int `json:"finished_steps"`
	Attempts int `json:"attempts"`
	Rejected int `json:"rejected"` // attempts whose reply did not have the right format
}

func (c *Counts) add(e event.Event) {
	switch e := e.(type) {
	case event.StepFinished:
		if e.Checkpoint == "" {
			c.Finished++
		}
	case event.AttemptStarted:
		c.Attempts++
	case event.JudgeAnswered:
		if e.Try > 0 {
			c.Attempts++
		}
		if e.Invalid {
			c.Rejected++
		}
	case event.ReplyRejected:
		c.Rejected++
	}
}

const mostCheckpoints = 100

// clock measures the time of runs.
type clock struct {
	epoch uint64
	idle  bool // true if no run is at work
	took  time.Duration
}

// tick returns the time of work since the last entry. It returns 0 if no run was at work in
// between, or if the last entry belongs to another run. It leaves out a time in which the program
// was suspended.
func (c *clock) tick(last time.Time, e event.Entry) (since time.Duration) {
	if !last.IsZero() && c.epoch == e.Epoch && !c.idle {
		since = e.Time.Sub(last)
	}
	switch e.Event.(type) {
	case event.RunStarted:
		c.idle = false
	case event.RunFinished, event.RunInterrupted:
		c.idle = true
	}
	end, _ := event.EndOf(e.Event)
	if worked := time.Duration(end.Millis) * time.Millisecond; worked > 0 && since > worked+pause {
		since = worked // the program was suspended
	}
	c.epoch = e.Epoch
	c.took += since
	return since
}

// pause is the tolerance with which tick recognises a suspension of the program. The time since the
// last entry includes a suspension, and the attempt's own time does not. If the time since the last
// entry is longer by more than pause, tick returns the attempt's own time.
const pause = 2 * time.Second

// Step is the work of an agent on a task, and the Manager's decision about it.
type Step struct {
	Step     int        `json:"step"`
	Task     string     `json:"task"`
	Role     string     `json:"role"`
	Began    time.Time  `json:"began"`
	Ended    time.Time  `json:"ended"`  // time of the step's last entry
	Millis   int64      `json:"millis"` // time of work, without the time between two runs
	State    State      `json:"state"`
	Status   string     `json:"status,omitempty"`  // status of the task's agent
	Manager  string     `json:"manager,omitempty"` // status of the Manager
	Message  string     `json:"message,omitempty"` // Manager's message; before that, the agent's
	NextTask *string    `json:"next_task"`
	Aside    string     `json:"set_aside,omitempty"` // reason why the board went on without the task, or ""
	Notes    []string   `json:"notes,omitempty"`     // divergences, warnings, and the reason why the step was given up
	Used     flow.Tally `json:"used"`
	Attempts []Attempt  `json:"attempts"`

	checkpoint   bool   // true if the step belongs to the resident supervisor
	walked       string // the decision of package walk, or "" if the Manager was a program
	took         time.Duration
	attemptBegan time.Duration // value of the field "took" at the start of the last attempt
}

// State is the progress of a step.
type State string

// The states of a step.
const (
	Open      State = "open"
	Done      State = "done"
	Abandoned State = "abandoned"
)

// Attempt is one start of a program: of an agent, of a supervisor that reviews the agent's work, or
// of a judge that runs beside the agent.
type Attempt struct {
	Call     event.Call      `json:"call"`
	Role     string          `json:"role"`
	Attempt  int             `json:"attempt"`
	Round    int             `json:"round,omitempty"` // round of work and review
	Adapter  string          `json:"adapter"`
	Command  string          `json:"command"`
	GoesOn   bool            `json:"goes_on,omitempty"` // true if the attempt continues work that was cut short
	Began    time.Time       `json:"began"`
	Millis   int64           `json:"millis"`
	Result   AttemptState    `json:"result"`
	Status   string          `json:"status,omitempty"`
	Message  string          `json:"message,omitempty"`   // message of the reply, or feedback of a review
	SentBack bool            `json:"sent_back,omitempty"` // true if a review sent the work back
	Reason   string          `json:"reason,omitempty"`    // reason why the attempt was rejected or stopped
	Exit     string          `json:"exit,omitempty"`
	Received string          `json:"received,omitempty"`
	Stderr   string          `json:"stderr,omitempty"`
	Output   string          `json:"output,omitempty"`  // folder with the full streams
	Session  string          `json:"session,omitempty"` // session in which the program can go on
	Spent    *event.Spending `json:"spent,omitempty"`   // nil if the program reports no use
	Tools    *event.ToolWork `json:"tools,omitempty"`   // nil if the program reported no call
	Watched  []Sign          `json:"watched,omitempty"` // observations and actions of the watch; at most [mostSigns]

	Told string `json:"-"` // input of the attempt, shortened by toldOf
	Said string `json:"-"` // sentence about the end of the attempt, or about its start if the attempt runs
}

// AttemptState is the progress of an attempt.
type AttemptState string

// The states of an attempt.
const (
	Pending  AttemptState = "running"
	Accepted AttemptState = "accepted"
	Rejected AttemptState = "rejected"
	Stopped  AttemptState = "stopped"
)

// Add folds the next entry into the digest.
func (d *Digest) Add(e event.Entry) {
	if d.Began.IsZero() {
		d.Began = e.Time
	}
	since := d.tick(d.Ended, e)
	d.Ended, d.Millis = e.Time, d.took.Milliseconds()
	if n := len(d.Steps); n > 0 && d.Steps[n-1].State == Open {
		s := &d.Steps[n-1]
		s.took += since
		s.Millis = s.took.Milliseconds()
	}
	switch ev := e.Event.(type) {
	case event.RunStarted:
		d.LastRun = Counts{}
		d.Runs++
		d.Workdir, d.Lenient = ev.Workdir, ev.Lenient
	case event.StepStarted:
		d.begin(Step{Step: ev.Step, Task: ev.Task, Role: ev.Role, Began: e.Time, State: Open, Attempts: []Attempt{},
			checkpoint: ev.Checkpoint != nil})
	case event.AttemptStarted: // the step may have begun in an earlier run
		d.resume(ev.Step, ev.Task, ev.Role, e.Time)
	case event.StepFinished:
		d.resume(ev.Step, ev.Task, ev.Role, e.Time)
	}
	if len(d.Steps) > 0 {
		d.Steps[len(d.Steps)-1].add(e)
	}
	addUse(&d.Used.Used, e.Event)
	if end, ok := event.EndOf(e.Event); ok && end.Call.IsSupervision() {
		addUse(&d.Supervision.Used, e.Event)
	}
	if tool, ok := e.Event.(event.ToolUnavailable); ok {
		d.addTool(tool)
	}
	if c, ok := checkpointOf(e.Event); ok {
		d.Checkpoints = append(d.Checkpoints, c)
		d.Checkpoints = d.Checkpoints[max(0, len(d.Checkpoints)-mostCheckpoints):]
	}
	d.Counts.add(e.Event)
	d.LastRun.add(e.Event)
}

// addUse adds the time and the cost of an ended attempt or judge to u. It ignores other events.
func addUse(u *event.Used, e event.Event) {
	if millis, spent, ok := event.UseOf(e); ok {
		u.Add(millis, spent)
	}
}

// CountOpen adds to Used the attempt that is open after the last entry. Its cost is unknown.
func (d *Digest) CountOpen() {
	if len(d.Steps) == 0 {
		return
	}
	s := &d.Steps[len(d.Steps)-1]
	if last := s.Last(); last != nil && last.Result == Pending {
		s.Used.AddOpen()
		d.Used.AddOpen()
	}
}

func (d *Digest) begin(s Step) {
	if d.Keep > 0 && len(d.Steps) == d.Keep {
		d.Earlier++
		d.Steps = append(d.Steps[:0], d.Steps[1:]...)
	}
	d.Steps = append(d.Steps, s)
}

func (d *Digest) resume(step int, task, role string, at time.Time) {
	if n := len(d.Steps); n == 0 || d.Steps[n-1].Step != step {
		d.begin(Step{Step: step, Task: task, Role: role, Began: at, State: Open, Attempts: []Attempt{}})
	}
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

// FailedSteps returns a step for each task in the list d.Failed: the last step in which an agent
// worked on the task.
func (d *Digest) FailedSteps() (all []*Step) {
	last := map[string]*Step{}
	for i := range d.Steps {
		s := &d.Steps[i]
		if s.Work() != nil {
			last[s.Task] = s
		}
	}
	for _, task := range d.Failed {
		if s := last[task]; s != nil {
			all = append(all, s)
		}
	}
	return all
}

// Culprit returns the step that explains why the board is not complete, or nil. If the last step is
// open, Culprit returns it. Otherwise, if the board needs a person or is incomplete, Culprit
// returns the latest step that is not ok. If all steps of a board that needs a person are ok,
// Culprit returns the last one.
func (d *Digest) Culprit() *Step {
	if len(d.Steps) == 0 || d.Outcome == event.Complete {
		return nil
	}
	last := &d.Steps[len(d.Steps)-1]
	switch {
	case last.State == Open:
		return last
	case d.Outcome != event.NeedsPerson && d.Outcome != event.Incomplete:
		return nil
	}
	for i := len(d.Steps) - 1; i >= 0 && last.Status == "ok" && last.Manager == "ok"; i-- {
		if s := &d.Steps[i]; s.Status != "" && s.Status != "ok" {
			return s
		}
	}
	if d.Outcome == event.Incomplete && last.Status == "ok" {
		return nil // the remaining tasks were never worked on
	}
	return last
}
