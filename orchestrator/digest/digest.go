// Package digest condenses a board's journal to the contents of a report: its runs, its steps, and
// the attempts of each.
package digest

import (
	"time"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
)

// Digest is the history of a board. Add folds the journal's entries into it; the caller sets Board,
// Outcome, Text and Advice. `kanban-run report --json` prints it as JSON.
type Digest struct {
	Version int           `json:"version"`
	Board   string        `json:"board"`
	Workdir string        `json:"workdir"` // of the last run; the paths of tasks begin in this folder
	Outcome event.Outcome `json:"outcome"`
	Text    string        `json:"text"`   // of the outcome
	Advice  string        `json:"advice"` // what a person does next, or "" if nothing
	Runs    int           `json:"runs"`
	Began   time.Time     `json:"began"`         // time of the first entry
	Ended   time.Time     `json:"ended"`         // time of the last entry
	Millis  int64         `json:"millis"`        // of all runs, without the time between runs
	Earlier int           `json:"earlier_steps"` // number of steps that Keep left out
	Used    flow.Tally    `json:"used"`          // by all attempts, also of the steps that Keep left out
	Counts
	LastRun Counts `json:"last_run"`
	Steps   []Step `json:"steps"`

	Checkpoints []Checkpoint `json:"checkpoints,omitempty"` // the last [mostCheckpoints]
	Undone      []string     `json:"undone,omitempty"`      // tasks that were never worked on, or were dropped; see report.Conclude
	Failed      []string     `json:"failed,omitempty"`      // tasks of an incomplete board that were worked on and are not ok; see report.Conclude
	Lenient     bool         `json:"lenient,omitempty"`     // of the last run: an incomplete board is no failure
	Tools       []Tool       `json:"tools,omitempty"`       // tools that agents missed; at most [mostTools]
	Supervision flow.Tally   `json:"supervision,omitzero"`  // the part of Used that is the resident supervisor's

	Weight event.Weight `json:"-"` // of the outcome

	Keep int `json:"-"` // how many of the last steps are kept; 0 if all are kept

	clock
}

// Counts are the numbers of events, also of those in the steps that Keep left out.
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
		if e.Tries > 0 {
			c.Attempts++
		}
	case event.ReplyRejected:
		c.Rejected++
	}
}

const mostCheckpoints = 100

// clock measures the time of runs.
type clock struct {
	epoch uint64
	idle  bool // no run is at work
	took  time.Duration
}

// tick returns the time of work since the entry before. It returns 0 if no run was at work in
// between, or if the entry before belongs to another run. It leaves out a time in which the program
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

// pause bounds how much longer than an attempt the time since the entry before may be. If that time
// is longer still, the program was suspended, and tick returns only the time of the attempt.
const pause = 2 * time.Second

// Step is the work of an agent on a task, and the Manager's decision about it.
type Step struct {
	Step     int        `json:"step"`
	Task     string     `json:"task"`
	Role     string     `json:"role"`
	Began    time.Time  `json:"began"`
	Ended    time.Time  `json:"ended"`  // time of its last entry
	Millis   int64      `json:"millis"` // time that it took, without the time between two runs
	State    State      `json:"state"`
	Status   string     `json:"status,omitempty"`  // of the task agent
	Manager  string     `json:"manager,omitempty"` // status of the Manager
	Message  string     `json:"message,omitempty"` // the task agent's, until the Manager replies
	NextTask *string    `json:"next_task"`
	Aside    string     `json:"set_aside,omitempty"` // why the board went on without the task
	Notes    []string   `json:"notes,omitempty"`     // divergences, warnings, the reason why the step was given up
	Used     flow.Tally `json:"used"`
	Attempts []Attempt  `json:"attempts"`

	checkpoint   bool   // the step belongs to the resident supervisor
	walked       string // the decision of walk, or "" if the Manager was a program
	took         time.Duration
	attemptBegan time.Duration // value of took when the last attempt began
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
	Round    int             `json:"round,omitempty"` // of work and review
	Adapter  string          `json:"adapter"`
	Command  string          `json:"command"`
	GoesOn   bool            `json:"goes_on,omitempty"` // continues work that was cut short
	Began    time.Time       `json:"began"`
	Millis   int64           `json:"millis"`
	Result   Result          `json:"result"`
	Status   string          `json:"status,omitempty"`
	Message  string          `json:"message,omitempty"`   // for a review its feedback
	SentBack bool            `json:"sent_back,omitempty"` // the review is not content with the work
	Reason   string          `json:"reason,omitempty"`    // why it was rejected or stopped
	Exit     string          `json:"exit,omitempty"`
	Received string          `json:"received,omitempty"`
	Stderr   string          `json:"stderr,omitempty"`
	Output   string          `json:"output,omitempty"`  // folder with its full streams
	Session  string          `json:"session,omitempty"` // its program can go on in this session
	Spent    *event.Spending `json:"spent,omitempty"`   // nil if its program does not report it
	Tools    *event.ToolWork `json:"tools,omitempty"`   // nil if its program reported no call
	Watched  []Sign          `json:"watched,omitempty"` // what the watch saw and did; at most [mostSigns]

	Told string `json:"-"` // its input; toldOf cuts a long input
}

// Result is the ending of an attempt.
type Result string

// The results of an attempt.
const (
	Pending  Result = "running"
	Accepted Result = "accepted"
	Rejected Result = "rejected"
	Stopped  Result = "stopped"
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
	case event.AttemptStarted: // the step began in an earlier run, whose entries are not folded in
		d.resume(ev.Step, ev.Task, ev.Role, e.Time)
	case event.StepFinished:
		d.resume(ev.Step, ev.Task, ev.Role, e.Time)
	}
	if len(d.Steps) > 0 {
		d.Steps[len(d.Steps)-1].add(e)
	}
	count(&d.Used.Used, e.Event)
	if end, ok := event.EndOf(e.Event); ok && end.Call.IsSupervision() {
		count(&d.Supervision.Used, e.Event)
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

// count adds the time and the cost of the attempt or judge that e ends.
func count(u *event.Used, e event.Event) {
	if millis, spent, ok := event.UseOf(e); ok {
		u.Add(millis, spent)
	}
}

// CountOpen adds the attempt that is open after the last entry to the attempts of Used. Its cost is
// unknown.
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

// Work returns the last attempt of the step that is not the Manager's; nil: there is none.
func (s *Step) Work() *Attempt {
	for i := len(s.Attempts) - 1; i >= 0; i-- {
		if s.Attempts[i].Call != event.ManagerCall {
			return &s.Attempts[i]
		}
	}
	return nil
}

// FailedSteps returns the last step in which an agent worked on each task of Failed.
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

// Culprit returns the step in which an incomplete board stopped, or nil if the board stopped
// between two steps. If the board needs a person or is incomplete, and its last step is ok, Culprit
// returns the last step that is not ok. If all steps are ok, it returns the last step of a board that
// needs a person.
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
		return nil // the other tasks were never worked on
	}
	return last
}
