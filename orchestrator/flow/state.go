package flow

import (
	"encoding/json"
	"fmt"
)

// State is where a board's work stands: the fold of [State.Apply] over all events of its journal, in order. The zero value is
// a board that nobody ever ran. Only Apply changes it.
//
// Its JSON is what a snapshot holds: a change of it needs a new [snapshotVersion].
type State struct {
	Running  bool    `json:"running"` // a run has started and neither finished nor was seen to be interrupted
	Outcome  Outcome `json:"outcome"`
	Text     string  `json:"text"` // of the last ending
	Limits   Limits  `json:"limits"`
	Steps    int     `json:"steps"`     // steps finished under these limits: an interruption keeps them, a finish makes them fresh
	LastStep int     `json:"last_step"` // number of the last step that was started, over all runs
	Step     *Step   `json:"step"`
	Repeat   Repeat  `json:"repeat"`
	Frozen   *Freeze `json:"frozen"`
	Last     Ending  `json:"last"`
	Spent    bool    `json:"spent"` // the last run finished, so the next one starts with fresh limits and attempts

	// What form 3 has and the forms before it have not, see [inForm].
	Until   string    `json:"until,omitempty"`   // of the last ending, when the provider said: later
	Used    Used      `json:"used,omitzero"`     // by attempts under these limits: kept and made fresh as the steps are
	Total   Used      `json:"total,omitzero"`    // over all runs
	Tasks   []TaskUse `json:"tasks,omitempty"`   // under these limits, where one is for tasks; the last of them, see [Recount]
	Session string    `json:"session,omitempty"` // the last one that a tool told of
}

// Step is the open step: one task agent's call and the Manager's call after it, or one Manager call.
type Step struct {
	Number   int    `json:"number"`
	Task     string `json:"task"`
	Role     string `json:"role"`
	BoardSHA string `json:"board_sha256"` // the board that the step works on, as last accepted
	Mark     string `json:"mark"`         // of its processes

	Call       Call            `json:"call"`                   // the call that is due or under way
	Input      json.RawMessage `json:"input,omitempty"`        // its input once its first attempt was started; every attempt gets the same bytes
	InputSHA   string          `json:"input_sha256,omitempty"` // of the whole input, where tasks are left out of Input
	Started    int             `json:"started"`                // attempts of this call that were started
	Rejected   int             `json:"rejected"`               // of these, replies that were rejected, since the attempts were last fresh
	Running    int             `json:"running"`                // the attempt whose outcome is not known; 0: none
	Left       string          `json:"left"`                   // the board's SHA-256 as the last attempt left it; "" when nobody knows
	LastReason string          `json:"last_reason"`
	Paid       *Spending       `json:"paid,omitempty"`          // what the running attempt came to so far, as far as that is counted
	Worked     int64           `json:"worked_millis,omitempty"` // how long the running attempt has worked so far, as far as that is counted
	Unsettled  string          `json:"unsettled,omitempty"`     // why the supervisor of the last attempt was not content; "" when it was
	Disagreed  bool            `json:"disagreed"`               // the last reply was rejected because the board said otherwise

	TaskStatus string             `json:"task_status"` // status of the task agent's accepted reply
	Before     *Baseline          `json:"before"`      // set once a Manager attempt was started: what the board was before it
	Reply      *ReplyAccepted     `json:"reply"`
	Writing    *BoardWriteStarted `json:"writing"` // a board write whose outcome is not known
}

// CallRole is whose call is due or under way.
func (s *Step) CallRole() string {
	if s.Call == ManagerCall {
		return ManagerRole
	}
	return s.Role
}

// Repeat counts how often in a row the same task was started in the same role on the same board.
type Repeat struct {
	Task     string `json:"task"`
	Role     string `json:"role"`
	BoardSHA string `json:"board_sha256"`
	Count    int    `json:"count"`
}

func (r Repeat) matches(b Board) bool {
	return r.Count > 0 && r.Task == b.Task && r.Role == b.Role && r.BoardSHA == b.SHA
}

// Freeze is why a board may not go on until its Lead acknowledges it.
type Freeze struct {
	Text string `json:"text"`
}

// Ending is what the Manager said in the last finished step, and the board that the step left.
type Ending struct {
	Status       string `json:"status"`
	Message      string `json:"message"`
	BoardSHA     string `json:"board_sha256"`
	Acknowledged bool   `json:"acknowledged"`
}

// TransitionError says that an event cannot happen in the state that it was applied to: a journal that holds it was not
// written by this program's rules.
type TransitionError struct {
	Kind string
	Text string
}

func (e *TransitionError) Error() string {
	return fmt.Sprintf("event %s cannot happen here: %s", e.Kind, e.Text)
}

// Apply makes e part of the state, or returns a *TransitionError and leaves the state as it was.
func (s *State) Apply(e Event) error {
	next := *s
	if s.Step != nil {
		step := *s.Step
		next.Step = &step
	}
	if err := e.apply(&next); err != nil {
		return err
	}
	*s = next
	return nil
}

// Stale says why the open step is no longer true on board b, or "". A step survives a restart as long as the board still
// names its task in its role; once a Manager attempt was started, the board may say something else by right.
func Stale(s State, b Board) string {
	step := s.Step
	switch {
	case step == nil || step.Before != nil:
		return ""
	case b.Terminal:
		return "the board was completed by hand"
	case b.Task != step.Task:
		return "the board now names " + b.Task
	case step.Call == TaskCall && b.Role != step.Role:
		return step.Task + " is now a task for " + b.Role
	default:
		return ""
	}
}
