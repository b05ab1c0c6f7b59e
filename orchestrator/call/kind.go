package call

import (
	"context"
	"errors"
	"fmt"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/attempt"
	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failpoint"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/roster"
	"kanban-run/orchestrator/rundir"
)

// Kind is one kind of call: its way in and its way out. What all of them have in common is in this
// file.
type Kind interface {
	// Player returns the player of the call, of those that the role has; nil: the role asks for no such
	// call.
	Player(role *roster.Player) *roster.Player
	// Prepare sets the input of the attempt, and the fields of its intent that are this kind's own.
	Prepare(c *Caller, a *Attempt, b *board.Board) error
	// Settle returns the event of an attempt that ended by itself. With an error the run ends, also
	// where there is an event.
	Settle(c *Caller, a *Attempt, e *attempt.Ended) (event.Event, error)
}

// kinds returns every kind of call.
func kinds() map[event.Call]Kind {
	return map[event.Call]Kind{
		event.TaskCall:       work{},
		event.CommandCall:    command{},
		event.ReviewCall:     reviewing{},
		event.ManagerCall:    manager{},
		event.ReadyCall:      ready{},
		event.CheckpointCall: checkpoint{},
	}
}

// Attempt is one attempt of a call, as the run has it: why it is made, who plays, what that is told,
// and what its program is started with.
type Attempt struct {
	Intent event.AttemptStarted // is journaled before the program starts
	Player *roster.Player
	Input  contract.Input
	Spec   attempt.Spec
	Signs  chan *agent.Event // of the agent that are journaled: its session, and what becomes of messages
	Duty   roster.Duty

	kind    Kind
	began   time.Time
	streams []*rundir.Stream
	signs   *rundir.Events

	// Set when it has ended.
	millis    int64
	spent     *event.Spending
	streamErr error // its streams could not be kept
}

// Ref names the attempt.
func (a *Attempt) Ref() event.AttemptRef { return a.Intent.AttemptRef }

// The signs of an agent that wait to be journaled are bounded; those beyond are dropped. One that
// can be told something has more.
const (
	fewSigns = 8
	maxSigns = 64
)

// Player returns the player of a call's role. Errors: [failure.Invalid], also where the role asks
// for no such call since it was changed.
func (c *Caller) Player(s flow.Spawn) (*roster.Player, error) {
	role, err := c.rolePlayer(s.AttemptRef)
	if err != nil {
		return nil, &failure.Invalid{Err: err}
	}
	p := kinds()[s.Call].Player(role)
	if p == nil {
		return nil, &failure.Invalid{Err: fmt.Errorf("the work of %s on %s waits for a review, and the role asks for none any more", s.Role, s.Task),
			Fix: "put review back into the role file, or give the step up: name another task as current"}
	}
	return p, nil
}

// rolePlayer returns the player of the role's own work.
func (c *Caller) rolePlayer(r event.AttemptRef) (*roster.Player, error) {
	if r.Call.IsSupervision() {
		return c.Roster.ReadOnlyPlayer(r.Role)
	}
	if to := c.Journal.State().Substitute(); to != "" {
		return c.Roster.Substitute(r.Role, to)
	}
	return c.Roster.Player(r.Role)
}

// Prepare makes an attempt in the open step ready to start. It journals nothing. p is its player;
// see [Caller.Player].
func (c *Caller) Prepare(s flow.Spawn, p *roster.Player, b *board.Board) (*Attempt, error) {
	step := c.Journal.State().Step
	if step.Before == nil {
		if err := c.Workspace.KeepBefore(b); err != nil {
			return nil, err
		}
	}
	if s.GoesOn && (!p.Resumes || step.GoesOn.Adapter != p.Adapter.Name()) {
		s = c.Journal.State().Afresh()
	}
	a := &Attempt{kind: kinds()[s.Call], Player: p, Duty: dutyOf(s.Call, b)}
	a.Intent = event.AttemptStarted{AttemptRef: s.AttemptRef, Adapter: p.Adapter.Name(), Command: p.Shown,
		From: s.From, Fork: s.Fork,
		Resumes: p.Resumes, GoesOn: s.GoesOn}
	if err := a.kind.Prepare(c, a, b); err != nil {
		return nil, err
	}
	return a, c.setSpec(a)
}

func dutyOf(c event.Call, b *board.Board) (d roster.Duty) {
	switch {
	case c.IsSupervision(), c.IsReview():
		return roster.Reviewing
	case b.InReview():
		return roster.ReviewPhase
	default:
		return d
	}
}

// setSpec builds the invocation of the attempt, with its streams and its limit of time.
func (c *Caller) setSpec(a *Attempt) error {
	state, call := c.Journal.State(), string(a.Intent.Call)
	as := a.Player.Assignment
	as.Contract, as.Input, as.Scratch = contract.Of(a.Intent.Call), a.Input.JSON, c.Folder.Scratch()
	switch {
	case a.Intent.GoesOn:
		as.Follow = &agent.Follow{Session: a.Intent.From, Text: a.Input.GoOn(state.Step.Advice)}
	case a.Input.Text != "":
		as.Follow = &agent.Follow{Session: a.Intent.From, Fork: a.Intent.Fork, Text: a.Input.Text}
	}
	inv, err := c.invoke(a, as)
	if err != nil {
		return &failure.Invalid{Err: err}
	}
	a.Intent.Digest = inv.Digest()
	a.Signs = make(chan *agent.Event, fewSigns)
	if inv.Listens {
		a.Signs = make(chan *agent.Event, maxSigns)
	}
	inv.Mark, inv.MaxOutput = agent.ParseMark(state.Step.Mark), c.MaxOutput
	stdout, stderr := c.Folder.NewStream(call, rundir.Stdout), c.Folder.NewStream(call, rundir.Stderr)
	a.streams, a.signs = []*rundir.Stream{stdout, stderr}, c.Folder.NewEvents(a.Intent.Step)
	left, _ := state.TimeLeft()
	a.Spec.Adapter, a.Spec.Invocation, a.Spec.Contract, a.Spec.TimeLimit = a.Player.Adapter, inv, as.Contract, left
	a.Spec.Sinks = attempt.Sinks{Stdout: stdout, Stderr: stderr, Redactor: c.Redactor}
	a.Spec.Emit, a.Spec.Show = c.emitterOf(a), c.shower(a)
	return nil
}

// invoke returns how the program of a call is started, or what a program that stays is told.
func (c *Caller) invoke(a *Attempt, as agent.Assignment) (agent.Invocation, error) {
	if stays, ok := a.Player.Adapter.(agent.Resident); ok && a.Spec.Resident != nil {
		return stays.Stay(as)
	}
	return a.Player.Adapter.Invoke(as)
}

// Start starts the program of an attempt, the intent of which is journaled.
func (c *Caller) Start(a *Attempt) *attempt.Attempt {
	c.sweep(a)
	c.snapshotTree(a)
	a.began = c.Now()
	return attempt.Start(a.Spec)
}

// Settle journals how an attempt ended. An accepted reply is on disk with the next commit,
// everything else at once. endTurn looks at what the agent has done to the board, if that is no
// violation of a supervisor's scope.
func (c *Caller) Settle(a *Attempt, p *attempt.Attempt, endTurn func() error) error {
	e, err := p.Wait()
	if work := p.Tools(); work != nil {
		err = errors.Join(err, c.Journal.Append(event.ToolsUsed{AttemptRef: a.Ref(), ToolWork: *work}))
	}
	c.measure(a, e)
	if files := c.violations(a, e.Spawned); files != nil && err == nil {
		return errors.Join(c.record(a, c.accuse(a, e, files)), c.causeOf(e))
	}
	return errors.Join(endTurn(), c.settle(a, e, err))
}

// settle journals the end of an attempt that broke no rule.
func (c *Caller) settle(a *Attempt, e *attempt.Ended, failed error) error {
	ev, err := c.eventOf(a, e, failed)
	if ev == nil {
		return err
	}
	return errors.Join(c.record(a, ev), err)
}

// eventOf returns the event of the end of an attempt. An end by this machine or by the run goes first,
// for then the reply counts for nothing; then a missing reply, so that a kind judges only one that is
// there. A review command gives no reply: its failure is a verdict.
func (c *Caller) eventOf(a *Attempt, e *attempt.Ended, failed error) (event.Event, error) {
	switch {
	case failed != nil:
		return c.stopped(a, e, failed.Error()), a.Player.Explain(failed)
	case e.ByWatch:
		return c.stopped(a, e, "the watch ended it"), nil
	case e.OutOfTime:
		return c.stopped(a, e, "the limit of time is reached"), nil
	case e.Stopped:
		return c.stopped(a, e, "the run was stopped"), c.causeOf(e)
	case e.Failure != nil && a.Spec.Contract != contract.Command:
		f := *e.Failure
		if k, ok := a.kind.(rejecter); ok {
			k.reject(c, &f)
		}
		return c.rejected(a, e, f), nil
	default:
		return a.kind.Settle(c, a, e)
	}
}

// rejecter is a kind that has more to do where a reply is rejected.
type rejecter interface {
	reject(c *Caller, f *contract.Failure)
}

// causeOf returns why the run ended an attempt; nil: it ended for another reason.
func (c *Caller) causeOf(e *attempt.Ended) error {
	if e.Stopped && !e.OutOfTime {
		return context.Cause(c.Stop)
	}
	return nil
}

// end returns the time, session and cost of an attempt, and the board as it left it.
func (c *Caller) end(a *Attempt, e *attempt.Ended) event.End {
	return event.End{Left: c.boardLeft(), Millis: a.millis, Session: e.Session, Spent: a.spent}
}

// stopped returns the event of an attempt that the run ended, or that failed in a way that no retry
// mends.
func (c *Caller) stopped(a *Attempt, e *attempt.Ended, reason string) event.AttemptStopped {
	return event.AttemptStopped{AttemptRef: a.Ref(), Reason: reason, End: c.end(a, e)}
}

// rejected returns the event of an attempt without a valid reply.
func (c *Caller) rejected(a *Attempt, e *attempt.Ended, f contract.Failure) event.ReplyRejected {
	state := c.Journal.State()
	return event.ReplyRejected{AttemptRef: a.Ref(), Reason: f.Reason, Exit: e.Exit.String(), End: c.end(a, e),
		Received: e.Received, Stderr: e.Stderr, Lost: f.Lost && a.Intent.From != "",
		Died:    a.Spec.Resident != nil && !a.Spec.Resident.Runs(),
		Retries: state.Step.Rejected, Of: state.Limits.MaxRetries}
}

// accepted returns the event of a reply that counts.
func (c *Caller) accepted(a *Attempt, e *attempt.Ended) event.ReplyAccepted {
	return event.ReplyAccepted{AttemptRef: a.Ref(), Status: string(e.Reply.Status),
		Message: event.Clip(c.Redactor.String(e.Reply.Message)),
		End:     event.End{Millis: a.millis, Session: e.Session, Spent: a.spent}}
}

// keeper is a kind that keeps something once its event is journaled.
type keeper interface {
	keep(c *Caller, a *Attempt) error
}

// record journals the event of an attempt. The streams of one whose reply counts are emptied once it
// is on disk; those of all others are kept, and of a command that is not content. An error of theirs
// counts only where they are to stay.
func (c *Caller) record(a *Attempt, ev event.Event) error {
	switch ev := ev.(type) {
	case event.ReplyRejected:
		kept := c.keepStreams(a)
		ev.Output = c.Folder.Output(ev.Step)
		return errors.Join(c.Journal.Record(ev), kept)
	case event.AttemptStopped, event.ScopeViolated:
		return errors.Join(c.Journal.Record(ev), c.keepStreams(a))
	}
	if held, ok := ev.(event.ReviewHeld); ok && !held.Completed && a.Spec.Contract == contract.Command {
		kept := c.keepStreams(a)
		return errors.Join(c.Journal.Append(ev), kept)
	}
	c.emptied = append(c.emptied, a.Intent.Call)
	err := c.Journal.Append(ev)
	failpoint.At("reply-noted")
	if c.Carried {
		err = errors.Join(err, c.Journal.Commit())
	}
	if c.KeepOutput {
		err = errors.Join(err, c.keepStreams(a))
	}
	if k, ok := a.kind.(keeper); ok && err == nil {
		err = k.keep(c, a)
	}
	return err
}
