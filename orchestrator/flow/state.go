package flow

import (
	"encoding/json"
	"fmt"

	"kanban-run/orchestrator/event"
)

// State is the state of a board's work: the fold of [State.Apply] over all events of its journal,
// in order. The zero value is a board that was never run. Only Apply changes it.
//
// A snapshot holds the JSON of a State.
type State struct {
	// The last run, and how it ended.
	Running bool          `json:"running"` // a run has started, and no end of it is known yet
	Outcome event.Outcome `json:"outcome"`
	Text    string        `json:"text"`              // text about the end of the last run
	Decided bool          `json:"decided,omitempty"` // Outcome and Text come from what followed the last run, such as a decision of a person
	Until   string        `json:"until,omitempty"`   // time to ask the provider again after the outcome "later"; otherwise ""
	Spent   bool          `json:"spent"`             // the last run finished, so the next one has fresh limits and retries
	Frozen  *Freeze       `json:"frozen"`
	Workdir string        `json:"workdir,omitempty"` // work directory of the last run; "": no run has started
	// WorkedIn is the work directory in which the first reply was accepted, see RunStarted.FromBoard; "": none was
	// yet, or by a version that does not say so. Of such a journal nothing is known later either.
	WorkedIn string `json:"worked_in,omitempty"`
	WorksIn  string `json:"works_in,omitempty"` // the same of the last run
	Place    string `json:"place,omitempty"`    // where the processes with the marks in this state are, see RunStarted.Place
	Version  string `json:"version,omitempty"`  // version of the program of the last run; "": not known

	// The limits, and the use that counts for them.
	Limits event.Limits `json:"limits"`
	Steps  int          `json:"steps"`                   // steps finished under these limits; 0 again after a finished run
	Used   event.Used   `json:"used,omitzero"`           // time, tokens and cost of attempts under these limits; reset with Steps
	Waited int64        `json:"waited_millis,omitempty"` // time waited for providers under these limits
	Total  event.Used   `json:"total,omitzero"`          // time, tokens and cost of attempts, over all runs
	Tasks  []TaskUse    `json:"tasks,omitempty"`         // use by tasks under these limits, latest task last; at most [mostTasks]

	// The steps, and the results of the last ones.
	Step      *Step               `json:"step"`
	Refused   *Refused            `json:"refused,omitempty"`        // refusal of the last call by its provider; nil: none
	Waiting   *event.ProviderWait `json:"waiting,omitempty"`        // the wait of a run for a provider; nil: none
	BlockedBy string              `json:"blocked_by,omitempty"`     // work of another board that the run waits for, in words; "": none
	LastStep  int                 `json:"last_step"`                // number of the last step that a run has started
	Finished  int                 `json:"finished_steps,omitempty"` // number of steps that all runs have finished
	Last      ManagerReply        `json:"last"`
	Statuses  []TaskStatus        `json:"statuses,omitempty"` // last statuses of tasks, in the order in which the tasks got them
	Remarks   []Remark            `json:"remarks,omitempty"`  // about the last acceptances of tasks
	Dropped   []string            `json:"dropped,omitempty"`  // tasks that the Manager took off the list undone
	Aside     []Aside             `json:"aside,omitempty"`    // tasks that are set aside, the earliest first
	KeepGoing bool                `json:"keep_going,omitempty"`
	ByNeeds   bool                `json:"by_needs,omitempty"`
	Lenient   bool                `json:"lenient,omitempty"`       // a board that ends incomplete counts as complete
	Replanned []string            `json:"replanned,omitempty"`     // tasks that the Manager was to plan anew under these limits
	Marks     string              `json:"marks_sha256,omitempty"`  // SHA-256 of the marks of tasks before the last attempt, or at the end of the last run
	Note      string              `json:"decide_sha256,omitempty"` // SHA-256 of the note of what was looked at before the last attempt
	Changed   []Changed           `json:"changed,omitempty"`       // changes of files that decide, which no person has accepted; the latest last
	Behind    string              `json:"behind,omitempty"`        // SHA-256 of the board at the end of the last run, if what it started then may have changed it since
	AsksOf    bool                `json:"asks_of,omitempty"`       // the last run ended because of such changes
	Session   string              `json:"session,omitempty"`       // last session named by the tool of a task agent or the Manager

	// Loops, and the agents that work on the tasks.
	Repeat        Repeat              `json:"repeat"`
	Visits        *Visits             `json:"visits,omitempty"` // last steps in a row on the next task, or nil
	Turns         []Turn              `json:"turns,omitempty"`  // steps in a row that led to an earlier task
	Quarantine    []Quarantine        `json:"quarantine,omitempty"`
	Tools         []MissingTool       `json:"tools,omitempty"`           // tools that agents of this run missed; at most [mostTools]
	Manager       string              `json:"manager,omitempty"`         // the adapter that plays the Manager
	ManagerIsTold bool                `json:"manager_is_told,omitempty"` // the Manager's role accepts anomalies
	Reassign      []event.Substitutes `json:"reassign,omitempty"`

	// The supervisor, the end of the team, and the route of the checkpoints in git.
	Supervisor *Supervisor   `json:"supervisor,omitempty"`      // nil: the board never had a supervisor
	Teardown   *Teardown     `json:"teardown,omitempty"`        // progress of the end of the team; nil: not begun since the last run
	Unpushed   string        `json:"unpushed,omitempty"`        // why checkpoints have not reached the remote; "": they have, or there is none
	UnpushedTo string        `json:"unpushed_branch,omitempty"` // branch of those checkpoints
	Clone      *Clone        `json:"clone,omitempty"`           // in which the agents work; nil: in the checkout
	Landing    *Landing      `json:"landing,omitempty"`         // of the work of the clone, or of the last one; nil: nobody has tried
	Lands      bool          `json:"lands,omitempty"`           // this run brings the work of the complete board into its branch
	LandTried  bool          `json:"land_tried,omitempty"`      // it has tried, since the last run began
	Git        *event.GitWay `json:"git,omitempty"`             // route of the last run with checkpoints in git; nil: there was none
}

// NeverRan reports whether no run has started yet. Even then the journal may have decisions of a
// person.
func (s *State) NeverRan() bool { return s.Workdir == "" }

// TaskStatus is the last status of a task: that of a reply, or a constant such as [StatusBefore].
type TaskStatus struct {
	Task   string `json:"task"`
	Status string `json:"status"`
	Marked bool   `json:"marked,omitempty"` // package walk has marked the task on the list
}

// Step is the open step: the calls of one task's agent, the reviews of its work and the Manager's
// call after them. A step may also be a single Manager call, or a checkpoint of the supervisor.
type Step struct {
	// The task.
	Number   int    `json:"number"`
	Task     string `json:"task"`
	Path     string `json:"path,omitempty"` // cleaned path of the task; "" if Task is a clean path itself
	Role     string `json:"role"`
	BoardSHA string `json:"board_sha256"` // SHA-256 of the board as last accepted for this step
	Mark     string `json:"mark"`         // mark of the step's processes

	// The call.
	Call    event.Call      `json:"call"`              // the call that is due or under way
	Agent   int             `json:"agent,omitempty"`   // number of the substitute that has the call, from 1; 0: none has it
	Input   json.RawMessage `json:"input,omitempty"`   // input of the call, see AttemptStarted; nil before the first attempt
	Stored  string          `json:"stored,omitempty"`  // see AttemptStarted.Stored
	Running int             `json:"running"`           // the attempt without an outcome; 0: no attempt runs
	At      *Thread         `json:"at,omitempty"`      // session of the running attempt; nil: work cannot go on in it
	GoesOn  *Thread         `json:"goes_on,omitempty"` // session of work that was cut short; nil: start afresh
	Left    string          `json:"left"`              // SHA-256 of the board as the last attempt left it; "": not known

	// Retries.
	// Started is a number of attempts. Once the Manager's call is due, it counts only the attempts of
	// that call. Until then it counts the attempts of all calls of the step.
	Started  int `json:"started"`
	Rejected int `json:"rejected"` // replies to this call that were rejected since the last reset of the retries
	// Given is the SHA-256 of what the last attempt in a session of its own was given. It is
	// AttemptStarted.Digest if AttemptStarted.Given is not known; then Command has its command.
	Given      string   `json:"given,omitempty"`
	Command    string   `json:"command,omitempty"`
	GivenBy    string   `json:"given_by,omitempty"` // version of the program that started that attempt
	LastReason string   `json:"last_reason"`
	Lacks      []string `json:"lacks,omitempty"`     // see event.End, of the last attempt that failed
	Disagreed  bool     `json:"disagreed"`           // the last reply was rejected because it contradicts the board
	Lost       int      `json:"lost,omitempty"`      // number of lost sessions of the work or of a checkpoint
	Fruitless  int      `json:"fruitless,omitempty"` // attempts in a row without progress in a session of earlier work
	TimedOut   int      `json:"timed_out,omitempty"` // attempts that the timeout ended
	TooLong    bool     `json:"too_long,omitempty"`  // a session of the call was too long for the model's context
	// OwnLimit is the reason why an attempt was stopped at a limit of its role. The field is set
	// only if the board goes on without the task.
	OwnLimit string `json:"own_limit,omitempty"`
	Declined string `json:"declined,omitempty"` // why the provider declined the call; "": it did not

	// The agents' words.
	Said    string `json:"said,omitempty"`    // message of the last reply of the task's agent
	Printed string `json:"printed,omitempty"` // last line on stderr of the last attempt, if it gave no valid reply
	Crashed bool   `json:"crashed,omitempty"` // the program of that attempt failed by itself

	// The work and its reviews.
	TaskStatus string               `json:"task_status"`         // status of the task agent's accepted reply
	Plan       *event.Plan          `json:"plan,omitempty"`      // nil: the work is not reviewed
	Round      int                  `json:"round,omitempty"`     // round of work and review, from 1 at the first review
	Work       *event.ReplyAccepted `json:"work,omitempty"`      // the reply whose work is reviewed or was sent back
	Files      []event.LeftFile     `json:"files,omitempty"`     // see ReplyAccepted.Files
	Feedback   string               `json:"feedback,omitempty"`  // feedback of the last review that sent the work back
	Reviews    []Visit              `json:"reviews,omitempty"`   // the reviews that sent the work back
	Unsettled  string               `json:"unsettled,omitempty"` // why reviews, the watch or a loop stopped the step; "": they did not

	// The Manager's decision.
	Before  *event.Baseline          `json:"before"` // the board before the first Manager attempt; nil: no attempt yet
	Reply   *event.ReplyAccepted     `json:"reply"`
	Walked  *event.ManagerWalked     `json:"walked,omitempty"`  // package walk's decision in Reply; nil: an agent replied
	Writing *event.BoardWriteStarted `json:"writing"`           // a board write whose outcome is not known; nil: none
	Anomaly *event.Anomaly           `json:"anomaly,omitempty"` // the anomaly to tell the Manager; nil: none
	Again   bool                     `json:"again,omitempty"`   // the Manager is asked once more, see [State.MayAskAgain]

	// The watch.
	Hung     *Hung             `json:"hung,omitempty"`      // the watch's decision about the running attempt; nil: none
	Restarts int               `json:"restarts,omitempty"`  // restarts of hung agents in this call
	LastHung string            `json:"last_hung,omitempty"` // the anomaly of the last restart
	Advice   string            `json:"advice,omitempty"`    // what the next attempt is told about an earlier one
	Consent  *Consent          `json:"consent,omitempty"`   // open question to a person about the running attempt; nil: none
	Judge    *event.JudgeAsked `json:"judge,omitempty"`     // the attempt of a judge that runs; nil: none runs

	// The supervisor.
	Checkpoint *event.Checkpoint `json:"checkpoint,omitempty"` // the checkpoint of a supervisor's step; nil: none
}

// Thread is a session of an agent in which the work of a call can go on.
type Thread struct {
	Adapter string `json:"adapter"`           // the adapter that knows the session
	Session string `json:"session,omitempty"` // the ID of the session; "": not named yet
}

// CallRole returns the role of the call that is due or under way. A review has the role whose work
// is reviewed.
func (s *Step) CallRole() string {
	if s.Call == event.ManagerCall {
		return event.ManagerRole
	}
	return s.Role
}

// IsWork reports whether the open call is the work on the task, or a review of it.
func (s *Step) IsWork() bool { return s.Call.IsOfTask() }

// MayMark reports whether a mark in the header of the step's task counts: the work on the task
// replied ok, and no review or watch has stopped the step.
func (s *Step) MayMark() bool {
	status := s.TaskStatus
	if status == "" && s.Work != nil {
		status = s.Work.Status
	}
	return status == StatusOK && s.Unsettled == ""
}

// StartsAfresh reports whether the call starts afresh after an end of class c, without the use of a
// retry. That happens once in a call, if its session is too long for the model's context.
func (s *Step) StartsAfresh(c event.Class) bool { return c == event.ClassTooLong && !s.TooLong }

// forgetDeclined lets the call be made again, by another agent or after a person has looked.
func (s *Step) forgetDeclined() {
	if s.Declined != "" {
		s.Declined, s.TooLong = "", false
	}
}

// ClassOf returns the class of an attempt of the call that ended with class c. If the session is too
// long although the call has started afresh, the provider declines the call.
func (s *Step) ClassOf(c event.Class) event.Class {
	if c == event.ClassTooLong && s.TooLong {
		return event.ClassDeclined
	}
	return c
}

// Player returns in words the player of the open call.
func (s *Step) Player() string { return s.Call.Player(s.Role) }

// Repeat counts consecutive starts with the same task, the same role and the same board.
type Repeat struct {
	Task     string `json:"task"`
	Role     string `json:"role"`
	BoardSHA string `json:"board_sha256"`
	Count    int    `json:"count"`
}

func (r Repeat) matches(b Board) bool {
	return r.Count > 0 && r.Task == b.Task && r.Role == b.Role && r.BoardSHA == b.SHA
}

// Freeze is the reason that keeps a board from going on until its Lead acknowledges it.
type Freeze struct {
	Text string `json:"text"`
	// Asks is true if the Lead has to choose, because it is unknown who ended the board, or because
	// Git is set.
	Asks bool          `json:"asks,omitempty"`
	By   event.By      `json:"by,omitempty"`  // what the Lead is asked about; "": an unknown end
	Git  *event.GitWay `json:"git,omitempty"` // the checkpoints' new route, which froze the board; nil: another reason
}

// Earlier returns in words as what the board can be put back. The freeze may be nil, before it is journaled.
func (f *Freeze) Earlier() string {
	if f != nil && f.By == event.ByMark {
		return "as it stood before"
	}
	return "as the turn began"
}

// Outcome returns the outcome of a run that finds the board frozen like this.
func (f *Freeze) Outcome() event.Outcome {
	if f.Asks {
		return event.NeedsPerson
	}
	return event.Frozen
}

// ManagerReply is the Manager's reply in the last finished step, with the board that the step left.
type ManagerReply struct {
	Status       string   `json:"status"`
	Message      string   `json:"message"`
	Task         string   `json:"task,omitempty"` // task of the last finished step
	Next         string   `json:"next,omitempty"` // current task of the board at the end of that step; "" for none
	BoardSHA     string   `json:"board_sha256"`
	Acknowledged bool     `json:"acknowledged"`
	Walked       bool     `json:"walked,omitempty"`   // the reply is a decision of package walk
	Said         string   `json:"said,omitempty"`     // message of the last reply of the task's agent in that step
	Left         []string `json:"left,omitempty"`     // tasks that package walk could not name next, and why
	Accepted     string   `json:"accepted,omitempty"` // text of the Lead's decision to accept the board as it stands
}

// TransitionError reports an event that cannot happen in the state to which it was applied. A
// journal with such an event was not written by this program's rules.
type TransitionError struct {
	Kind string
	Text string
}

func (e *TransitionError) Error() string {
	return fmt.Sprintf("event %s cannot happen here: %s", e.Kind, e.Text)
}

func refuse(e event.Event, format string, args ...any) error {
	return &TransitionError{Kind: e.Kind(), Text: fmt.Sprintf(format, args...)}
}
