package event

import (
	"encoding/json"
	"fmt"
	"strings"
)

// End is the common part of all events that end an attempt.
type End struct {
	// Left is the SHA-256 of the board after the attempt; "" if unknown.
	Left   string `json:"board_sha256,omitempty" text:"fact"`
	Millis int64  `json:"millis"` // ms of work; 0 if unknown
	// Frozen is the part of Millis, in ms, in which nothing could run; the limits of tasks leave it out.
	Frozen int64 `json:"frozen_millis,omitempty"`
	// Session is the session in which the work can go on; "" if the tool named none.
	Session string    `json:"session,omitempty"`
	Spent   *Spending `json:"spent,omitempty"` // nil if the tool does not report its use
	// Class is the way in which the attempt failed; "" if the reply was accepted, or if the run
	// stopped the attempt.
	Class  Class `json:"class,omitempty"`
	Worked bool  `json:"worked,omitempty"` // the model wrote something, or called a tool
	// Warning has the faults of an attempt whose reply counts nevertheless; "" if there are none.
	Warning string `json:"warning,omitempty"`
	// Lacks has the environment variables that the agent does not get, and that may be why it could
	// not connect; nil if nothing tells that.
	Lacks []string `json:"lacks,omitempty"`
}

func (e End) end() End { return e }

// warn returns the sentence s about the attempt, with a line for the warning.
func (e End) warn(s Sentence) Sentence {
	if e.Warning != "" {
		s.Add(Warning, "warning: "+e.Warning)
	}
	return s
}

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

// AttemptStarted is the intent to start a program. Input is a JSON object if the call begins in a
// new session, or a JSON string if the call goes on in a session. The first attempt of a call has
// Input. A later attempt without Input gets the last input of its call again.
type AttemptStarted struct {
	AttemptRef
	Adapter string `json:"adapter" text:"fact"`
	Command string `json:"command"`
	Digest  string `json:"digest" text:"fact"` // SHA-256 over argv, stdin, environment and folder
	// Given is the SHA-256 over argv and stdin; "": not known.
	Given string          `json:"given,omitempty" text:"fact"`
	Input json.RawMessage `json:"input,omitempty" text:"fact"`
	// Before is set for the first attempt of a Manager call, and nil for other attempts.
	Before *Baseline `json:"before,omitempty"`
	Plan   *Plan     `json:"plan,omitempty"` // nil if no review of the work follows
	// From is the session in which the attempt goes on; "" for a new session. If Fork is set,
	// the attempt goes on in a copy of that session.
	From string `json:"from,omitempty"`
	Fork bool   `json:"fork,omitempty"`
	// Resumes reports that, if this attempt is cut short, the next one can go on in the same
	// session.
	Resumes bool `json:"resumes,omitempty"`
	GoesOn  bool `json:"goes_on,omitempty"` // the attempt goes on with work that was cut short
	// Stored is the SHA-256 in hex of a file with the part of the input that Input lacks: a
	// Manager's list of tasks, or the whole input. It is "" if Input is complete.
	Stored string `json:"stored,omitempty" text:"fact"`
	Marks  string `json:"marks_sha256,omitempty" text:"fact"` // SHA-256 of the marks of tasks before the attempt; "": not known
	// Note is the SHA-256 of the note of what was looked at before the attempt; "": there is none.
	Note string `json:"decide_sha256,omitempty" text:"fact"`
}

func (AttemptStarted) Kind() string { return "ATTEMPT_STARTED" }

func (e AttemptStarted) Sentence() Sentence { return e.told().at(OpensAttempt) }

func (e AttemptStarted) told() Sentence {
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

// SessionNamed records the session of the running attempt as soon as the tool names it. So the work
// of a killed run can go on in that session.
type SessionNamed struct {
	AttemptRef
	Session string `json:"session"`
}

func (SessionNamed) Kind() string { return "SESSION_NAMED" }

func (e SessionNamed) Sentence() Sentence {
	return inStep(e.Step, Trace, "%s works in session %s", e.Role, e.Session)
}

// Baseline is the board before the first Manager attempt of a step. A comparison with it finds the
// Manager's changes. The list of tasks is only in the Manager's input.
type Baseline struct {
	BoardSHA string `json:"board_sha256" text:"fact"`
	Current  string `json:"current" text:"name"` // current task; "" if the board was over
}

// ReplyAccepted is the outcome of an attempt whose reply has the right format. If the list of tasks
// is too long for the journal, Tasks is empty and TasksSHA names a file with the list, as
// AttemptStarted.Stored does.
type ReplyAccepted struct {
	AttemptRef
	Status   string   `json:"status" text:"fact"`
	Message  string   `json:"message"`
	NextTask *string  `json:"next_task,omitempty" text:"name"`
	Tasks    []string `json:"tasks,omitempty" text:"fact"`
	TasksSHA string   `json:"tasks_sha256,omitempty" text:"fact"`
	// Files lists some of the files that the repository's last commit lacks after the attempt. The
	// field is set in the first step of a run only, and nil if git does not tell.
	Files []LeftFile `json:"files,omitempty"`
	// Unchecked reports that the review command is skipped, because the agent did not reply ok.
	Unchecked bool `json:"unchecked,omitempty"`
	// Again reports that the Manager is asked once more, because it ended the board while tasks are
	// set aside.
	Again bool `json:"again,omitempty"`

	End
}

// LeftFile is a file as an attempt left it. The name is relative to the work directory.
type LeftFile struct {
	Name  string `json:"name"`
	State string `json:"state" text:"fact"` // mode and object name
}

func (ReplyAccepted) Kind() string { return "REPLY_ACCEPTED" }

func (e ReplyAccepted) Sentence() Sentence {
	if e.Call == ReadyCall {
		return e.warn(say(Success, tag+Brief(e.Message)))
	}
	s := inStep(e.Step, weightOfStatus(e.Status), "%s %s in %s%s", e.Role, e.Status, Took(e.Millis), e.Spent.suffix())
	if e.Again {
		s.Text += " would end the board; it is asked once more, because tasks are set aside"
	}
	if e.Message != "" {
		s.Text += ": " + Brief(e.Message)
	}
	if e.Call == TaskCall {
		s.Result = e.Status
	}
	if e.Call == TaskCall && e.Status == "escalate" {
		s.For = Lead | Team
	}
	if e.Status != "ok" && (e.Call == TaskCall || e.Call == ManagerCall) {
		s = s.alert(AlertWarning, "STUCK", e.Role, escalate)
	}
	return e.warn(s)
}

// ReplyRejected is the outcome of an attempt without a reply in the right format. If Disagreed is
// set, the format is right, but the Manager's reply contradicts the board that the Manager wrote.
type ReplyRejected struct {
	AttemptRef
	Reason    string `json:"reason"`
	Exit      string `json:"exit"`
	Received  string `json:"received"`
	Stderr    string `json:"stderr,omitempty"`
	Output    string `json:"output,omitempty"` // folder with the whole output
	Disagreed bool   `json:"disagreed,omitempty"`
	// Lost reports that the session cannot be resumed: the tool does not know it, or two attempts in a
	// row did nothing in it.
	Lost bool `json:"lost,omitempty"`
	Died bool `json:"died,omitempty"` // the supervisor's program has died
	// TimedOut reports that the timeout ended the attempt.
	TimedOut bool `json:"timed_out,omitempty"`
	// Fresh reports that the session is too long for the model. The call starts afresh, and this
	// costs no retry.
	Fresh   bool `json:"fresh,omitempty"`
	Retries int  `json:"retries"` // retries used so far
	Of      int  `json:"of"`      // retries that are allowed

	End
}

// HasCrashed reports whether the agent's program failed by itself, whatever it had replied.
func (e ReplyRejected) HasCrashed() bool {
	return !e.TimedOut && e.Exit != "" && e.Exit != "exit status 0"
}

func (ReplyRejected) Kind() string { return "REPLY_REJECTED" }

func (e ReplyRejected) Sentence() Sentence {
	exit, what := "", "rejected"
	if !strings.Contains(e.Reason, e.Exit) {
		exit = " (" + e.Exit + ")"
	}
	switch {
	case e.Class == ClassDeclined:
		what = "declined by the provider"
	case e.Call == ReviewCall:
		what = "gave no verdict"
	}
	s := inStep(e.Step, Critical, "%s %s%s: %s%s; %s", e.Name(), what, e.Spent.suffix(), e.Reason, exit, e.Then())
	if said := LastLine(e.Stderr); said != "" {
		s.Add(Critical, "it said on stderr: "+said)
	}
	if (e.Retries >= e.Of || e.Class == ClassDeclined) && e.Output != "" {
		s.Add(Critical, "its output: "+e.Output)
	}
	return s
}

// CostsRetry reports whether the rejection costs a retry. If a retry is left, the same call follows
// with the same input.
func (e ReplyRejected) CostsRetry() bool {
	return !e.Died && !e.Lost && !e.Fresh && e.Class != ClassDeclined
}

// Then returns in words what the run does after the rejection.
func (e ReplyRejected) Then() string {
	switch {
	case e.Died:
		return "it is started again, and told what it said"
	case e.Lost && e.Call.IsSupervision():
		return "it begins a new one, and is told what it said"
	case e.Lost:
		return "the task starts from its beginning"
	case e.Fresh:
		return "it starts afresh, in a new session"
	case e.Class == ClassDeclined:
		return "it is not tried again, because it would be declined again"
	case e.Retries < e.Of:
		return fmt.Sprintf("retry %d of %d", e.Retries+1, e.Of)
	default:
		return "no retry is left"
	}
}

// AttemptStopped is the outcome of an attempt that was neither accepted nor rejected: the run was
// interrupted, a limit of time was reached, the provider refused the call, or the run died. It
// costs no retry. The next attempt goes on in the same session if the session is known and
// AttemptStarted had Resumes. However, if the provider refused the call before any work was done,
// the next attempt begins as this attempt did.
type AttemptStopped struct {
	AttemptRef
	Reason  string   `json:"reason"`
	Refusal *Refusal `json:"refusal,omitempty"` // nil if no provider refused the call
	// Stderr holds the last lines on stderr if the watch ended the attempt; otherwise it is "".
	Stderr string `json:"stderr,omitempty"`

	End
}

func (AttemptStopped) Kind() string { return "ATTEMPT_STOPPED" }

func (e AttemptStopped) Sentence() Sentence {
	name, what := e.Name(), " stopped"
	switch e.Class {
	case ClassBusy:
		name, what = strings.TrimSuffix(name, ","), ": the provider is busy"
	case ClassLimit:
		name, what = strings.TrimSuffix(name, ","), ": a limit of the account is reached"
		if e.Refusal != nil && e.Refusal.Model != "" {
			what = ": the limit of the model " + e.Refusal.Model + " is reached"
		}
	}
	s := inStep(e.Step, Warning, "%s%s%s: %s", name, what, e.Spent.suffix(), e.Reason)
	if said := LastLine(e.Stderr); said != "" {
		s.Add(Warning, "it said on stderr: "+said)
	}
	return s
}

// UseOf returns the time and the spending of the attempt or judge that e ends. It returns false for
// any other event, and for a judge that was never started.
func UseOf(e Event) (millis int64, spent *Spending, ok bool) {
	if j, is := e.(JudgeAnswered); is {
		return j.Millis, j.Spent, j.Try > 0
	}
	end, ok := EndOf(e)
	return end.Millis, end.Spent, ok
}
