package standing

import (
	"fmt"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/flow"
)

// Advice returns the next action of a person for the board; "" if none is needed. log is the path
// of its supervisor log.
func (s *Standing) Advice(log string) string { return Advice(s.Outcome, s.Board, log, s.choices) }

// Advice returns the next action of a person for a board that is not complete. log is the path of
// the board's supervisor log, w has the choices in the board's state.
func Advice(o event.Outcome, board, log string, w flow.Choices) string {
	board = failure.Quote(board)
	switch o {
	case event.NeedsPerson:
		if w.NewWay {
			return fmt.Sprintf("if that is your doing, kanban-run ack %s accept; "+
				"else set it back; then the same command goes on", board)
		}
		if w.Asks {
			return fmt.Sprintf("kanban-run ack -n %[1]s shows what changed; "+
				"kanban-run ack %[1]s accept lets the board stand as it is, "+
				"kanban-run ack %[1]s retry puts it back as the turn began", board)
		}
		if w.Blocked {
			return fmt.Sprintf("kanban-run log %[1]s shows what was found; "+
				"mend it, and kanban-run ack %[1]s retry has it looked at anew; "+
				"kanban-run ack %[1]s goes on in spite of it", board)
		}
		if w.Quarantined != "" {
			return fmt.Sprintf("kanban-run log %[1]s shows what happened; "+
				"mend %[2]s or the board (current names the task to do), then the same command goes on; "+
				"kanban-run ack %[1]s ends the quarantine",
				board, failure.Quote(w.Quarantined))
		}
		if w.GoesOn {
			return "kanban-run log " + board + " shows what happened; " +
				"mend the task, the board or the role if need be, then the same command goes on"
		}
		if w.Undone != "" {
			return fmt.Sprintf("kanban-run log %s shows what happened; "+
				"set current: %s to do it again (kanban-run ack %s retry does), "+
				"or kanban-run ack %s accept ends the board as it stands",
				board, w.Undone, board, board)
		}
		return "kanban-run log " + board + " shows what happened; " +
			"kanban-run ack " + board + " shows what you can decide, or set current to the task to do again"
	case event.Incomplete:
		return fmt.Sprintf("kanban-run ack %[1]s shows what you can decide: retry does one of them, "+
			"accept ends the board as it stands", board)
	case event.Frozen:
		return "kanban-run ack -n " + board + " shows what changed and what your decision would change; " +
			"look at it, mend the board if need be, then kanban-run ack " + board
	case event.Owned:
		return "another run owns this board or works on its task; " +
			"kanban-run status " + board + " shows where it stands; once that has ended, the same command goes on"
	case event.Exhausted:
		return log + " has the replies; the same command asks again, with fresh retries"
	case event.Later:
		return "the same command goes on once the provider's limit is over"
	case event.LimitReached:
		return "the same command goes on, with fresh limits"
	case event.Interrupted:
		return "the same command goes on"
	default:
		return ""
	}
}
