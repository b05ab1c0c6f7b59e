// Package standing works out how a board stands from its history and its list of tasks: how the
// last run ended, which tasks are done, and what a person can do. It reads no file. Every view of a
// board prints the words of this package.
package standing

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/flow"
)

// Outcomes that a board can have, but a run cannot.
const (
	NeverRun event.Outcome = "not_started"
	Running  event.Outcome = "running"
	Reopened event.Outcome = "reopened" // a person has made a decision since the last run, or has edited a complete board
)

// Standing is the state of a board, as every view shows it to people.
type Standing struct {
	Board     string
	Outcome   event.Outcome // outcome of the last run, or one of the constants above
	Text      string        // reason for the outcome
	Weight    event.Weight  // importance of the outcome to a person
	Tasks     []Task        // tasks of the board's list; empty if the board cannot be read
	Steps     int           // number of finished steps of all runs
	Used      event.Used    // use by all runs
	Ended     time.Time     // end of the last run; zero if a run is at work or no run has started
	Waits     *Waits        // decision that a person can or must make; nil for none
	Decisions []Decision    // last decisions of a person

	// WaitsFor names the provider or the other board for which the run waits now, as in "waits for
	// claude's limit until 03:30:00 CET". It is "" if the run does not wait.
	WaitsFor string

	Proposal *event.ReassignProposed // proposal of the last run to reassign a task; nil for none

	unread bool   // set by SetUnreadable
	fix    string // set by SetInvalid: the way to continue, or ""
}

// Facts are the parts of a board's standing that do not follow from the history of the board.
type Facts struct {
	Never   bool       // no run has started
	Owned   bool       // a run is at work
	Fault   string     // reason why the board cannot be read; "" if it can be read
	List    flow.List  // list of tasks; empty if the board cannot be read
	Board   flow.Board // the board, without the fields Task, Role and Rest; empty if it cannot be read
	Current string     // current task; "" if the board is over
	Unknown string     // reason why the author of the board's end is unknown; "" if it is known
}

// Of returns the standing of a board. The caller has added all events of the journal to the
// parameter work.
func Of(board string, h *flow.History, work *Tasks, f Facts) Standing {
	s := Standing{
		Board:     board,
		Outcome:   h.State.Outcome,
		Text:      h.State.Text,
		Steps:     h.State.Finished,
		Used:      h.State.Total,
		Waits:     f.Waits(h),
		Decisions: work.decisions,
		Proposal:  work.proposal,
	}
	if f.List.Find != nil {
		s.Tasks = work.List(f.List, &h.State, f.Current)
	}
	judged := s.Outcome == event.Complete || s.Outcome == event.Incomplete || s.Outcome == event.NeedsPerson ||
		f.Never && (s.Waits != nil || h.Seq > 0)
	switch {
	case f.Owned:
		s.Outcome, s.Text, s.WaitsFor = Running, "a run is at work", h.State.WaitsFor()
	case f.Unknown != "":
		s.Outcome, s.Text = event.NeedsPerson, f.Unknown
	case h.Standstill() != "":
		s.Outcome, s.Text = h.StandstillOutcome(), h.Standstill()
	case f.Fault != "" && s.Waits == nil:
		s.Outcome, s.Text = event.Invalid, f.Fault
	case judged && s.Waits != nil && s.Waits.About == event.AboutCheckpoint:
		s.Outcome, s.Text = event.NeedsPerson, s.Waits.Why // it ended the board, which says only that it is blocked
	case judged && f.isOver(&h.State):
		end, _ := f.end(&h.State) // the end of the board as it is now
		s.Outcome, s.Text = end.Outcome, end.Text
	case f.Never:
		s.Outcome, s.Text = NeverRun, "it was never run"
	case s.Outcome == "":
		s.Outcome, s.Text = event.Interrupted, Killed
	case s.Outcome == event.Complete && f.Current != "":
		s.Outcome, s.Text = Reopened, "it was complete, and has tasks to do again"
	case s.Outcome == event.Interrupted && work.decided == s.Text:
		s.Outcome = Reopened
	}
	if !f.Owned && !f.Never {
		s.Ended = work.ended
	}
	if s.Weight = Weigh(s.Outcome, s.Text); s.isSettled() {
		s.Weight = event.Warning
	}
	return s
}

// isSettled reports whether the last run needed a person and no decision is left. Such a board only
// has to be run again.
func (s *Standing) isSettled() bool {
	return s.Waits == nil && AsksPerson(s.Outcome)
}

// AsksPerson reports whether a person has to decide after a run with this outcome, before the board
// goes on.
func AsksPerson(o event.Outcome) bool {
	switch o {
	case event.NeedsPerson, event.Incomplete, event.Exhausted, event.Frozen:
		return true
	default:
		return false
	}
}

// Killed is the text for a run without an end in the journal.
const Killed = "stopped without an ending: the run was killed"

// Weigh returns the weight of the end of a run. The parameter text is the reason for the end.
func Weigh(o event.Outcome, text string) event.Weight {
	switch o {
	case NeverRun:
		return event.Note
	case Running:
		return event.Routine
	case event.Complete:
		if text != flow.CompleteText { // the end has a remark
			return event.Warning
		}
		return event.Success
	case event.Incomplete, event.LimitReached, event.Later, event.Interrupted, Reopened:
		return event.Warning
	default:
		return event.Critical
	}
}

// Headline returns the standing in one line, with the board's name.
func (s *Standing) Headline() string {
	switch {
	case s.isSettled():
		return s.Board + " " + s.What()
	case s.Outcome == Running && s.WaitsFor != "":
		return s.Board + " " + s.What()
	case s.Outcome == Running:
		return s.Board + " is at work: " + s.Progress()
	case s.Outcome == NeverRun:
		return s.Board + " was never run"
	case s.Outcome == event.Complete && s.Weight == event.Success:
		return s.Board + " is complete: " + s.Progress()
	case s.Outcome == event.Complete:
		return s.Board + ": " + s.Text
	case s.Outcome == event.Frozen:
		return s.Board + " is frozen: " + s.Text
	case s.unread:
		return s.Board + " cannot be read: " + s.Text
	case s.Outcome == event.Invalid:
		return s.Board + " cannot be run: " + s.Text
	case s.leftAside():
		return s.Board + ": " + s.Text
	case slices.Contains([]event.Outcome{event.Incomplete, event.NeedsPerson, event.Exhausted}, s.Outcome):
		return s.Board + " needs you: " + s.Text
	default:
		return s.Board + " " + s.What()
	}
}

// What returns the standing in a few words, without the board's name.
func (s *Standing) What() string {
	switch {
	case s.isSettled():
		return "only has to be run again; it had ended with: " + s.Text
	case s.Outcome == Reopened:
		return "only has to be run again: " + s.Text
	case s.Waits != nil && s.NeedsDecision():
		return s.Waits.Why
	case s.Outcome == Running && s.WaitsFor != "":
		return s.WaitsFor + "; " + s.Progress()
	case s.Outcome == Running:
		return "at work: " + s.Progress()
	case s.Outcome == NeverRun:
		return "never run"
	case s.Outcome == event.Complete && s.Weight == event.Success:
		return "complete: " + s.Progress()
	case s.Outcome == event.Complete, s.Outcome == event.Invalid, s.Text == Killed, s.leftAside():
		return s.Text
	case s.Outcome == event.Later:
		return "waits for its provider: " + s.Text
	default:
		return fmt.Sprintf("stopped (%s): %s", s.Outcome.Words(), s.Text)
	}
}

// leftAside reports whether tasks are set aside that need no person. The next run tries them again,
// unless a person decides otherwise.
func (s *Standing) leftAside() bool {
	return s.Waits != nil && s.Waits.About == event.AboutAside && s.Waits.May
}

// Who names the next act of a person, in two or three words.
type Who string

// The values of Who.
const (
	Nobody   Who = ""
	Decide   Who = "you decide"
	Mend     Who = "you mend it"
	RunAgain Who = "run it again"
)

// Who returns what a person has to do next.
func (s *Standing) Who() Who {
	switch {
	case s.NeedsDecision() && len(s.Waits.Choices) > 0:
		return Decide
	case s.NeedsDecision(), s.Outcome == event.Invalid, s.Outcome == event.Failed, s.Outcome == event.Unsaved:
		return Mend
	case s.Outcome == Running, s.Outcome == event.Complete, s.Outcome == NeverRun, s.Outcome == event.Owned:
		return Nobody
	default:
		return RunAgain
	}
}

// SetUnreadable changes the standing to that of a board whose file or journal cannot be read. It
// keeps the tasks and the cost that were read before.
func (s *Standing) SetUnreadable(err error) {
	s.SetInvalid(err)
	s.unread = true
}

// SetInvalid changes the standing to that of a board that cannot be run. It keeps the tasks and the
// cost. The hint of err becomes the advice.
func (s *Standing) SetInvalid(err error) {
	s.Text, _, _ = strings.Cut(err.Error(), "\n")
	s.Outcome, s.Weight, s.Waits, s.fix = event.Invalid, event.Critical, nil, failure.HintOf(err)
}

// Progress returns in words how many tasks are done, how many are not ok, and how many are in
// quarantine. If the tasks are unknown, it returns the number of steps.
func (s *Standing) Progress() string {
	if len(s.Tasks) == 0 {
		return event.Count(s.Steps, "step") + " done"
	}
	text := fmt.Sprintf("%d of %s done", s.count(Done)+s.count(Before), event.Count(len(s.Tasks), "task"))
	if n := s.count(NotOK); n > 0 {
		text += fmt.Sprintf(", %d not ok", n)
	}
	if n := s.count(Quarantined); n > 0 {
		text += fmt.Sprintf(", %d quarantined", n)
	}
	return text
}

// Undone returns the number of tasks that are not done: those of the list, and those that the Manager
// took off the list undone. For a board without a list it is 0 if the board is complete, and else 1.
func (s *Standing) Undone() int {
	if len(s.Tasks) == 0 && s.Outcome != event.Complete {
		return 1
	}
	return len(s.Tasks) - s.count(Done) - s.count(Before)
}

func (s *Standing) count(state string) (n int) {
	for _, t := range s.Tasks {
		if t.State == state {
			n++
		}
	}
	return n
}

// Said returns the task whose agent has said why a person is needed, or nil if there is none. If
// the agent of the current task has said something, Said returns the current task. Otherwise Said
// looks at the tasks in quarantine and at the tasks that are not ok. Of these tasks, Said returns
// the task whose agent spoke last.
func (s *Standing) Said() *Task {
	if !s.NeedsDecision() {
		return nil
	}
	var last *Task
	for i := range s.Tasks {
		switch t := &s.Tasks[i]; {
		case t.Said == "", t.Status == flow.StatusSkipped, s.Waits.About == event.AboutQuarantine && t.State != Quarantined:
		case t.State == Current:
			return t
		case (t.State == NotOK || t.State == Quarantined) && (last == nil || t.spoke >= last.spoke):
			last = t
		}
	}
	return last
}
