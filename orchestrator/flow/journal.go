package flow

import "kanban-run/orchestrator/event"

// Journal is the journal of a board, as the parts of its run use it.
type Journal interface {
	State() *State
	Append(event.Event) error // the event counts, and is on disk after the next Commit
	Commit() error
	Record(event.Event) error // the event is on disk when Record returns
	FinishStep(event.StepFinished) error
	DrawState() error // updates state.md, at most once a second
}
