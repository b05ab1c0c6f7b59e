// Package result holds the end of a board's run, and chooses the outcome for an error.
package result

import (
	"cmp"
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
	"kanban-run/orchestrator/ledger"
	"kanban-run/orchestrator/rundir"
	"kanban-run/orchestrator/trust"
)

// Result is the end of a board's run in this process.
type Result struct {
	Board string
	// End is how the run ended. It is the record in the journal of the board, or one that no journal has:
	// of a run that was refused, whose journal cannot be written, or of a dry run.
	End       event.RunInterrupted
	Journaled bool           // the journal has End
	Begun     bool           // the journal has the beginning of the run
	Command   *event.Command // command line of the run; nil: not known
	Folded    *ledger.Folded // the journal as the run left it; nil: it is to be read
	Undone    string         // what a dry run leaves undone, see flow.Finish
	Err       error          // error that ended the run; nil after an interruption or at an end without an error
}

// Explain sets the end of a run that ended with err, and Err. If err is nil, it changes nothing.
func (r *Result) Explain(stop context.Context, err error) {
	if err == nil {
		return
	}
	unsaved := r.End.Unsaved
	r.End, r.Journaled = Of(stop, err), false
	if r.End.Unsaved = unsaved; r.End.Outcome != event.Interrupted {
		r.Err = err
	}
}

// oneLine joins the lines of an error's text, without repeated lines. On a full disk several acts
// fail with the same text.
func oneLine(err error) string {
	var said []string
	for line := range strings.SplitSeq(err.Error(), "\n") {
		if !slices.Contains(said, line) {
			said = append(said, line)
		}
	}
	return strings.Join(said, "; ")
}

// Of returns the record of a run that ended with err. The outcome is event.Interrupted if the context named
// stop has ended and err wraps the cause of that end. Board, and what only the run knows, are not set.
func Of(stop context.Context, err error) event.RunInterrupted {
	end := event.RunInterrupted{Outcome: outcomeOf(stop, err), Reason: oneLine(err), By: byOf(err), Exit: exitOf(err),
		Changed: errors.As(err, new(*trust.ChangedError)), Clone: asksOfClone(err)}
	if end.Outcome == event.Interrupted {
		end.Reason = context.Cause(stop).Error()
		return end
	}
	var later *agent.LaterError
	if end.Outcome == event.Later && errors.As(err, &later) && !later.Reset.IsZero() {
		end.Until = later.Reset.UTC().Format(time.RFC3339)
	}
	if !errors.As(err, new(*durable.HeldError)) { // a view names the board in question
		end.Hint = HintOf(err)
	}
	if saysHow := errors.As(err, new(interface{ Resumes() })) || durable.MachineHint(err) != ""; end.Outcome == event.Failed && !saysHow {
		end.Hint = cmp.Or(end.Hint, "mend that") + "; then the same command goes on"
	}
	return end
}

// HintOf returns what a person can do about an error, or "".
func HintOf(err error) string {
	if errors.As(err, new(*rundir.KeptError)) {
		return failure.HintOf(err)
	}
	if durable.IsMachineFault(err) {
		return durable.MachineHint(err)
	}
	return cmp.Or(failure.HintOf(err), durable.OwnerHint(err), durable.MachineHint(err))
}

func outcomeOf(stop context.Context, err error) event.Outcome {
	switch {
	case stop.Err() != nil && errors.Is(err, context.Cause(stop)):
		return event.Interrupted
	case errors.As(err, new(*agent.LimitError)):
		return event.LimitReached
	case durable.IsMachineFault(err):
		return event.Failed // precedes the errors below, because a lack of memory may cause them
	case errors.As(err, new(*gitstore.SecretError)), errors.As(err, new(*trust.ChangedError)), asksOfClone(err) != nil:
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

// byOf returns what ended a run with an error, or "" if that follows from the outcome.
func byOf(err error) event.By {
	switch {
	case errors.As(err, new(*gitstore.SecretError)):
		return event.BySecret
	case errors.As(err, new(*trust.ChangedError)):
		return event.ByChanged
	case asksOfClone(err) != nil:
		return event.ByClone
	case errors.As(err, new(*gitstore.KilledError)):
		return event.ByKilled
	default:
		return ""
	}
}

// asksOfClone returns what an error asks about a clone, or nil.
func asksOfClone(err error) *event.CloneAsks {
	var asks interface{ AsksOfClone() event.CloneAsks }
	if !errors.As(err, &asks) {
		return nil
	}
	about := asks.AsksOfClone()
	return &about
}

// exitOf returns the exit code of a run that a signal ended, or 0.
func exitOf(err error) int {
	var signal interface{ SignalExit() int }
	if errors.As(err, &signal) {
		return signal.SignalExit()
	}
	return 0
}
