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
	Running bool          `json:"running"` // a run has started and neither finished nor was seen to be interrupted
	Outcome event.Outcome `json:"outcome"`
	Text    string        `json:"text"`            // of the last ending
	Until   string        `json:"until,omitempty"` // after outcome later: when to ask the provider again
	Spent   bool          `json:"spent"`           // the last run finished: the next one has fresh limits and retries
	Frozen  *Freeze       `json:"frozen"`
	Workdir string        `json:"workdir,omitempty"` // of the last run; "": no run has started

	// Limits, and what counts for them.
	Limits event.Limits `json:"limits"`
	Steps  int          `json:"steps"`                   // finished under these limits; reset after a finished run
	Used   event.Used   `json:"used,omitzero"`           // by attempts under these limits; reset with Steps
	Waited int64        `json:"waited_millis,omitempty"` // for providers, under these limits
	Total  event.Used   `json:"total,omitzero"`          // over all runs
	Tasks  []TaskUse    `json:"tasks,omitempty"`         // under these limits, by their last use; at most [mostTasks]

	// Steps, and the results of the last of them.
	Step      *Step               `json:"step"`
	Refused   *Refused            `json:"refused,omitempty"`        // nil: the last call was not refused by its provider
	Waiting   *event.ProviderWait `json:"waiting,omitempty"`        // nil: no run waits for a provider
	BlockedBy string              `json:"blocked_by,omitempty"`     // the work of another board that the run waits for, in words; "": none
	LastStep  int                 `json:"last_step"`                // number of the last step that was started, over all runs
	Finished  int                 `json:"finished_steps,omitempty"` // steps, by all runs
	Last      Ending              `json:"last"`
	Statuses  []TaskStatus        `json:"statuses,omitempty"` // of the tasks that have one, in the order in which they got it
	Dropped   []string            `json:"dropped,omitempty"`  // tasks that the Manager took off the list undone
	Aside     []Aside             `json:"aside,omitempty"`    // tasks that are set aside, in that order
	KeepGoing bool                `json:"keep_going,omitempty"`
	ByNeeds   bool                `json:"by_needs,omitempty"`
	Replanned []string            `json:"replanned,omitempty"` // tasks that the Manager was to plan anew, under these limits
	Session   string              `json:"session,omitempty"`   // the last that a task agent's or the Manager's tool named

	// Loops, and the agents that work on the tasks.
	Repeat        Repeat              `json:"repeat"`
	Visits        *Visits             `json:"visits,omitempty"` // nil: the last step was followed by another task
	Turns         []Turn              `json:"turns,omitempty"`  // the last steps, as long as earlier tasks come back
	Quarantine    []Quarantine        `json:"quarantine,omitempty"`
	Tools         []MissingTool       `json:"tools,omitempty"`           // missed by agents in this run; at most [mostTools]
	Manager       string              `json:"manager,omitempty"`         // the adapter that plays the Manager
	ManagerIsTold bool                `json:"manager_is_told,omitempty"` // its role accepts anomalies
	Reassign      []event.Substitutes `json:"reassign,omitempty"`

	// The supervisor, the end of the team, and the way of the checkpoints in git.
	Supervisor *Supervisor   `json:"supervisor,omitempty"` // nil: the board never had a supervisor
	Teardown   *Teardown     `json:"teardown,omitempty"`   // nil: not begun since the last run
	Git        *event.GitWay `json:"git,omitempty"`        // of the last run with checkpoints in git
}

// NeverRan reports whether no run has started yet. The journal may have decisions of a person all the same.
func (s *State) NeverRan() bool { return s.Workdir == "" }

// TaskStatus is the status of a task: of its last reply, or one of the constants.
type TaskStatus struct {
	Task   string `json:"task"`
	Status string `json:"status"`
}

// Step is the open step: the calls of one task's agent, the reviews of its work and the Manager's
// call after them, or one Manager call.
type Step struct {
	// The task.
	Number   int    `json:"number"`
	Task     string `json:"task"`
	Path     string `json:"path,omitempty"` // of the task, where Task is another spelling of it
	Role     string `json:"role"`
	BoardSHA string `json:"board_sha256"` // the board that the step works on, as last accepted
	Mark     string `json:"mark"`         // of its processes

	// The call.
	Call    event.Call      `json:"call"`              // the call that is due or under way
	Agent   int             `json:"agent,omitempty"`   // substitute that has the call, from 1; 0: the role's own agent
	Input   json.RawMessage `json:"input,omitempty"`   // of the call; nil before its first attempt, see AttemptStarted
	Stored  string          `json:"stored,omitempty"`  // see AttemptStarted.Stored
	Running int             `json:"running"`           // the attempt whose outcome is not known; 0: no attempt runs
	At      *Thread         `json:"at,omitempty"`      // session of the running attempt; nil: it cannot be resumed
	GoesOn  *Thread         `json:"goes_on,omitempty"` // session of work that was cut short; nil: start afresh
	Left    string          `json:"left"`              // the board's SHA-256 as the last attempt left it; "": not known

	// Retries.
	Started    int    `json:"started"`  // attempts that were started: of the Manager's call, or of all calls before it
	Rejected   int    `json:"rejected"` // rejected replies to this call, since retries were reset
	LastReason string `json:"last_reason"`
	Disagreed  bool   `json:"disagreed"`           // the last reply was rejected because the board said otherwise
	Lost       int    `json:"lost,omitempty"`      // sessions that their tool did not know when it was to resume them
	Fruitless  int    `json:"fruitless,omitempty"` // attempts in a row that went on in GoesOn and did nothing
	TooLong    bool   `json:"too_long,omitempty"`  // the session did not fit the model's context once already
	OwnLimit   string `json:"own_limit,omitempty"` // the limit of its role that the work reached, where the board goes on without it

	// The work and its reviews.
	TaskStatus string               `json:"task_status"`         // status of the task agent's accepted reply
	Plan       *event.Plan          `json:"plan,omitempty"`      // nil: the work is not reviewed
	Round      int                  `json:"round,omitempty"`     // of work and review, from 1 at the first review
	Work       *event.ReplyAccepted `json:"work,omitempty"`      // the reply whose work is reviewed or was sent back
	Feedback   string               `json:"feedback,omitempty"`  // of the review that sent the work back
	Reviews    []Visit              `json:"reviews,omitempty"`   // the reviews that sent the work back
	Unsettled  string               `json:"unsettled,omitempty"` // why reviews, the watch or a loop stopped the step

	// The Manager's decision.
	Before  *event.Baseline          `json:"before"` // the board before the first Manager attempt; nil: not started
	Reply   *event.ReplyAccepted     `json:"reply"`
	Walked  *event.ManagerWalked     `json:"walked,omitempty"`  // the source of Reply; nil: an agent replied
	Writing *event.BoardWriteStarted `json:"writing"`           // a board write whose outcome is not known
	Anomaly *event.Anomaly           `json:"anomaly,omitempty"` // why the Manager plans anew; the task is not done
	Again   bool                     `json:"again,omitempty"`   // the Manager ended the board with tasks set aside, and is asked again

	// The watch.
	Hung      *Hung    `json:"hung,omitempty"`       // the decision about the running attempt; nil: not decided
	Restarts  int      `json:"restarts,omitempty"`   // of hung agents in this call
	LastHung  string   `json:"last_hung,omitempty"`  // the anomaly of the last restart
	Advice    string   `json:"advice,omitempty"`     // what the next attempt is told about LastHung
	Consent   *Consent `json:"consent,omitempty"`    // the open question to a person about the running attempt
	JudgeMark string   `json:"judge_mark,omitempty"` // of the processes of the attempt's judge; "": no judge runs

	// The supervisor.
	Checkpoint *event.Checkpoint `json:"checkpoint,omitempty"` // of a supervisor's step
}

// Thread is a session of an agent in which the work of a call can go on.
type Thread struct {
	Adapter string `json:"adapter"`           // that knows the session
	Session string `json:"session,omitempty"` // "": not named yet
}

// CallRole returns the role of the call that is due or under way. A review has the role of the work
// that it is about.
func (s *Step) CallRole() string {
	if s.Call == event.ManagerCall {
		return event.ManagerRole
	}
	return s.Role
}

// IsWork reports whether the open call is the work on the task, or a review of it.
func (s *Step) IsWork() bool { return s.Call != event.ManagerCall && !s.Call.IsSupervision() }

// StartsAfresh reports whether the call has a fresh start, without a retry, after an end of this class: once, if
// its session does not fit the model's context.
func (s *Step) StartsAfresh(c event.Class) bool { return c == event.ClassTooLong && !s.TooLong }

// Player returns in words the player of the open call.
func (s *Step) Player() string { return s.Call.Player(s.Role) }

// Repeat counts the starts in a row of the same task in the same role on the same board.
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
	Text string        `json:"text"`
	Asks bool          `json:"asks,omitempty"` // the Lead has to choose: it is unknown who ended the board, or Git is set
	Git  *event.GitWay `json:"git,omitempty"`  // the way of checkpoints that was found in place of the one before
}

// Outcome returns the outcome of a run that finds the board frozen like this.
func (f *Freeze) Outcome() event.Outcome {
	if f.Asks {
		return event.NeedsPerson
	}
	return event.Frozen
}

// Ending is the Manager's reply in the last finished step, and the board that the step left.
type Ending struct {
	Status       string   `json:"status"`
	Message      string   `json:"message"`
	Task         string   `json:"task,omitempty"` // of that step
	BoardSHA     string   `json:"board_sha256"`
	Acknowledged bool     `json:"acknowledged"`
	Walked       bool     `json:"walked,omitempty"`   // the reply is a decision of walk
	Left         []string `json:"left,omitempty"`     // tasks that walk could not name, with their reasons
	Accepted     string   `json:"accepted,omitempty"` // the text with which the Lead accepted the board as it stands
}

// TransitionError reports an event that cannot happen in the state that it was applied to. A
// journal with such an event was not written by this program's rules.
type TransitionError struct {
	Kind string
	Text string
}

func (e *TransitionError) Error() string {
	return fmt.Sprintf("event %s cannot happen here: %s", e.Kind, e.Text)
}

// Apply makes e part of the state, or returns a *TransitionError and leaves the state as it was.
func (s *State) Apply(e event.Event) error {
	next := *s
	if s.Step != nil {
		step := *s.Step
		next.Step = &step
	}
	if err := next.apply(e); err != nil {
		return err
	}
	*s = next
	return nil
}
