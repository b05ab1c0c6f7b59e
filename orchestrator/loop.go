package orchestrator

import (
	"cmp"
	"context"
	"errors"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/attempt"
	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/call"
	"kanban-run/orchestrator/claim"
	"kanban-run/orchestrator/clone"
	"kanban-run/orchestrator/decisions"
	"kanban-run/orchestrator/divergence"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failpoint"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/gitstore"
	"kanban-run/orchestrator/guard"
	"kanban-run/orchestrator/land"
	"kanban-run/orchestrator/ledger"
	"kanban-run/orchestrator/pool"
	"kanban-run/orchestrator/preflight"
	"kanban-run/orchestrator/run"
	"kanban-run/orchestrator/rundir"
	"kanban-run/orchestrator/supervisor"
	"kanban-run/orchestrator/trust"
	"kanban-run/orchestrator/watch"
	"kanban-run/orchestrator/workspace"
)

// loop is the loop of one board's run, with all its parts. One goroutine owns it.
type loop struct {
	job       *preflight.Prepared
	hold      *run.Hold
	folder    rundir.Dir
	ledger    *ledger.Ledger
	workspace *workspace.Workspace
	stop      context.Context // when it is done, agents are asked to end
	kill      context.Context // when it is done, agents are killed
	used      event.Used      // time, tokens and cost of this run's attempts so far
	started   bool            // the journal has the beginning of this run
	moved     bool            // the folder of the run is not there any more, so nothing is written
	pool      *pool.Pool
	member    *pool.Member // this run in the pool

	caller     *call.Caller
	divergence *divergence.Keeper
	supervisor *supervisor.Supervisor
	claims     *claim.Holder
	trust      *trust.Keeper
	guards     *guard.List
	decisions  *decisions.Log
	carrier    *gitstore.Carrier
	clone      *clone.Keeper
	land       land.Options

	watching    watch.Turn
	undelivered watch.Undelivered
}

// run reads the board, lets package flow decide, acts, and begins again (seed 004, "State Machine",
// supervisor_loop). After an error the next run goes on from the journal.
func (l *loop) run() (flow.Finish, error) {
	for {
		if err := l.hold.Anchor.Check(); err != nil {
			return flow.Finish{}, err
		}
		b, view, err := l.readBoard()
		if err = cmp.Or(err, l.supervisor.RecordLoss(), l.carrier.RecordEvents()); err != nil {
			return flow.Finish{}, err
		}
		switch e := flow.Next(l.ledger.State(), view).(type) {
		case flow.Spawn:
			err = l.spawn(e, b)
		case flow.Walk:
			err = l.walk(e.Spawn, b)
		case flow.Reassign:
			err = l.ledger.Record(l.ledger.State().Reassigned(e))
		case flow.SuspectLoop:
			err = l.suspectLoop(e, b)
		case flow.SetAside:
			err = l.setAside(e)
		case flow.Keep:
			err = l.clone.Keep(e.DueWork)
		case flow.Land:
			l.trust.ForgetClone()
			err = l.pool.Seats.Without(func() error { return land.Board(l.stop, l.kill, l.land) })
		case flow.WriteBoard:
			err = l.writeBoard(b)
		case flow.GiveUpCheckpoint:
			err = l.supervisor.GiveUp(e.Reason)
		case flow.EndBoard:
			err = l.supervisor.EndBoard(b)
		case flow.Wait:
			err = l.member.Wait(e.ProviderWait)
		case flow.GiveUpWaiting:
			err = &agent.LaterError{Text: e.Text, Reset: e.Until, Busy: e.Busy, Model: e.Model, Lacks: e.Lacks}
		case flow.Finish:
			return e, l.trust.RefuseEnd(e)
		}
		if errors.As(err, new(*trust.ReviewError)) {
			return flow.Finish{Outcome: event.NeedsPerson, By: event.ByReview, Text: err.Error()}, nil
		}
		if err = cmp.Or(err, context.Cause(l.stop)); err != nil {
			return flow.Finish{}, err
		}
		if err = cmp.Or(l.decisions.Save(), l.ledger.DrawState()); err != nil {
			return flow.Finish{}, err
		}
	}
}

// spawn starts one program and waits for its end. The intent is on disk before the program starts,
// and the outcome is on disk before the next act.
func (l *loop) spawn(e flow.Spawn, b *board.Board) error {
	l.caller.WarnOfLimits()
	// Before the waits: a board that is removed meanwhile is brought back from these bytes.
	if err := l.divergence.KeepBefore(b); err != nil {
		return err
	}
	if waited, err := l.claims.Take(e); err != nil || waited {
		return err
	}
	player, err := l.caller.Player(e)
	if err != nil {
		return err
	}
	refused := l.trust.Refuse(e.Task, player)
	if refused != nil && !l.isPassedOver(refused, e) {
		return refused
	}
	if l.ledger.State().Step == nil {
		if err := l.openStep(e, b); err != nil {
			return err
		}
	}
	if refused != nil {
		return l.setAside(flow.SetAside{Step: e.Step, Task: e.Task, Role: e.Role, Status: flow.StatusChanged, Reason: refused.Error()})
	}
	permit, waited, err := l.member.AwaitProvider(e, player.Provider(), player.Model())
	if err != nil || waited {
		return err
	}
	defer permit.GiveBack()
	a, err := l.caller.Prepare(e, player, b)
	if err == nil {
		err = l.attempt(a, b, permit)
	}
	permit.GiveBack() // another board may ask while this one waits for its tool
	return l.member.AwaitTool(e, l.caller.IsAway(e, err), err)
}

// attempt starts the program of an attempt and waits for its end. It notes whether the provider has
// served the call.
func (l *loop) attempt(a *call.Attempt, b *board.Board, permit *pool.Permit) (err error) {
	if restarted, err := l.caller.RestartUpgraded(a, b); restarted || err != nil {
		return err
	}
	step := l.ledger.State().Step
	turn := &guard.Turn{Turn: guard.Of(step, l.job.Board, l.workspace.Path), Ref: a.Ref(), Player: a.Player, Board: b,
		IsManager: a.Intent.Before != nil || step.Before != nil}
	if a.Intent.Note, err = l.guards.Begin(turn); err != nil || l.ledger.State().Frozen != nil {
		return err
	}
	a.Intent.Marks = l.divergence.Marks()
	if err := l.ledger.Record(a.Intent); err != nil {
		return errors.Join(err, l.caller.NotStarted(a))
	}
	failpoint.At("intent-durable")
	a.Spec.Emit, a.Spec.Invocation.Held = permit.WatchService(a.Spec.Emit), l.claims.File()
	p := l.caller.Start(a)
	w := watch.Start(l.watching, watch.Agent{AttemptRef: a.Ref(), Program: p, Player: a.Player, Duty: a.Duty,
		Listens: a.Spec.Invocation.Listens, Signs: a.Signs})
	waitErr := l.waitForAgent(a, p, w)
	failpoint.At("agent-gone")
	if moved := l.hold.Anchor.Check(); moved != nil {
		return l.rescue(a, p, w, moved)
	}
	l.workspace.Forget()
	l.ledger.ShowSigns("")
	a.EndSigns()
	endErr := w.End()
	state := l.ledger.State()
	err = errors.Join(l.caller.Settle(a, p, func(named []string) error { turn.Named = named; return l.guards.End(turn) }), endErr, waitErr, l.divergence.EndWork(state.Step))
	l.member.Charge()
	if wait := state.NextWait(); wait != nil {
		permit.Refused(*wait)
	} else if state.Refused == nil { // some agents emit no event from which WatchService can see this
		permit.Serves()
	}
	return err
}

// postDelay is the time from the start of an attempt until the inbox is opened. Most stub agents
// end earlier, and need no inbox.
const postDelay = 300 * time.Millisecond

// waitForAgent returns when the agent has ended. When the context stop is done, the agent is asked
// to end. When the context kill is done, the agent is killed. If the agent takes longer than a
// moment, state.md shows the agent, and then what happens while it works. Errors: those of writing
// state.md or the journal.
func (l *loop) waitForAgent(a *call.Attempt, p *attempt.Attempt, w *watch.Watch) (err error) {
	draw, post := l.ledger.DrawTimer(), time.NewTimer(postDelay)
	defer draw.Stop()
	defer post.Stop()
	defer w.Close()
	exited := l.supervisor.Exited(a.Intent.Call)
	for stop, kill := l.stop.Done(), l.kill.Done(); ; {
		var do func() error
		select {
		case <-p.Done():
			w.Dismiss()
			return err
		case g := <-w.Judged:
			do = func() error { return w.OnJudgement(g) }
		case <-exited:
			do, exited = l.supervisor.RecordLoss, nil
		case <-draw.C:
			do = l.ledger.DrawState
		case <-w.C:
			do = func() error { return l.check(w) }
		case sign := <-a.Signs:
			do = func() error { return w.OnSign(sign) }
		case <-post.C:
			l.member.OpenInbox()
			do = w.Deliver
		case <-l.member.Mail():
			do = w.Deliver
		case <-stop:
			p.Stop()
			stop = nil
			continue
		case <-kill:
			p.Kill()
			kill = nil
			continue
		}
		if failed := do(); failed != nil {
			err = errors.Join(err, failed)
			p.Stop() // the journal could not take the agent's reply either
		}
		if wait, behind := l.ledger.DrawIn(); behind {
			draw.Reset(wait)
		}
	}
}

// check looks at the agent, and has state.md show what was seen.
func (l *loop) check(w *watch.Watch) error {
	err := w.Check()
	l.ledger.ShowSigns(w.Signs())
	return err
}
