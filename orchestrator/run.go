package orchestrator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"kanban-run/orchestrator/attempt"
	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/briefing"
	"kanban-run/orchestrator/claim"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/failpoint"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/gitstore"
	"kanban-run/orchestrator/health"
	"kanban-run/orchestrator/inbox"
	"kanban-run/orchestrator/ledger"
	"kanban-run/orchestrator/preflight"
	"kanban-run/orchestrator/rundir"
	"kanban-run/orchestrator/watch"
	"kanban-run/orchestrator/workspace"
)

// run is one board's run. One goroutine owns it, its ledger and its workspace.
type run struct {
	*preflight.Prepared
	ledger *ledger.Ledger
	dir    rundir.Dir
	stop   context.Context
	kill   context.Context
	slots  slots
	mail   *inbox.Watcher
	crowd  *health.Crowd
	desk   *claim.Desk

	briefing *briefing.Briefing // of the supervisor; nil: there is none
	minutes  *minutes           // what DECISIONS.md is to say; nil: there is none
	resident *attempt.Resident  // its program, if that stays
	crowded  bool               // other boards are worked on in the same folder

	tree   workspace.Tree // of the files before the supervisor looked at them, in its step
	treeOf int            // that step

	accounts attempt.Accounts // of the open step's sessions
	watched  attempt.Accounts // of the supervisor's
	input    contract.Input   // of the call that inputOf names
	inputOf  flow.AttemptRef
	inbox    <-chan struct{}    // has a value when a message is left; nil before the first look
	unheard  []flow.MessageSent // by the attempt that an earlier run left open
	accepted []flow.Call        // whose streams are emptied once their replies are on disk
	stored   storedTasks        // the list of tasks that was stored last
	said     string             // by the last task agent
	opened   time.Time          // when the open step began; zero if in an earlier run
	paused   time.Duration      // since then, by Ctrl-Z

	store    *gitstore.Store // of the board's checkpoints; nil: it has none
	storeErr error           // why there are no more

	elsewhere bool // the journal is that of a run in another clone

	held    *claim.Held // the task of the step, and the files that it declares
	claimed claimed

	steps  int       // finished in this run
	used   flow.Used // by the attempts of this run
	warned bool      // a limit of cost cannot hold; see warnOfCost
	near   []string  // what was said of limits that are nearly used
}

// loop is seed 004's supervisor_loop, "State Machine": read the board, decide, act, again. Package
// flow decides; an error leaves the run resumable.
func (r *run) loop() (flow.Finish, error) {
	for {
		b, view, err := r.readBoard()
		if err = cmp.Or(err, r.noteLoss()); err != nil {
			return flow.Finish{}, err
		}
		switch e := flow.Next(*r.ledger.State(), view).(type) {
		case flow.Spawn:
			r.warnOfLimits()
			err = r.spawn(e, b)
		case flow.Reassign:
			err = r.reassign(e)
		case flow.SuspectLoop:
			err = r.suspectLoop(e, b)
		case flow.WriteBoard:
			err = r.writeBoard(b)
		case flow.GiveUpCheckpoint:
			err = r.giveUpCheckpoint(e.Reason)
		case flow.EndBoard:
			err = r.endBoard(b)
		case flow.Finish:
			return e, nil
		}
		if err = cmp.Or(err, context.Cause(r.stop)); err != nil {
			return flow.Finish{}, err
		}
		if err = cmp.Or(r.writeDecisions(), r.ledger.DrawState()); err != nil {
			return flow.Finish{}, err
		}
	}
}

// readBoard reads the board, the source of truth in every round (seed 004, "Communication Model"),
// and journals a change that was made in another turn than the Manager's. The board is nil when it
// is frozen.
func (r *run) readBoard() (b *board.Board, view flow.Board, err error) {
	step := r.ledger.State().Step
	b, err = r.Workspace.Read(step)
	if step != nil && step.Before == nil && errors.Is(err, fs.ErrNotExist) && r.OnDivergence == "accept" {
		b, err = r.putBackRemoved(step, err)
	}
	sha := ""
	if err == nil {
		sha = b.SHA
	} else {
		sha = r.Workspace.SHA()
	}
	known := sha != "" || outcomeOf(err) == flow.Invalid // otherwise this machine could not read it
	if step != nil && step.Before == nil && known && sha != step.BoardSHA {
		if err := r.ledger.Record(r.divergence(step, sha, err)); err != nil {
			return nil, view, err
		}
	}
	if r.ledger.State().Frozen != nil {
		return nil, flow.Board{SHA: sha}, nil
	}
	if err != nil {
		return nil, view, err
	}
	view, err = r.view(b)
	if err != nil && r.ledger.State().Supervisor.Waits() != "" { // which is the first to be mended
		return b, workspace.Bare(b), nil
	}
	return b, view, err
}

// putBackRemoved puts a board back that an agent removed, and journals that. Without its earlier
// bytes the board is missing.
func (r *run) putBackRemoved(step *flow.Step, missing error) (*board.Board, error) {
	if _, err := workspace.Before(r.dir, step.BoardSHA); err != nil {
		return nil, missing
	}
	text := fmt.Sprintf("STATE_DIVERGENCE: %s was removed while %s was at work on %s; its earlier bytes are put back from %s",
		r.Board, step.Role, step.Task, r.dir.Before())
	err := r.ledger.Record(flow.StateDiverged{Source: flow.SourceBoard, Step: step.Number, Task: step.Task, Before: step.BoardSHA, After: step.BoardSHA,
		Policy: r.OnDivergence, Text: text})
	if err == nil {
		err = r.Workspace.PutBack(step.BoardSHA)
	}
	if err != nil {
		return nil, err
	}
	return r.Workspace.Read(step)
}

func (r *run) divergence(step *flow.Step, sha string, unreadable error) flow.StateDiverged {
	text := fmt.Sprintf("STATE_DIVERGENCE: %s changed while %s was at work on %s; only the Manager's turn may change it (earlier bytes: %s)",
		r.Board, step.Role, step.Task, r.dir.Before())
	if unreadable != nil {
		text += "; it cannot be read any more"
	}
	return flow.StateDiverged{Source: flow.SourceBoard, Step: step.Number, Task: step.Task, Before: step.BoardSHA, After: sha, Policy: r.OnDivergence, Text: text}
}

// view is the part of the board that flow decides by, with the roles of this run.
func (r *run) view(b *board.Board) (flow.Board, error) {
	return r.Workspace.View(b, r.ledger.State(), func(role string) (string, error) {
		p, err := r.Player(role)
		if err != nil {
			return "", err
		}
		return p.Role.Name, nil
	})
}

// spawn starts one program and waits for its end. The intent is on disk before the program starts,
// the outcome before anything follows from it.
func (r *run) spawn(e flow.Spawn, b *board.Board) error {
	if waited, err := r.claimTask(e); err != nil || waited {
		return err
	}
	c, err := r.prepareCall(e, b)
	if err != nil {
		return err
	}
	if err := r.ledger.Record(c.intent); err != nil {
		return err
	}
	failpoint.At("intent-durable")
	r.sweep(c)
	r.lookAround(c)
	c.began = r.Now()
	a := attempt.Start(c.spec)
	w := r.startWatch(c, a)
	drawErr := r.waitForAgent(c, a, w)
	failpoint.At("agent-gone")
	r.Workspace.Forget()
	endErr := w.End()
	return errors.Join(r.recordOutcome(c, a), endErr, drawErr)
}

// waitForAgent returns when the agent has ended. The end of stop asks it to, the end of kill kills
// it. If the agent takes longer than a moment, state.md says that it is at work. The error is of
// state.md or of the journal.
func (r *run) waitForAgent(c *call, a *attempt.Attempt, w *watch.Watch) (err error) {
	r.slots.release()
	defer r.slots.acquire()
	draw, post := r.drawTimer(), time.NewTimer(postDelay)
	defer draw.Stop()
	defer post.Stop()
	defer w.Stop()
	gone := r.supervisorGone(c)
	for stop, kill := r.stop.Done(), r.kill.Done(); ; {
		select {
		case <-a.Done():
			w.Dismiss()
			return err
		case v := <-w.Judged:
			err = errors.Join(err, r.withSlot(func() error { return w.OnVerdict(v) }))
		case <-gone:
			err = errors.Join(err, r.withSlot(r.noteLoss))
			gone = nil
		case <-draw.C:
			err = errors.Join(err, r.withSlot(r.ledger.DrawState))
		case <-w.C:
			err = errors.Join(err, r.withSlot(w.Check))
		case sign := <-c.signs:
			err = errors.Join(err, r.withSlot(func() error { return w.OnSign(sign) }))
		case <-post.C:
			r.openInbox()
			err = errors.Join(err, r.withSlot(w.Deliver))
		case <-r.inbox:
			err = errors.Join(err, r.withSlot(w.Deliver))
		case <-stop:
			a.Stop()
			stop = nil
		case <-kill:
			a.Kill()
			kill = nil
		}
	}
}

// startWatch watches the agent of a call.
func (r *run) startWatch(c *call, a *attempt.Attempt) *watch.Watch {
	return watch.Start(watch.Run{Prepared: r.Prepared, Ledger: r.ledger, Dir: r.dir, Crowd: r.crowd, Stop: r.stop, Kill: r.kill, Charge: r.used.Add},
		watch.Agent{AttemptRef: c.AttemptRef, Program: a, Player: c.player, Duty: c.duty, Listens: c.spec.Invocation.Listens, Signs: c.signs})
}

func (r *run) withSlot(act func() error) error {
	r.slots.acquire()
	defer r.slots.release()
	return act()
}

// drawTimer says when state.md is to be drawn.
func (r *run) drawTimer() *time.Timer {
	wait, behind := r.ledger.DrawIn()
	t := time.NewTimer(wait)
	if !behind {
		t.Stop()
	}
	return t
}

// start opens the run in the journal, and closes what an earlier run left open that no longer fits
// the board. All of it is on disk with the first intent, before any act.
func (r *run) start() error {
	state := r.ledger.State()
	b, err := r.Workspace.Read(state.Step)
	if err != nil {
		return err
	}
	withheld, err := r.withheld(b)
	if err != nil {
		return err
	}
	supervision, looker, err := r.supervision()
	if err != nil {
		return err
	}
	begun := flow.RunStarted{Board: r.Board, Workdir: r.Dir(), Version: r.Version, Limits: r.Limits,
		OnDivergence: r.OnDivergence, Tasks: b.Len(), Withheld: withheld, Strict: r.Strict, Supervision: supervision, Reassign: r.Reassign}
	if looker != nil {
		begun.Memory, begun.Adapter = looker.Memory(), looker.Adapter.Name()
	}
	if !state.Spent {
		begun.Carried = state.Used
	}
	if err := r.ledger.Append(begun); err != nil {
		return err
	}
	if err := r.closeTalk(); err != nil {
		return err
	}
	bare := workspace.Bare(b)
	if err := flow.Release(state, bare, r.Workspace.TaskSHA, r.ledger.Append); err != nil {
		return err
	}
	if err := flow.Reopen(state, bare, func() (flow.Board, error) { return r.view(b) }, r.ledger.Append); err != nil {
		return err
	}
	return r.restartWithoutInput(b)
}

// restartWithoutInput starts the open call afresh if its stored input is missing or changed.
func (r *run) restartWithoutInput(b *board.Board) error {
	step := r.ledger.State().Step
	if step == nil || step.Reply != nil || step.Input == nil {
		return nil
	}
	_, err := r.restoreInput(step)
	if !errors.Is(err, rundir.ErrNotStored) {
		return err
	}
	return r.ledger.Append(flow.CallRestarted{Step: step.Number, Task: step.Task, BoardSHA: b.SHA, Reason: err.Error()})
}

// withheld names the variables that agents do not get. A board that is over needs no agent: a
// Manager that cannot be started is no error then.
func (r *run) withheld(b *board.Board) ([]string, error) {
	p, err := r.Player(flow.ManagerRole)
	if err != nil && b.Terminal() && r.ledger.State().Step == nil {
		return nil, nil
	}
	if err != nil {
		return nil, &failure.Invalid{Err: err}
	}
	return p.Withheld, nil
}
