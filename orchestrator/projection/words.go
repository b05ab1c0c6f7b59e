package projection

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
)

// Headline returns how the board stands in one line, with the board's name.
func (b *Board) Headline() string {
	switch {
	case b.State == Queued:
		return b.Board + " is " + b.What()
	case b.IsSettled(), b.State == Pending && b.About() != event.AboutConsent:
		return b.Board + " " + b.What()
	case b.State == Pending:
		return fmt.Sprintf("%s waits for your consent: step %d, %s", b.Board, b.Open.Step, b.Progress())
	case b.State == Running && b.Open != nil:
		return fmt.Sprintf("%s is at work: step %d, %s", b.Board, b.Open.Step, b.Progress())
	case b.State == Running:
		return b.Board + " is at work: " + b.Progress()
	case b.Outcome == "" && b.Who == Mend:
		return b.Board + " cannot be run: " + b.Reason.Said
	case b.Outcome == "" && b.withoutRun() != "":
		return b.Board + " is " + b.withoutRun()
	case b.Outcome == "":
		return b.Board + " was never run"
	case b.Outcome == event.Complete && b.Weight == event.Success:
		return b.Board + " is complete: " + b.Progress() + b.Unreviewed()
	case b.Outcome == event.Complete:
		return b.Board + ": " + b.Reason.Said + b.Unreviewed()
	case b.Outcome == event.Frozen:
		return b.Board + " is frozen: " + b.Reason.Said
	case b.unread:
		return b.Board + " cannot be read: " + b.Reason.Said
	case b.Outcome == event.Invalid:
		return b.Board + " cannot be run: " + b.Reason.Said
	case b.Who == RunAgain && b.About() == event.AboutAside:
		return b.Board + ": " + b.Reason.Said
	case b.Who == Decide:
		return b.Board + " needs you: " + b.Reason.Said
	default:
		return b.Board + " " + b.What()
	}
}

// Asks returns in one line whether the board waits for a person, and why.
func (b *Board) Asks() string {
	switch {
	case b.Who == Mend && b.About() == "":
		return b.Headline()
	case b.Who.AsksPerson():
		return b.Board + " waits for your decision: " + b.Why()
	case b.About() != "":
		return b.Board + " goes on without your decision: " + b.Why()
	case b.IsAtWork():
		return b.Board + " is at work, and waits for no decision"
	case b.State == Queued:
		return b.Board + " is queued, and waits for no decision"
	default:
		return b.Board + " waits for no decision"
	}
}

// What returns how the board stands in a few words, without the board's name.
func (b *Board) What() string {
	switch {
	case b.State == Queued:
		return "queued: " + b.Reason.Said + "; " + b.Progress()
	case b.settled:
		return "only has to be run again; it had ended with: " + b.Reason.Said
	case b.IsSettled():
		return "only has to be run again: " + b.Reason.Said
	case b.Who == Decide && b.question != nil:
		return b.question.Why
	case b.State == Pending:
		return b.Waits.Text + "; " + b.Progress()
	case b.State == Running:
		return "at work: " + b.Progress()
	case b.Outcome == "" && b.Who == Mend:
		return b.Reason.Said
	case b.Outcome == "":
		return cmp.Or(b.withoutRun(), "never run")
	case b.Outcome == event.Complete && b.Weight == event.Success:
		return "complete: " + b.Progress() + b.Unreviewed()
	case b.Outcome == event.Complete:
		return b.Reason.Said + b.Unreviewed()
	case b.Outcome == event.Invalid, b.isKilled(), b.About() == event.AboutAside:
		return b.Reason.Said
	case b.Outcome == event.Later:
		return "waits for its provider: " + b.Reason.Said
	default:
		return fmt.Sprintf("stopped (%s): %s", b.Outcome.Words(), b.Reason.Said)
	}
}

// withoutRun returns why a board has no run here, or "" if it was never run.
func (b *Board) withoutRun() string {
	switch {
	case b.Archive != "":
		return "archived: its runs are in " + b.Archive
	case b.Of() > 0 && b.Left() == 0:
		return "done, without a run here: " + b.Progress()
	default:
		return ""
	}
}

// Progress returns in words how many tasks are done, how many are not ok, and how many are in
// quarantine. If the tasks are unknown, it returns the number of steps.
func (b *Board) Progress() string {
	if b.Of() == 0 {
		return event.Count(b.Totals.Steps, "step") + " done"
	}
	text := fmt.Sprintf("%d of %s done", b.Count(Done, DoneBefore), event.Count(b.Of(), "task"))
	if before := b.Count(DoneBefore); before > 0 {
		text += fmt.Sprintf(", %d of them before", before)
	}
	for _, state := range []TaskState{NotOK, SetAside, Settled, Quarantined} {
		if n := b.Count(state); n > 0 {
			text += fmt.Sprintf(", %d %s", n, state.Words())
		}
	}
	return text
}

// Unreviewed returns ", none reviewed", the end of a sentence, for a complete board of whose work only the agents say that it is done:
// no review accepted any of it, and no supervisor looked at it. Otherwise it returns "".
func (b *Board) Unreviewed() string {
	alone := func(t Task) bool { return t.State == Done && t.Status == flow.StatusOK }
	looked := func(l event.Looked) bool { return l.Verdict != event.NoVerdict }
	if b.Outcome != event.Complete || b.Reviewed > 0 || !slices.ContainsFunc(b.Tasks, alone) || slices.ContainsFunc(b.Checkpoints, looked) {
		return ""
	}
	if b.Weight != event.Success { // a remark is before it
		return "; none reviewed"
	}
	return ", none reviewed"
}

// Count returns the number of the board's tasks in some states.
func (b *Board) Count(states ...TaskState) (n int) {
	for i := range b.Tasks {
		if t := &b.Tasks[i]; t.Counts() && slices.Contains(states, t.State) {
			n++
		}
	}
	return n
}

// Of returns the number of the board's tasks.
func (b *Board) Of() (n int) {
	for i := range b.Tasks {
		if b.Tasks[i].Counts() {
			n++
		}
	}
	return n
}

// Left returns the number of tasks that are not done: those of the list, and those that the Manager
// took off the list undone. For a board without a list it is 0 if the board is complete, and else 1.
func (b *Board) Left() int {
	if b.Of() == 0 && b.Outcome != event.Complete {
		return 1
	}
	return b.Of() - b.Count(Done, DoneBefore)
}

// Said returns the task whose agent has said why a person is needed, or nil if there is none. If
// the agent of the open step's task has said something, Said returns that task. Otherwise it looks at
// the tasks in quarantine and at those that are not ok, and returns the one whose agent spoke last.
func (b *Board) Said() *Task {
	if b.Who != Decide {
		return nil
	}
	var last *Task
	for i := range b.Tasks {
		t := &b.Tasks[i]
		bad := t.State == NotOK || t.State == SetAside || t.State == Quarantined
		switch {
		case t.Said == "", t.Status == flow.StatusSkipped, b.About() == event.AboutQuarantine && t.State != Quarantined:
		case b.Open != nil && b.Find(b.Open.Task) == i:
			return t
		case bad && (last == nil || t.spoke >= last.spoke):
			last = t
		}
	}
	return last
}

// Unquoted returns the task of [Board.Said], or nil if the words of its agent are in the reason already.
func (b *Board) Unquoted() *Task {
	if b.quotes || b.About() == event.AboutAside || b.Outcome == event.Exhausted {
		return nil
	}
	return b.Said()
}

// Culprit returns the step that explains why the board is not complete, or nil. If the last step is
// open, Culprit returns it. Otherwise, if a person is needed, Culprit returns the latest step that is
// not ok. If all steps of a board that needs a person are ok, Culprit returns the last one. No step
// explains that the next one was not started, because of what was changed.
func (b *Board) Culprit() *Step {
	if len(b.Steps) == 0 || b.Outcome == event.Complete {
		return nil
	}
	last := &b.Steps[len(b.Steps)-1]
	switch {
	case last.State == StepOpen:
		return last
	case b.Outcome != event.NeedsPerson && b.Outcome != event.Incomplete, b.Reason.By == event.ByChanged:
		return nil
	}
	for i := len(b.Steps) - 1; i >= 0 && last.Status == "ok" && last.Manager == "ok"; i-- {
		if s := &b.Steps[i]; s.Status != "" && s.Status != "ok" {
			return s
		}
	}
	if b.Outcome == event.Incomplete && last.Status == "ok" {
		return nil // the remaining tasks were never worked on
	}
	return last
}

// FailedSteps returns a step for each task that failed: the last step in which an agent worked on the
// task.
func (b *Board) FailedSteps() (all []*Step) {
	last := map[string]*Step{}
	for i := range b.Steps {
		s := &b.Steps[i]
		if s.Work() != nil {
			last[s.Task] = s
		}
	}
	for i := range b.Tasks {
		t := &b.Tasks[i]
		if !slices.Contains(b.Failed, t.Task) {
			continue
		}
		if s := last[t.Seen]; s != nil {
			all = append(all, s)
		}
	}
	return all
}

// Foretell describes the first effect of the next run.
func Foretell(e flow.Effect, h *flow.History) string {
	if h.Standstill() != "" && h.StandstillOutcome() != event.Frozen {
		return nothingNext + " until you decide (kanban-run ack)"
	}
	switch e := e.(type) {
	case flow.Spawn:
		return fmt.Sprintf("step %d: %s%s", e.Step, e.Aim(), again(e))
	case flow.Walk:
		return fmt.Sprintf("step %d: %s%s", e.Spawn.Step, e.Spawn.Aim(), again(e.Spawn))
	case flow.Reassign:
		return fmt.Sprintf("step %d: have %s take the work over", e.Step, e.To)
	case flow.SuspectLoop:
		return fmt.Sprintf("put %s into quarantine: %s", e.Task, e.Suspicion)
	case flow.WriteBoard:
		return fmt.Sprintf("step %d: record the Manager's reply on the board", e.Step)
	case flow.Finish:
		return foretellEnd(e)
	case flow.GiveUpCheckpoint:
		return "give the supervisor up: " + e.Reason
	case flow.EndBoard:
		return "write onto the board that a checkpoint has ended it"
	default:
		return "unknown"
	}
}

// again returns " again" for a call that was made before in its step, or "". The number of the attempt would count
// reviews among the attempts at the work.
func again(e flow.Spawn) string {
	if e.Attempt == 1 || e.Round == 1 { // a review of the first round
		return ""
	}
	return " again"
}

// nothingNext begins the text about a run that would start no agent.
const nothingNext = "nothing"

// StartsNothing reports whether a run that would start now would start no agent.
func (b *Board) StartsNothing() bool { return b.Next == "" || strings.HasPrefix(b.Next, nothingNext) }

func foretellEnd(e flow.Finish) string {
	if e.Outcome == event.Frozen || e.Outcome == event.NeedsPerson || e.Outcome == event.Incomplete {
		return nothingNext + " until you decide (kanban-run ack), or edit the board"
	}
	return nothingNext + ": " + e.Text
}

// Compare orders boards for people: first those that need a person, then those at work, then those that
// only have to be run again. Of boards alike the weightier comes first.
func Compare(a, b *Board) int {
	return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(b.Weight, a.Weight))
}

func (b *Board) rank() int {
	switch {
	case b.Who == Decide:
		return 0
	case b.Who == Mend:
		return 1
	case b.IsAtWork():
		return 2
	case b.State == Queued:
		return 3
	case b.Who == RunAgain:
		return 4
	default:
		return 5
	}
}
