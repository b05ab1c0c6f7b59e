package call

import (
	"cmp"
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

// Kind is one kind of call, with its input and the meaning of its end. The functions of this file
// are common to all kinds.
type Kind interface {
	// Player returns the program that plays the call for a role, or nil if the role asks for no
	// such call.
	Player(role *roster.Player) *roster.Player
	// Prepare sets the input of the attempt, and the fields of its intent that only this kind has.
	Prepare(c *Caller, a *Attempt, b *board.Board) error
	// Settle returns the event for the end of an attempt that ended by itself. An error ends the
	// run. If Settle returns an event and an error, the event is journaled first.
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

// Attempt is one attempt of a call, with its intent, its player, its input and the command that
// starts its program.
type Attempt struct {
	Intent event.AttemptStarted // journaled before the program starts
	Player *roster.Player
	Input  contract.Input
	Spec   attempt.Spec
	Signs  chan *agent.Event // events to be journaled: the session, receipts of messages, missing tools
	Duty   roster.Duty

	kind    Kind
	writes  map[string]string // files of the calls that are open, by call
	wrote   []string          // files that the agent's own events say that it wrote
	began   time.Time
	streams []*rundir.Stream
	signs   *rundir.Events
	missing missing

	// Set when the attempt has ended.
	millis    int64
	frozen    int64 // ms in which nothing could run
	spent     *event.Spending
	streamErr error // error of writing or closing the streams
}

// Ref names the attempt.
func (a *Attempt) Ref() event.AttemptRef { return a.Intent.AttemptRef }

// Capacities of Attempt.Signs. A sign is dropped if the channel is full. maxSigns is for an agent
// that takes messages, because such an agent sends more signs.
const (
	fewSigns = 8
	maxSigns = 64
)

// Player returns the program that plays a call. Errors: [failure.Invalid], for example if the role
// file was changed and no longer asks for a review.
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

// rolePlayer returns the program that plays the role, or its substitute.
func (c *Caller) rolePlayer(r event.AttemptRef) (*roster.Player, error) {
	if r.Call.IsSupervision() {
		return c.Roster.ReadOnlyPlayer(r.Role)
	}
	if to := c.Journal.State().Substitute(); to != "" {
		return c.Roster.Substitute(r.Role, to)
	}
	return c.Roster.Player(r.Role)
}

// Prepare makes an attempt of the open step ready to start, and journals nothing. p is the player
// of s, see [Caller.Player].
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
	a := &Attempt{kind: kinds()[s.Call], writes: map[string]string{}, Player: p, Duty: dutyOf(s.Call, b)}
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
	a.Intent.Digest, a.Intent.Given = inv.Digest(), inv.Given()
	a.Signs = make(chan *agent.Event, fewSigns)
	if inv.Listens {
		a.Signs = make(chan *agent.Event, maxSigns)
	}
	inv.Mark, inv.MaxOutput = agent.ParseMark(state.Step.Mark), c.Run.MaxOutput
	stdout, stderr := c.Folder.NewStream(call, rundir.Stdout), c.Folder.NewStream(call, rundir.Stderr)
	a.streams, a.signs = []*rundir.Stream{stdout, stderr}, c.Folder.NewEvents(a.Intent.Step)
	a.Spec.Adapter, a.Spec.Invocation, a.Spec.Contract, a.Spec.Limits = a.Player.Adapter, inv, as.Contract, c.timeLimits()
	a.Spec.Sinks = attempt.Sinks{Stdout: stdout, Stderr: stderr, Redactor: c.Redactor}
	a.Spec.Emit, a.Spec.Show = c.emitterOf(a), c.shower(a)
	return nil
}

// timeLimits returns the times at which a limit ends an agent's work on the open step.
func (c *Caller) timeLimits() attempt.TimeLimits {
	left, ofTask := c.Journal.State().TimeLeft()
	return attempt.TimeLimits{Run: left, Task: ofTask, Until: c.Journal.State().Limits.Until}
}

// invoke returns the command that starts the program. For a program that stays between calls,
// invoke returns the next message instead.
func (c *Caller) invoke(a *Attempt, as agent.Assignment) (agent.Invocation, error) {
	if stays, ok := a.Player.Adapter.(agent.Resident); ok && a.Spec.Resident != nil {
		return stays.Stay(as)
	}
	return a.Player.Adapter.Invoke(as)
}

// NotStarted journals that an attempt was not started although its intent is journaled, because the
// checkpoint in git has failed. Otherwise the next run would take what a person mends until then for
// the agent's work.
func (c *Caller) NotStarted(a *Attempt) error {
	if step := c.Journal.State().Step; !c.Run.Git.On || step == nil || step.Running == 0 {
		return nil
	}
	return c.Journal.Append(event.AttemptStopped{AttemptRef: a.Ref(), Reason: "it was not started, because the checkpoint before it failed"})
}

// Start starts the program of an attempt. The intent of the attempt has to be on disk already.
func (c *Caller) Start(a *Attempt) *attempt.Attempt {
	c.sweep(a)
	a.began = c.Now()
	return attempt.Start(a.Spec)
}

// Settle waits for the end of an attempt and journals it. If there is a reply or a verdict, the next
// commit puts the event on disk. Otherwise the event is on disk when Settle returns. Before it
// journals the end, Settle calls endTurn, in which the guards of the turn look.
func (c *Caller) Settle(a *Attempt, p *attempt.Attempt, endTurn func(named []string) error) error {
	e, err := p.Wait()
	if missing := errors.As(err, new(*agent.ConfigError)); !missing {
		c.ran[a.Player.Adapter.Name()] = true
	}
	if work := p.Tools(); work != nil {
		err = errors.Join(err, c.Journal.Append(event.ToolsUsed{AttemptRef: a.Ref(), ToolWork: *work}))
	}
	c.measure(a, e)
	ended := endTurn(namedIn(e))
	if files := c.violations(a, e.Spawned); files != nil && err == nil {
		return errors.Join(ended, c.record(a, c.accuse(a, e, files)), c.causeOf(e))
	}
	return errors.Join(ended, c.settle(a, e, err))
}

// namedIn returns the tasks that a Manager's reply names.
func namedIn(e *attempt.Ended) (tasks []string) {
	if e == nil || e.Reply == nil {
		return nil
	}
	if e.Reply.NextTask != nil {
		tasks = append(tasks, *e.Reply.NextTask)
	}
	return append(tasks, e.Reply.Tasks...)
}

// IsAway returns the name of the tool if err says only that the tool's program cannot be started,
// and if the program has worked in this run. It may be updating itself. A program of the user's own
// (exec) does not do that, and IsAway returns "" for it.
func (c *Caller) IsAway(s flow.Spawn, err error) (tool string) {
	if err == nil {
		return ""
	}
	for {
		joined, several := err.(interface{ Unwrap() []error })
		if !several {
			break
		}
		if errs := joined.Unwrap(); len(errs) == 1 {
			err = errs[0]
		} else {
			return ""
		}
	}
	var config *agent.ConfigError
	p, lost := c.Player(s)
	if lost != nil || !errors.As(err, &config) || !config.Missing || !p.Adapter.Tool().Signals.Session || !c.ran[p.Adapter.Name()] {
		return ""
	}
	return p.Adapter.Name()
}

// settle journals the end of an attempt that did not violate the supervisor's scope.
func (c *Caller) settle(a *Attempt, e *attempt.Ended, failed error) error {
	ev, err := c.eventOf(a, e, failed)
	if ev == nil {
		return err
	}
	return errors.Join(c.record(a, ev), err)
}

// eventOf returns the event for the end of an attempt. The order of the cases matters. The reply is
// void if this machine failed, or if the run ended the attempt, so these cases come first. A
// missing reply comes next, so that a kind sees only replies that exist. The exception is a review
// command, which gives no reply: its failure is a verdict.
func (c *Caller) eventOf(a *Attempt, e *attempt.Ended, failed error) (event.Event, error) {
	switch {
	case e.Class.IsWait():
		return c.refused(a, e, failed), nil
	case e.Class == event.ClassOwnLimit && failed != nil && c.Journal.State().MaySetAside():
		return c.stopped(a, e, failed.Error()), nil
	case failed != nil:
		return c.stopped(a, e, failed.Error()), a.Player.Explain(failed)
	case e.Cut == attempt.ByWatch:
		stopped := c.stopped(a, e, "the watch ended it")
		stopped.Stderr = e.Stderr
		return stopped, nil
	case e.Cut == attempt.ByTime:
		return c.stopped(a, e, "the limit of time is reached"), nil
	case e.Cut == attempt.ByRun:
		return c.stopped(a, e, "the run was stopped"), c.causeOf(e)
	case (e.Failure != nil || e.Reply != nil) && c.Journal.State().Step.Hung.StopsForTool():
		return c.stopped(a, e, heldReply(e)), nil
	case e.Failure != nil && c.Journal.State().Step.IsReplanned():
		return c.stopped(a, e, e.Failure.Reason), nil
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

// heldReply returns the reason of an attempt that has ended, about whose work a person decides.
func heldReply(e *attempt.Ended) string {
	if e.Failure != nil {
		return e.Failure.Reason
	}
	return event.Clip(fmt.Sprintf("a person decides about its work, since a tool was missing; it replied %s: %s", e.Reply.Status, e.Reply.Message))
}

// rejecter is a kind of call that has to act if a reply is missing or invalid.
type rejecter interface {
	reject(c *Caller, f *contract.Failure)
}

// causeOf returns the error with which the run was stopped. It returns nil if the attempt ended for
// another reason.
func (c *Caller) causeOf(e *attempt.Ended) error {
	if e.Cut == attempt.ByRun {
		return context.Cause(c.Stop)
	}
	return nil
}

// end returns the time, session and cost of an attempt, and the SHA-256 of the board that the
// attempt left.
func (c *Caller) end(a *Attempt, e *attempt.Ended) event.End {
	end := event.End{Left: c.boardLeft(), Millis: a.millis, Frozen: a.frozen, Session: e.Session, Spent: a.spent, Worked: e.Worked,
		Warning: e.Warning}
	if e.Class != event.ClassAccepted {
		end.Class = e.Class
	}
	return end
}

// refused returns the event of an attempt whose provider refuses calls for now. The argument failed
// is the error of the attempt.
func (c *Caller) refused(a *Attempt, e *attempt.Ended, failed error) event.AttemptStopped {
	stopped := c.stopped(a, e, failed.Error())
	var later *agent.LaterError
	if errors.As(failed, &later) {
		stopped.Reason = later.Text
	}
	stopped.Refusal = a.Player.Refused(later, c.Now())
	stopped.Reason, stopped.Lacks = a.Player.ExplainEnd(stopped.Reason, "")
	return stopped
}

// stopped returns the event of an attempt that the run ended, or that failed in a way that a retry
// cannot mend.
func (c *Caller) stopped(a *Attempt, e *attempt.Ended, reason string) event.AttemptStopped {
	return event.AttemptStopped{AttemptRef: a.Ref(), Reason: reason, End: c.end(a, e)}
}

// rejected returns the event of an attempt without a valid reply.
func (c *Caller) rejected(a *Attempt, e *attempt.Ended, f contract.Failure) event.ReplyRejected {
	state, end := c.Journal.State(), c.end(a, e)
	end.Class, end.Warning = state.Step.ClassOf(cmp.Or(end.Class, event.ClassFormat)), ""
	lost := f.Lost && a.Intent.From != "" || a.Spec.Resident == nil && state.GivesUp(a.Intent.From, end.Class, e.Worked)
	var reason string
	reason, end.Lacks = a.Player.ExplainEnd(f.Reason, e.Stderr)
	return event.ReplyRejected{AttemptRef: a.Ref(), Reason: reason, Exit: e.Exit.String(), End: end,
		Received: e.Received, Stderr: e.Stderr, Lost: lost,
		Died:  a.Spec.Resident != nil && !a.Spec.Resident.Runs(),
		Fresh: state.Step.StartsAfresh(end.Class), TimedOut: e.Exit.TimedOut,
		Retries: state.Step.Rejected, Of: state.Limits.MaxRetries}
}

// accepted returns the event of a reply that is accepted.
func (c *Caller) accepted(a *Attempt, e *attempt.Ended) event.ReplyAccepted {
	return event.ReplyAccepted{AttemptRef: a.Ref(), Status: string(e.Reply.Status),
		Message: event.Clip(c.Redactor.String(e.Reply.Message)),
		End:     event.End{Millis: a.millis, Frozen: a.frozen, Session: e.Session, Spent: a.spent, Warning: e.Warning}}
}

// keeper is a kind of call that writes a file after its event is journaled.
type keeper interface {
	keep(c *Caller, a *Attempt) error
}

// record journals the event of an attempt. If the event accepts a reply or a verdict, the streams
// of the attempt are emptied once the event is on disk. The streams are kept after any other event,
// after a command that rejects the work, and if KeepOutput is set. An error of the streams is
// returned only if they are kept.
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
	if c.Run.Git.On {
		err = errors.Join(err, c.Journal.Commit())
	}
	if c.Run.KeepOutput {
		err = errors.Join(err, c.keepStreams(a))
	}
	if k, ok := a.kind.(keeper); ok && err == nil {
		err = k.keep(c, a)
	}
	return err
}
