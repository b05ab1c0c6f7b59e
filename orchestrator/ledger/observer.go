package ledger

import (
	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/event"
)

// Observer is a receiver of the events of boards. Several runs call it at once, each from its own
// goroutine.
type Observer interface {
	// Entry is called for every journaled event, in order, after its commit.
	Entry(board string, e event.Entry)
	// Agent is called for a sign of an agent's work. Signs are not journaled, and an observer is
	// allowed to drop them.
	Agent(board string, s agent.Sign)
	// Notice is called for a warning that is not an event of the run.
	Notice(board, text string)
}

// tapped is an observer that passes each event to its function note, and then to another observer.
type tapped struct {
	Observer
	note func(event.Entry)
}

func (t tapped) Entry(board string, e event.Entry) {
	t.note(e)
	t.Observer.Entry(board, e)
}

// Silent is an observer that shows nothing.
type Silent struct{}

// Entry does nothing.
func (Silent) Entry(string, event.Entry) {}

// Agent does nothing.
func (Silent) Agent(string, agent.Sign) {}

// Notice does nothing.
func (Silent) Notice(string, string) {}
