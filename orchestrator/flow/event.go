package flow

import (
	"encoding/json"
	"time"
)

// Event is something that happened to a run, as the journal keeps it. The events of seed 002 bear
// that seed's names.
type Event interface {
	Kind() string         // the record's type in the journal
	Subject() string      // the task that it is about, or the board
	apply(s *State) error // the transition; it checks where the state comes from
}

// Entry is an event with its place in the journal.
type Entry struct {
	Seq   uint64
	Epoch uint64
	Rev   uint64 // the revision of the board's records that it makes (seed 002, "rev")
	Time  time.Time
	Actor string
	Event Event
}

// AttemptRef names one attempt: one start of one program for one call of a step. Attempts count
// from 1. Its fields come first in the JSON of the events that embed it.
type AttemptRef struct {
	Step    int    `json:"step"`
	Call    Call   `json:"call"`
	Task    string `json:"task"`
	Role    string `json:"role"` // of the step's agent, also in a review of its work
	Attempt int    `json:"attempt"`
	Round   int    `json:"round,omitempty"` // of work and review, from 1; 0: of the first work, or of no review
}

// Subject is the task.
func (r AttemptRef) Subject() string { return r.Task }

// About is the attempt that an event is about.
func (r AttemptRef) About() AttemptRef { return r }

// RunStarted opens a run. After an interrupted run it goes on with that run's counters.
type RunStarted struct {
	Board        string   `json:"board" text:"free"`
	Workdir      string   `json:"workdir" text:"free"`
	Version      string   `json:"version"`
	Form         string   `json:"form"` // of the journal, see [Form]
	Limits       Limits   `json:"limits"`
	OnDivergence string   `json:"on_divergence"`
	Tasks        int      `json:"tasks"`
	Withheld     []string `json:"withheld,omitempty"` // names of environment variables that agents do not get
	Strict       bool     `json:"strict,omitempty"`   // a task that is not ok needs a person at the end

	Supervision *Supervision `json:"supervision,omitempty" text:"free"` // nil: no supervisor looks in
	Memory      Memory       `json:"supervisor_memory,omitempty"`
	Adapter     string       `json:"supervisor_adapter,omitempty"`

	Manager  string        `json:"manager_adapter,omitempty"`
	Reassign []Substitutes `json:"reassign,omitempty"`

	Git       *GitWay  `json:"git,omitempty"`                       // nil: no checkpoints are made
	Elsewhere bool     `json:"elsewhere,omitempty"`                 // the files are those of a checkpoint that was made in another clone
	Allowed   []string `json:"secrets_allow,omitempty" text:"free"` // what may be in checkpoints although it holds what looks like a secret

	Carried Used `json:"carried,omitzero"` // what runs before this one used that count for its limits: they were killed
}

// StepStarted opens a step: a task is about to be given to a role.
type StepStarted struct {
	Step     int    `json:"step"`
	Task     string `json:"task"`
	Role     string `json:"role"`
	BoardSHA string `json:"board_sha256"`
	Index    int    `json:"index"` // the task's place in the list, from 1; 0 when it is not listed
	Of       int    `json:"of"`
	Mark     string `json:"mark,omitempty"` // of the step's processes, by which they are found after a crash
	Path     string `json:"path,omitempty"` // of the task, where Task is another spelling of it, such as ./tasks/1.md

	Call       Call        `json:"call,omitempty"`       // of a supervisor's step: the one that it begins with
	Checkpoint *Checkpoint `json:"checkpoint,omitempty"` // of such a step; nil: it only gets ready
}

// AttemptStarted is the intent to start a program. Input is what it is told: the JSON object of a
// call that begins in a new session, a JSON string of one that goes on in another. It stands in the
// first attempt of a call; the others get the same. With Stored it has only a part: see there.
type AttemptStarted struct {
	AttemptRef
	Adapter string          `json:"adapter"`
	Command string          `json:"command" text:"free"`
	Digest  string          `json:"digest"` // SHA-256 over argv, stdin, environment and folder
	Input   json.RawMessage `json:"input,omitempty"`
	Before  *Baseline       `json:"before,omitempty"`           // with the first attempt of a Manager call
	Plan    *Plan           `json:"plan,omitempty"`             // with an attempt of a task call whose work is reviewed
	From    string          `json:"from,omitempty" text:"free"` // the session that it goes on in
	Fork    bool            `json:"fork,omitempty"`             // in a copy of that session
	Resumes bool            `json:"resumes,omitempty"`          // if it is cut short, its work goes on in its session
	GoesOn  bool            `json:"goes_on,omitempty"`          // it goes on with work that was cut short
	// Stored names a file of the run, by the SHA-256 of its bytes in hex, that holds the rest of
	// Input: the list of tasks of a Manager's, the whole of a string.
	Stored string `json:"stored,omitempty"`
}

// SessionNamed says in which session the running attempt works, as soon as its tool names it: what
// is left of a killed run can be gone on with there.
type SessionNamed struct {
	AttemptRef
	Session string `json:"session" text:"free"`
}

// Plan is how the work of a task call is reviewed before it counts: seed 003.
type Plan struct {
	Agent   bool `json:"agent"`             // by an agent, in a fork of the work's session
	Rounds  int  `json:"rounds"`            // how often the work may be sent back
	Command bool `json:"command,omitempty"` // by a command, before the agent
}

// Baseline is the board as it was before the first Manager attempt of a step: what the Manager's
// own changes are told from. The list of tasks is the one in the Manager's input.
type Baseline struct {
	BoardSHA string `json:"board_sha256"`
	Current  string `json:"current"` // "" when the board was terminal
}

// ReplyAccepted is the outcome of an attempt whose reply has the right format. A long list of tasks
// stands in a file that TasksSHA names, see AttemptStarted.Stored, and Tasks is empty.
type ReplyAccepted struct {
	AttemptRef
	Status    string   `json:"status"`
	Message   string   `json:"message" text:"free"`
	NextTask  *string  `json:"next_task,omitempty"`
	Tasks     []string `json:"tasks,omitempty"`
	TasksSHA  string   `json:"tasks_sha256,omitempty"`
	Left      string   `json:"board_sha256,omitempty"` // the board as a task agent left it; "" when it is not known
	Unchecked bool     `json:"unchecked,omitempty"`    // the agent does not say that the work is done, so no command looks at it
	Millis    int64    `json:"millis"`

	Session string    `json:"session,omitempty" text:"free"` // by which the tool would go on with the conversation
	Spent   *Spending `json:"spent,omitempty"`               // nil: the tool does not tell
}

// ReplyRejected is the outcome of an attempt whose reply does not have the right format. Disagreed
// says that the reply was well formed and contradicted what the Manager wrote onto the board.
type ReplyRejected struct {
	AttemptRef
	Reason    string `json:"reason" text:"free"`
	Exit      string `json:"exit" text:"free"`
	Received  string `json:"received" text:"free"`
	Stderr    string `json:"stderr,omitempty" text:"free"`
	Output    string `json:"output,omitempty" text:"free"` // folder with the attempt's full streams; "" when it printed nothing
	Disagreed bool   `json:"disagreed,omitempty"`
	Lost      bool   `json:"lost,omitempty"` // the tool does not know the session that the attempt was to go on in
	Died      bool   `json:"died,omitempty"` // the program that stays for the whole run has died
	Left      string `json:"board_sha256"`   // the board as the attempt left it; "" when it could not be read
	Retries   int    `json:"retries"`        // retries used so far, and
	Of        int    `json:"of"`             // the most there may be
	Millis    int64  `json:"millis"`

	Session string    `json:"session,omitempty" text:"free"` // as of a ReplyAccepted
	Spent   *Spending `json:"spent,omitempty"`
}

// ReviewHeld is the outcome of a review that came to a verdict: seed 003, "Supervisor Feedback". A
// command comes to one however it ends.
type ReviewHeld struct {
	AttemptRef
	Completed bool      `json:"completed"`
	Feedback  string    `json:"feedback" text:"free"`   // the supervisor's final message, or what the command came to
	Session   string    `json:"session" text:"free"`    // the fork that it looked at the work in
	Left      string    `json:"board_sha256,omitempty"` // the board as the review left it; "" when it is not known
	Tree      string    `json:"tree,omitempty"`         // of a review that is not content, as in a [Visit], and
	Finding   string    `json:"finding,omitempty"`      // see [FindingOf]
	Millis    int64     `json:"millis"`
	Spent     *Spending `json:"spent,omitempty"`
}

// AttemptStopped is the outcome of an attempt that was neither accepted nor rejected: the run was
// interrupted, a limit of time was reached, or the run died. It costs no retry. The next attempt
// goes on in its session where it has one and its AttemptStarted says so.
type AttemptStopped struct {
	AttemptRef
	Reason string `json:"reason" text:"free"`
	Left   string `json:"board_sha256,omitempty"` // the board as the attempt left it; "" when it is not known

	Millis  int64     `json:"millis,omitempty"`              // 0: not known
	Session string    `json:"session,omitempty" text:"free"` // as of a ReplyAccepted
	Spent   *Spending `json:"spent,omitempty"`
}

// CallRestarted says that the open call starts afresh, on the board as it is now.
type CallRestarted struct {
	Step     int    `json:"step"`
	Task     string `json:"task"`
	BoardSHA string `json:"board_sha256"`
	Reason   string `json:"reason" text:"free"`
}

// StateDiverged says that something changed that only its owner may change (seed 002, "If external
// mutation is detected", step 1): the board in another turn than the Manager's, state.md, or the
// journal.
type StateDiverged struct {
	Source string `json:"source"` // what was changed: one of the Source constants
	Step   int    `json:"step,omitempty"`
	Task   string `json:"task"` // the open task, or the board
	Before string `json:"before_sha256,omitempty"`
	After  string `json:"after_sha256,omitempty"`
	Policy string `json:"policy,omitempty"` // what becomes of the change: one of the Policy constants
	Text   string `json:"text" text:"free"`
}

// What becomes of a board that was changed in another turn than the Manager's.
const (
	PolicyAccept  = "accept"  // the file stands
	PolicyRestore = "restore" // what makes its end is put back, and all else stands
	PolicyFreeze  = "freeze"  // nothing goes on before the Lead has looked at it
	PolicyAsk     = "ask"     // the same for an end of which it cannot be told who wrote it
)

// What a STATE_DIVERGENCE is about.
const (
	SourceBoard   = "board"
	SourceState   = "state.md"
	SourceJournal = "journal"
)

// BoardWriteStarted is the intent to replace the board.
type BoardWriteStarted struct {
	Step   int    `json:"step"`
	Task   string `json:"task"`
	Before string `json:"before_sha256"`
	After  string `json:"after_sha256"`
}

// BoardWritten is the outcome of BOARD_WRITE_STARTED: the board was replaced.
type BoardWritten struct {
	Step     int    `json:"step"`
	Task     string `json:"task"`
	BoardSHA string `json:"board_sha256"`
}

// StepFinished closes a step: the board says what the Manager decided.
type StepFinished struct {
	Step     int     `json:"step"`
	Task     string  `json:"task"`
	Role     string  `json:"role"`
	Status   string  `json:"status"`                        // of the task agent
	Manager  string  `json:"manager"`                       // status of the Manager
	Message  string  `json:"message" text:"free"`           // the Manager's
	NextTask *string `json:"next_task"`                     // nil: the Manager says that the board is complete
	BoardSHA string  `json:"board_sha256"`                  // of the board as the step leaves it
	Warning  string  `json:"warning,omitempty" text:"free"` // where file and reply differed and the file won
	Millis   int64   `json:"millis"`                        // from the step's start

	Checkpoint string `json:"checkpoint,omitempty"` // behind which the Manager was called: it is no step of the board's own

	Leaving     *Leaving   `json:"leaving,omitempty" text:"free"` // nil: a task is next that was not worked on lately
	Quarantined []TaskFile `json:"quarantined,omitempty"`         // the files of tasks in quarantine
}

// StepAbandoned closes a step that is no longer true: a person changed the board between two runs.
type StepAbandoned struct {
	Step   int    `json:"step"`
	Task   string `json:"task"`
	Reason string `json:"reason" text:"free"`
}

// RunInterrupted ends a run that is to be continued: counters and attempts stay.
type RunInterrupted struct {
	Board       string     `json:"board" text:"free"`
	Outcome     Outcome    `json:"outcome"`
	Reason      string     `json:"reason" text:"free"`
	Quarantined []TaskFile `json:"quarantined,omitempty"` // the files of tasks in quarantine, as the run leaves them

	Until string `json:"until,omitempty"` // with outcome later: when to ask the provider again, in RFC 3339; "": not said
}

// RunFinished ends a run; the next one has fresh attempts and limits.
type RunFinished struct {
	Board   string  `json:"board" text:"free"`
	Outcome Outcome `json:"outcome"`
	Text    string  `json:"text" text:"free"`
	Steps   int     `json:"steps"`
}

// Acknowledged is the Lead's word that a frozen board may go on as it is, or what is to become of
// one that ended with tasks undone.
type Acknowledged struct {
	Board    string `json:"board" text:"free"`
	BoardSHA string `json:"board_sha256"` // of the board as the decision leaves it
	Note     string `json:"note" text:"free"`
	Choice   Choice `json:"choice,omitempty"`
	Text     string `json:"text,omitempty" text:"free"` // of the choice: what was accepted, or is to be done again
	Look     bool   `json:"look,omitempty"`             // with Retry: the checkpoint that stops the board is to look anew
}

// Choice is what the Lead decides about a board that ended with tasks undone.
type Choice string

// The values of Choice.
const (
	Accept Choice = "accept" // it ends as it stands
	Retry  Choice = "retry"  // current names the task again, and the next run goes on

	ForcedFinalize Choice = "forced-finalize" // the team may be deleted without the members that have never answered

	ReleaseTasks Choice = "release" // tasks in quarantine may be worked on again, also while a run is at work
)

func (RunStarted) Kind() string        { return "RUN_STARTED" }
func (StepStarted) Kind() string       { return "STEP_STARTED" }
func (AttemptStarted) Kind() string    { return "ATTEMPT_STARTED" }
func (ReplyAccepted) Kind() string     { return "REPLY_ACCEPTED" }
func (ReplyRejected) Kind() string     { return "REPLY_REJECTED" }
func (AttemptStopped) Kind() string    { return "ATTEMPT_STOPPED" }
func (StateDiverged) Kind() string     { return "STATE_DIVERGENCE" }
func (ReviewHeld) Kind() string        { return "REVIEW_HELD" }
func (SessionNamed) Kind() string      { return "SESSION_NAMED" }
func (CallRestarted) Kind() string     { return "CALL_RESTARTED" }
func (BoardWriteStarted) Kind() string { return "BOARD_WRITE_STARTED" }
func (BoardWritten) Kind() string      { return "BOARD_WRITTEN" }
func (StepFinished) Kind() string      { return "STEP_FINISHED" }
func (StepAbandoned) Kind() string     { return "STEP_ABANDONED" }
func (RunInterrupted) Kind() string    { return "RUN_INTERRUPTED" }
func (RunFinished) Kind() string       { return "RUN_FINISHED" }
func (Acknowledged) Kind() string      { return "LEAD_ACK" }

func (e RunStarted) Subject() string        { return e.Board }
func (e StepStarted) Subject() string       { return e.Task }
func (e StateDiverged) Subject() string     { return e.Task }
func (e CallRestarted) Subject() string     { return e.Task }
func (e BoardWriteStarted) Subject() string { return e.Task }
func (e BoardWritten) Subject() string      { return e.Task }
func (e StepFinished) Subject() string      { return e.Task }
func (e StepAbandoned) Subject() string     { return e.Task }
func (e RunInterrupted) Subject() string    { return e.Board }
func (e RunFinished) Subject() string       { return e.Board }
func (e Acknowledged) Subject() string      { return e.Board }
