package orchestrator

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/claim"
	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/gitstore"
	"kanban-run/orchestrator/journal"
)

// Result is how a run of one board ended. Err is set for the outcomes invalid, owned, later and
// failed, and says why.
type Result struct {
	Board   string
	Outcome flow.Outcome
	Text    string
	Said    string    // with outcome needs_person: the reply of the last task's agent, if this run had one
	Steps   int       // steps finished in this run
	Used    flow.Used // by the attempts of this run
	Log     string    // path of supervisor-log.md
	Until   string    // with outcome later: when the provider wants to be asked again, in RFC 3339; "" when it does not say
	Err     error
	Signal  error     // with outcome interrupted: the cause of the stop context
	Ways    flow.Ways // with outcome needs_person: what a person can do

	Unpushed string // the branch whose checkpoints the remote does not have; "" where it has them, or is to have none
	Unsaved  bool   // the last checkpoint could not be made: what came after the one before is in this clone only
}

// runInto runs the loop, and says in res what it came to.
func (l *loop) runInto(res *Result) error {
	var end flow.Finish
	err := l.start()
	if err == nil {
		end, err = l.run()
	}
	err = errors.Join(err, l.supervisor.Dismiss())
	res.Outcome, res.Text, err = l.conclude(end, err)
	res.Unpushed, res.Unsaved = l.carrier.Unpushed(), l.carrier.IsUnsaved()
	res.Steps, res.Used, res.Ways = l.steps, l.Used, l.State().Ways()
	if said := l.outcomes.Said(); res.Outcome == flow.NeedsPerson && !strings.Contains(res.Text, said) {
		res.Said = said
	}
	return err
}

// explain sets the outcome of a run that ended with an error.
func (res *Result) explain(stop context.Context, err error) {
	switch {
	case err == nil:
	case stop.Err() != nil && errors.Is(err, context.Cause(stop)):
		res.Outcome, res.Text, res.Signal = flow.Interrupted, "interrupted", context.Cause(stop)
	default:
		res.Outcome, res.Text, res.Err = outcomeOf(err), oneLine(err), err
		res.Until = until(res.Outcome, err)
	}
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

// conclude journals how the loop ended. After an error of the loop the run stays resumable. What
// was appended is committed first: an accepted reply must not be lost to a later failure.
func (l *loop) conclude(end flow.Finish, err error) (flow.Outcome, string, error) {
	uncommitted := l.Ledger.Commit()
	if uncommitted == nil {
		l.outcomes.EmptyStreams()
	}
	err = errors.Join(err, uncommitted)
	if errors.Is(err, journal.ErrForeignWrite) {
		return "", "", l.Ledger.ResolveForeignWrite(err)
	}
	if err == nil {
		l.supervisor.WarnOfUnheld(end)
		if p := l.State().Proposal(end); p != nil {
			err = l.Ledger.Append(*p)
		}
		err = errors.Join(err, l.minutes.Save(), l.Ledger.Finish(flow.RunFinished{Board: l.Board, Outcome: end.Outcome, Text: end.Text, Steps: l.steps}))
		if err == nil {
			l.minutes.Close()
		}
		return end.Outcome, end.Text, err
	}
	outcome := outcomeOf(err)
	if l.Stop.Err() != nil && errors.Is(err, context.Cause(l.Stop)) {
		outcome = flow.Interrupted
	}
	note := l.Ledger.Finish(flow.RunInterrupted{Board: l.Board, Outcome: outcome, Reason: err.Error(), Until: until(outcome, err), Quarantined: l.quarantined()})
	return outcome, err.Error(), errors.Join(err, note)
}

// outcomeOf is the outcome of a run that an error ended.
func outcomeOf(err error) flow.Outcome {
	switch {
	case errors.As(err, new(*agent.LimitError)):
		return flow.LimitReached
	case durable.IsOutOfResources(err):
		return flow.Failed // first: a lack of files or memory makes other errors
	case errors.As(err, new(*gitstore.SecretError)):
		return flow.NeedsPerson
	case errors.As(err, new(*gitstore.UnfitError)):
		return flow.Invalid
	case errors.As(err, new(*durable.HeldError)), errors.As(err, new(*claim.TakenError)), errors.As(err, new(*gitstore.AheadError)):
		return flow.Owned
	case errors.As(err, new(*failure.Frozen)):
		return flow.Frozen
	case errors.As(err, new(*failure.Invalid)):
		return flow.Invalid
	case errors.As(err, new(*agent.LaterError)):
		return flow.Later
	default:
		return flow.Failed
	}
}

// until is the time from which the provider accepts calls again, in RFC 3339; "" where it names
// none or did not end the run.
func until(o flow.Outcome, err error) string {
	var later *agent.LaterError
	if o != flow.Later || !errors.As(err, &later) || later.Reset.IsZero() {
		return ""
	}
	return later.Reset.UTC().Format(time.RFC3339)
}
