package orchestrator

import (
	"context"
	"encoding/json"
	"errors"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/attempt"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/ledger"
)

// shutdown is what the supervisor is told at the end, and what it answers: seed 001, "Shutdown Protocol".
type shutdown struct {
	Type    string `json:"type"`
	ID      string `json:"request_id"`
	Approve bool   `json:"approve,omitempty"`
}

// dismissSupervisor ends the supervisor's program with the run. On a board that is over that is seed 002's teardown, with all its rounds; else it is
// asked once. A run that is interrupted does not wait for its answer.
func (r *run) dismissSupervisor() error {
	if r.resident == nil || !r.resident.Runs() {
		return nil
	}
	if r.stop.Err() != nil || r.ledger.State().Frozen != nil {
		return r.endResident()
	}
	rounds := 0
	if b, err := r.Workspace.Look(); err == nil && b.Terminal() && r.ledger.State().Step == nil {
		rounds = flow.AckRetryRounds
	}
	request, approved, err := r.askToLeave(rounds)
	v := r.ledger.State().Supervisor
	return errors.Join(err, r.endResident(), r.ledger.Record(flow.SupervisorDismissed{Task: v.Plan.Role, Request: request, Approved: approved}))
}

// askToLeave asks the supervisor to shut down, and again as often as rounds says. With rounds it journals the teardown: seed 002, "Deterministic
// teardown protocol". Its members are the supervisor alone. Without an answer the Lead may approve the end; no run waits for that.
func (r *run) askToLeave(rounds int) (request string, approved bool, err error) {
	request = agent.NewMessageID()
	if rounds == 0 {
		approved, err = r.ask(request)
		return request, approved, err
	}
	if err := r.teardown(flow.TeardownMoved{To: flow.TeardownInit}, flow.TeardownMoved{To: flow.ShutdownRequested, Request: request}, flow.TeardownMoved{To: flow.WaitingAcks}); err != nil {
		return request, false, err
	}
	approved, err = r.ask(request)
	for round := 1; round <= rounds && !approved && err == nil && r.stop.Err() == nil; round++ {
		if err = r.teardown(flow.TeardownMoved{To: flow.Retrying, Round: round}); err == nil {
			approved, err = r.ask(request)
		}
	}
	role := r.ledger.State().Supervisor.Plan.Role
	switch {
	case err != nil || r.stop.Err() != nil:
		return request, approved, err
	case approved:
		return request, true, errors.Join(r.teardown(flow.TeardownMoved{To: flow.ReadyToDelete}), r.ledger.ReportTeardown(ledger.Gate{State: flow.ReadyToDelete}))
	}
	reason := role + " has not answered the request to shut down"
	err = errors.Join(r.ledger.Record(flow.ForcedFinalizeCandidate{Board: r.Board, Missing: []string{role}}),
		r.ledger.Record(flow.TeardownBlocked{Board: r.Board, Reason: reason}))
	return request, false, errors.Join(err, r.teardown(flow.TeardownMoved{To: flow.FailedSafe, Reason: reason}), r.ledger.ReportTeardown(ledger.Gate{State: flow.FailedSafe, Reason: reason}))
}

func (r *run) teardown(moves ...flow.TeardownMoved) error {
	var errs []error
	for _, m := range moves {
		m.Board = r.Board
		errs = append(errs, r.ledger.Record(m))
	}
	return errors.Join(errs...)
}

// ask asks the supervisor once to shut down, and says whether it approves.
func (r *run) ask(request string) (approved bool, err error) {
	message, err := json.Marshal(shutdown{Type: "shutdown_request", ID: request})
	if err != nil {
		return false, err
	}
	hurry, cancel := context.WithCancel(r.kill)
	defer cancel()
	defer context.AfterFunc(r.stop, cancel)() // Ctrl-C ends the wait for the answer
	r.slots.release()
	said, err := r.resident.Ask(hurry, message, r.AckTimeout, attempt.Sinks{Redactor: r.Redactor})
	r.slots.acquire()
	var answer shutdown
	return json.Unmarshal([]byte(said), &answer) == nil && answer.Type == "shutdown_response" && answer.ID == request && answer.Approve, err
}
