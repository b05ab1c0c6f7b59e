package projection

import (
	"cmp"
	"slices"
	"time"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/health"
	"kanban-run/orchestrator/inert"
)

// FormVersion is the version of the JSON forms of boards and events. A new field does not change the
// version.
const FormVersion = 2

// Document is the form of status --json, inbox --json, report --json, --results and the line SUMMARY.
type Document struct {
	Version int     `json:"version"`
	Boards  []Board `json:"boards"`
	Asked   []Asked `json:"asked,omitempty"` // what waits for a person in the work tree, whichever board's turn it was in
}

// Asked is what was changed while agents worked and gives more than they get. It waits for a person.
type Asked struct {
	By      event.Decider `json:"by"`
	File    string        `json:"file"`            // relative to the top of the work tree
	Field   string        `json:"field,omitempty"` // field of the settings or of a role; absent: the whole file
	Said    string        `json:"said"`            // in words, with when it was
	Command string        `json:"command"`         // the command that lets it count
}

// Board is how a board stands, as every view shows it.
type Board struct {
	Board   string        `json:"board"`             // path of the board, as the command line has it
	Shown   string        `json:"shown"`             // Board without control characters
	State   State         `json:"state"`             // whether a run is at work
	Outcome event.Outcome `json:"outcome,omitempty"` // outcome of the last run; "": none has ended
	Sign    string        `json:"sign"`              // ✓ good, ! look at it, ✗ bad, ▸ at work, or a space
	Reason  Reason        `json:"reason"`
	Who     Who           `json:"who"`               // who has to act: decide, mend, run_again or nobody
	Exit    *int          `json:"exit,omitempty"`    // exit code of the last run for this board; absent while never run or at work
	Choices []Choice      `json:"choices,omitempty"` // decisions that are valid now
	Waits   *Wait         `json:"waits,omitempty"`   // what the run waits for

	Tasks       []Task         `json:"tasks"`               // in the order of the list; then those that left it
	Undone      []string       `json:"undone,omitempty"`    // tasks never worked on, or dropped
	Failed      []string       `json:"failed,omitempty"`    // tasks worked on but not ok
	Remarks     []string       `json:"remarks,omitempty"`   // about acceptances: a review that was changed before
	Changed     []string       `json:"changed,omitempty"`   // what was changed while agents worked, and waits for no person
	Decisions   []Decision     `json:"decisions,omitempty"` // the last decisions of a person
	Checkpoints []event.Looked `json:"checkpoints,omitempty"`
	Alerts      []Alert        `json:"alerts,omitempty"`    // of the last run
	Proposals   []Proposal     `json:"proposals,omitempty"` // of the last run
	Totals      Totals         `json:"totals"`              // of all runs
	Reviewed    int            `json:"reviewed"`            // tasks that are done, and whose work a review accepted
	Began       time.Time      `json:"began,omitzero"`      // first record of the journal
	Ended       time.Time      `json:"ended,omitzero"`      // end of the last run; absent while it is at work

	Runs         int            `json:"runs"`
	LastRun      Totals         `json:"last_run"`
	Used         flow.Tally     `json:"used"` // use that counts for the limits
	Limits       event.Limits   `json:"limits"`
	Open         *OpenStep      `json:"open_step,omitempty"`
	Agent        *health.Live   `json:"agent,omitempty"`   // the agent at work; at most 1 s old while active
	Next         string         `json:"next,omitempty"`    // first action of a run that would start now
	Refused      string         `json:"refused,omitempty"` // why a run that would start now would refuse
	Supervisor   *Supervisor    `json:"supervisor,omitempty"`
	Quarantine   []Quarantine   `json:"quarantine,omitempty"` // tasks that no agent works on
	MissingTools []Tool         `json:"missing_tools,omitempty"`
	Notices      []Notice       `json:"notices,omitempty"` // last events that a person should see
	Lenient      bool           `json:"lenient,omitempty"` // an incomplete board is complete with a remark
	Settings     *Settings      `json:"settings,omitempty"`
	Unanswered   []string       `json:"unanswered,omitempty"`      // members of the team that never answered the request to shut down
	Unpushed     string         `json:"unpushed,omitempty"`        // why checkpoints have not reached the remote
	Branch       string         `json:"unpushed_branch,omitempty"` // branch of those checkpoints
	Unsaved      bool           `json:"unsaved,omitempty"`         // the last checkpoint failed: the work since the one before is only in this clone
	Hint         string         `json:"hint,omitempty"`            // next action of a person; only in a SUMMARY
	Session      string         `json:"session,omitempty"`         // last session of an agent that worked on a task
	Clone        *Clone         `json:"clone,omitempty"`           // nil: agents work in the checkout
	Landing      *Landing       `json:"landing,omitempty"`         // of the work in the clone, or of the last one; nil: nobody has tried
	Uncommitted  []string       `json:"uncommitted,omitempty"`     // files in the checkout that no commit had when the last run ended; at most 20
	Workdir      string         `json:"workdir,omitempty"`         // folder of the last run, the base of task paths
	Records      uint64         `json:"records"`
	Epoch        uint64         `json:"epoch"` // epoch of the last owner
	Owner        string         `json:"owner,omitempty"`
	Locked       string         `json:"reconcile_lock,omitempty"` // reason for RECONCILE_LOCK, or "" if it is off
	Journal      string         `json:"journal,omitempty"`
	Rollback     *flow.Identity `json:"rollback_point,omitempty"`
	Damage       string         `json:"damage,omitempty"`        // where the journal breaks off, or why it cannot be read
	Archive      string         `json:"archive,omitempty"`       // archive of the runs of a board whose team was deleted
	Earlier      int            `json:"earlier_steps,omitempty"` // number of steps that are left out
	Steps        []Step         `json:"steps,omitempty"`         // only in report --json and --results

	Actions []string `json:"actions,omitempty"` // what the last run did about the alerts (seed 002, "action_type")

	Weight  event.Weight `json:"-"` // weight of the end
	Healthy int          `json:"-"` // roles of the last run that have no alert above severity INFO
	From    time.Time    `json:"-"` // first record of the last run
	To      time.Time    `json:"-"` // last record
	Log     string       `json:"-"` // path of the supervisor's log

	question *Question
	command  *event.Command // command line of the last run; nil: not known
	settled  bool           // the last run needed a person, and no decision is left
	reopened bool           // a person has decided, or edited the board, since the last run
	exit     int            // exit code of a run that a signal ended; 0: that of Outcome
	fix      string         // what mends a board that cannot be run; "": not known
	unread   bool           // the board or its journal cannot be read
	remarked bool           // Reason has a remark besides the outcome
	quotes   bool           // see flow.Finish
	asks     bool           // Reason is what the question asks about
	news     bool           // the board stands otherwise than the last record of its journal says
}

// State is whether a run of a board is at work.
type State string

// The values of State. The form takes them as an open list.
const (
	NeverRun State = "never_run"
	Queued   State = "queued" // a run has the board, and has not begun on it
	Running  State = "running"
	Pending  State = "waiting" // a run is at work, and waits for a provider, another board or a person
	Ended    State = "ended"
)

// Reason is why a board stands as it does.
type Reason struct {
	Said  string   `json:"said"`            // in words
	By    event.By `json:"by,omitempty"`    // what ended the last run
	Where string   `json:"where,omitempty"` // task, or file with line, that the reason is about
}

// Wait is what a run at work, or the next run, waits for.
type Wait struct {
	For   string `json:"for"`             // provider, board or person
	Name  string `json:"name,omitempty"`  // name of the provider
	Since string `json:"since,omitempty"` // in RFC 3339
	Until string `json:"until,omitempty"` // in RFC 3339
	Text  string `json:"text"`
}

// Settings are those of the last run.
type Settings struct {
	Version      string   `json:"version"` // version of kanban-run
	OnDivergence string   `json:"on_divergence,omitempty"`
	KeepGoing    bool     `json:"keep_going,omitempty"` // a failed task is set aside
	Withheld     []string `json:"withheld,omitempty"`   // environment variables that agents do not get

	PartlyWithheld []event.PartlyWithheld `json:"partly_withheld,omitempty"`

	Supervision *event.Supervision `json:"supervision,omitempty"` // nil without a supervisor
	Adapter     string             `json:"supervisor_adapter,omitempty"`
}

// Facts are what does not follow from the history of a board: the parts of its standing that are in
// files. They are read at the moment of looking.
type Facts struct {
	Never   bool         // no run has started
	Owned   bool         // a run is at work
	Queued  bool         // a run has the board, and has not begun on it
	Fault   string       // reason why the board, or the file of its current task, cannot be read; "" if both can be read
	List    flow.List    // list of tasks; empty if the board cannot be read
	Board   flow.Board   // the board, without the fields Task, Role and Rest; empty if it cannot be read
	Current string       // current task; "" if the board is over
	Unknown string       // reason why the author of the board's end is unknown; "" if it is known
	Live    *health.Live // activity of the agent at work; nil: not known
	Next    string       // first action of a run that would start now; "": not known
	Refused string       // why a run that would start now would refuse; "": it would not, or this is not known
	Fix     string       // what mends Refused or Fault
	Journal string       // path of the journal
	Log     string       // path of the supervisor's log
	Damage  string       // where the journal breaks off; "": it is whole
	Archive string       // see Board.Archive
	Away    bool         // the last run was in another folder, such as another clone
	Asked   []string     // what waits for a person in the work tree, in words; it is read only if a run has ended by it
}

// IsAtWork reports whether a run is at work.
func (b *Board) IsAtWork() bool { return b.State == Running || b.State == Pending }

// IsNews reports whether the board stands otherwise than the last record of its journal says.
func (b *Board) IsNews() bool { return b.news }

// IsSettled reports whether a person has decided, or edited the board, since the last run.
func (b *Board) IsSettled() bool { return b.reopened }

// Board returns how the board stands. The caller has added all entries of the journal.
func (f *Fold) Board(path string, h *flow.History, facts Facts) Board {
	s := &h.State
	used, _ := s.Known()
	b := Board{
		Board: path, Shown: inert.Line(path), question: facts.Question(h),
		Changed: f.changedTexts(), Decisions: f.Decisions, Checkpoints: f.Checkpoints, Alerts: f.Alerts, Proposals: f.Proposals,
		Totals: f.Totals, Began: f.Began, Runs: f.Runs, LastRun: f.LastRun,
		Used: flow.Tally{Used: used}, Limits: s.Limits, Agent: facts.Live, Next: facts.Next, Refused: facts.Refused,
		Supervisor: newSupervisor(s.Supervisor), MissingTools: f.Tools, Notices: f.Notices, Lenient: s.Lenient,
		Unanswered: s.Teardown.Unanswered(), Unpushed: s.Unpushed, Branch: s.UnpushedTo, Session: s.Session, Workdir: f.Workdir, Clone: newClone(s.Clone), Landing: newLanding(s.Landing), Uncommitted: f.left(s),
		Records: max(f.Records, h.Seq), Epoch: h.Custody.Epoch, Owner: h.Custody.Owner, Locked: h.Custody.Locked,
		Actions: f.Actions, Healthy: f.healthy(), From: f.start, To: f.Last, Log: facts.Log,
		Journal: facts.Journal, Damage: facts.Damage, Archive: facts.Archive, Earlier: f.Earlier, Steps: slices.Clone(f.Steps),
	}
	for _, r := range s.Remarks {
		b.Remarks = append(b.Remarks, event.Plain(r.Text))
	}
	if s.Step != nil && s.Step.Running > 0 {
		b.Totals.Used.AddOpen()
		b.LastRun.Used.AddOpen()
		b.countOpen()
	}
	for _, q := range s.Quarantine {
		b.Quarantine = append(b.Quarantine, Quarantine{q.Task, event.Plain(q.Text)})
	}
	if len(h.Points) == 1 {
		b.Rollback = &h.Points[0].Identity
	}
	if r := f.Run; f.Runs > 0 {
		b.Settings = &Settings{Version: r.Version, OnDivergence: r.OnDivergence, KeepGoing: r.KeepGoing,
			Withheld: r.Withheld, PartlyWithheld: r.PartlyWithheld, Supervision: r.Supervision, Adapter: r.Adapter}
	}
	b.command = f.Run.Command
	f.stand(&b, h, &facts)
	b.offer()
	b.openStep(f, s)
	b.Reason.Where = b.where(h)
	b.Tasks = append([]Task{}, f.list(&facts, h, &b)...)
	b.conclude()
	return b
}

// countOpen adds the attempt that is open after the last record to its step. Its cost is unknown.
func (b *Board) countOpen() {
	if n := len(b.Steps); n > 0 {
		b.Steps[n-1].Used.AddOpen()
	}
}

// offer sets the choices with their commands.
func (b *Board) offer() {
	if b.question == nil {
		return
	}
	for _, c := range b.question.Choices {
		if c.isRun {
			c.Command = b.CommandLine()
		}
		c.Command = cmp.Or(c.Command, "kanban-run ack "+failure.Quote(b.Board)+" "+string(c.Word))
		b.Choices = append(b.Choices, c)
	}
}

// where returns the task that the reason for the board's end is about, or "" for none or several.
func (b *Board) where(h *flow.History) string {
	s := &h.State
	switch {
	case b.State != Ended || b.Outcome == event.Complete || b.Reason.By == event.ByCheckpoint:
		return ""
	case b.Reason.By == event.ByFile, b.Reason.By == event.ByLoop && len(b.Quarantine) > 1:
		return ""
	case b.Reason.By == event.ByLoop && len(b.Quarantine) == 1:
		return b.Quarantine[0].Task
	case b.Reason.By == event.BySetAside || b.Reason.By == event.ByTaskLimit || b.Reason.By == event.ByNoReply && s.Step == nil:
		if c := b.question.Offers(event.Skip); c != nil && len(c.Tasks) == 1 {
			return c.Tasks[0]
		}
		return ""
	case b.Culprit() != nil:
		return b.Culprit().Task
	default:
		return ""
	}
}

// conclude sets the tasks that are undone and those that failed, and counts those that a review accepted.
func (b *Board) conclude() {
	for i := range b.Tasks {
		if t := &b.Tasks[i]; t.Reviewed && t.State.IsDone() {
			b.Reviewed++
		}
		switch t := &b.Tasks[i]; {
		case t.State == Waiting || t.State == NextUp && t.Tries == 0 || t.State == Dropped:
			b.Undone = append(b.Undone, t.Task)
		case t.State == NotOK || t.State == SetAside || t.State == Quarantined:
			b.Failed = append(b.Failed, t.Task)
		}
	}
}

// quarantined returns why a task is in quarantine, or "".
func (b *Board) quarantined(task string) string {
	for _, q := range b.Quarantine {
		if q.Task == task {
			return q.Text
		}
	}
	return ""
}

// Quarantine is a task in quarantine.
type Quarantine struct {
	Task string `json:"task"`
	Text string `json:"text"` // reason of the quarantine
}

// OpenStep is a step that was started and is not finished.
type OpenStep struct {
	Step     int        `json:"step"`
	Task     string     `json:"task"`
	Role     string     `json:"role"`
	Call     event.Call `json:"call"`
	Round    int        `json:"round,omitempty"` // round of work and review
	Attempts int        `json:"attempts"`
	Rejected int        `json:"rejected"` // number of rejected replies in this step, in all runs
	Reason   string     `json:"last_reason,omitempty"`
	Since    time.Time  `json:"attempt_started_at,omitzero"` // start of the running attempt, or zero
	Consent  string     `json:"consent,omitempty"`           // proposal about the agent, if a person has to consent
	Running  bool       `json:"running"`                     // an attempt runs
	Adapter  string     `json:"adapter,omitempty"`           // adapter of the last attempt
}

// Ref returns the reference of the step's last attempt.
func (o OpenStep) Ref() event.AttemptRef {
	return event.AttemptRef{Step: o.Step, Call: o.Call, Task: o.Task, Role: o.Role, Round: o.Round, Attempt: o.Attempts}
}

// CallRole returns the role of the call that is due or under way. A review has the role whose work is
// reviewed.
func (o OpenStep) CallRole() string {
	if o.Call == event.ManagerCall {
		return event.ManagerRole
	}
	return o.Role
}

func (b *Board) openStep(f *Fold, s *flow.State) {
	step := s.Step
	if step == nil {
		return
	}
	b.Open = &OpenStep{Step: step.Number, Task: step.Task, Role: step.Role, Call: step.Call, Round: step.Round,
		Attempts: step.Started, Reason: step.LastReason, Running: step.Running > 0}
	if step.Running > 0 {
		b.Open.Since = f.Now.Since
	}
	if last := f.LastStep(); last != nil && last.Step == step.Number {
		b.Open.Rejected = last.Rejections()
		if a := last.Last(); a != nil {
			b.Open.Adapter = a.Adapter
		}
	}
	if step.Consent != nil && b.IsAtWork() {
		b.Open.Consent = string(step.Consent.Decision) + ": " + step.Consent.Text
	}
}

// Supervisor is the state of the resident supervisor of a board.
type Supervisor struct {
	Role   string             `json:"role"`
	Ready  bool               `json:"ready"`
	Memory event.Memory       `json:"memory"`
	Held   []flow.Held        `json:"held"` // the last verdicts
	Due    []event.Checkpoint `json:"due"`
	Errors int                `json:"errors"` // failures of the supervisor's program in the last run
	Used   flow.Tally         `json:"used"`   // use by the supervisor in all runs; a part of the total use
}

func newSupervisor(v *flow.Supervisor) *Supervisor {
	if v == nil || v.Off && len(v.Held) == 0 {
		return nil
	}
	return &Supervisor{
		Role:   v.Plan.Role,
		Ready:  v.Ready,
		Memory: v.Memory,
		Held:   append([]flow.Held{}, v.Held...),
		Due:    append([]event.Checkpoint{}, v.Due...),
		Errors: v.Errors,
		Used:   flow.Tally{Used: v.Used},
	}
}
