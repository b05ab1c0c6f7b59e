// Package once makes a single call of an agent, with an instruction and without a board. Source:
// seed 004, "Input Specification", single-shot tasks.
package once

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/attempt"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/ledger"
	"kanban-run/orchestrator/pause"
	"kanban-run/orchestrator/redact"
	"kanban-run/orchestrator/roster"
)

// Call is one instruction for one role.
type Call struct {
	Role        string
	Instruction string
	Dir         string
	Limits      event.Limits // limits of the retries, and of the waits for a provider
	MaxOutput   int64        // limit of an attempt's output, in bytes; 0: no limit
	Roster      *roster.Roster
	Redactor    *redact.Redactor
	Notice      func(text string) // gets texts about withheld variables, rejected replies and cost
	Now         func() time.Time

	player  *roster.Player
	used    event.Used
	session string
}

// ExhaustedError reports that an agent gave no valid reply in any of its attempts.
type ExhaustedError struct {
	Role     string
	Attempts int
	Reason   string
	Lacks    []string // see event.End
}

func (e *ExhaustedError) Error() string {
	return fmt.Sprintf("%s gave no valid reply in %s; the last was rejected: %s", e.Role,
		event.Count(e.Attempts, "attempt"), e.Reason)
}

// Hint returns the remedy, or "".
func (e *ExhaustedError) Hint() string {
	if len(e.Lacks) == 0 {
		return ""
	}
	return event.PassText(e.Lacks)
}

// DeclinedError reports that the provider declines the instruction, and that a person has to decide.
type DeclinedError struct{ Text string }

func (e *DeclinedError) Error() string { return e.Text }

// Do makes the call, with the same retries as in a run. Errors: *failure.Invalid, *ExhaustedError,
// *DeclinedError, or the cause of the context stop.
func (c Call) Do(stop, kill context.Context) (*contract.Reply, error) {
	var err error
	if c.player, err = c.Roster.Player(c.Role, c.Dir); err != nil {
		return nil, &failure.Invalid{Err: err}
	}
	if len(c.player.Withheld) > 0 {
		c.Notice(event.WithheldText(c.player.Withheld, nil, ".kanban-run.yaml or in a role"))
	}
	if c.player.Role.Review.IsSet() {
		c.Notice("a single call is not reviewed: review of role " + c.player.Role.Name + " is left out")
	}
	in, err := contract.ForInstruction(c.Instruction)
	if err != nil {
		return nil, err
	}
	a := c.player.Assignment
	a.Contract, a.Input, a.Scratch = contract.Instruction, in.JSON, filesDir(c.Dir).Scratch()
	inv, err := c.player.Adapter.Invoke(a)
	if err != nil {
		return nil, &failure.Invalid{Err: err}
	}
	inv.MaxOutput = c.MaxOutput
	mark, done, err := noteCall(c.Dir, rand.Text())
	inv.Mark = agent.ParseMark(mark) // of all attempts, because their environments must be equal
	if err != nil {
		inv.Mark = agent.ParseMark(agent.NewMark())
		c.Notice(fmt.Sprintf("%v; the agent may live on if this process is killed together with its guardian", err))
	} else {
		defer done()
	}
	defer c.noticeCost() // also after an error, because the money is spent
	return c.retry(stop, kill, inv, in)
}

// noticeCost reports the cost of the call, if the agent's tool reports it.
func (c *Call) noticeCost() {
	text := c.used.String()
	if c.session != "" && text != "" {
		text += ", session " + c.session
	}
	if text != "" {
		c.Notice(text)
	}
}

// retry makes attempts until one gives a valid reply. Package flow decides whether another attempt
// follows, so that the rule of retries is in one place. No event is journaled. Errors: those of Do.
func (c *Call) retry(stop, kill context.Context, inv agent.Invocation, in contract.Input) (*contract.Reply, error) {
	state := flow.State{Limits: c.Limits}
	if err := state.Apply(event.StepStarted{Step: 1, Task: "the instruction", Role: c.player.Role.Name}); err != nil {
		return nil, err
	}
	accounts := attempt.Accounts{}
	for {
		e, err := c.next(stop, &state)
		if err != nil {
			return nil, err
		}
		if err := state.Apply(event.AttemptStarted{AttemptRef: e.AttemptRef, Input: in.JSON}); err != nil {
			return nil, err
		}
		out, err := attempt.Run(stop, kill, attempt.Spec{
			Adapter:    c.player.Adapter,
			Invocation: inv,
			Contract:   contract.Instruction,
			Sinks:      attempt.Sinks{Redactor: c.Redactor},
		})
		c.used.Add(0, accounts.Charge(out, "").Journaled())
		c.session = cmp.Or(out.Session, c.session)
		var later *agent.LaterError
		switch {
		case errors.As(err, &later):
			if err := state.Apply(c.refused(e.AttemptRef, out, later)); err != nil {
				return nil, err
			}
			continue
		case err != nil:
			return nil, c.player.Explain(err)
		case out.IsStopped():
			return nil, context.Cause(stop)
		case out.Failure == nil:
			if out.Warning != "" {
				c.Notice(out.Warning)
			}
			out.Reply.Message = c.Redactor.String(out.Reply.Message)
			return out.Reply, nil
		}
		if err := c.reject(&state, e.AttemptRef, out); err != nil {
			return nil, err
		}
	}
}

// next returns the next attempt. If the provider refused the last attempt, it first waits for the
// provider. Errors: those of Do.
func (c *Call) next(stop context.Context, state *flow.State) (flow.Spawn, error) {
	for {
		switch next := flow.Next(state, flow.Board{}).(type) {
		case flow.Spawn:
			return next, nil
		case flow.Wait:
			c.Notice(next.Role + " " + next.Waits())
			if err := pause.Until(stop, c.Now, next.Until, func() error { return nil }); err != nil {
				return flow.Spawn{}, err
			}
			back := event.ProviderBack{Step: next.Step, Millis: next.Spent(next.Until)}
			if err := errors.Join(state.Apply(next.ProviderWait), state.Apply(back)); err != nil {
				return flow.Spawn{}, err
			}
		case flow.GiveUpWaiting:
			return flow.Spawn{}, &agent.LaterError{Text: next.Text, Reset: next.Until, Busy: next.Busy, Model: next.Model, Lacks: next.Lacks}
		case flow.Finish:
			switch next.Outcome {
			case event.LimitReached:
				return flow.Spawn{}, &agent.LimitError{Text: next.Text}
			case event.NeedsPerson:
				return flow.Spawn{}, &DeclinedError{Text: next.Text}
			}
			return flow.Spawn{}, &ExhaustedError{Role: c.player.Role.Name, Attempts: state.Step.Rejected, Reason: state.Step.LastReason, Lacks: state.Step.Lacks}
		default:
			return flow.Spawn{}, fmt.Errorf("a single call cannot go on with %T", next)
		}
	}
}

// refused returns the event for an attempt that the provider refuses to serve for now.
func (c *Call) refused(ref event.AttemptRef, out *attempt.Ended, later *agent.LaterError) event.AttemptStopped {
	reason, lacks := c.player.ExplainEnd(later.Text, "")
	return event.AttemptStopped{AttemptRef: ref, Reason: reason, Refusal: c.player.Refused(later, c.Now()),
		End: event.End{Class: out.Class, Worked: out.Worked, Lacks: lacks}}
}

// reject applies a rejected reply to the state, adds it to the supervisor log with the instruction
// in place of a task, and gives a notice. Source: seed 004, "Retry Logging".
func (c *Call) reject(state *flow.State, ref event.AttemptRef, out *attempt.Ended) error {
	ref.Task, ref.Role = c.Redactor.String(c.Instruction), c.player.Role.Name
	reason, lacks := c.player.ExplainEnd(out.Failure.Reason, out.Stderr)
	rejected := event.ReplyRejected{
		AttemptRef: ref,
		Reason:     reason,
		Exit:       out.Exit.String(),
		Received:   out.Received,
		Stderr:     out.Stderr,
		Retries:    state.Step.Rejected,
		Of:         c.Limits.MaxRetries,
		Fresh:      state.Step.StartsAfresh(out.Class),
		End:        event.End{Class: state.Step.ClassOf(out.Class), Lacks: lacks},
	}
	if err := state.Apply(rejected); err != nil {
		return err
	}
	dir := filesDir(c.Dir)
	if err := dir.Ensure(); err != nil {
		return err
	}
	said := "what it said is in " + dir.Log()
	if err := ledger.AppendLog(dir, "", c.Now(), rejected); err != nil {
		said = "what it said is lost: " + err.Error()
	}
	c.Notice(fmt.Sprintf("attempt %d of %d was rejected: %s; %s", ref.Attempt, c.Limits.MaxRetries+1, rejected.Reason, said))
	return nil
}
