package orchestrator

import (
	"cmp"
	"errors"
	"path/filepath"

	"kanban-run/orchestrator/attempt"
	"kanban-run/orchestrator/call"
	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/event"
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
	res.Remarked, res.Undone = end.Remarked, end.Undone
	res.Unpushed, res.Unreached, res.Unsaved = l.carrier.Unpushed(), l.carrier.Unreached(), l.carrier.IsUnsaved()
	res.Lenient = l.job.DryRun // no agent writes the task files that are missing
	res.Again = l.again
	res.Steps, res.Used = l.caller.Steps(), flow.Tally{Used: l.used}
	if !l.job.DryRun {
		res.Question = l.question()
	}
	if said := cmp.Or(l.caller.Said(), l.caller.Printed()); len(l.ledger.State().Asides()) == 0 && (res.Outcome == event.NeedsPerson || res.Outcome == event.Incomplete) && !end.Quotes {
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
	l.divergence.Leave()
	uncommitted := l.ledger.Commit()
	if uncommitted == nil {
		l.caller.EmptyStreams()
	}
	err = errors.Join(err, uncommitted)
	if durable.MachineHint(uncommitted) != "" {
		err = rundir.WithKept(err, l.keepOutput())
	}
	if errors.Is(err, journal.ErrForeignWrite) {
		return "", "", l.ledger.ResolveForeignWrite(err, l.keepOutput())
	}
	if err == nil {
		// What an agent brought about by itself is told in its own words.
		if printed := l.caller.Printed(); end.Outcome == event.Exhausted && printed != "" && !end.Quotes {
			end.Text += "; it said on stderr: " + printed
		}
		l.supervisor.WarnOfUnheld(end)
		if p := l.ledger.State().Proposal(end); p != nil {
			err = l.ledger.Append(*p)
		}
		finished := event.RunFinished{Board: l.job.Board, Outcome: end.Outcome, Text: end.Text, By: end.By, Remarked: &end.Remarked, Steps: l.caller.Steps(), Behind: l.toldBehind(behind)}
		err = errors.Join(err, l.decisions.Save(), l.decisions.Foresee(finished), l.ledger.Finish(finished), l.carrier.RecordEvents())
		if err == nil {
			l.decisions.Close()
			err = l.finishEnd(behind)
		}
		return end.Outcome, end.Text, err
	}
	outcome := result.OutcomeOf(l.stop, err)
	note := l.ledger.Finish(event.RunInterrupted{Board: l.job.Board, Outcome: outcome, Reason: err.Error(), By: result.ByOf(err), Exit: result.ExitOf(err), Hint: result.HintOf(err),
		Changed: errors.As(err, new(*trust.ChangedError)), Until: result.Until(outcome, err), Waited: l.member.CutWait(), Quarantined: l.caller.Quarantined(), Behind: l.toldBehind(behind)})
	note = errors.Join(note, l.carrier.RecordEvents())
	if note == nil {
		note = l.finishEnd(behind)
	}
	return outcome, err.Error(), errors.Join(err, note)
}

// keepOutput keeps the output that is not journaled in a folder that no run empties, and returns the
// path of the folder. It returns "" if there is no output.
func (l *loop) keepOutput() string {
	output := l.caller.Unrecorded()
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
	if why := (*rundir.MovedError)(nil); errors.As(moved, &why) && why.Path != filepath.Dir(l.workspace.Path) {
		moved = errors.Join(moved, l.divergence.PutBackEnd())
	}
	return l.hold.Anchor.KeepFor(moved, output, l.job.Now())
}

// question returns what a person may decide about the board, or nil if nothing is known.
func (l *loop) question() *projection.Question {
	b, err := l.workspace.Look()
	return l.ledger.Question(l.job.Board, b, err)
}

// dismiss asks the resident supervisor to shut down, at the end of the run.
func (l *loop) dismiss() error {
	switch {
	case l.hold.Anchor.Check() != nil:
		return l.supervisor.Close()
	case !l.supervisor.IsAsked():
		return l.supervisor.Dismiss()
	default:
		return l.divergence.During(l.supervisor.Dismiss, "was changed while the run waited for its supervisor to shut down")
	}
}

// beginEnd keeps the board as it is at the end of the run, and returns its SHA-256, if programs hear
// of the end: a checkpoint is pushed with its hooks, and commands send notifications. An agent may have
// written any of them. If none hears of the end, beginEnd returns "".
func (l *loop) beginEnd() string {
	if l.job.DryRun || l.job.Drain == nil && l.carrier.Branch() == "" {
		return ""
	}
	l.trust.BeginProgram(l.carrier.Branch() != "")
	return l.divergence.Keep()
}

// hearers are the programs that hear of the end of a run.
const hearers = "hooks of git or commands for notifications"

// toldBehind returns the SHA-256 of the board for the record of the end. It is "" if no command hears
// of the end, for then no record of their end follows.
func (l *loop) toldBehind(sha string) string {
	if l.job.Drain == nil {
		return ""
	}
	return sha
}

// finishEnd waits for the programs that hear of the end. What they did to the board is put back,
// as what an agent does in its turn. The board had the given SHA-256.
func (l *loop) finishEnd(sha string) error {
	if sha == "" {
		return nil
	}
	if l.job.Drain != nil {
		l.job.Drain(l.stop)
	}
	const while = "while " + hearers + " ran"
	if err := errors.Join(l.divergence.MarksBehind(while), l.trust.End(nil)); err != nil {
		return err
	}
	sha, text, err := l.divergence.PutBackBehind(sha, while)
	if err != nil || text == "" && l.job.Drain == nil {
		return err
	}
	left := event.BoardLeft{Board: l.job.Board, BoardSHA: sha, Text: text}
	if err := errors.Join(l.ledger.Append(left), l.ledger.Commit(), l.carrier.RecordEvents()); err != nil {
		return err
	}
	_, _, err = l.divergence.PutBackBehind(sha, while) // the checkpoint with this record has started the hooks again
	return err
}
