package orchestrator

import (
	"cmp"
	"context"
	"errors"
	"time"

	"kanban-run/orchestrator/attempt"
	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/call"
	"kanban-run/orchestrator/claim"
	"kanban-run/orchestrator/decisions"
	"kanban-run/orchestrator/failpoint"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/gitstore"
	"kanban-run/orchestrator/outcome"
	"kanban-run/orchestrator/run"
	"kanban-run/orchestrator/supervisor"
	"kanban-run/orchestrator/watch"
)

// loop is the loop of one board's run, with all that it works with.
type loop struct {
	*run.Run
	shared shared

	caller     *call.Caller
	outcomes   *outcome.Recorder
	supervisor *supervisor.Supervisor
	claims     *claim.Holder
	minutes    *decisions.Minutes
	carrier    *gitstore.Carrier

	inbox   <-chan struct{} // has a value when a message is left; nil before the first look
	unheard watch.Unheard
}

// run is seed 004's supervisor_loop, "State Machine": read the board, decide, act, again. Package
// flow decides; an error leaves the run resumable.
func (l *loop) run() (flow.Finish, error) {
	for {
		b, view, err := l.readBoard()
		if err = cmp.Or(err, l.supervisor.NoteLoss()); err != nil {
			return flow.Finish{}, err
		}
		switch e := flow.Next(l.State(), view).(type) {
		case flow.Spawn:
			err = l.spawn(e, b)
		case flow.Walk:
			err = l.walk(e, b)
		case flow.Reassign:
			err = l.reassign(e)
		case flow.SuspectLoop:
			err = l.suspectLoop(e, b)
		case flow.WriteBoard:
			err = l.writeBoard(b)
		case flow.GiveUpCheckpoint:
			err = l.supervisor.GiveUp(e.Reason)
		case flow.EndBoard:
			err = l.supervisor.EndBoard(b)
		case flow.Finish:
			return e, nil
		}
		if err = cmp.Or(err, context.Cause(l.Stop)); err != nil {
			return flow.Finish{}, err
		}
		if err = cmp.Or(l.minutes.Save(), l.Ledger.DrawState()); err != nil {
			return flow.Finish{}, err
		}
	}
}

// spawn starts one program and waits for its end. The intent is on disk before the program starts,
// the outcome before anything follows from it.
func (l *loop) spawn(e flow.Spawn, b *board.Board) error {
	l.outcomes.WarnOfLimits()
	if waited, err := l.claims.Take(e); err != nil || waited {
		return err
	}
	player, err := l.caller.Player(e)
	if err != nil {
		return err
	}
	if l.State().Step == nil {
		if err := l.openStep(e, b); err != nil {
			return err
		}
	}
	c, err := l.caller.Prepare(e, player, b)
	if err != nil {
		return err
	}
	if err := l.Ledger.Record(c.Intent); err != nil {
		return err
	}
	failpoint.At("intent-durable")
	l.outcomes.Sweep(c)
	l.supervisor.LookAround(c.Spawn)
	c.Began = l.Now()
	a := attempt.Start(c.Spec)
	w := l.startWatch(c, a)
	waitErr := l.waitForAgent(c, a, w)
	failpoint.At("agent-gone")
	l.Workspace.Forget()
	endErr := w.End()
	return errors.Join(l.outcomes.Record(c, a, l.endTurn), endErr, waitErr)
}

// postDelay is when the inbox is looked at for the first time in an attempt:
// most stubs are over by then.
const postDelay = 300 * time.Millisecond

// waitForAgent returns when the agent has ended. The end of stop asks it to, the end of kill kills
// it. If the agent takes longer than a moment, state.md says that it is at work. The error is of
// state.md or of the journal.
func (l *loop) waitForAgent(c *call.Ready, a *attempt.Attempt, w *watch.Watch) (err error) {
	l.Slots.Release()
	defer l.Slots.Acquire()
	draw, post := l.drawTimer(), time.NewTimer(postDelay)
	defer draw.Stop()
	defer post.Stop()
	defer w.Stop()
	gone := l.supervisor.Gone(c.Call)
	for stop, kill := l.Stop.Done(), l.Kill.Done(); ; {
		var do func() error
		select {
		case <-a.Done():
			w.Dismiss()
			return err
		case v := <-w.Judged:
			do = func() error { return w.OnVerdict(v) }
		case <-gone:
			do, gone = l.supervisor.NoteLoss, nil
		case <-draw.C:
			do = l.Ledger.DrawState
		case <-w.C:
			do = w.Check
		case sign := <-c.Signs:
			do = func() error { return w.OnSign(sign) }
		case <-post.C:
			l.openInbox()
			do = w.Deliver
		case <-l.inbox:
			do = w.Deliver
		case <-stop:
			a.Stop()
			stop = nil
			continue
		case <-kill:
			a.Kill()
			kill = nil
			continue
		}
		if failed := l.Slots.With(do); failed != nil {
			err = errors.Join(err, failed)
			a.Stop() // its reply could not be journaled either
		}
	}
}

// startWatch watches the agent of a call.
func (l *loop) startWatch(c *call.Ready, a *attempt.Attempt) *watch.Watch {
	return watch.Start(l.Run, l.shared.crowd, watch.Agent{AttemptRef: c.AttemptRef, Program: a, Player: c.Player, Duty: c.Duty,
		Listens: c.Spec.Invocation.Listens, Signs: c.Signs})
}

// drawTimer says when state.md is to be drawn.
func (l *loop) drawTimer() *time.Timer {
	wait, behind := l.Ledger.DrawIn()
	t := time.NewTimer(wait)
	if !behind {
		t.Stop()
	}
	return t
}

// openInbox watches the inbox of the board. Where that cannot be, messages are found
// with the checks of the watch.
func (l *loop) openInbox() {
	if l.inbox != nil || l.DryRun {
		return
	}
	if l.Folder.MakeInbox() == nil {
		l.inbox = l.shared.mail.Watch(l.Folder.Inbox())
	}
}
