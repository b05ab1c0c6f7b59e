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
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/gitstore"
	"kanban-run/orchestrator/projection"
	"kanban-run/orchestrator/trust"
)

// Result is the end of a board's run. Its JSON is a part of the last line that the command
// "run --json" prints. The package of that command sets Hint and Code.
type Result struct {
	Board   string        `json:"board"`
	Outcome event.Outcome `json:"outcome"`
	Text    string        `json:"text"`

	Remarked bool   `json:"-"` // see flow.Finish
	Undone   string `json:"-"` // the same
	// Said is the reply of the last task agent, or the last line on stderr of an attempt without a
	// valid reply. It is "" unless the outcome is needs_person or incomplete.
	Said  string     `json:"said,omitempty"`
	Hint  string     `json:"hint,omitempty"` // next action of a person
	Steps int        `json:"steps"`          // steps finished in this run
	Used  flow.Tally `json:"used"`           // use by the attempts of this run
	// Until is the time from which the provider accepts calls again, in RFC 3339. It is "" if the
	// provider names no time, or if the outcome is not "later".
	Until string `json:"until,omitempty"`
	Code  int    `json:"exit_code"` // exit code for this board

	// Unpushed is the branch whose checkpoints may be missing on the remote; "" if none is missing
	// or no remote is used.
	Unpushed  string `json:"unpushed,omitempty"`
	Unreached string `json:"unpushed_reason,omitempty"` // why the remote may lack them, in git's words
	// Unsaved reports that the last checkpoint failed. The work since the last successful
	// checkpoint is only in this clone.
	Unsaved bool `json:"unsaved,omitempty"`

	Again   bool           `json:"-"` // the board has had earlier runs
	Lenient bool           `json:"-"` // the outcome "incomplete" is no failure
	Log     string         `json:"-"` // path of supervisor-log.md; "" where no person can read it
	Command *event.Command `json:"-"` // command line of the run; nil: not known
	Err     error          `json:"-"` // error that ended the run; nil after an interruption or at an end without an error
	Exit    int            `json:"-"` // exit code of an interruption; 0: it follows from the outcome
	// Question is what a person may decide about the board; nil if nothing is known.
	Question *projection.Question `json:"-"`
}

// Explain sets the outcome and the text of a run that ended with err, with its exit code after an
// interruption, and otherwise Until and Err. If err is nil, it changes nothing.
func (r *Result) Explain(stop context.Context, err error) {
	if err == nil {
		return
	}
	end := Of(stop, err)
	r.Outcome, r.Exit = end.Outcome, end.Exit
	if r.Outcome == event.Interrupted {
		r.Text = context.Cause(stop).Error()
		return
	}
	r.Text, r.Until, r.Err = oneLine(err), end.Until, err
}

// End returns how the run ended, in the form of package flow.
func (r *Result) End() flow.Finish {
	return flow.Finish{Outcome: r.Outcome, Text: r.Text, Remarked: r.Remarked}
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
	end := event.RunInterrupted{Outcome: outcomeOf(stop, err), Reason: err.Error(), By: byOf(err), Exit: exitOf(err),
		Hint: cmp.Or(failure.HintOf(err), durable.MachineHint(err)), Changed: errors.As(err, new(*trust.ChangedError))}
	var later *agent.LaterError
	if end.Outcome == event.Later && errors.As(err, &later) && !later.Reset.IsZero() {
		end.Until = later.Reset.UTC().Format(time.RFC3339)
	}
	return end
}

func outcomeOf(stop context.Context, err error) event.Outcome {
	switch {
	case stop.Err() != nil && errors.Is(err, context.Cause(stop)):
		return event.Interrupted
	case errors.As(err, new(*agent.LimitError)):
		return event.LimitReached
	case durable.IsMachineFault(err):
		return event.Failed // precedes the errors below, because a lack of memory may cause them
	case errors.As(err, new(*gitstore.SecretError)), errors.As(err, new(*trust.ChangedError)):
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
	case errors.As(err, new(*gitstore.KilledError)):
		return event.ByKilled
	default:
		return ""
	}
}

// exitOf returns the exit code of a run that a signal ended, or 0.
func exitOf(err error) int {
	var signal interface{ SignalExit() int }
	if errors.As(err, &signal) {
		return signal.SignalExit()
	}
	return 0
}
