// Package result says how a run of one board ended, and which outcome an error comes to.
package result

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/claim"
	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/gitstore"
)

// Result is how a run of one board ended. Err is set for the outcomes invalid, owned, later and
// failed, and says why.
type Result struct {
	Board   string
	Outcome event.Outcome
	Text    string
	Said    string     // with outcome needs_person: the reply of the last task's agent, if this run had one
	Steps   int        // steps finished in this run
	Used    event.Used // by the attempts of this run
	Log     string     // path of supervisor-log.md
	// with outcome later: when the provider wants to be asked again, in RFC 3339; "" when it does not say
	Until   string
	Err     error
	Signal  error        // with outcome interrupted: the cause of the stop context
	Choices flow.Choices // with outcome needs_person: what a person can do

	Unpushed string // the branch whose checkpoints the remote does not have; "" where it has them, or is to have none
	Unsaved  bool   // the last checkpoint could not be made: what came after the one before is in this clone only
}

// Explain sets the outcome of a run that ended with an error.
func (r *Result) Explain(stop context.Context, err error) {
	if err == nil {
		return
	}
	r.Outcome = OutcomeOf(stop, err)
	if r.Outcome == event.Interrupted {
		r.Text, r.Signal = "interrupted", context.Cause(stop)
		return
	}
	r.Text, r.Until, r.Err = oneLine(err), Until(r.Outcome, err), err
}

// oneLine joins the texts of joined errors, each once: a full disk fails several acts alike.
func oneLine(err error) string {
	var said []string
	for line := range strings.SplitSeq(err.Error(), "\n") {
		if !slices.Contains(said, line) {
			said = append(said, line)
		}
	}
	return strings.Join(said, "; ")
}

// OutcomeOf is the outcome of a run that an error ended; the cause of stop makes an interruption.
func OutcomeOf(stop context.Context, err error) event.Outcome {
	switch {
	case stop.Err() != nil && errors.Is(err, context.Cause(stop)):
		return event.Interrupted
	case errors.As(err, new(*agent.LimitError)):
		return event.LimitReached
	case durable.IsOutOfResources(err):
		return event.Failed // first: a lack of files or memory makes other errors
	case errors.As(err, new(*gitstore.SecretError)):
		return event.NeedsPerson
	case errors.As(err, new(*gitstore.UnfitError)):
		return event.Invalid
	case errors.As(err, new(*durable.HeldError)), errors.As(err, new(*claim.TakenError)),
		errors.As(err, new(*gitstore.AheadError)):
		return event.Owned
	case errors.As(err, new(*failure.Frozen)):
		return event.Frozen
	case errors.As(err, new(*failure.Invalid)):
		return event.Invalid
	case errors.As(err, new(*agent.LaterError)):
		return event.Later
	default:
		return event.Failed
	}
}

// Until is the time from which the provider accepts calls again, in RFC 3339; "" where it names
// none, or where the outcome is another than later.
func Until(o event.Outcome, err error) string {
	var later *agent.LaterError
	if o != event.Later || !errors.As(err, &later) || later.Reset.IsZero() {
		return ""
	}
	return later.Reset.UTC().Format(time.RFC3339)
}
