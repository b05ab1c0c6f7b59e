package event

import (
	"encoding/json"
	"fmt"
	"strings"
)

// End is the common part of all events that end an attempt.
type End struct {
	Left    string    `json:"board_sha256,omitempty"`        // of the board after the attempt; "": not known
	Millis  int64     `json:"millis"`                        // of work; 0: not known
	Session string    `json:"session,omitempty" text:"free"` // that the tool named, to resume the work in; "": not named
	Spent   *Spending `json:"spent,omitempty"`               // nil: the tool does not tell
	Class   Class     `json:"class,omitempty"`               // ""; the run ended it, or its reply was accepted
	Worked  bool      `json:"worked,omitempty"`              // its model wrote something, or called a tool
}

func (e End) end() End { return e }

// AttemptEnd is the end of an attempt.
type AttemptEnd struct {
	AttemptRef
	End
}

// EndOf returns the end of the attempt that e ends, or false if e ends no attempt.
func EndOf(e Event) (AttemptEnd, bool) {
	ended, ok := e.(interface {
		About() AttemptRef
		end() End
	})
	if !ok {
		return AttemptEnd{}, false
	}
	return AttemptEnd{ended.About(), ended.end()}, true
}

// AttemptStarted is the intent to start a program. Input is the JSON object of a call that begins
// in a new session, or the JSON string of a call that goes on in a session. The first attempt of a
// call has Input. An attempt without Input gets the same input as the first one. If Stored is set,
// Input is only a part of the input.
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
	// Input: a Manager's list of tasks, or the whole of a string.
	Stored string `json:"stored,omitempty"`
}

func (AttemptStarted) Kind() string { return "ATTEMPT_STARTED" }

// Sentence implements [Event].
func (e AttemptStarted) Sentence() Sentence {
	switch {
	case e.Call == CommandCall:
		return inStep(e.Step, Routine, "%s checks the work of %s (round %d)", e.Command, e.Role, e.Round)
	case e.Call == ReviewCall:
		return inStep(e.Step, Routine, "the reviewer of %s looks at the work (round %d)", e.Role, e.Round)
	case e.Call == CheckpointCall && !e.GoesOn:
		return inStep(e.Step, Routine, "%s is woken%s", e.Role, e.Again())
	case e.GoesOn:
		return inStep(e.Step, Routine, "%s goes on in its session with the work that was cut short%s",
			e.Role, e.Again())
	case e.Round > 0:
		return inStep(e.Step, Routine, "%s goes on with the work (round %d)", e.Role, e.Round)
	default:
		return inStep(e.Step, Routine, "%s started%s", e.Role, e.Again())
	}
}

// SessionNamed is the session of the running attempt, journaled as soon as its tool names it, so
// that the work of a killed run can go on there.
type SessionNamed struct {
	AttemptRef
	Session string `json:"session" text:"free"`
}

func (SessionNamed) Kind() string { return "SESSION_NAMED" }

// Sentence implements [Event].
func (e SessionNamed) Sentence() Sentence {
	return inStep(e.Step, Trace, "%s works in session %s", e.Role, e.Session)
}

// Baseline is the board before the first Manager attempt of a step, against which the Manager's own
// changes are found. The list of tasks is the one in the Manager's input.
type Baseline struct {
	BoardSHA string `json:"board_sha256"`
	Current  string `json:"current"` // "" when the board was terminal
}

// ReplyAccepted is the outcome of an attempt whose reply has the right format. A list of tasks that
// is too long for the journal is kept in the file that TasksSHA names, as with
// AttemptStarted.Stored. Tasks is then empty.
type ReplyAccepted struct {
	AttemptRef
	Status    string   `json:"status"`
	Message   string   `json:"message" text:"free"`
	NextTask  *string  `json:"next_task,omitempty"`
	Tasks     []string `json:"tasks,omitempty"`
	TasksSHA  string   `json:"tasks_sha256,omitempty"`
	Unchecked bool     `json:"unchecked,omitempty"` // no command checks the work: the agent does not call it done
	Again     bool     `json:"again,omitempty"`     // the Manager would end the board with tasks set aside, and is asked once more

	End `text:"free"`
}

func (ReplyAccepted) Kind() string { return "REPLY_ACCEPTED" }

// Sentence implements [Event].
func (e ReplyAccepted) Sentence() Sentence {
	if e.Call == ReadyCall {
		return say(Success, tag+Brief(e.Message))
	}
	s := inStep(e.Step, weightOfStatus(e.Status), "%s %s in %s%s", e.Role, e.Status, Took(e.Millis), e.Spent.suffix())
	if e.Again {
		s.Text += " would end the board; it is asked once more, because tasks are set aside"
	}
	if e.Message != "" {
		s.Text += ": " + Brief(e.Message)
	}
	if e.Call == TaskCall && e.Status == "escalate" {
		s.For = Lead | Team
	}
	return s
}

// ReplyRejected is the outcome of an attempt whose reply does not have the right format, or, with
// Disagreed, contradicts the board that the Manager wrote.
type ReplyRejected struct {
	AttemptRef
	Reason    string `json:"reason" text:"free"`
	Exit      string `json:"exit" text:"free"`
	Received  string `json:"received" text:"free"`
	Stderr    string `json:"stderr,omitempty" text:"free"`
	Output    string `json:"output,omitempty" text:"free"` // folder of its full streams; "": it printed nothing
	Disagreed bool   `json:"disagreed,omitempty"`
	Lost      bool   `json:"lost,omitempty"`  // the tool does not know the session that the attempt was to go on in
	Died      bool   `json:"died,omitempty"`  // the program that stays for the whole run has died
	Fresh     bool   `json:"fresh,omitempty"` // its session is too long for the model, and the call has a fresh start without a retry
	Retries   int    `json:"retries"`         // retries used so far
	Of        int    `json:"of"`              // retries that are allowed

	End `text:"free"`
}

func (ReplyRejected) Kind() string { return "REPLY_REJECTED" }

// Sentence implements [Event].
func (e ReplyRejected) Sentence() Sentence {
	exit, what := "", "rejected"
	if !strings.Contains(e.Reason, e.Exit) {
		exit = " (" + e.Exit + ")"
	}
	if e.Call == ReviewCall {
		what = "gave no verdict"
	}
	s := inStep(e.Step, Critical, "%s %s%s: %s%s; %s", e.Name(), what, e.Spent.suffix(), e.Reason, exit, e.then())
	if said := LastLine(e.Stderr); said != "" {
		s.Add(Critical, "it said on stderr: "+said)
	}
	if e.Retries >= e.Of && e.Output != "" {
		s.Add(Critical, "its output: "+e.Output)
	}
	return s
}

// then returns what follows from the rejection, in words.
func (e ReplyRejected) then() string {
	switch {
	case e.Died:
		return "it is started again, and told what it said"
	case e.Lost && e.Call.IsSupervision():
		return "it begins a new one, and is told what it said"
	case e.Lost:
		return "the task starts from its beginning"
	case e.Fresh:
		return "it starts afresh, in a new session"
	case e.Retries < e.Of:
		return fmt.Sprintf("retry %d of %d", e.Retries+1, e.Of)
	default:
		return "no retry is left"
	}
}

// AttemptStopped is the outcome of an attempt that was neither accepted nor rejected: the run was
// interrupted, a limit of time was reached, the provider refused the call, or the run died. It costs no
// retry. The next attempt goes on in the session of this one if the session is known, AttemptStarted had
// Resumes, and the provider did not refuse the call from its start.
type AttemptStopped struct {
	AttemptRef
	Reason  string   `json:"reason" text:"free"`
	Refusal *Refusal `json:"refusal,omitempty"`            // nil: the provider did not refuse the call
	Stderr  string   `json:"stderr,omitempty" text:"free"` // its last lines there, if the watch ended it

	End `text:"free"`
}

func (AttemptStopped) Kind() string { return "ATTEMPT_STOPPED" }

// Sentence implements [Event].
func (e AttemptStopped) Sentence() Sentence {
	name, what := e.Name(), " stopped"
	switch e.Class {
	case ClassBusy:
		name, what = strings.TrimSuffix(name, ","), ": the provider is busy"
	case ClassLimit:
		name, what = strings.TrimSuffix(name, ","), ": a limit of the account is reached"
	}
	s := inStep(e.Step, Warning, "%s%s%s: %s", name, what, e.Spent.suffix(), e.Reason)
	if said := LastLine(e.Stderr); said != "" {
		s.Add(Warning, "it said on stderr: "+said)
	}
	return s
}

// PrintedBy returns the last line on stderr of an attempt that e ends without a valid reply. It returns false for
// any other event.
func PrintedBy(e Event) (about AttemptRef, line string, ok bool) {
	switch e := e.(type) {
	case ReplyRejected:
		return e.AttemptRef, LastLine(e.Stderr), true
	case AttemptStopped:
		return e.AttemptRef, LastLine(e.Stderr), true
	default:
		return about, "", false
	}
}

// UseOf returns the time and the spending of the attempt or judge that e ends. It returns false for
// any other event, and for a judge that was never started.
func UseOf(e Event) (millis int64, spent *Spending, ok bool) {
	if j, is := e.(JudgeAnswered); is {
		return j.Millis, j.Spent, j.Tries > 0
	}
	end, ok := EndOf(e)
	return end.Millis, end.Spent, ok
}
