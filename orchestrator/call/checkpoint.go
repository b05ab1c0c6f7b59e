package call

import (
	"fmt"

	"kanban-run/orchestrator/attempt"
	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/briefing"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failpoint"
	"kanban-run/orchestrator/roster"
)

// checkpoint is the call that wakes the resident supervisor (seed 001, "Core Loop").
type checkpoint struct{}

// Player returns the supervisor.
func (checkpoint) Player(role *roster.Player) *roster.Player { return role }

// Prepare tells the supervisor the events since its last checkpoint.
func (checkpoint) Prepare(c *Caller, a *Attempt, b *board.Board) error {
	a.Spec.Resident = c.Supervisor.Resident()
	return c.setInput(a, func() (contract.Input, error) {
		about, err := c.brief(a, b)
		if err != nil {
			return contract.Input{}, err
		}
		due := *c.Journal.State().Step.Checkpoint
		in, err := c.redacted(contract.ForCheckpoint(c.Supervisor.Briefing().Checkpoint(about, due), c.readsText(a)))
		c.noticeNotes()
		return in, err
	})
}

// Settle returns an event with the verdict. It first writes the supervisor's report, because the
// event names the file of the report.
func (checkpoint) Settle(c *Caller, a *Attempt, e *attempt.Ended) (event.Event, error) {
	reply, v, due := e.Reply.Checkpoint, c.Journal.State().Supervisor, *c.Journal.State().Step.Checkpoint
	if reply.Failed() {
		return event.SupervisorFailed{AttemptRef: a.Ref(), Reason: event.Clip(c.Redactor.String(reply.Message)),
			Errors: v.Errors + 1, Then: v.Plan.OnBlock,
			End: c.end(a, e)}, nil
	}
	// A program that stays between calls might print the reply to an earlier checkpoint late.
	// Therefore its reply has to name the checkpoint, unless the program is a model's tool.
	named := reply.ID == due.ID || reply.ID == "" && (c.readsText(a) || v.Memory != event.InProcess)
	if !named {
		return c.rejected(a, e, contract.Failure{Reason: fmt.Sprintf("task_id is %q, want %s", reply.ID, due.ID)}), nil
	}
	briefed := c.Supervisor.Briefing()
	own := c.Workspace.Tree().Written(c.tree, briefing.ReportName(due.ID))
	if err := briefed.SaveReport(due, reply, own); err != nil {
		return c.stopped(a, e, err.Error()), err
	}
	failpoint.At("report-written")
	held := briefed.Verdict(due, reply)
	briefed.Keep(&held)
	if reply.Verdict == "block" {
		held.Then = v.Plan.OnBlock
	}
	held.AttemptRef, held.End = a.Ref(), c.end(a, e)
	return held, nil
}

func (checkpoint) keep(c *Caller, a *Attempt) error { return c.saveSession(a) }
