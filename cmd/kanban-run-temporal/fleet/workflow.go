package fleet

import (
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// Boards has the workflow of a board as its method Board.
type Boards struct {
	// Lease is the time without a heartbeat after which the worker of a run counts as lost, and
	// another worker gets the board.
	Lease time.Duration
}

// longest bounds the duration of a run. A year is enough, because heartbeats detect a lost run.
const longest = 365 * 24 * time.Hour

// Times between runs.
const (
	soon      = 2 * time.Second  // after a worker was stopped, or lost
	laterPoll = 15 * time.Minute // after a usage limit without a known end
	slack     = 5 * time.Second  // after the end of a usage limit, because clocks differ
	leastWait = 30 * time.Second // shortest wait after a usage limit, even if the limit has ended
)

// mostTries is the number of failed runs after which a board is given up. A finished step resets
// the count. A run also counts as failed if another run owns the board.
const mostTries = 4

// progress counts the runs of a board and the failed runs in succession.
type progress struct {
	runs  int // number of runs that have ended
	steps int // number of finished steps when a run last failed
	tries int // number of failed runs since the last finished step
}

// Board runs a board until it is complete. It waits for a usage limit to end and for a person's
// decisions. Errors: a non-retryable ApplicationError whose type is the outcome of the last run, or
// the error of the activity or of a cancelled workflow.
func (b Boards) Board(ctx workflow.Context, job Job) (Result, error) {
	var p progress
	var decision *Decision
	for {
		if err := p.note(ctx, job, Result{Outcome: Running, Text: "a worker runs it, or is waited for"}); err != nil {
			return Result{}, err
		}
		result, err := b.run(ctx, Call{job, decision})
		if err != nil {
			return result, errors.Join(err, p.note(ctx, job, resultOf(err)))
		}
		p.runs++
		if err := p.note(ctx, job, result); err != nil {
			return result, err
		}
		decision = nil
		switch pause := p.pause(workflow.Now(ctx), result); {
		case result.Outcome == Complete, result.Outcome == Incomplete && result.Code == 0:
			return result, nil
		case AsksPerson(result.Outcome):
			d, err := awaitDecision(ctx)
			if err != nil {
				return result, errors.Join(err, p.note(ctx, job, resultOf(err)))
			}
			d.Steps, d.Question = result.Steps, result.Asks
			decision = &d
		case pause > 0:
			if err := workflow.Sleep(ctx, pause); err != nil {
				return result, errors.Join(err, p.note(ctx, job, resultOf(err)))
			}
		default:
			return result, temporal.NewNonRetryableApplicationError(result.Text, result.Outcome, nil, result)
		}
		if workflow.GetInfo(ctx).GetContinueAsNewSuggested() && decision == nil {
			return result, workflow.NewContinueAsNewError(ctx, WorkflowType, job)
		}
	}
}

// resultOf returns the result to show for an error of the activity or of the workflow.
func resultOf(err error) Result {
	refused := (*temporal.ApplicationError)(nil)
	switch {
	case temporal.IsCanceledError(err):
		return Result{Outcome: Stopped, Text: "the workflow was cancelled"}
	case errors.As(err, &refused):
		return Result{Outcome: Invalid, Text: refused.Message()}
	default:
		return Result{Outcome: Stopped, Text: err.Error()}
	}
}

// run lets a worker run the board once, and returns the end of that run.
func (b Boards) run(ctx workflow.Context, call Call) (result Result, err error) {
	summary := "run " + call.Board
	if call.Decision != nil {
		summary += ", decided: " + call.Decision.Choice
	}
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		Summary:             summary,
		StartToCloseTimeout: longest,
		HeartbeatTimeout:    b.Lease,
		WaitForCancellation: true,
		RetryPolicy:         &temporal.RetryPolicy{InitialInterval: soon, MaximumInterval: 15 * time.Second},
	})
	err = workflow.ExecuteActivity(ctx, RunActivity, call).Get(ctx, &result)
	return result, err
}

// pause returns the time until the next run, or 0 if the board does not go on by itself. It also
// counts the failed runs.
func (p *progress) pause(now time.Time, e Result) time.Duration {
	switch e.Outcome {
	case Interrupted:
		return soon
	case Later:
		until, err := time.Parse(time.RFC3339, e.Until)
		if err != nil {
			return laterPoll
		}
		return max(until.Sub(now)+slack, leastWait)
	case Owned, Failed, Killed:
		if e.Steps > p.steps {
			p.steps, p.tries = e.Steps, 0
		}
		if p.tries++; p.tries >= mostTries {
			return 0
		}
		return 10 * time.Second << p.tries
	default:
		return 0
	}
}

// note shows the state of a board in the workflow's memo, details and search attributes.
func (p *progress) note(ctx workflow.Context, job Job, e Result) error {
	if err := workflow.UpsertMemo(ctx, map[string]any{
		OutcomeMemo: e.Outcome,
		TextMemo:    e.Text,
		HintMemo:    e.Hint,
		RunsMemo:    p.runs,
	}); err != nil {
		return err
	}
	details := "**" + e.Outcome + "**: " + e.Text
	if e.Said != "" {
		details += "\n\n> " + e.Said
	}
	if AsksPerson(e.Outcome) {
		details += fmt.Sprintf("\n\n    kanban-run-temporal submit --ack=WORD %s %s\n\n%s", job.Repository,
			job.Board, e.Hint)
	}
	workflow.SetCurrentDetails(ctx, details)
	if !job.Attributes {
		return nil
	}
	updates := []temporal.SearchAttributeUpdate{OutcomeAttribute.ValueSet(e.Outcome)}
	if e.Outcome != Running && e.Outcome != Stopped {
		updates = append(updates, CostAttribute.ValueSet(e.Cost), StepAttribute.ValueSet(int64(e.Steps)))
	}
	return workflow.UpsertTypedSearchAttributes(ctx, updates...)
}

// awaitDecision waits for a decision. It drops the decisions that came before the board waited,
// because they answer an earlier question.
func awaitDecision(ctx workflow.Context) (d Decision, err error) {
	signals := workflow.GetSignalChannel(ctx, AckSignal)
	for signals.ReceiveAsync(&d) {
		workflow.GetLogger(ctx).Warn("a decision came before the board waited for one; it is left out",
			"choice", d.Choice)
		d = Decision{}
	}
	workflow.NewSelector(ctx).
		AddReceive(signals, func(c workflow.ReceiveChannel, _ bool) { c.Receive(ctx, &d) }).
		AddReceive(ctx.Done(), func(workflow.ReceiveChannel, bool) { err = ctx.Err() }).
		Select(ctx)
	return d, err
}
