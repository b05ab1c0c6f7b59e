// Package result holds the end of a board's run, and chooses the outcome for an error.
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
	"kanban-run/orchestrator/gitstore"
	"kanban-run/orchestrator/standing"
)

// Result is the end of a board's run. Err is the error that ended the run; nil after an
// interruption and at an end without an error.
type Result struct {
	Board   string
	Outcome event.Outcome
	Text    string
	Said    string     // with outcome needs_person: the last task's reply, if this run had one
	Lenient bool       // with outcome incomplete: that is no failure
	Steps   int        // steps finished in this run
	Used    event.Used // by the attempts of this run
	Log     string     // path of supervisor-log.md
	// Until is, with outcome later, the time from which the provider accepts calls again, in RFC
	// 3339; "" if it names no time.
	Until  string
	Err    error
	Signal error // with outcome interrupted: the signal or other cause of the stop
	// Waits is the decision that the board waits for; nil: none is known.
	Waits *standing.Waits

	// Unpushed is the branch of which the remote may lack checkpoints; "" if it has all of them or
	// no remote is used.
	Unpushed string
	// Unsaved reports that the last checkpoint failed, so the work since the checkpoint before is
	// only in this clone.
	Unsaved bool
}

// Explain sets the outcome and the text of a run that ended with err, and Until and Err, or Signal
// after an interruption. If err is nil, it changes nothing.
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

// oneLine joins the lines of an error's text, each once: with a full disk several acts fail with
// one text.
func oneLine(err error) string {
	var said []string
	for line := range strings.SplitSeq(err.Error(), "\n") {
		if !slices.Contains(said, line) {
			said = append(said, line)
		}
	}
	return strings.Join(said, "; ")
}

// OutcomeOf returns the outcome of a run that ended with err. It is an interruption if stop has
// ended and err wraps the cause of that.
func OutcomeOf(stop context.Context, err error) event.Outcome {
	switch {
	case stop.Err() != nil && errors.Is(err, context.Cause(stop)):
		return event.Interrupted
	case errors.As(err, new(*agent.LimitError)):
		return event.LimitReached
	case durable.IsOutOfResources(err):
		return event.Failed // before the cases below: a lack of files or memory causes those errors too
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

// Until returns the time from which the provider accepts calls again, in RFC 3339; "" if it names
// no time, or for another outcome than later.
func Until(o event.Outcome, err error) string {
	var later *agent.LaterError
	if o != event.Later || !errors.As(err, &later) || later.Reset.IsZero() {
		return ""
	}
	return later.Reset.UTC().Format(time.RFC3339)
}
