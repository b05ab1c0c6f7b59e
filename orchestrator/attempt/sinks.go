package attempt

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/redact"
)

// Sinks get everything that an agent prints, at the same time and redacted: this is the one place where its output enters. Nil
// streams are not wanted; a nil Redactor is for tests.
type Sinks struct {
	Stdout, Stderr io.Writer
	Redactor       *redact.Redactor
}

// entrance is the way of a stream to where it is kept and shown: through the redactor, which is closed when the stream has ended.
func (s Sinks) entrance(to ...io.Writer) io.WriteCloser {
	var wanted []io.Writer
	for _, w := range to {
		if w != nil {
			wanted = append(wanted, w)
		}
	}
	if s.Redactor == nil || len(wanted) == 0 {
		return &entrance{through: open{io.MultiWriter(wanted...)}}
	}
	return &entrance{redactor: s.Redactor, to: io.MultiWriter(wanted...)}
}

// entrance makes the redacting writer with the first byte: most agents say nothing for a long time, and some never.
type entrance struct {
	redactor *redact.Redactor
	to       io.Writer
	through  io.WriteCloser
}

func (e *entrance) Write(p []byte) (int, error) {
	if e.through == nil {
		e.through = e.redactor.Writer(e.to)
	}
	return e.through.Write(p)
}

func (e *entrance) Close() error {
	if e.through == nil {
		return nil
	}
	return e.through.Close()
}

// open is a stream that nothing is held back of.
type open struct{ io.Writer }

func (open) Close() error { return nil }

// Host is one whose events are redacted before emit hears of them.
func (s Sinks) Host(emit func(agent.Event), giveUp func(error)) agent.Host {
	return agent.Host{Emit: func(e agent.Event) { emit(s.event(e)) }, GiveUp: giveUp}
}

// Hide redacts a text that is made of an agent's words.
func (s Sinks) Hide(text string) string { return s.text(text) }

// Tail keeps the last lines that are written to it, redacted; last returns the very last of them. It is to be closed first.
func (s Sinks) Tail() (w io.WriteCloser, last func() string) {
	kept := &tail{}
	return s.entrance(kept), func() string {
		return agent.OneLine(agent.LastLine(kept.String()))
	}
}

// parse judges the format of a reply. Why one is refused is found once more in the redacted text where that
// is another: a reason quotes the reply in pieces, in which a secret would not be recognised any more.
func (s Sinks) parse(c contract.Kind, raw []byte, given *contract.TaskList) (*contract.Reply, *contract.Failure) {
	reply, failure := contract.Parse(c, raw, given)
	if failure == nil || s.Redactor == nil || !s.Redactor.Changes(string(raw)) {
		return reply, failure
	}
	if _, again := contract.Parse(c, s.Redactor.Bytes(raw), nil); again != nil {
		return nil, again
	}
	return nil, contract.Failed("the reply is badly formatted where it holds a secret")
}

// excerpt is the beginning of a reply's text, for people. Of a long text not all was kept, so its end is not shown: half a secret
// would not be recognised as one.
func (s Sinks) excerpt(raw []byte) (string, error) {
	var b bytes.Buffer
	w := s.entrance(&b)
	_, err := w.Write(raw)
	if len(raw) <= maxReceived {
		err = errors.Join(err, w.Close())
	}
	text := b.Bytes()
	if len(text) > maxReceived {
		text = agent.WholeRunes(text[:maxReceived])
	}
	return strings.ToValidUTF8(string(text), "\uFFFD"), err
}

// redactError redacts why no other attempt is worth while.
func (s Sinks) redactError(err error) error {
	var setup *agent.ConfigError
	var later *agent.LaterError
	var limit *agent.LimitError
	switch {
	case errors.As(err, &limit):
		return &agent.LimitError{Text: s.text(limit.Text)}
	case errors.As(err, &setup):
		redacted := *setup
		redacted.Text, redacted.Fix = s.text(setup.Text), s.text(setup.Fix)
		return &redacted
	case errors.As(err, &later):
		return &agent.LaterError{Text: s.text(later.Text), Reset: later.Reset}
	default:
		return errors.New(s.text(err.Error()))
	}
}

// text redacts what was decoded: a secret may show only then.
func (s Sinks) text(text string) string {
	if s.Redactor == nil {
		return text
	}
	return s.Redactor.String(text)
}

func (s Sinks) event(e agent.Event) agent.Event {
	e.Tool, e.ID, e.Text = s.text(e.Tool), s.text(e.ID), s.text(e.Text)
	return e
}
