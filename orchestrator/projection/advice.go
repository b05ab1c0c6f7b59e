package projection

import (
	"fmt"
	"strings"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failure"
)

// Advice returns what a person can do next for the board, or "" if there is no advice.
func (b *Board) Advice() string {
	board := failure.Quote(b.Board)
	switch {
	case b.Hint != "":
		return b.Hint
	case b.Who == Decide && b.question != nil:
		return b.question.advice(board, b.Log, b.Outcome)
	case b.Who == Mend:
		return b.fix
	case b.Outcome == event.Owned:
		return "another run owns this board or works on its task; " +
			"kanban-run status " + board + " shows where it stands; once that has ended, the same command goes on"
	case b.Who == RunAgain && b.fix != "" && !b.IsSettled():
		return b.fix
	case b.Outcome == event.Later && !b.IsSettled():
		return "the same command goes on once the provider's limit is over"
	case b.Outcome == event.LimitReached && !b.IsSettled():
		return "the same command goes on, with fresh limits"
	case b.Outcome == event.Frozen:
		return "kanban-run ack " + board + " shows what there is to decide"
	case b.Who == RunAgain, b.Who == Decide:
		return "the same command goes on"
	default:
		return ""
	}
}

// advice returns in words how a person can make the decision. The parameter board is already quoted
// for a shell.
func (q *Question) advice(board, log string, o event.Outcome) string {
	const happened = "kanban-run log %[1]s shows what happened; "
	switch q.About {
	case event.AboutConsent:
		return fmt.Sprintf("kanban-run ack %[1]s restart ends the agent, kanban-run ack %[1]s continue leaves it alone", board)
	case event.AboutWay:
		return fmt.Sprintf("if that is your doing, kanban-run ack %s accept; "+
			"else set it back; then the same command goes on", board)
	case event.AboutChanged:
		if c := q.Offers(event.Accept); c == nil || c.Command == "" {
			return fmt.Sprintf("if that was you: kanban-run ack %s accept; then the same command goes on", board)
		}
		return "if that was you: " + AckHere + " (kanban-run ack --here shows the difference); else put it back; then the same command goes on"
	case event.AboutFile:
		text := "kanban-run ack -n " + board + " shows what changed; "
		if q.Offers(event.Accept) != nil {
			text += "kanban-run ack " + board + " accept lets the board stand as it is, "
		}
		does, _, _ := strings.Cut(q.Offers(event.Retry).Does, ",")
		return text + "kanban-run ack " + board + " retry " + does
	case event.AboutJournal:
		return fmt.Sprintf("kanban-run ack -n %[1]s shows what changed and what your decision would change; "+
			"kanban-run ack %[1]s accept goes on from there", board)
	case event.AboutCheckpoint:
		return fmt.Sprintf("kanban-run log %[1]s shows what was found; "+
			"mend it, and kanban-run ack %[1]s retry has it looked at anew; "+
			"kanban-run ack %[1]s accept goes on in spite of it", board)
	case event.AboutQuarantine:
		return fmt.Sprintf(happened+"mend %[2]s or the board (current names the task to do), then the same command goes on; "+
			"kanban-run ack %[1]s retry ends the quarantine", board, failure.Quote(q.Choices[0].Task))
	case event.AboutStep:
		if q.Holds {
			text := "see to the tool, and kanban-run ack " + board + " retry has it tried again"
			if q.Offers(event.Accept) != nil {
				text += "; kanban-run ack " + board + " accept counts the work as done"
			}
			return text + "; then the same command goes on"
		}
		if q.Offers(event.Skip) != nil {
			return fmt.Sprintf("look at what changed, and the same command has the work judged by it; kanban-run ack %[1]s accept counts the work as done, "+
				"kanban-run ack %[1]s skip goes on without the task", board)
		}
		if len(q.Lacks) > 0 {
			return event.PassText(q.Lacks) + "; then the same command asks again"
		}
		if o == event.Exhausted {
			return log + " has the replies; the same command asks again, with fresh retries"
		}
		return fmt.Sprintf(happened+"mend the task, the board or the role if need be, then the same command goes on", board)
	case event.AboutEnd:
		if again := q.Offers(event.Retry); again != nil {
			return fmt.Sprintf(happened+"kanban-run ack %[1]s retry makes %[2]s current again, "+
				"kanban-run ack %[1]s accept ends the board as it stands", board, failure.Quote(again.Task))
		}
		return fmt.Sprintf(happened+"kanban-run ack %[1]s accept ends the board as it stands, or name the task to do again as current, and take back a phase that ends the board", board)
	case event.AboutTeam:
		return "kanban-run ack " + board + " accept lets the team be deleted without"
	default:
		return fmt.Sprintf(happened+"mend it, then the same command goes on", board)
	}
}
