package call

import (
	"kanban-run/orchestrator/attempt"
	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/roster"
)

// ready is the call with which the resident supervisor begins (seed 001, "Core Loop").
type ready struct{}

// Player returns the supervisor.
func (ready) Player(role *roster.Player) *roster.Player { return role }

// Prepare tells the supervisor its board and its role.
func (ready) Prepare(c *Caller, a *Attempt, b *board.Board) error {
	a.Spec.Resident = c.Supervisor.Resident()
	return c.setInput(a, func() (contract.Input, error) {
		about, err := c.brief(a, b)
		if err != nil {
			return contract.Input{}, err
		}
		in, err := c.redacted(contract.ForReady(c.Supervisor.Briefing().Ready(about)))
		c.noticeNotes()
		return in, err
	})
}

// Settle rejects the reply if the supervisor reports an error. It also rejects the reply of a
// supervisor that keeps its memory in a session, but has named no session. It accepts all other
// replies.
func (ready) Settle(c *Caller, a *Attempt, e *attempt.Ended) (event.Event, error) {
	reply, v := e.Reply.Checkpoint, c.Journal.State().Supervisor
	switch {
	case reply.Failed():
		return c.rejected(a, e, contract.Failure{Reason: "it reports an error: " + reply.Message}), nil
	case v.Memory == event.InSession && e.Session == "":
		return c.rejected(a, e, contract.Failure{Reason: "it named no session, in which it could remember"}), nil
	}
	accepted := c.accepted(a, e)
	accepted.Message = c.Supervisor.Briefing().Greeting(v)
	return accepted, nil
}

func (ready) keep(c *Caller, a *Attempt) error { return c.saveSession(a) }
