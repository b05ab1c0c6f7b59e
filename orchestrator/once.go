package orchestrator

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/redact"
)

// Once is a single agent call without a board: seed 004, "Input Specification", the instruction for single-shot tasks.
type Once struct {
	Role        string
	Instruction string
	Dir         string
	MaxRetries  int
	MaxOutput   int64 // of an attempt, in bytes; 0 is no bound
	Cast        *Cast
	Redactor    *redact.Redactor
	Notice      func(text string) // told of variables that are withheld, of rejected replies, and of what the call came to
	Now         func() time.Time
}

// ExhaustedError says that an agent gave no valid reply within its retries.
type ExhaustedError struct {
	Role     string
	Attempts int
	Reason   string
}

func (e *ExhaustedError) Error() string {
	return fmt.Sprintf("%s gave no valid reply in %s; the last was rejected: %s", e.Role, flow.Count(e.Attempts, "attempt"), e.Reason)
}

// Do makes the call, with the same retries as in a run. Errors: *InvalidError, *ExhaustedError, or the cause of stop.
func (o Once) Do(stop, kill context.Context) (*agent.Reply, error) {
	player, err := o.Cast.Player(o.Role, o.Dir)
	if err != nil {
		return nil, &InvalidError{Err: err}
	}
	if len(player.Withheld) > 0 {
		o.Notice(flow.WithheldText(player.Withheld, ".kanban-run.yaml or in a role"))
	}
	if player.Role.Review {
		o.Notice("a single call is not reviewed: review of role " + player.Role.Name + " is left out")
	}
	input, err := json.Marshal(struct {
		Instruction string `json:"instruction"`
	}{o.Instruction})
	if err != nil {
		return nil, err
	}
	inv, err := player.invoke(agent.InstructionContract, newInput(input, nil), filesOf(filepath.Join(o.Dir, "once")).scratch())
	if err != nil {
		return nil, &InvalidError{Err: err}
	}
	inv.MaxOutput = o.MaxOutput
	inv.Mark = agent.ParseMark(agent.NewMark()) // the same in every attempt: agents see it in their environment
	return o.retry(stop, kill, player, inv, input)
}

// log keeps what was rejected where a run without a board can be looked up (seed 004, "Retry Logging": task_file or instruction).
func (o Once) log(e flow.ReplyRejected) error {
	f := filesOf(filepath.Join(o.Dir, "once"))
	if err := f.ensure(); err != nil {
		return err
	}
	if err := f.appendLog(retryEntry(o.Now(), e)); err != nil {
		return err
	}
	o.Notice(fmt.Sprintf("attempt %d of %d was rejected: %s; what it said is in %s", e.Attempt, e.Of+1, e.Reason, f.log()))
	return nil
}

// bill says what the call came to, if the agent's tool tells.
func (o Once) bill(used flow.Used, session string) {
	text := used.String()
	if session != "" && text != "" {
		text += ", session " + session
	}
	if text != "" {
		o.Notice(text)
	}
}

// retry asks flow whether there is another attempt, as a run does, so that the rule stands in one place; the events live in
// memory only.
func (o Once) retry(stop, kill context.Context, player *Player, inv agent.Invocation, input []byte) (*agent.Reply, error) {
	state := flow.State{Limits: flow.Limits{MaxRetries: o.MaxRetries}}
	if err := state.Apply(flow.StepStarted{Step: 1, Task: "the instruction", Role: player.Role.Name}); err != nil {
		return nil, err
	}
	var used flow.Used
	var session string
	defer func() { o.bill(used, session) }() // however it ends: the money is spent
	accounts := agent.Accounts{}
	for {
		start, ok := flow.Next(state, flow.Board{}).(flow.StartAgent)
		if !ok {
			return nil, &ExhaustedError{Role: player.Role.Name, Attempts: state.Step.Rejected, Reason: state.Step.LastReason}
		}
		if err := state.Apply(flow.AttemptStarted{Step: 1, Call: start.Call, Attempt: start.Attempt, Input: input}); err != nil {
			return nil, err
		}
		out, err := agent.Converse(stop, kill, player.Adapter, &inv, agent.InstructionContract, agent.Sinks{Redactor: o.Redactor}, func(agent.Event) {})
		used.Add(0, spendingOf(accounts.Charge(out, "")))
		session = cmp.Or(out.Session, session)
		switch {
		case err != nil:
			return nil, configError(player, err)
		case out.Stopped:
			return nil, context.Cause(stop)
		case out.Failure == nil:
			out.Reply.Message = o.Redactor.String(out.Reply.Message)
			return out.Reply, nil
		}
		rejected := flow.ReplyRejected{Step: 1, Call: start.Call, Task: o.Redactor.String(o.Instruction), Role: player.Role.Name, Attempt: start.Attempt,
			Reason: out.Failure.Reason, Exit: out.Exit.String(), Received: out.Received, Stderr: out.Stderr,
			Retries: state.Step.Rejected, Of: o.MaxRetries}
		if err := state.Apply(rejected); err != nil {
			return nil, err
		}
		if err := o.log(rejected); err != nil {
			return nil, err
		}
	}
}
