package orchestrator

import (
	"errors"
	"path/filepath"

	"kanban-run/orchestrator/attempt"
	"kanban-run/orchestrator/call"
	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/gitstore"
	"kanban-run/orchestrator/guard"
	"kanban-run/orchestrator/journal"
	"kanban-run/orchestrator/result"
	"kanban-run/orchestrator/rundir"
	"kanban-run/orchestrator/watch"
)

// runInto runs the loop to its end, and sets how it ended. Errors: what ended the run, also where the journal has
// it, and what failed behind its end.
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
	res.Begun, res.Undone = l.started, end.Undone
	err = l.conclude(end, err, res)
	res.End.Unsaved, res.Folded = l.carrier.IsUnsaved(), l.ledger.Folded()
	return err
}

// conclude journals how the loop ended. After an error of the loop the next run can go on. conclude
// commits before anything can fail, because an accepted reply must survive a later error.
func (l *loop) conclude(end flow.Finish, err error, res *result.Result) error {
	if moved := l.hold.Anchor.Check(); moved != nil {
		if l.moved = true; !errors.As(err, new(*rundir.MovedError)) {
			err = moved
		}
		return err // nothing is written any more
	}
	turn, behind := l.beginEnd()
	uncommitted := l.ledger.Commit()
	if uncommitted == nil {
		l.caller.EmptyStreams()
	}
	err = errors.Join(err, uncommitted)
	if durable.MachineHint(uncommitted) != "" {
		err = rundir.WithKept(err, l.hold.KeepOutput(l.caller.Unrecorded(), l.job))
	}
	if errors.Is(err, journal.ErrForeignWrite) {
		return l.ledger.ResolveForeignWrite(err, l.hold.KeepOutput(l.caller.Unrecorded(), l.job))
	}
	var late error // what fails behind the record of the end, or instead of it
	if err == nil {
		late = l.finish(end, behind, res)
	} else {
		late = l.interrupt(err, behind, res)
	}
	if late == nil && !l.carrier.IsUnsaved() {
		late = l.finishEnd(turn)
	}
	res.Journaled = late == nil && !l.ledger.State().Running
	return errors.Join(err, late)
}

// finish journals that the run is over.
func (l *loop) finish(end flow.Finish, behind string, res *result.Result) (err error) {
	l.supervisor.WarnOfUnheld(end)
	if p := l.ledger.State().Proposal(end); p != nil {
		err = l.ledger.Append(*p)
	}
	res.End = event.RunInterrupted{Outcome: end.Outcome, Reason: end.Text, By: end.By}
	finished := event.RunFinished{Board: l.job.Board, Outcome: end.Outcome, Text: end.Text, By: end.By, Remarked: &end.Remarked, Steps: l.caller.Steps(), Behind: behind, Uncommitted: l.caller.Uncommitted()}
	err = errors.Join(err, l.decisions.Save(), l.decisions.Foresee(finished), l.ledger.Finish(finished), l.carrier.RecordEvents())
	if err == nil {
		l.decisions.Close()
	}
	return err
}

// interrupt journals that the run ended with an error, and is to be continued. Errors: those of the journal. An
// error of a checkpoint that the journal has is none.
func (l *loop) interrupt(err error, behind string, res *result.Result) error {
	res.Explain(l.stop, err)
	end := res.End
	end.Board, end.Waited, end.Quarantined, end.Behind, end.Unsaved, end.Uncommitted = l.job.Board, l.member.CutWait(), l.caller.Quarantined(), behind, l.carrier.IsUnsaved(), l.caller.Uncommitted()
	failed := errors.Join(l.ledger.Finish(end), l.carrier.RecordEvents())
	if end.Unsaved && !l.ledger.State().Running {
		return nil
	}
	return failed
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

// dismiss asks the resident supervisor to shut down, at the end of the run.
func (l *loop) dismiss() error {
	if l.hold.Anchor.Check() != nil {
		return l.supervisor.Close()
	}
	if !l.supervisor.IsAsked() {
		return l.supervisor.Dismiss()
	}
	turn := l.guards.BeginOurs("the supervisor of "+l.job.Board, " shut down")
	return errors.Join(l.supervisor.Dismiss(), l.guards.EndOurs(turn))
}

// beginEnd opens the turn of the programs that hear of the end of the run: a checkpoint is pushed with its
// hooks, and commands send notifications. An agent may have written any of them. If none hears of the end,
// it returns nil. behind is the SHA-256 of the board if a record of their end follows.
func (l *loop) beginEnd() (turn *guard.Turn, behind string) {
	isPushed := l.carrier.Branch() != ""
	if b, err := l.workspace.Look(); l.job.Drain == nil && !isPushed {
		if err == nil {
			l.divergence.Leave(b)
		}
		return nil, ""
	}
	if turn = l.guards.BeginOurs(l.carrier.Hearers(), " ran"); l.job.Drain != nil && turn != nil && l.ledger.State().Frozen == nil {
		behind = turn.Board.SHA
	}
	return turn, behind
}

// finishEnd waits for the programs that hear of the end. What they did to the board is put back,
// as what an agent does in its turn.
func (l *loop) finishEnd(turn *guard.Turn) error {
	if turn == nil {
		return nil
	}
	if l.job.Drain != nil {
		l.job.Drain(l.stop)
	}
	err := l.guards.EndOurs(turn)
	var again *guard.Turn
	if l.job.Drain != nil && l.ledger.State().Frozen == nil {
		err = errors.Join(err, l.ledger.Append(event.BoardLeft{Board: l.job.Board, BoardSHA: l.workspace.SHA()}))
		if l.carrier.Branch() != "" { // the checkpoint with this record starts the hooks again
			again = l.guards.BeginOurs(gitstore.Hook, " ran")
		}
	}
	return errors.Join(err, l.ledger.Commit(), l.carrier.RecordEvents(), l.guards.EndOurs(again))
}
