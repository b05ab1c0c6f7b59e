package projection

import (
	"fmt"
	"strings"
	"time"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/flow"
)

// Killed is the text for a run without an end in the journal.
const Killed = "stopped without an ending: the run was killed"

// exitKilled is the exit code of a run that was killed.
const exitKilled = 137

// stand sets the state, the outcome with its reason, and who acts.
func (f *Fold) stand(b *Board, h *flow.History, facts *Facts) {
	f.end(b, h, facts)
	b.State = f.state(b, h, facts)
	f.settle(b, facts)
	b.Who = b.who()
	f.wait(b, h, facts)
	if b.State == Ended {
		b.Ended = f.ended
		code := b.code()
		b.Exit = &code
	}
	if b.Reason.By == "" {
		b.Reason.By = f.by(b, h, facts)
	}
	b.weigh()
	for i := range b.Alerts {
		if b.Alerts[i].Owner == "" {
			b.Alerts[i].Owner = b.Board
		}
	}
}

func (f *Fold) state(b *Board, h *flow.History, facts *Facts) State {
	switch {
	case facts.Queued:
		return Queued
	case !facts.isRunning(&h.State):
	case h.State.WaitsFor() != "" || h.State.Step != nil && h.State.Step.Consent != nil:
		return Pending
	default:
		return Running
	}
	switch {
	case facts.Never && (b.Outcome == "" || b.Outcome == event.Invalid):
		return NeverRun
	default:
		return Ended
	}
}

// end sets the outcome of the board and its reason, as the files and the journal show them now.
func (f *Fold) end(b *Board, h *flow.History, facts *Facts) {
	s := &h.State
	is := func(o event.Outcome, text string, by event.By) {
		b.standBy(flow.Finish{Outcome: o, Text: text, By: by}, true)
		b.exit, b.fix = 0, "" // those of the last record
	}
	decided := s.Decided && f.decided && s.Outcome == event.Interrupted
	b.standBy(flow.Finish{Outcome: s.Outcome, Text: s.Text, Remarked: true}, false)
	if b.asks = b.question.isEnd(); !s.Decided {
		b.Reason.By, b.exit, b.fix, b.remarked = f.ending.By, f.ending.Exit, f.ending.Hint, f.ending.Remarked
	}
	// A run that was interrupted needs a person for another reason than how the board ends.
	judged := s.Outcome == event.Complete || s.Outcome == event.Incomplete || s.Outcome == event.NeedsPerson && s.Spent ||
		facts.Never && (b.question != nil || h.Seq > 0) || decided
	switch {
	case facts.Queued:
		is("", "a run has it, and has not begun on it", "")
	case facts.isRunning(s):
		is("", "a run is at work", "")
	case facts.Unknown != "":
		is(event.NeedsPerson, facts.Unknown, event.ByUnknownEnd)
		b.asks = true
	case h.Standstill() != "":
		b.standBy(flow.Finish{Outcome: h.StandstillOutcome(), Text: h.Standstill()}, h.Freeze() == nil)
		b.asks = true
	case facts.Fault != "" && b.question == nil:
		is(event.Invalid, facts.Fault, event.ByFile)
		b.fix = facts.Fix
	case judged && b.About() == event.AboutCheckpoint:
		// It ended the board, which says only that it is blocked.
		b.standBy(flow.Finish{Outcome: event.NeedsPerson, Text: b.question.Why, By: event.ByCheckpoint}, false)
		b.asks = true
	case judged && b.About() == event.AboutLand:
		b.standBy(flow.Finish{Outcome: event.NeedsPerson, Text: b.question.Why, By: event.ByLand}, true)
		b.asks, b.fix = true, s.Landing.Fix
	case judged && facts.isOver(s):
		end, _ := facts.end(s) // the end of the board as it is now
		b.standBy(end, end.Outcome != s.Outcome || !s.Decided && f.ending.By != "" && end.By != f.ending.By)
		b.asks = b.About() == event.AboutEnd
	case facts.Never && facts.Archive != "":
		is("", "its runs are archived", "")
	case facts.Never && (f.ending.Outcome == "" || f.ending.Outcome == event.Invalid): // else a run failed before it began
		is("", "it was never run", "")
	case s.Outcome == "":
		is(event.Interrupted, Killed, event.ByKilled)
	case s.Outcome == event.Complete && facts.Current != "":
		is(event.Complete, "it was complete, and has tasks to do again", event.ByEdit)
		b.reopened = true
	case decided:
		b.Outcome, b.Reason.By = f.ending.Outcome, event.ByDecision
		b.reopened, b.exit = true, f.ending.Exit
		if b.Outcome == "" && f.Runs > 0 {
			b.Outcome, b.exit = event.Interrupted, exitKilled
		}
	}
	f.unsave(b, s, facts)
}

// unsave makes the end of a run unsaved if its work is thrown away with the machine of a CI job, because the
// remote lacks checkpoints. Where a person has to act anyhow, or the run failed, that stays.
func (f *Fold) unsave(b *Board, s *flow.State, facts *Facts) {
	if b.Unsaved = f.ending.Unsaved; facts.isRunning(s) || !f.Run.Discarded || s.Unpushed == "" || facts.Away {
		return // elsewhere is what the remote has
	}
	switch b.Outcome {
	case event.Complete, event.LimitReached, event.Later:
		b.standBy(flow.Finish{Outcome: event.Unsaved, By: event.ByUnsaved,
			Text: b.Reason.Said + "; but the checkpoints on " + s.UnpushedTo + " have not reached the remote: " + s.Unpushed}, true)
		b.fix, b.exit = unsavedFix, 0
	}
}

// unsavedFix tells what mends an unsaved end.
const unsavedFix = "let the job push the branch (in GitHub Actions permissions: contents: write, and no rule against it); " +
	"then the same command pushes what waits, in this clone; elsewhere the board goes on from the last checkpoint there"

// standBy sets the outcome with its reason. The parameter news tells that the last record of the journal
// does not say so.
func (b *Board) standBy(end flow.Finish, news bool) {
	b.Outcome, b.Reason = end.Outcome, Reason{Said: event.Plain(end.Text), By: end.By}
	b.remarked, b.quotes, b.asks, b.news = end.Remarked, end.Quotes, false, news
}

// settle takes an end that asks a person nothing any more for one of a board that is to be run again, and
// says of a board that never ran why it cannot be run.
func (f *Fold) settle(b *Board, facts *Facts) {
	switch {
	case b.IsAtWork(), b.State == Queued:
	case b.State == NeverRun && b.Outcome == "" && facts.Refused != "":
		b.Reason, b.fix = Reason{Said: facts.Refused, By: event.BySetting}, facts.Fix
	case b.State == Ended && !b.reopened && b.Outcome.AsksPerson() && b.question == nil:
		b.Reason.By, b.settled, b.reopened = event.ByEdit, true, true
		if f.decided {
			b.Reason.By = event.ByDecision
		}
	}
}

// who returns who acts (see the table in package event).
func (b *Board) who() Who {
	switch {
	case b.IsAtWork() && b.About() == event.AboutConsent, b.State == Ended && b.About() == event.AboutTeam && !b.reopened:
		return Decide
	case b.IsAtWork(), b.State == Queued:
		return Nobody
	case b.State == NeverRun && b.Outcome == "" && b.Reason.By == event.BySetting:
		return Mend
	case b.State == NeverRun && b.Outcome == "":
		return Nobody
	case b.reopened:
		return RunAgain
	case b.Outcome == event.Failed && b.Reason.By == event.ByKilled:
		return RunAgain
	default:
		return b.Outcome.Who()
	}
}

// wait sets what the run at work waits for, or what the next run has to wait for.
func (f *Fold) wait(b *Board, h *flow.History, facts *Facts) {
	s := &h.State
	switch {
	case b.State == Pending && s.Step != nil && s.Step.Consent != nil:
		b.Waits = &Wait{For: "person", Text: "waits for your consent"}
	case b.State == Pending && s.Waiting != nil:
		b.Waits = &Wait{For: "provider", Name: s.Waiting.Provider, Since: stamp(s.Waiting.Since), Until: stamp(s.Waiting.Until), Text: s.WaitsFor()}
	case b.State == Pending:
		b.Waits = &Wait{For: "board", Text: s.WaitsFor()}
	case b.Outcome == event.Later && s.Until != "":
		b.Waits = &Wait{For: "provider", Until: s.Until, Text: "the provider's limit"}
	}
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// code returns the exit code of the last run for the board.
func (b *Board) code() int {
	switch {
	case b.isKilled():
		return exitKilled
	case b.exit != 0:
		return b.exit
	default:
		return b.Outcome.Exit()
	}
}

// isKilled reports whether the last run left no end.
func (b *Board) isKilled() bool {
	return b.Outcome == event.Interrupted && b.Reason.By == event.ByKilled
}

// by infers what ended the last run, for records of earlier versions that do not tell.
func (f *Fold) by(b *Board, h *flow.History, facts *Facts) event.By {
	switch b.Outcome {
	case event.Complete:
		return event.ByOK
	case event.Incomplete:
		if len(facts.asides(&h.State)) > 0 {
			return event.BySetAside
		}
		return event.ByUndone
	case event.NeedsPerson:
		return f.byQuestion(b, h)
	case event.Exhausted:
		if a := f.LastAttempt(); a != nil && a.Exit != "" && a.Exit != "exit status 0" {
			return event.ByCrash
		}
		return event.ByNoReply
	case event.Frozen:
		if h.Contradiction() != "" || h.Custody.Locked != "" {
			return event.ByJournal
		}
		return event.ByDiverged
	case event.LimitReached:
		if len(facts.asides(&h.State)) > 0 {
			return event.ByTaskLimit
		}
		return event.ByLimit
	case event.Later:
		return event.ByProvider
	case event.Interrupted:
		return event.BySignal
	case event.Owned:
		return event.ByOwner
	case event.Invalid:
		return event.BySetting
	case event.Failed:
		return event.ByFile
	case event.Unsaved:
		return event.ByUnsaved
	default:
		return ""
	}
}

// byQuestion infers what ended a run that needs a person.
func (f *Fold) byQuestion(b *Board, h *flow.History) event.By {
	switch b.About() {
	case event.AboutWay, event.AboutChanged:
		return event.ByChanged
	case event.AboutFile:
		if f := h.Freeze(); f != nil && f.By != "" {
			return f.By
		}
		return event.ByUnknownEnd
	case event.AboutQuarantine:
		return event.ByLoop
	case event.AboutCheckpoint:
		return event.ByCheckpoint
	case event.AboutAside:
		return event.BySetAside
	case event.AboutClone:
		return event.ByClone
	case event.AboutRefusal:
		return event.BySecret
	case event.AboutStep:
		if h.State.Step != nil && h.State.Step.Hung != nil {
			return event.ByWatch
		}
		return event.ByReview
	default:
		return event.ByStatus
	}
}

// weigh sets the weight and the sign of the board.
func (b *Board) weigh() {
	switch {
	case b.State == Pending && b.About() == event.AboutConsent:
		b.Weight = event.Warning
	case b.IsAtWork():
		b.Weight = event.Routine
	case b.State == Queued:
		b.Weight = event.Note
	case b.Who == Mend && b.Outcome == "", b.unread:
		b.Weight = event.Critical
	case b.Outcome == "":
		b.Weight = event.Note
	case b.IsSettled():
		b.Weight = event.Warning
	default:
		b.Weight = event.Weigh(b.Outcome, b.remarked)
	}
	b.Sign = SignOf(b.Weight)
}

// SignOf returns the character that stands before a line of weight w.
func SignOf(w event.Weight) string {
	switch w {
	case event.Success:
		return "✓"
	case event.Warning:
		return "!"
	case event.Critical:
		return "✗"
	case event.Routine:
		return "▸"
	default:
		return " "
	}
}

// SetUnreadable changes the board to one whose file or journal cannot be read. It keeps the tasks and
// the cost that were read before.
func (b *Board) SetUnreadable(err error) {
	b.SetInvalid(err)
	b.Damage, b.unread = b.Reason.Said, true
}

// SetInvalid changes the board to one that cannot be run. It keeps the tasks and the cost. The hint of
// err becomes the advice.
func (b *Board) SetInvalid(err error) {
	said, _, _ := strings.Cut(err.Error(), "\n")
	b.EndAs(event.RunInterrupted{Outcome: event.Invalid, By: event.ByFile, Reason: said, Hint: failure.HintOf(err)})
	if b.Tasks == nil {
		b.Tasks = []Task{}
	}
}

// EndAs changes the board to what a run that ended now made of it, although its journal does not tell
// so: the run failed, or was kept out by another run. What a person may decide stays if the end asks for it.
func (b *Board) EndAs(end event.RunInterrupted) {
	b.standBy(flow.Finish{Outcome: end.Outcome, Text: end.Reason, By: end.By}, true)
	b.exit, b.fix, b.Unsaved = end.Exit, end.Hint, end.Unsaved
	b.State, b.Who, b.Waits, b.settled, b.reopened = Ended, b.Outcome.Who(), nil, false, false
	if end.Until != "" {
		b.Waits = &Wait{For: "provider", Until: end.Until, Text: "the provider's limit"}
	}
	if !b.Outcome.AsksPerson() {
		b.question, b.Choices = nil, nil
	}
	b.asks = b.question.isEnd()
	code := b.code()
	b.Exit = &code
	b.weigh()
}

// EndWords returns how the board stands in a word or two.
func (b *Board) EndWords() string {
	switch {
	case b.unread:
		return "cannot be read"
	case b.Damage != "":
		return "its journal is damaged"
	case b.State == Queued:
		return "queued"
	case b.State == NeverRun && b.Who == Mend:
		return "cannot be run"
	case b.State == NeverRun && b.Archive != "":
		return "archived"
	case b.State == NeverRun && b.Of() > 0 && b.Left() == 0:
		return "done"
	case b.State == NeverRun:
		return "never run"
	case b.reopened:
		return "to be run again"
	case b.IsAtWork() && b.Open != nil:
		return fmt.Sprintf("at work, step %d", b.Open.Step)
	case b.IsAtWork():
		return "at work"
	case b.Reason.By == event.ByKilled:
		return "killed"
	case b.Outcome == event.Complete && b.Weight != event.Success:
		return "complete, with a remark"
	default:
		return b.Outcome.Words()
	}
}

// IsOK reports whether the board is complete, and nobody has to act.
func (b *Board) IsOK() bool {
	return b.State == Ended && b.Outcome == event.Complete && b.Who != RunAgain
}
