package agent

import (
	"context"
	"errors"

	"kanban-run/orchestrator/proc"
)

// Outcome is how a conversation ended: with a Reply, with a Failure, or with neither because the run was stopped. All but the
// Reply is redacted.
type Outcome struct {
	Reply    *Reply
	Failure  *Failure
	Exit     proc.Exit
	Received string // with a Failure: the beginning of the reply's text, at most 4 KiB of it
	Stderr   string // the last lines of standard error, at most 2 KiB of them
	Stopped  bool

	// Rest, with a Reply, writes to Sinks.Stdout what was not written there yet, because nobody wants to read most replies.
	Rest func() error
}

// Converse starts the agent, waits for its end and judges its reply. The end of stop asks the agent to end, the end of kill
// kills it; either way the outcome is Stopped, whatever the agent said in the meantime. emit is called from the goroutines of
// both streams, with redacted texts. Errors: *ConfigError, which no retry can mend, or one of this system's own.
func Converse(stop, kill context.Context, a Adapter, inv Invocation, c Contract, sinks Sinks, emit func(Event)) (Outcome, error) {
	reader := a.Reader(func(e Event) { emit(sinks.event(e)) })
	if k, ok := reader.(keeper); ok && len(inv.Tasks) > 0 {
		k.Expect(len(inv.Tasks) + maxReceived) // most likely it comes back as it is
	}
	stderr := &tail{}
	said, complained := newLate(reader, sinks.entrance(sinks.Stdout)), sinks.entrance(stderr, &lines{emit: emit}, sinks.Stderr)
	end, tooMuch := context.WithCancelCause(stop)
	defer tooMuch(nil)
	bound := newMeter(inv.MaxOutput, tooMuch)
	exit, err := proc.Run(end, kill, proc.Spec{
		Argv: inv.Argv, Dir: inv.Dir, Env: inv.Env, Stdin: inv.Stdin, Timeout: inv.Timeout, Grace: inv.Grace, Mark: inv.Mark,
		Stdout: bound.writer(said),
		Stderr: bound.writer(complained),
	})
	whole := bound.exceeded() == nil // else what they hold back may be half a secret
	rest, late := said.end(whole)
	err = errors.Join(err, late)
	if whole {
		err = errors.Join(err, complained.Close())
	}
	stopped := exit.Stopped && (stop.Err() != nil || kill.Err() != nil)
	out := Outcome{Exit: exit, Stderr: stderr.String(), Stopped: stopped}
	var start *proc.StartError
	if errors.As(err, &start) {
		return out, &ConfigError{Text: start.Error(), Fix: start.Hint()}
	}
	if err == nil && !stopped {
		err = sinks.conclude(&out, c, inv, reader, bound.exceeded())
	}
	if out.Reply != nil {
		out.Rest = rest
		return out, err
	}
	return out, errors.Join(err, rest())
}

// conclude makes the outcome of an attempt that came to its end: a reply, or why there is none. excess is what ended it, or nil.
func (s Sinks) conclude(out *Outcome, c Contract, inv Invocation, reader Reader, excess *Failure) (err error) {
	raw, failure := reader.Reply(out.Exit)
	if excess != nil {
		failure = excess
	}
	if failure == nil {
		out.Reply, failure = s.judge(c, raw, inv.Tasks)
	}
	if failure != nil {
		failure.Reason = s.text(failure.Reason)
		out.Failure = failure
		out.Received, err = s.excerpt(raw)
	}
	return err
}
