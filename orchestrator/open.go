package orchestrator

import (
	"context"
	"errors"
	"slices"

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
	"kanban-run/orchestrator/supervisor"
	"kanban-run/orchestrator/trust"
	"kanban-run/orchestrator/watch"
	"kanban-run/orchestrator/workspace"
)

// open takes the folder, the lock and the journal of the board. The function release gives them
// back and is never nil.
func open(stop, kill context.Context, p *preflight.Prepared, ahead run.Ahead, begun *divergence.Begun, all *pool.Pool, tree *trust.Tree) (
	l *loop, release func() error, err error,
) {
	hold, err := run.Take(p, ahead)
	if err != nil {
		return nil, hold.Close, err
	}
	l = &loop{job: p, hold: hold, folder: hold.Folder, workspace: p.Workspace, stop: stop, kill: kill, pool: all}
	l.ledger = ledger.New(p.Board, l.folder, p.Observer, p.Redactor, p.Now)
	if err := l.assemble(begun, tree); err != nil {
		return nil, hold.Close, hold.EndAllLeftovers(err)
	}
	l.ledger.Durable = l.carrier.Save
	l.ledger.Listen(l.supervisor.Note)
	l.ledger.Listen(l.decisions.Note)
	return l, l.close, l.takeBoard()
}

// assemble makes the parts of the run, and gives each the Turn that it needs.
func (l *loop) assemble(begun *divergence.Begun, tree *trust.Tree) (err error) {
	p, home := l.job, l.workspace.HomeDir()
	notice := func(text string) { p.Observer.Notice(p.Board, text) }
	git := p.Run.Git
	git.On = git.On && !tree.WaitsForWay() // a start that is refused must not push by settings that wait
	l.carrier, err = gitstore.Start(gitstore.Turn{
		Board: p.Board, Settings: gitstore.Settings(git), Journal: l.ledger, Path: l.workspace.Path, Dir: home,
		Workspace: l.workspace, Folder: l.folder, Roster: p.Roster, Notice: notice, Redactor: p.Redactor,
		Kill: l.kill,
	})
	if err != nil {
		return err
	}
	l.member = l.pool.Join(pool.Turn{
		Path: l.workspace.Path, Journal: l.ledger, Workspace: l.workspace, Folder: l.folder, Notice: notice, Now: p.Now, Stop: l.stop,
		Until: p.Limits.Until, Used: &l.used, TakeEdit: l.takeEdit,
	})
	l.claims = claim.NewHolder(claim.Turn{
		Journal: l.ledger, Path: l.workspace.Path, Dir: home, Workspace: l.workspace, Notice: notice,
		Seat: l.pool.Seats, Now: p.Now, Stop: l.stop, Until: p.Limits.Until, Run: p.Run,
	}, l.pool.Claims)
	l.clone = clone.NewKeeper(clone.Turn{Board: p.Board, Run: p.Run, Journal: l.ledger, Workspace: l.workspace, Folder: l.folder,
		Head: p.Head, Roster: p.Roster, Redactor: p.Redactor, Notice: notice, Watch: func(checkout, clone string) { l.trust.WatchClone(checkout, clone) }, Check: p.CheckClone, Stop: l.stop, Kill: l.kill})
	l.land = land.Options{Until: p.Limits.Until, Queue: l.pool.Landed, Board: p.Board, Path: l.workspace.Path, Folder: l.folder, Journal: l.ledger, Notice: notice,
		Verify: p.Run.LandVerify, Setup: p.Run.ClonesSetup, Env: p.Roster.AgentEnviron(), Redactor: p.Redactor}
	l.trust = trust.NewKeeper(trust.Turn{Board: p.Board, Path: l.workspace.Path, Tree: tree, Journal: l.ledger, Folder: l.folder, RoleOf: l.workspace.RoleOf, Notice: notice, Used: p.Used(), Way: p.Run.Git.On,
		Given: func(before string) []string { return slices.Concat(l.divergence.Reroled(), l.workspace.Added(before)) }})
	note := guard.NewNote(l.folder)
	l.divergence = divergence.NewKeeper(divergence.Turn{Board: p.Board, Path: l.workspace.Path, Journal: l.ledger,
		Workspace: l.workspace, Place: l.workspace.Place, Folder: l.folder, Run: p.Run,
		Redact: p.Redactor.String, Begun: begun, Turns: l.pool.Turns, Kept: note, Others: l.member, Give: l.trust.GiveBetween})
	if !p.Run.DryRun { // which notes nothing
		l.decisions = decisions.NewLog(decisions.Turn{
			Board: p.Board, File: p.Run.Decisions, Journal: l.ledger, Path: l.workspace.Path, Dir: home,
			Ignore: l.workspace.Ignore, Notice: notice,
		})
	}
	l.supervisor = supervisor.New(supervisor.Turn{
		Board: p.Board, Settings: p.Supervision, AckTimeout: p.Run.AckTimeout,
		Journal: l.ledger, ReportTeardown: l.ledger.ReportTeardown, Place: l.workspace.Place, Workspace: l.workspace, Folder: l.folder, Roster: p,
		Notice: notice, Redactor: p.Redactor, Stop: l.stop, Kill: l.kill,
	})
	l.caller = call.NewCaller(call.Turn{
		Board: p.Board, Journal: l.ledger, Workspace: l.workspace,
		Folder: l.folder, Roster: p, Supervisor: l.supervisor,
		Observer: p.Observer, Redactor: p.Redactor, Used: &l.used, Now: p.Now, Stop: l.stop,
		Run: p.Run, TotalCost: l.pool.HasMaxCost(), Trust: l.trust,
	})
	l.guards = guard.NewList(guard.Site{Board: p.Board, Path: l.workspace.Path, State: l.ledger.State, Look: l.workspace.LookAgain,
		Turns: l.pool.Turns, Notice: notice}, note, l.inOrder()...)
	l.watching = watch.Turn{
		Board: p.Board, Kanban: l.workspace.KanbanFile(), Journal: l.ledger, Tasks: l.workspace.Place, Folder: l.folder,
		Roster: p, Crowd: l.pool.Crowd, Notice: notice, Redactor: p.Redactor, Used: &l.used, Now: p.Now,
		Listed: l.workspace.Listed, Trust: l.trust,
		Bound: func() string { l.member.Charge(); return l.member.Bound() }, Stop: l.stop, Kill: l.kill, Ask: attempt.Run, Run: p.Run,
	}
	return nil
}

// inOrder returns the guards of a turn in their order. What only looks comes first, and so sees what the
// agent has left, once the board is home from the clone. The board comes before what decides: a board that freezes starts nothing, and which
// tasks were given to a role shows behind what is put back.
func (l *loop) inOrder() []guard.Guard {
	if l.job.Run.DryRun { // in which nobody reads what is told
		return []guard.Guard{l.divergence}
	}
	return []guard.Guard{l.clone, l.caller.Scope(), &guard.Checkout{Workspace: l.workspace, Append: l.ledger.Append}, l.divergence, l.trust}
}

// close ends the supervisor's program, closes the journal, and releases the claims, the lock and the
// folder. What cannot be tidied up is a warning: everything is on disk by now. Errors: those of the
// supervisor's program, which may live on.
func (l *loop) close() error {
	l.guards.Close()
	l.trust.Close()
	untidy := l.ledger.Close()
	l.member.Leave()
	err := l.supervisor.Close()
	if untidy = errors.Join(untidy, l.claims.Release(), l.hold.Close()); untidy != nil && !l.moved {
		l.job.Observer.Notice(l.job.Board, "not tidied up: "+untidy.Error())
	}
	return err
}

// takeBoard replays the journal, ends the processes that an earlier run left behind, and makes this
// run the board's owner. The processes are ended also if the run is refused.
func (l *loop) takeBoard() error {
	if err := l.ledger.Open(l.restore); err != nil && !l.carrier.IsElsewhere() {
		return l.hold.EndAllLeftovers(err)
	} else if err != nil {
		return err // the agents of the other clone may be at work on this machine
	}
	failpoint.At("journal-open")
	if l.carrier.IsElsewhere() {
		return l.ledger.Own()
	}
	if err := l.hold.EndLeftovers(l.ledger.State()); err != nil {
		return err
	}
	if branch := l.carrier.Branch(); branch != "" {
		if err := l.ledger.RefuseCheckout(l.stop, l.workspace, branch); err != nil {
			return err
		}
	}
	if err := l.ledger.Own(); err != nil {
		// The state of a journal that contradicts itself ends before the contradiction.
		return l.hold.EndAllLeftovers(err)
	}
	return nil
}

// restore takes an entry of an earlier run, and passes it to the parts of this run that need it.
func (l *loop) restore(e event.Entry) {
	l.caller.Restore(e.Event)
	l.undelivered.Restore(e.Event)
	l.decisions.Restore(e)
	l.supervisor.Note(e)
}

// start opens the run in the journal. It closes the attempt and the messages that an earlier run
// left open, and ends the quarantines that no longer fit the board. These records go to disk
// together with the first intent.
func (l *loop) start() error {
	state := l.ledger.State()
	left, err := l.hold.LeavePlace(state, l.appendLost)
	if err != nil {
		return err
	}
	killed := state.Running && !left
	b, err := l.divergence.OrAsFound(l.workspace.Read(state.Step))
	if err != nil {
		return err
	}
	undone, err := l.undo(b)
	if err != nil {
		return err
	}
	killed = killed && !undone
	if err := l.begin(b); err != nil || state.Frozen != nil { // for example because checkpoints would go to another git remote
		return err
	}
	if err := l.clone.Enter(); err != nil {
		return err
	}
	if err := l.trust.Open(); err != nil {
		return err
	}
	if err := l.undelivered.Close(l.ledger.Append); err != nil {
		return err
	}
	bare := workspace.Bare(b)
	if err := flow.Release(state, bare, l.workspace.TaskSHA, l.ledger.Append); err != nil {
		return err
	}
	if b, err = l.endLastTurn(b, killed); err != nil || state.Frozen != nil {
		return err
	}
	bare = workspace.Bare(b)
	if err := flow.Reopen(state, bare, func() (flow.Board, error) { return l.view(b) }, l.ledger.Append); err != nil {
		return err
	}
	return l.caller.RestartWithoutInput(b)
}

// undo journals work of earlier runs that does not count any more, such as that of a journal beside
// a fresh checkout. The result is true if the open step does not count either.
func (l *loop) undo(b *board.Board) (undone bool, err error) {
	e, err := l.ledger.FindUndone(l.stop, l.workspace, b)
	if errors.As(err, new(*ledger.TakenBackError)) { // a run that begins asks a person
		err = errors.Join(l.begin(b), err)
	}
	if err != nil || e == nil {
		return false, err
	}
	if _, err := flow.CloseAttempt(l.ledger.State(), l.appendLost); err != nil {
		return false, err
	}
	return e.Step > 0, l.ledger.Append(*e)
}

// appendLost journals the end of an attempt that died with its run, and passes it to the parts of
// this run as an event of that run.
func (l *loop) appendLost(e event.Event) error {
	l.caller.Restore(e)
	return l.ledger.Append(e)
}

// begin journals that the run starts, and what came onto the board since the command began.
func (l *loop) begin(b *board.Board) error {
	begun, err := l.begun(b)
	if err != nil {
		return err
	}
	asks, err := l.divergence.Restart(b)
	if err != nil {
		return err
	}
	state := l.ledger.State()
	if b = l.workspace.Counted(); asks == nil { // else what came since the command began is no edit of a person
		state.NoteEdits(&begun, workspace.ListOf(b, l.workspace.Place.ReadTask), l.workspace.Seen(b.Current.Path))
		begun.Marked = append(begun.Marked, l.divergence.MarkedNext(b)...)
	}
	if !state.Spent {
		begun.Carried = state.Used
	}
	if state.NeverRan() {
		begun.DoneBefore = workspace.DoneBefore(b, !l.job.HasNeeds())
		begun.NoGit = !l.job.Run.DryRun && !l.workspace.IsInGit()
		if warning := l.workspace.WarningOfGit(l.stop); warning != "" {
			l.job.Observer.Notice(l.job.Board, warning)
		}
	}
	err = l.ledger.Append(begun)
	if l.started = err == nil; err != nil || asks == nil {
		return err
	}
	return l.ledger.Append(asks)
}

// begun returns the event with the settings of the run.
func (l *loop) begun(b *board.Board) (e event.RunStarted, err error) {
	if e, err = l.job.Begun(b, !b.Terminal() || l.ledger.State().Step != nil); err != nil {
		return e, err
	}
	e.Place, e.Git, e.Elsewhere = string(l.hold.Place), l.carrier.Way(), l.carrier.IsElsewhere()
	plan, supervisor, err := l.supervisor.Plan()
	if supervisor != nil {
		e.Supervision, e.Memory, e.Adapter = plan, supervisor.Memory(), supervisor.Adapter.Name()
	}
	return e, err
}

// endLastTurn closes the attempt in which an earlier run died, and returns the board as it is
// afterwards. If the attempt changed the end of the board, a guard decides about the change. The
// parameter killed is true if the earlier run has no end.
func (l *loop) endLastTurn(b *board.Board, killed bool) (*board.Board, error) {
	lost, err := flow.CloseAttempt(l.ledger.State(), l.appendLost)
	if err != nil {
		return nil, err
	}
	if err := l.guards.Resume(l.ledger.State().Step, lost); err != nil || l.ledger.State().Frozen != nil {
		return b, err
	}
	if !lost && killed { // perhaps between the end of the turn and this decision
		if err := l.divergence.EndWork(l.ledger.State().Step); err != nil {
			return nil, err
		}
	}
	return l.workspace.Read(l.ledger.State().Step)
}
