// Package call makes one call of an agent ready to start: which program plays the role, what it is
// told, and how it is invoked.
package call

import (
	"errors"
	"fmt"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/attempt"
	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/roster"
	"kanban-run/orchestrator/run"
	"kanban-run/orchestrator/rundir"
	"kanban-run/orchestrator/supervisor"
)

// Ready is an attempt that is ready to start: the effect that asks for it, and what
// its program is started with.
type Ready struct {
	flow.Spawn
	Player *roster.Player
	Input  contract.Input
	Intent event.AttemptStarted
	Spec   attempt.Call
	Signs  chan *agent.Event // of the agent that are journaled: its session, and what becomes of messages
	Duty   roster.Duty
	Began  time.Time // set when its program is started

	streams []*rundir.Stream
	events  *rundir.Events
}

// The signs of an agent that wait to be journaled are bounded; those beyond are dropped. One that
// can be told something has more.
const (
	fewSigns = 8
	maxSigns = 64
)

// Caller prepares the calls of one run.
type Caller struct {
	run        *run.Run
	supervisor *supervisor.Supervisor
	input      contract.Input // of the call that inputOf names
	inputOf    event.AttemptRef
}

// NewCaller returns the caller of a run.
func NewCaller(r *run.Run, s *supervisor.Supervisor) *Caller {
	return &Caller{run: r, supervisor: s}
}

// Prepare makes an attempt in the open step ready to start. It journals nothing. p plays the
// role; see [Caller.Player].
func (c *Caller) Prepare(e flow.Spawn, p *roster.Player, b *board.Board) (*Ready, error) {
	step := c.run.State().Step
	if step.Before == nil {
		if err := c.run.Workspace.KeepBefore(b); err != nil {
			return nil, err
		}
	}
	plan := p.Plan()
	p = p.For(e.Call)
	if e.GoesOn && (!p.Resumes || step.GoesOn.Adapter != p.Adapter.Name()) {
		e = c.run.State().Afresh()
	}
	call := &Ready{Spawn: e, Player: p, Duty: dutyOf(e, b)}
	call.Intent = event.AttemptStarted{AttemptRef: e.AttemptRef, Adapter: p.Adapter.Name(), Command: p.Shown, From: e.From, Fork: e.Fork,
		Resumes: p.Resumes, GoesOn: e.GoesOn}
	if e.Call == event.TaskCall && !c.run.DryRun {
		call.Intent.Plan = plan
	}
	if e.Call == event.ManagerCall && step.Before == nil {
		call.Intent.Before = &event.Baseline{BoardSHA: b.SHA}
		if !b.Current.Null && b.Current.Set { // else the board is over
			call.Intent.Before.Current = c.run.Workspace.Seen(b.Current.Path)
		}
	}
	if err := c.setInput(call, b); err != nil {
		return nil, err
	}
	return call, c.setSpec(call)
}

func dutyOf(e flow.Spawn, b *board.Board) (d roster.Duty) {
	switch {
	case e.Call.IsSupervision(), e.Call.IsReview():
		return roster.Reviewing
	case b.InReview():
		return roster.ReviewPhase
	default:
		return d
	}
}

// Player returns the player of a call's role. Errors: [failure.Invalid], also where the role asks
// for no such call any more.
func (c *Caller) Player(e flow.Spawn) (*roster.Player, error) {
	p, err := c.playerOf(e)
	if err != nil {
		return nil, &failure.Invalid{Err: err}
	}
	if p.For(e.Call) == nil {
		return nil, &failure.Invalid{Err: fmt.Errorf("the work of %s on %s waits for a review, and the role asks for none any more", e.Role, e.Task),
			Fix: "put review back into the role file, or give the step up: name another task as current"}
	}
	return p, nil
}

func (c *Caller) playerOf(e flow.Spawn) (*roster.Player, error) {
	if e.Call.IsSupervision() {
		return c.run.Looker(e.Role)
	}
	if to := c.run.State().Substitute(); to != "" {
		return c.run.Roster.Substitute(e.Role, to, c.run.Dir())
	}
	return c.run.Player(e.Role)
}

// setSpec builds the invocation of the attempt, with its streams and its limit of time.
func (c *Caller) setSpec(call *Ready) error {
	a := call.Player.Assignment
	a.Contract, a.Input, a.Scratch = contract.Of(call.Call), call.Input.JSON, c.run.Folder.Scratch()
	switch {
	case call.GoesOn:
		a.Follow = &agent.Follow{Session: call.From, Text: call.Input.GoOn(c.run.State().Step.Advice)}
	case call.Input.Text != "":
		a.Follow = &agent.Follow{Session: call.From, Fork: call.Fork, Text: call.Input.Text}
	}
	inv, err := c.invoke(call, a)
	if err != nil {
		return &failure.Invalid{Err: err}
	}
	call.Intent.Digest = inv.Digest()
	call.Signs = make(chan *agent.Event, fewSigns)
	if inv.Listens {
		call.Signs = make(chan *agent.Event, maxSigns)
	}
	inv.Mark, inv.MaxOutput = agent.ParseMark(c.run.State().Step.Mark), c.run.MaxOutput
	stdout, stderr := c.run.Folder.NewStream(string(call.Call), rundir.Stdout), c.run.Folder.NewStream(string(call.Call), rundir.Stderr)
	call.streams = []*rundir.Stream{stdout, stderr}
	call.events = c.run.Folder.NewEvents(call.Step)
	left, _ := c.run.State().TimeLeft()
	call.Spec = attempt.Call{Adapter: call.Player.Adapter, Invocation: inv, Contract: a.Contract,
		Sinks: attempt.Sinks{Stdout: stdout, Stderr: stderr, Redactor: c.run.Redactor}, Emit: c.emitterOf(call), Show: c.shower(call), TimeLimit: left}
	if call.Call.IsSupervision() {
		call.Spec.Resident = c.supervisor.Program()
	}
	return nil
}

// invoke is how the program of a call is started, or what the supervisor's
// program that stays is told.
func (c *Caller) invoke(call *Ready, a agent.Assignment) (agent.Invocation, error) {
	if stays, ok := call.Player.Adapter.(agent.Resident); ok && c.supervisor.Program() != nil && call.Call.IsSupervision() {
		return stays.Stay(a)
	}
	return call.Player.Adapter.Invoke(a)
}

// Close closes the streams of an attempt that has ended.
func (c *Ready) Close() error {
	var errs []error
	for _, s := range c.streams {
		errs = append(errs, s.Close())
	}
	return errors.Join(append(errs, c.events.Close())...)
}
