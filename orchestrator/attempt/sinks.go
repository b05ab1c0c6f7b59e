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

// Sinks are the receivers of an agent's output as it is printed. All output of agents enters this
// program through Sinks, which redact it. Stdout and Stderr may be nil.
type Sinks struct {
	Stdout, Stderr io.Writer
	Redactor       *redact.Redactor
}

// redacting returns a writer that redacts the text of a stream and forwards it. The caller closes
// the writer at the end of the stream.
func (s Sinks) redacting(to ...io.Writer) io.WriteCloser {
	var wanted []io.Writer
	for _, w := range to {
		if w != nil {
			wanted = append(wanted, w)
		}
	}
	if len(wanted) == 0 {
		return &redacting{through: plain{io.MultiWriter(wanted...)}}
	}
	return &redacting{redactor: s.Redactor, to: io.MultiWriter(wanted...)}
}

// redacting is a writer that redacts. It creates the redactor's writer only at the first byte,
// because many agents print nothing for a long time, or nothing at all.
type redacting struct {
	redactor *redact.Redactor
	to       io.Writer
	through  io.WriteCloser
}

func (r *redacting) Write(p []byte) (int, error) {
	if r.through == nil {
		r.through = r.redactor.Writer(r.to)
	}
	return r.through.Write(p)
}

func (r *redacting) Close() error {
	if r.through == nil {
		return nil
	}
	return r.through.Close()
}

// plain is a writer that does not redact, so its Close has nothing to do.
type plain struct{ io.Writer }

func (plain) Close() error { return nil }

// Host returns the host of a reader. The host redacts events before it passes them to emit.
func (s Sinks) Host(emit func(agent.Event), told func(id string) bool, giveUp func(error)) agent.Host {
	return agent.Host{Emit: func(e agent.Event) { emit(s.redactEvent(e)) }, Told: told, GiveUp: giveUp}
}

// Tail returns a writer that redacts and keeps the last lines, and a function that returns the last
// line. Call the function after the writer is closed.
func (s Sinks) Tail() (w io.WriteCloser, last func() string) {
	kept := &tail{max: maxStderr}
	return s.redacting(kept), func() string {
		return agent.OneLine(agent.LastLine(kept.String()))
	}
}

// parseReply judges the format of a reply. If the format is wrong and redaction changes the text,
// it judges the redacted text instead. That is necessary because the reason of a failure quotes
// parts of the reply, and the redactor would miss a part of a secret.
func (s Sinks) parseReply(c contract.Kind, raw string) (*contract.Reply, *contract.Failure) {
	reply, failure := contract.Parse(c, raw)
	if failure == nil || !s.Redactor.Changes(raw) {
		return reply, failure
	}
	if _, again := contract.Parse(c, s.Redactor.String(raw)); again != nil {
		return nil, again
	}
	return nil, contract.Failed("the reply is badly formatted where it holds a secret")
}

// excerpt returns the beginning of a reply's text, for people. If the text was cut, the method
// drops the bytes that the redactor still holds back, because they may end in a part of a secret.
func (s Sinks) excerpt(raw string) (string, error) {
	var b bytes.Buffer
	w := s.redacting(&b)
	_, err := io.WriteString(w, raw)
	if len(raw) <= maxReceived {
		err = errors.Join(err, w.Close())
	}
	text := b.Bytes()
	if len(text) > maxReceived {
		text = agent.WholeRunes(text[:maxReceived])
	}
	return strings.ToValidUTF8(string(text), "\uFFFD"), err
}

// redactError redacts an error that an immediate retry does not mend.
func (s Sinks) redactError(err error) error {
	var setup *agent.ConfigError
	var later *agent.LaterError
	var limit *agent.LimitError
	switch {
	case errors.As(err, &limit):
		return &agent.LimitError{Text: s.Redact(limit.Text)}
	case errors.As(err, &setup):
		redacted := *setup
		redacted.Text, redacted.Fix = s.Redact(setup.Text), s.Redact(setup.Fix)
		return &redacted
	case errors.As(err, &later):
		redacted := *later
		redacted.Text = s.Redact(later.Text)
		return &redacted
	default:
		return errors.New(s.Redact(err.Error()))
	}
}

// Redact redacts a text that was decoded from the output. In the output a secret may have been
// escaped, so that the redactor missed it.
func (s Sinks) Redact(text string) string {
	return s.Redactor.String(text)
}

func (s Sinks) redactEvent(e agent.Event) agent.Event {
	e.Tool, e.ID, e.Text = s.Redact(e.Tool), s.Redact(e.ID), s.Redact(e.Text)
	return e
}
