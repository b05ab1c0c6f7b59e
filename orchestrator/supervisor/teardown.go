package supervisor

import (
	"context"
	"encoding/json"
	"errors"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/attempt"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/ledger"
)

// shutdown is either the request to the supervisor at the end of the run, or the answer to that
// request: seed 001, "Shutdown Protocol".
type shutdown struct {
	Type    string `json:"type"`
	ID      string `json:"request_id"`
	Approve bool   `json:"approve,omitempty"`
}

// Dismiss ends the supervisor's program at the end of a run. It first asks the supervisor to shut
// down, but not if the run is interrupted or frozen. If the board is over and no step is open, it
// asks in the several rounds of the teardown of seed 002, and otherwise once.
func (s *Supervisor) Dismiss() error {
	switch {
	case s.program == nil || !s.program.Runs():
		return nil
	case !s.IsAsked():
		return s.Close()
	}
	rounds := 0
	if b, err := s.Workspace.Look(); err == nil && b.Terminal() && s.Journal.State().Step == nil {
		rounds = event.AckRetryRounds
	}
	request, approved, err := s.askToLeave(rounds)
	v := s.Journal.State().Supervisor
	return errors.Join(err, s.Close(), s.Journal.Record(event.SupervisorDismissed{Task: v.Plan.Role, Request: request,
		Approved: approved}))
}

// askToLeave asks the supervisor to shut down. If rounds is 0, it asks once. Otherwise it repeats
// the request until the supervisor approves, but at most that number of times. The request and its
// repetitions are journaled as the teardown of a team whose only member is the supervisor: seed
// 002, "Deterministic teardown protocol". If the supervisor never approves, the run ends, and the
// teardown waits for the approval of the Lead.
func (s *Supervisor) askToLeave(rounds int) (request string, approved bool, err error) {
	request = agent.NewMessageID()
	if rounds == 0 {
		approved, err = s.ask(request)
		return request, approved, err
	}
	begins := []event.TeardownMoved{{To: event.TeardownInit}, {To: event.ShutdownRequested, Request: request}, {To: event.WaitingAcks}}
	if err := s.teardown(begins...); err != nil {
		return request, false, err
	}
	approved, err = s.ask(request)
	for round := 1; round <= rounds && !approved && err == nil && s.Stop.Err() == nil; round++ {
		if err = s.teardown(event.TeardownMoved{To: event.Retrying, Round: round}); err == nil {
			approved, err = s.ask(request)
		}
	}
	role := s.Journal.State().Supervisor.Plan.Role
	switch {
	case err != nil || s.Stop.Err() != nil:
		return request, approved, err
	case approved:
		err = s.teardown(event.TeardownMoved{To: event.ReadyToDelete})
		s.ReportTeardown(ledger.Gate{State: event.ReadyToDelete})
		return request, true, err
	}
	reason := role + " has not answered the request to shut down"
	err = errors.Join(s.Journal.Record(event.ForcedFinalizeCandidate{Board: s.Board, Missing: []string{role}}),
		s.Journal.Record(event.TeardownBlocked{Board: s.Board, Reason: reason}))
	err = errors.Join(err, s.teardown(event.TeardownMoved{To: event.FailedSafe, Reason: reason}))
	s.ReportTeardown(ledger.Gate{State: event.FailedSafe, Reason: reason})
	return request, false, err
}

// IsAsked reports whether Dismiss asks the supervisor to shut down, and waits for its answer.
func (s *Supervisor) IsAsked() bool {
	return s.program != nil && s.program.Runs() && s.Stop.Err() == nil && s.Journal.State().Frozen == nil
}

func (s *Supervisor) teardown(moves ...event.TeardownMoved) error {
	var errs []error
	for _, m := range moves {
		m.Board = s.Board
		errs = append(errs, s.Journal.Record(m))
	}
	return errors.Join(errs...)
}

// ask asks the supervisor once to shut down, and reports whether it approves.
func (s *Supervisor) ask(request string) (approved bool, err error) {
	message, err := json.Marshal(shutdown{Type: "shutdown_request", ID: request})
	if err != nil {
		return false, err
	}
	hurry, cancel := context.WithCancel(s.Kill)
	defer cancel()
	defer context.AfterFunc(s.Stop, cancel)() // Ctrl-C ends the wait for the answer
	said, err := s.program.Ask(hurry, message, s.AckTimeout, attempt.Sinks{Redactor: s.Redactor})
	var answer shutdown
	return json.Unmarshal([]byte(said),
		&answer) == nil && answer.Type == "shutdown_response" && answer.ID == request && answer.Approve, err
}
