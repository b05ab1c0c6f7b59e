package orchestrator

import (
	"cmp"
	"errors"
	"strings"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/journal"
	"kanban-run/orchestrator/result"
	"kanban-run/orchestrator/standing"
)

// runInto runs the loop to its end, and sets res.
func (l *loop) runInto(res *result.Result) error {
	var end flow.Finish
	err := l.start()
	if err == nil {
		end, err = l.run()
	}
	err = errors.Join(err, l.supervisor.Dismiss())
	res.Outcome, res.Text, err = l.conclude(end, err)
	res.Unpushed, res.Unsaved = l.carrier.Unpushed(), l.carrier.IsUnsaved()
	res.Lenient = l.job.Lenient || l.job.DryRun // in a dry run no agent writes the task files that are missing
	res.Steps, res.Used = l.caller.Steps(), flow.Tally{Used: l.used}
	if !l.job.DryRun {
		res.Waits = l.waits()
	}
	if said := cmp.Or(l.caller.Said(), l.caller.Printed()); len(l.ledger.State().Asides()) == 0 && (res.Outcome == event.NeedsPerson || res.Outcome == event.Incomplete) && !strings.Contains(res.Text, said) {
		res.Said = said
	}
	return err
}

// conclude journals how the loop ended. After an error of the loop the next run can go on. conclude
// commits before anything can fail, because an accepted reply must survive a later error.
func (l *loop) conclude(end flow.Finish, err error) (event.Outcome, string, error) {
	uncommitted := l.ledger.Commit()
	if uncommitted == nil {
		l.caller.EmptyStreams()
	}
	err = errors.Join(err, uncommitted)
	if errors.Is(err, journal.ErrForeignWrite) {
		return "", "", l.ledger.ResolveForeignWrite(err)
	}
	if err == nil {
		l.supervisor.WarnOfUnheld(end)
		if p := l.ledger.State().Proposal(end); p != nil {
			err = l.ledger.Append(*p)
		}
		finished := event.RunFinished{Board: l.job.Board, Outcome: end.Outcome, Text: end.Text, Steps: l.caller.Steps(), Marks: l.marks.Leave()}
		err = errors.Join(err, l.decisions.Save(), l.decisions.Foresee(finished), l.ledger.Finish(finished))
		if err == nil {
			l.decisions.Close()
		}
		return end.Outcome, end.Text, err
	}
	outcome := result.OutcomeOf(l.stop, err)
	note := l.ledger.Finish(event.RunInterrupted{Board: l.job.Board, Outcome: outcome, Reason: err.Error(),
		Until: result.Until(outcome, err), Waited: l.cutWait, Quarantined: l.caller.Quarantined(), Marks: l.marks.Leave()})
	return outcome, err.Error(), errors.Join(err, note)
}

// waits returns the decision for which the board waits, or nil if none is known.
func (l *loop) waits() *standing.Waits {
	b, err := l.workspace.Look()
	return l.ledger.Waits(l.job.Board, b, err)
}
