package projection

import (
	"slices"
	"strings"
	"time"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
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
	Result   Result          `json:"result"`
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

// Result is the progress of an attempt.
type Result string

// The states of an attempt.
const (
	Started  Result = "running"
	Accepted Result = "accepted"
	Rejected Result = "rejected"
	Stopped  Result = "stopped"
)

// applyAttempt applies the begin or the end of an attempt or a wait for its provider.
func (f *Fold) applyAttempt(e event.Entry, said event.Sentence) (mention, bool) {
	switch ev := e.Event.(type) {
	case event.AttemptStarted: // the step may have begun in an earlier run
		f.resume(ev.Step, ev.Task, ev.Role, e.Time)
		f.count(func(t *Totals) { t.Attempts++ })
		f.LastStep().beginAttempt(ev, said, e.Time, f.took)
		f.Now.beginAttempt(ev, e.Time)
		f.work(ev.AttemptRef)
	case event.ToolsUsed:
		f.updateAttempt(func(a *Attempt) { a.Tools = &ev.ToolWork })
	case event.SessionNamed:
		f.updateAttempt(func(a *Attempt) { a.Session = ev.Session })
	case event.ReplyAccepted:
		f.accept(ev)
	case event.ReplyRejected:
		f.reject(ev)
	case event.AttemptStopped:
		f.stop(ev)
	case event.ReviewHeld:
		f.updateAttempt(func(a *Attempt) {
			a.Result, a.Millis, a.Message, a.SentBack = Accepted, ev.Millis, cut(ev.Feedback), !ev.Completed
			a.Session, a.Spent = ev.Session, ev.Spent
		})
		t := f.taskOf(ev.Task)
		if t.Reviewed = ev.Completed; !ev.Completed {
			f.count(func(t *Totals) { t.SentBack++ })
			t.SentBack++
		}
	case event.JudgeAnswered:
		f.judge(ev, said, e.Time)
		return noted, true
	case event.ProviderWait:
		f.Now.Doing = Doing{What: ev.Waits()}
		return ifHeavy, true
	case event.ProviderBack:
		f.count(func(t *Totals) { t.Waited += max(0, ev.Millis) })
		return ifHeavy, true
	default:
		return ifHeavy, false
	}
	if _, ended := event.EndOf(e.Event); ended {
		f.Now.endAttempt()
	}
	return silent, true
}

// work counts an attempt for its task, and its role for the report to the Lead.
func (f *Fold) work(ref event.AttemptRef) {
	role := ref.Role
	switch ref.Call.Part() {
	case event.Management:
		role = event.ManagerRole
	case event.Review:
		f.taskOf(ref.Task).Reviews++
	case event.Work:
		f.taskOf(ref.Task).Tries++
	}
	f.last = event.AttemptRef{Task: ref.Task, Role: role}
	if !slices.Contains(f.roles, role) {
		f.roles = append(f.roles, role)
	}
}

// updateAttempt changes the last attempt, if there is one.
func (f *Fold) updateAttempt(change func(*Attempt)) {
	f.update(func(s *Step) {
		if n := len(s.Attempts); n > 0 {
			change(&s.Attempts[n-1])
		}
	})
}

func (f *Fold) accept(e event.ReplyAccepted) {
	f.updateAttempt(func(a *Attempt) {
		a.Result, a.Millis, a.Status, a.Message = Accepted, e.Millis, e.Status, cut(e.Message)
		a.Session, a.Spent = e.Session, e.Spent
	})
	f.update(func(s *Step) { s.accept(e) })
	if e.Call != event.TaskCall {
		return
	}
	t := f.taskOf(e.Task)
	t.Status, t.Reviewed = e.Status, false
	if f.say(e.Task, ""); e.Status != flow.StatusOK {
		f.say(e.Task, e.Message)
	}
}

func (s *Step) accept(e event.ReplyAccepted) {
	s.Message = cut(e.Message)
	switch e.Call {
	case event.ManagerCall:
		s.Manager = e.Status
	case event.ReadyCall:
		if s.State, s.Status = StepDone, "ready"; s.Checkpoint != nil {
			s.State = StepOpen
		}
	default:
		s.Status = e.Status
	}
}

func (f *Fold) reject(e event.ReplyRejected) {
	f.updateAttempt(func(a *Attempt) {
		a.Result, a.Millis, a.Reason, a.Exit = Rejected, e.Millis, cut(e.Reason), cut(e.Exit)
		a.Received, a.Stderr, a.Output = cut(e.Received), cut(e.Stderr), e.Output
		a.Session, a.Spent = e.Session, e.Spent
	})
	f.count(func(t *Totals) { t.Rejected++ })
	if e.Call == event.TaskCall {
		f.taskOf(e.Task).Rejected++
		f.say(e.Task, event.LastLine(e.Stderr))
	}
}

func (f *Fold) stop(e event.AttemptStopped) {
	f.update(func(s *Step) {
		if a := s.Last(); a != nil {
			a.Result, a.Millis, a.Reason, a.Stderr = Stopped, e.Millis, cut(e.Reason), cut(e.Stderr)
			a.Session, a.Spent = e.Session, e.Spent
			if e.Millis == 0 { // the run died, and the journal lacks the time of the attempt
				a.Millis = (f.took - s.attemptBegan).Milliseconds()
			}
		}
	})
	if e.Call == event.TaskCall {
		f.say(e.Task, event.LastLine(e.Stderr))
	}
}

// judge inserts the attempt of a judge before the attempt that it judged, because the judged
// attempt has to stay the last. A judge that was not started has no attempt.
func (f *Fold) judge(e event.JudgeAnswered, said event.Sentence, at time.Time) {
	f.Now.Doing = Doing{}
	if e.Invalid {
		f.count(func(t *Totals) { t.Rejected++ })
	}
	if e.Try == 0 {
		return
	}
	f.count(func(t *Totals) { t.Attempts++ })
	a := Attempt{
		Call: event.JudgeCall, Role: e.Judge, Attempt: e.Try, Adapter: e.Adapter, Command: e.Command,
		Began: at.Add(-time.Duration(e.Millis) * time.Millisecond), Millis: e.Millis,
		Result: Accepted, Status: "ok", Message: e.Verdict(), Spent: e.Spent,
		Said: cut(said.Text),
	}
	if e.Invalid {
		a.Result, a.Status, a.Message, a.Reason = Rejected, "", "", e.Reason
	} else if e.Reason != "" {
		a.Result, a.Status, a.Message, a.Reason = Stopped, "", "", e.Reason
	}
	f.update(func(s *Step) {
		s.makeRoom()
		s.Attempts = slices.Insert(s.Attempts, max(0, len(s.Attempts)-1), a)
	})
}

func (s *Step) beginAttempt(e event.AttemptStarted, said event.Sentence, at time.Time, took time.Duration) {
	s.attemptBegan = took
	s.makeRoom()
	s.Attempts = append(s.Attempts, Attempt{Call: e.Call, Role: e.Role, Attempt: e.Attempt, Round: e.Round, Adapter: e.Adapter,
		Command: e.Command, GoesOn: e.GoesOn, Began: at, Result: Started, Told: toldOf(e), Said: cut(said.Text)})
}

// makeRoom makes room for one more attempt: the first ones and the last ones stay.
func (s *Step) makeRoom() {
	if len(s.Attempts) < mostAttempts {
		return
	}
	old := s.Attempts[firstAttempts]
	s.Earlier++
	if old.Result == Rejected {
		s.rejected++
	}
	if old.SentBack {
		s.sentBack++
	}
	s.Attempts = slices.Delete(s.Attempts, firstAttempts, firstAttempts+1)
}

// mostTold bounds the part of an input that is kept, in bytes.
const mostTold = 1600

func toldOf(e event.AttemptStarted) string {
	if len(e.Input) <= mostTold {
		return string(e.Input)
	}
	return strings.ToValidUTF8(string(e.Input[:mostTold]), "") + "…"
}

// Usual returns how long attempts like a usually took, as the median of those in the kept steps whose reply
// counts, or "" if fewer than leastUsual are known.
func (b *Board) Usual(a *Attempt) string {
	var all []int64
	for i := range b.Steps {
		for k := range b.Steps[i].Attempts {
			if o := &b.Steps[i].Attempts[k]; o.Role == a.Role && o.Call == a.Call && o.Result == Accepted {
				all = append(all, o.Millis)
			}
		}
	}
	if len(all) < leastUsual {
		return ""
	}
	slices.Sort(all)
	return event.Took(all[len(all)/2])
}

// leastUsual is the least number of attempts whose median is told.
const leastUsual = 3
