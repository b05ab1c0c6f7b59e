package fleet_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"kanban-run/cmd/kanban-run-temporal/fleet"
)

// board is a workflow whose runs end as a test says, in a time that passes at once.
type board struct {
	*testing.T
	*testsuite.TestWorkflowEnvironment
	calls []fleet.Call
	at    []time.Duration // since the begin, of each call
}

func newBoard(t *testing.T, results ...fleet.Result) *board {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(log.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	b := &board{T: t, TestWorkflowEnvironment: suite.NewTestWorkflowEnvironment()}
	b.RegisterWorkflowWithOptions(fleet.Boards{Lease: time.Minute}.Board, workflow.RegisterOptions{Name: fleet.WorkflowType})
	b.RegisterActivityWithOptions(func(context.Context, fleet.Call) (fleet.Result, error) { panic("a mock stands for it") }, activity.RegisterOptions{Name: fleet.RunActivity})
	began := b.Now()
	b.OnActivity(fleet.RunActivity, mock.Anything, mock.Anything).Return(func(_ context.Context, c fleet.Call) (fleet.Result, error) {
		b.calls, b.at = append(b.calls, c), append(b.at, b.Now().Sub(began))
		if len(b.calls) > len(results) {
			t.Errorf("run %d was not expected", len(b.calls))
			return fleet.Result{Outcome: fleet.Complete}, nil
		}
		return results[len(b.calls)-1], nil
	})
	b.SetTestTimeout(time.Minute)
	return b
}

// run runs the workflow to its end.
func (b *board) run() (e fleet.Result, err error) {
	b.Helper()
	b.ExecuteWorkflow(fleet.WorkflowType, fleet.Job{Repository: "https://host/team/project.git", Board: "kanban.yaml", Attributes: true})
	if !b.IsWorkflowCompleted() {
		b.Fatal("the workflow has not ended")
	}
	return e, errors.Join(b.GetWorkflowError(), b.GetWorkflowResult(&e))
}

func (b *board) pauses(want ...time.Duration) {
	b.Helper()
	if len(b.at) != len(want)+1 {
		b.Fatalf("there were %d runs, not %d", len(b.at), len(want)+1)
	}
	for i, w := range want {
		if got := b.at[i+1] - b.at[i]; got < w || got > w+time.Second {
			b.Errorf("run %d began %v after the one before, not %v", i+2, got, w)
		}
	}
}

var complete = fleet.Result{Outcome: fleet.Complete, Text: "the board is complete", Steps: 3, Cost: 0.25}

func TestComplete(t *testing.T) {
	b := newBoard(t, complete)
	if e, err := b.run(); err != nil || e != complete {
		t.Errorf("%+v, %v", e, err)
	}
}

// A usage limit is a timer until its end; one without an end is asked about
// every quarter of an hour.
func TestLater(t *testing.T) {
	until := time.Now().Add(3 * time.Hour)
	b := newBoard(t, fleet.Result{Outcome: fleet.Later, Until: until.UTC().Format(time.RFC3339)}, fleet.Result{Outcome: fleet.Later}, complete)
	b.SetStartTime(until.Add(-2 * time.Hour).Truncate(time.Second))
	if _, err := b.run(); err != nil {
		t.Fatal(err)
	}
	if got := b.at[1] - b.at[0]; got < 2*time.Hour || got > 2*time.Hour+10*time.Second {
		t.Errorf("the limit was waited for for %v", got)
	}
	if got := b.at[2] - b.at[1]; got < 15*time.Minute || got > 16*time.Minute {
		t.Errorf("a limit without an end was waited for for %v", got)
	}
}

// A board that needs a person waits for a decision, however long, and the next run gets it. What
// was sent before belongs to no question.
func TestDecision(t *testing.T) {
	for _, outcome := range []string{fleet.NeedsPerson, fleet.Incomplete, fleet.Frozen} {
		b := newBoard(t, fleet.Result{Outcome: fleet.Interrupted}, fleet.Result{Outcome: outcome, Text: "which colour?; more", Asks: "which colour?", Steps: 2, Code: 3}, complete)
		b.RegisterDelayedCallback(func() { b.SignalWorkflow(fleet.AckSignal, fleet.Decision{Choice: "accept"}) }, time.Second)
		b.RegisterDelayedCallback(func() {
			b.SignalWorkflow(fleet.AckSignal, fleet.Decision{Choice: "retry", Note: "blue"})
		}, 30*24*time.Hour)
		if _, err := b.run(); err != nil {
			t.Fatal(err)
		}
		want := fleet.Decision{Choice: "retry", Note: "blue", Steps: 2, Question: "which colour?"}
		if len(b.calls) != 3 || b.calls[1].Decision != nil || b.calls[2].Decision == nil || *b.calls[2].Decision != want {
			t.Errorf("%s: the runs got %+v", outcome, b.calls)
		}
	}
}

// A run that was interrupted goes on at once, as often as it takes.
func TestInterrupted(t *testing.T) {
	var results []fleet.Result
	for range 20 {
		results = append(results, fleet.Result{Outcome: fleet.Interrupted})
	}
	b := newBoard(t, append(results, complete)...)
	if _, err := b.run(); err != nil {
		t.Fatal(err)
	}
	if b.at[20] > time.Minute {
		t.Errorf("20 runs took %v", b.at[20])
	}
}

// Runs that fail without finishing a step are repeated three times, with longer and longer pauses;
// a step in between begins anew.
func TestTries(t *testing.T) {
	fail := func(outcome string, steps int) fleet.Result {
		return fleet.Result{Outcome: outcome, Text: "disk full", Steps: steps}
	}
	b := newBoard(t, fail(fleet.Failed, 1), fail(fleet.Owned, 1), fail(fleet.Killed, 1), fail(fleet.Failed, 2), fail(fleet.Failed, 2), fail(fleet.Failed, 2), fail(fleet.Failed, 2))
	_, err := b.run()
	failed := (*temporal.ApplicationError)(nil)
	if !errors.As(err, &failed) || failed.Type() != fleet.Failed || failed.Message() != "disk full" {
		t.Fatalf("it ended with %v", err)
	}
	b.pauses(20*time.Second, 40*time.Second, 80*time.Second, 20*time.Second, 40*time.Second, 80*time.Second)
}

// What no other run mends ends the workflow, with what the run said.
func TestFailure(t *testing.T) {
	for _, outcome := range []string{"invalid", "exhausted", "limit_reached"} {
		b := newBoard(t, fleet.Result{Outcome: outcome, Text: "no such role"})
		_, err := b.run()
		failed := (*temporal.ApplicationError)(nil)
		if !errors.As(err, &failed) || failed.Type() != outcome || failed.Message() != "no such role" || !failed.NonRetryable() {
			t.Errorf("%s: it ended with %v", outcome, err)
		}
	}
}

func TestCancel(t *testing.T) {
	b := newBoard(t, fleet.Result{Outcome: fleet.NeedsPerson})
	b.RegisterDelayedCallback(b.CancelWorkflow, time.Hour)
	if _, err := b.run(); !temporal.IsCanceledError(err) {
		t.Errorf("it ended with %v", err)
	}
}
