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
	t := newTalk(stop, a, inv, c, sinks, emit)
	defer t.tooMuch(nil)
	exit, err := proc.Exit{}, writeFiles(inv.Files)
	if err == nil {
		exit, err = proc.Run(t.end, kill, t.spec())
	}
	if exit.Stopped && (stop.Err() != nil || kill.Err() != nil) {
		t.stopped = true
	}
	return t.finish(exit, c, err)
}

// talk is a conversation under way: where what the agent says goes. It is kept apart from Converse because of a thousand agents that
// sleep: what stands in a function's frame is there for each.
type talk struct {
	sinks   Sinks
	inv     *Invocation
	reader  Reader
	tail    *tail
	said    *late
	stderr  io.WriteCloser
	bound   *meter
	given   givenUp
	end     context.Context
	tooMuch context.CancelCauseFunc
	stopped bool
}

func newTalk(stop context.Context, a Adapter, inv *Invocation, c Contract, sinks Sinks, emit func(Event)) *talk {
	t := &talk{sinks: sinks, inv: inv, tail: &tail{}}
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

func (t *talk) spec() *proc.Spec {
	return &proc.Spec{
		Argv: t.inv.Argv, Dir: t.inv.Dir, Env: t.inv.Env, Stdin: t.inv.Stdin, Timeout: t.inv.Timeout, Grace: t.inv.Grace, Mark: t.inv.Mark,
		Stdout: t.bound.writer(t.said), Stderr: t.bound.writer(t.stderr),
	}
}

// finish closes the streams and makes the outcome. err is what went wrong so far.
func (t *talk) finish(exit proc.Exit, c Contract, err error) (*Outcome, error) {
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
	switch {
	case err != nil:
	case out.Stopped:
		report := t.reader.End(exit)
		t.note(out, report)
	default:
		err = t.conclude(out, c)
	}
	if out.Reply != nil {
		out.Rest = rest
		return out, err
	}
	return out, errors.Join(err, rest())
}

// conclude judges an attempt that came to its end: a reply, or why there is none.
func (t *talk) conclude(out *Outcome, c Contract) (err error) {
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
		out.Reply, failure = t.sinks.judge(c, report.Reply, t.inv.Tasks)
	}
	if failure != nil {
		failure.Reason = t.sinks.text(failure.Reason)
		out.Failure = failure
		out.Received, err = t.sinks.excerpt(report.Reply)
	}
	return err
}

// note keeps what the tool tells beside the reply. A session whose name could be an option is none: it goes onto a command line.
func (t *talk) note(out *Outcome, r Report) {
	out.Session, out.Spent, out.Cumulative = t.sinks.text(r.Session), r.Spent, r.Cumulative
	if strings.HasPrefix(out.Session, "-") || strings.ContainsFunc(out.Session, func(c rune) bool { return c <= ' ' || c == 0x7F }) {
		out.Session = ""
	}
}

// giveUp ends the attempt for a reason of the reader's own.
func (t *talk) giveUp(reason error) {
	t.given.because(reason)
	t.tooMuch(reason)
}
