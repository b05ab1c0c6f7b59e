package orchestrator

import (
	"cmp"
	"errors"
	"maps"
	"path/filepath"
	"strings"

	"kanban-run/orchestrator/attempt"
	"kanban-run/orchestrator/call"
	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/journal"
	"kanban-run/orchestrator/projection"
	"kanban-run/orchestrator/result"
	"kanban-run/orchestrator/rundir"
	"kanban-run/orchestrator/trust"
	"kanban-run/orchestrator/watch"
)

// runInto runs the loop to its end, and sets res.
func (l *loop) runInto(res *result.Result) error {
	var end flow.Finish
	err := l.start()
	if err == nil {
		end, err = l.run()
	}
	err = errors.Join(err, l.dismiss())
	if f := l.ledger.State().Frozen; err == nil && f != nil {
		end = flow.Finish{Outcome: f.Outcome(), Text: f.Text}
	}
	res.Outcome, res.Text, err = l.conclude(end, err)
	res.Unpushed, res.Unreached, res.Unsaved = l.carrier.Unpushed(), l.carrier.Unreached(), l.carrier.IsUnsaved()
	res.Lenient = l.job.DryRun // no agent writes the task files that are missing
	res.Again = l.again
	res.Steps, res.Used = l.caller.Steps(), flow.Tally{Used: l.used}
	if !l.job.DryRun {
		res.Question = l.question()
	}
	if said := cmp.Or(l.caller.Said(), l.caller.Printed()); len(l.ledger.State().Asides()) == 0 && (res.Outcome == event.NeedsPerson || res.Outcome == event.Incomplete) && !strings.Contains(res.Text, said) {
		res.Said = said
	}
	return err
}

// conclude journals how the loop ended. After an error of the loop the next run can go on. conclude
// commits before anything can fail, because an accepted reply must survive a later error.
func (l *loop) conclude(end flow.Finish, err error) (event.Outcome, string, error) {
	if moved := l.hold.Anchor.Check(); moved != nil {
		if l.moved = true; !errors.As(err, new(*rundir.MovedError)) {
			err = moved
		}
		return event.Failed, err.Error(), err // nothing is written any more
	}
	behind := l.beginEnd()
	uncommitted := l.ledger.Commit()
	if uncommitted == nil {
		l.caller.EmptyStreams()
	}
	err = errors.Join(err, uncommitted)
	if durable.MachineHint(uncommitted) != "" {
		if kept := l.keepOutput(); kept != "" {
			err = &rundir.KeptError{Err: err, Kept: kept}
		}
	}
	if errors.Is(err, journal.ErrForeignWrite) {
		return "", "", l.ledger.ResolveForeignWrite(err, l.keepOutput())
	}
	if err == nil {
		// What an agent brought about by itself is told in its own words.
		if printed := l.caller.Printed(); end.Outcome == event.Exhausted && printed != "" && !strings.Contains(end.Text, printed) {
			end.Text += "; it said on stderr: " + printed
		}
		l.supervisor.WarnOfUnheld(end)
		if p := l.ledger.State().Proposal(end); p != nil {
			err = l.ledger.Append(*p)
		}
		finished := event.RunFinished{Board: l.job.Board, Outcome: end.Outcome, Text: end.Text, By: end.By, Steps: l.caller.Steps(), Marks: l.marks.Leave(), Behind: l.toldBehind(behind)}
		err = errors.Join(err, l.decisions.Save(), l.decisions.Foresee(finished), l.ledger.Finish(finished), l.carrier.RecordEvents())
		if err == nil {
			l.decisions.Close()
			err = l.finishEnd(behind)
		}
		return end.Outcome, end.Text, err
	}
	outcome := result.OutcomeOf(l.stop, err)
	note := l.ledger.Finish(event.RunInterrupted{Board: l.job.Board, Outcome: outcome, Reason: err.Error(), By: result.ByOf(err), Exit: result.ExitOf(err), Hint: hintOf(err),
		Changed: errors.As(err, new(*trust.ChangedError)), Until: result.Until(outcome, err), Waited: l.member.CutWait(), Quarantined: l.caller.Quarantined(), Marks: l.marks.Leave(), Behind: l.toldBehind(behind)})
	note = errors.Join(note, l.carrier.RecordEvents())
	if note == nil {
		note = l.finishEnd(behind)
	}
	return outcome, err.Error(), errors.Join(err, note)
}

// keepOutput keeps the output that is not journaled in a folder that no run empties, and returns the
// path of the folder. It returns "" if there is no output.
func (l *loop) keepOutput() string {
	output := l.folder.Outputs()
	maps.Copy(output, l.caller.Unwritten())
	if len(output) == 0 {
		return ""
	}
	kept, err := l.hold.Anchor.Keep(output, l.job.Now())
	if err != nil {
		l.job.Observer.Notice(l.job.Board, "the output of the last attempt is not kept: "+err.Error())
	}
	return kept
}

// rescue ends an attempt whose end cannot be journaled, because the folder of the run is not there any
// more, and keeps what the agent has printed. It returns moved.
func (l *loop) rescue(a *call.Attempt, p *attempt.Attempt, w *watch.Watch, moved error) error {
	a.EndSigns()
	_ = w.End() // the run ends for another reason
	output := l.caller.Rescue(a, p)
	l.member.Charge()
	var why *rundir.MovedError
	if errors.As(moved, &why) && why.Path != filepath.Dir(l.workspace.Path) {
		moved = errors.Join(moved, l.divergence.PutBackEnd())
	}
	if len(output) == 0 {
		return moved
	}
	kept, lost := l.hold.Anchor.Keep(output, l.job.Now())
	switch {
	case why != nil:
		why.Kept, why.Lost = kept, lost
	case kept != "":
		moved = &rundir.KeptError{Err: moved, Kept: kept}
	}
	return moved
}

// question returns what a person may decide about the board, or nil if nothing is known.
func (l *loop) question() *projection.Question {
	b, err := l.workspace.Look()
	return l.ledger.Question(l.job.Board, b, err)
}

// hintOf returns what mends an error, or "".
func hintOf(err error) string { return cmp.Or(failure.HintOf(err), durable.MachineHint(err)) }
