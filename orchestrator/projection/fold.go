// Package projection is what happened on a board and how the board stands, for people and for
// programs that watch. It has the only fold of the journal besides that of package flow:
//
//	journal ─► flow.State         what the run does next
//	        └► Fold ─► Board      what happened; views choose place, order, width and colour
//
// The package reads no file: what follows from files is in [Facts].
package projection

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
)

// Fold is the history of a board, folded from the entries of its journal. It can be shown at any
// time, and then goes on.
type Fold struct {
	Keep Keep

	Runs    int
	Workdir string    // work directory of the last run; "": no run has started
	Began   time.Time // time of the first entry
	Last    time.Time // time of the last entry
	Run     event.RunStarted
	Totals  Totals // of all runs
	LastRun Totals // of the last run alone
	Steps   []Step
	Earlier int // number of steps that Keep left out

	Checkpoints []event.Looked
	Decisions   []Decision
	Alerts      []Alert // of the last run
	Actions     []string
	Proposals   []Proposal // of the last run
	Notices     []Notice
	Tools       []Tool
	Records     uint64
	Now         Now // of the run at work

	roles   []string         // roles that were at work in the last run
	start   time.Time        // first entry of the last run
	step    time.Time        // start of the last step
	owner   string           // role of the last step
	last    event.AttemptRef // task of the last attempt, and the role that played it
	sure    moment           // as of the last entry that a run has written, and not a person who decides about a dead one
	ended   time.Time        // last entry of the last run
	decided bool             // a person has decided since the last run ended
	ending  ending           // how the last run ended
	known   map[string]*Task // tasks by their path in the journal
	changed []changed
	words   int
	// files in the checkout that no commit had when the last run ended
	uncommitted []string
	clock
}

// ending is how a run ended, as its journal tells.
type ending struct {
	Outcome  event.Outcome
	Remarked bool
	By       event.By
	Exit     int    // exit code of a run that a signal ended; 0: that of Outcome
	Hint     string // what mends it; "": not known
	Unsaved  bool   // the last checkpoint failed
}

// Keep bounds the lists of a Fold. The totals count what is left out.
type Keep struct {
	Steps   int // number of last steps; 0: all
	Notices int // number of last notices; 0: none
}

// The greatest lengths of other lists.
const (
	mostCheckpoints = 100
	mostDecisions   = 50
	mostAlerts      = 100
	mostNotes       = 32 // of a step
	mostAttempts    = 64 // of a step: the first ones, and the last
	firstAttempts   = 8
	mostText        = 4 << 10 // bytes of a text of an attempt
)

// last returns the last entries of a list, at most the given number.
func last[T any](all []T, most int) []T { return all[max(0, len(all)-most):] }

// Totals are sums over the steps and attempts of a board, also over those that Keep left out.
type Totals struct {
	Steps       int        `json:"steps"`                // finished steps, without those of checkpoints
	Attempts    int        `json:"attempts"`             // all attempts, also of the Manager, of reviews and of judges
	Rejected    int        `json:"rejected"`             // attempts whose reply did not have the right format
	SentBack    int        `json:"sent_back"`            // reviews that sent the work back
	Restarts    int        `json:"restarts"`             // agents that the watch ended
	Used        flow.Tally `json:"used"`                 // time, tokens and cost of the attempts
	Supervision flow.Tally `json:"supervision,omitzero"` // part of Used that belongs to the resident supervisor
	Millis      int64      `json:"millis"`               // time of runs, without the time between runs and the waits for providers, in ms
	Waited      int64      `json:"waited_millis"`        // time of waits for providers, in ms
}

// Decision is a decision of a person about a board.
type Decision struct {
	Time time.Time `json:"time"`
	event.Decided
}

// Add folds the next entry of the journal.
func (f *Fold) Add(e event.Entry) {
	if f.Began.IsZero() {
		f.Began = e.Time
	}
	said := e.Event.Sentence()
	f.tick(e)
	f.Records, f.Last = f.Records+1, e.Time
	f.use(e.Event)
	if s := f.LastStep(); s != nil && s.State == StepOpen {
		s.work(f.ticked)
	}
	how := f.apply(e, said)
	if !f.idle && f.Runs > 0 || f.idles {
		f.ended = e.Time
	}
	if end, ended := event.EndOf(e.Event); event.SourceOf(e.Event) == "" && !(ended && end.Millis == 0) {
		f.sure = moment{f.ended, f.took, f.stepTook()}
	}
	f.Totals.Millis = f.took.Milliseconds() - f.Totals.Waited
	f.LastRun.Millis = (f.took - f.before).Milliseconds() - f.LastRun.Waited
	f.mention(e, said, how)
	f.addAlert(e, said)
	f.addNotices(e, said)
	if d, ok := event.DecisionOf(e.Event); ok {
		if f.idle {
			f.decided = true
		}
		f.Decisions = last(append(f.Decisions, Decision{e.Time, d}), mostDecisions)
	}
}

// mention is how an entry shows in the last step.
type mention int

const (
	ifHeavy mention = iota // as a note, if it is about the step and a person should see it
	silent                 // it changes the step, and is no note
	noted                  // it changes the step, and is a note
)

// apply changes the fold by the kind of the event. Each kind has one place in these functions.
func (f *Fold) apply(e event.Entry, said event.Sentence) mention {
	for _, apply := range []func(event.Entry, event.Sentence) (mention, bool){f.applyRun, f.applyStep, f.applyAttempt, f.applyWatch} {
		if how, ok := apply(e, said); ok {
			return how
		}
	}
	return ifHeavy
}

// applyRun applies the begin or the end of a run, or a decision behind it.
func (f *Fold) applyRun(e event.Entry, _ event.Sentence) (mention, bool) {
	switch ev := e.Event.(type) {
	case event.HandoffOffered: // the first record of a run
		f.start, f.roles, f.Alerts, f.Actions, f.Proposals = e.Time, nil, nil, nil, nil
		f.step, f.owner, f.last, f.decided = time.Time{}, "", event.AttemptRef{}, false
	case event.RunStarted:
		f.idle, f.before = false, f.took
		f.LastRun, f.Run, f.Workdir, f.decided, f.ending = Totals{}, ev, ev.Workdir, false, ending{}
		f.Now = Now{Since: e.Time}
		f.Runs++
	case event.RunFinished:
		f.endRun(ending{Outcome: ev.Outcome, Remarked: ev.IsRemarked(), By: ev.By}, ev.Uncommitted)
	case event.RunInterrupted:
		f.endRun(ending{Outcome: ev.Outcome, By: ev.By, Exit: ev.Exit, Hint: ev.Hint, Unsaved: ev.Unsaved}, ev.Uncommitted)
	case event.Acknowledged:
		if ev.ID == "" { // a person decided while no run was at work
			f.forget()
		}
	case event.FilesChanged:
		f.addChanged(ev)
	case event.ReassignProposed:
		f.propose(Proposal{Task: ev.Task, Role: ev.Role, Strategy: ev.Strategy, Evidence: ev.Evidence,
			Text: fmt.Sprintf("give %s to another agent than %s (%s): reassign: {%s: [ADAPTER or ROLE]} in .kanban-run.yaml does",
				ev.Task, ev.Role, ev.Strategy, ev.Role)})
	default:
		return ifHeavy, false
	}
	return ifHeavy, true
}

// forget takes the time back that the last entries added, because no run was at work: a decision of a
// person, and before it what was found to decide about.
func (f *Fold) forget() {
	if s := f.LastStep(); s != nil && s.State == StepOpen {
		s.work(f.sure.step - s.took)
	}
	f.ended, f.took, f.ticked, f.idle = f.sure.ended, f.sure.took, 0, true
}

// moment is the time that was counted up to an entry that a run has written.
type moment struct {
	ended      time.Time
	took, step time.Duration
}

func (f *Fold) stepTook() time.Duration {
	if s := f.LastStep(); s != nil {
		return s.took
	}
	return 0
}

// endRun notes that the run has ended.
func (f *Fold) endRun(e ending, uncommitted []string) {
	f.ending, f.idle, f.idles, f.Now = e, true, true, Now{}
	f.uncommitted = uncommitted
}

// Outcome returns the outcome of the last run, and whether it has ended.
func (f *Fold) Outcome() (event.Outcome, bool) { return f.ending.Outcome, f.ending.Outcome != "" }

// count changes the totals of all runs and of the last one.
func (f *Fold) count(change func(*Totals)) {
	change(&f.Totals)
	change(&f.LastRun)
}

// use counts the time and the cost of an ended attempt or judge.
func (f *Fold) use(e event.Event) {
	millis, spent, ok := event.UseOf(e)
	if !ok {
		return
	}
	end, ended := event.EndOf(e)
	f.count(func(t *Totals) {
		t.Used.Add(millis, spent)
		if ended && end.Call.IsSupervision() {
			t.Supervision.Add(millis, spent)
		}
	})
	if s := f.LastStep(); s != nil {
		s.Used.Add(millis, spent)
	}
	if ended && end.Call.IsOfTask() {
		t := f.taskOf(end.Task)
		t.Used.Add(millis, spent)
	}
	f.Now.Used.Add(millis, spent)
}

// LastStep returns the last step, or nil if there is none.
func (f *Fold) LastStep() *Step {
	if len(f.Steps) == 0 {
		return nil
	}
	return &f.Steps[len(f.Steps)-1]
}

// LastAttempt returns the last attempt of the last step, or nil.
func (f *Fold) LastAttempt() *Attempt {
	if s := f.LastStep(); s != nil {
		return s.Last()
	}
	return nil
}

func (f *Fold) begin(s Step) {
	if f.Keep.Steps > 0 && len(f.Steps) >= f.Keep.Steps {
		f.Earlier++
		f.Steps = append(f.Steps[:0], f.Steps[1:]...)
	}
	f.Steps = append(f.Steps, s)
}

func (f *Fold) resume(step int, task, role string, at time.Time) {
	if s := f.LastStep(); s == nil || s.Step != step {
		f.begin(Step{Step: step, Task: task, Role: role, Began: at, State: StepOpen, Attempts: []Attempt{}})
	}
}

// clock measures the time of runs.
type clock struct {
	epoch  uint64
	idle   bool // true if no run is at work
	idles  bool // true if the last entry ended a run
	took   time.Duration
	before time.Duration // time of the runs before the last
	ticked time.Duration // time of work that the last entry added
}

// tick adds the time of work since the last entry. It adds nothing if no run was at work in
// between, or if the last entry belongs to another run. It leaves out a time in which the program
// was suspended.
func (f *Fold) tick(e event.Entry) {
	var since time.Duration
	if !f.Last.IsZero() && f.epoch == e.Epoch && !f.idle {
		since = e.Time.Sub(f.Last)
	}
	end, _ := event.EndOf(e.Event)
	if worked := time.Duration(end.Millis) * time.Millisecond; worked > 0 && since > worked+pause {
		since = worked // the program was suspended
	}
	f.epoch, f.idles, f.ticked = e.Epoch, false, since
	f.took += since
}

// pause is the tolerance with which tick recognises a suspension of the program. The time since the
// last entry includes a suspension, and the attempt's own time does not. If the time since the last
// entry is longer by more than pause, tick returns the attempt's own time.
const pause = 2 * time.Second

// taskOf returns the task with this path in the journal.
func (f *Fold) taskOf(path string) *Task {
	if f.known == nil {
		f.known = map[string]*Task{}
	}
	if f.known[path] == nil {
		f.known[path] = &Task{Task: path, order: len(f.known)}
	}
	return f.known[path]
}

// tasksSeen returns the tasks that agents worked on, the earliest first.
func (f *Fold) tasksSeen() []*Task {
	all := make([]*Task, 0, len(f.known))
	for _, t := range f.known {
		all = append(all, t)
	}
	slices.SortFunc(all, func(a, b *Task) int { return cmp.Compare(a.order, b.order) })
	return all
}
