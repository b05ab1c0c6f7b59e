package agent

import (
	"context"
	"errors"
	"io"

	"kanban-run/orchestrator/proc"
)

// Sinks get everything that an agent prints. They are nil, or redact what passes; they are written to at the same time.
type Sinks struct{ Stdout, Stderr io.Writer }

// Outcome is how a conversation ended: with a Reply, with a Failure, or with neither because the run was stopped.
type Outcome struct {
	Reply    *Reply
	Failure  *Failure
	Exit     proc.Exit
	Received string // the beginning of the reply's text, at most 4 KiB of it
	Stderr   string // the last lines of standard error, at most 2 KiB of them
	Stopped  bool
}

// Converse starts the agent, waits for its end and judges its reply. The end of stop asks the agent to end, the end of kill
// kills it; either way the outcome is Stopped, whatever the agent said in the meantime. emit is called from the goroutines of
// both streams. Errors: *ConfigError, which no retry can mend, or one of this system's own.
func Converse(stop, kill context.Context, a Adapter, inv Invocation, c Contract, sinks Sinks, emit func(Event)) (Outcome, error) {
	reader := a.Reader(emit)
	stderr := &tail{}
	end, tooMuch := context.WithCancelCause(stop)
	defer tooMuch(nil)
	bound := newMeter(inv.MaxOutput, tooMuch)
	exit, err := proc.Run(end, kill, proc.Spec{
		Argv: inv.Argv, Dir: inv.Dir, Env: inv.Env, Stdin: inv.Stdin, Timeout: inv.Timeout, Grace: inv.Grace, Mark: inv.Mark,
		Stdout: bound.writer(tee(reader, sinks.Stdout)),
		Stderr: bound.writer(tee(io.MultiWriter(stderr, &lines{emit: emit}), sinks.Stderr)),
	})
	stopped := exit.Stopped && (stop.Err() != nil || kill.Err() != nil)
	out := Outcome{Exit: exit, Stderr: stderr.String(), Stopped: stopped}
	var start *proc.StartError
	if errors.As(err, &start) {
		return out, &ConfigError{Text: start.Error(), Fix: start.Hint()}
	}
	if err != nil || out.Stopped {
		return out, err
	}
	raw, failure := reader.Reply(exit)
	out.Received = excerpt(raw)
	if excess := bound.exceeded(); excess != nil {
		failure = excess
	}
	if failure == nil {
		out.Reply, failure = ParseReply(c, raw)
	}
	out.Failure = failure
	return out, nil
}

func tee(w, sink io.Writer) io.Writer {
	if sink == nil {
		return w
	}
	return io.MultiWriter(w, sink)
}
