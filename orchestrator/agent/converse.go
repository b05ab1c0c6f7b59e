package agent

import (
	"context"
	"errors"
	"io"
	"strings"

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

	Session    string
	Spent      *Spending // nil: nobody knows
	Cumulative bool      // see [Report.Cumulative]

	// Rest, with a Reply, writes to Sinks.Stdout what was not written there yet, because nobody wants to read most replies.
	Rest func() error
}

// Converse starts the agent, waits for its end and judges its reply. The end of stop asks the agent to end, the end of kill
// kills it; either way the outcome, which is never nil, is Stopped, whatever the agent said in the meantime. emit is called from the goroutines of
// both streams, with redacted texts. Errors: *ConfigError and *LaterError, which no retry can mend, or one of this system's own.
func Converse(stop, kill context.Context, a Adapter, inv *Invocation, c Contract, sinks Sinks, emit func(Event)) (*Outcome, error) {
	t := Begin(stop, kill, a, inv, c, sinks, emit)
	t.Wait()
	return t.End()
}

// Conversation is Converse in three parts: Begin, Wait and End, each called once. Of a thousand agents that sleep there are a thousand
// stacks, and who calls Wait from where little is on the stack needs half of the memory.
type Conversation struct {
	contract Contract
	sinks    Sinks
	tasks    []byte // of the Invocation, which is not kept
	reader   Reader
	tail     *tail
	said     *late
	stderr   io.WriteCloser
	bound    *meter
	given    givenUp
	stop     context.Context
	kill     context.Context
	end      context.Context
	tooMuch  context.CancelCauseFunc
	stopped  bool
	process  *proc.Process // nil: it was not started, because of err or a stop
	err      error
}

// Begin starts the agent.
func Begin(stop, kill context.Context, a Adapter, inv *Invocation, c Contract, sinks Sinks, emit func(Event)) *Conversation {
	t := newConversation(stop, kill, a, inv, c, sinks, emit)
	if t.err = writeFiles(inv.Files); t.err == nil && !t.isOver() {
		t.start(t.spec(inv))
	}
	return t
}

func (t *Conversation) isOver() bool { return t.end.Err() != nil || t.kill.Err() != nil }

// start has no patience left with a short system once the conversation is over; that is no error.
func (t *Conversation) start(spec *proc.Spec) {
	starting, cancel := context.WithCancel(t.end)
	defer cancel()
	defer context.AfterFunc(t.kill, cancel)()
	t.process, t.err = proc.Start(starting, spec)
	if t.isOver() {
		t.err = nil
	}
}

// Wait waits for the agent's end.
func (t *Conversation) Wait() {
	if t.process == nil {
		return
	}
	for stop, kill := t.end.Done(), t.kill.Done(); ; {
		select {
		case <-t.process.Done():
			return
		case <-stop:
			t.process.Stop()
			stop = nil
		case <-kill:
			t.process.Kill()
			kill = nil
		}
	}
}

// End judges the agent's reply.
func (t *Conversation) End() (*Outcome, error) {
	defer t.tooMuch(nil)
	exit, err := proc.Exit{Code: -1, Stopped: t.err == nil}, t.err
	if t.process != nil {
		exit, err = t.process.Exit()
	}
	t.stopped = exit.Stopped && (t.stop.Err() != nil || t.kill.Err() != nil)
	return t.finish(exit, err)
}

func newConversation(stop, kill context.Context, a Adapter, inv *Invocation, c Contract, sinks Sinks, emit func(Event)) *Conversation {
	t := &Conversation{contract: c, sinks: sinks, tasks: inv.Tasks, tail: &tail{}, stop: stop, kill: kill}
	t.reader = a.Reader(c, sinks.Host(emit, t.giveUp))
	if k, ok := t.reader.(keeper); ok && inv.Room != nil {
		k.Lend(inv.Room)
	}
	t.said = newLate(t.reader, sinks.entrance(sinks.Stdout))
	t.stderr = sinks.entrance(t.tail, &lines{emit: emit}, sinks.Stderr)
	t.end, t.tooMuch = context.WithCancelCause(stop)
	t.bound = newMeter(inv.MaxOutput, t.tooMuch)
	return t
}

func (t *Conversation) spec(inv *Invocation) *proc.Spec {
	return &proc.Spec{
		Argv: inv.Argv, Dir: inv.Dir, Env: inv.Env, Stdin: inv.Stdin, Timeout: inv.Timeout, Grace: inv.Grace, Mark: inv.Mark,
		Stdout: t.bound.writer(t.said), Stderr: t.bound.writer(t.stderr),
	}
}

// finish closes the streams and makes the outcome. err is what went wrong so far.
func (t *Conversation) finish(exit proc.Exit, err error) (*Outcome, error) {
	whole := t.bound.exceeded() == nil // else what they hold back may be half a secret
	rest, late := t.said.end(whole)
	err = errors.Join(err, late)
	if whole {
		err = errors.Join(err, t.stderr.Close())
	}
	out := &Outcome{Exit: exit, Stderr: t.tail.String(), Stopped: t.stopped}
	var start *proc.StartError
	if errors.As(err, &start) {
		return out, &ConfigError{Text: start.Error(), Fix: start.Hint()}
	}
	if r, ok := t.reader.(StderrReader); ok {
		r.ReadStderr(out.Stderr)
	}
	switch {
	case err != nil:
	case out.Stopped:
		report := t.reader.End(exit)
		t.note(out, report)
	default:
		err = t.conclude(out)
	}
	if out.Reply != nil {
		out.Rest = rest
		return out, err
	}
	return out, errors.Join(err, rest())
}

// conclude judges an attempt that came to its end: a reply, or why there is none.
func (t *Conversation) conclude(out *Outcome) (err error) {
	report := t.reader.End(out.Exit)
	t.given.overrule(&report)
	t.note(out, report)
	failure := report.Failure
	if excess := t.bound.exceeded(); excess != nil {
		failure = excess
	}
	if report.Err != nil {
		return t.sinks.hopeless(report.Err)
	}
	if failure == nil {
		out.Reply, failure = t.sinks.judge(t.contract, report.Reply, t.tasks)
	}
	if failure != nil {
		failure.Reason = t.sinks.text(failure.Reason)
		out.Failure = failure
		out.Received, err = t.sinks.excerpt(report.Reply)
	}
	return err
}

// note keeps what the tool tells beside the reply. A session whose name could be an option is none: it goes onto a command line.
func (t *Conversation) note(out *Outcome, r Report) {
	out.Session, out.Spent, out.Cumulative = t.sinks.text(r.Session), r.Spent, r.Cumulative
	if strings.HasPrefix(out.Session, "-") || strings.ContainsFunc(out.Session, func(c rune) bool { return c <= ' ' || c == 0x7F }) {
		out.Session = ""
	}
}

// giveUp ends the attempt for a reason of the reader's own.
func (t *Conversation) giveUp(reason error) {
	t.given.because(reason)
	t.tooMuch(reason)
}
