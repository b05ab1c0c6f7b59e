package agent

import (
	"bytes"
	"errors"
	"fmt"

	"kanban-run/orchestrator/contract"
)

// Messages reads the output of a tool that prints lines of JSON. The last message is the reply,
// unless an unreadable line follows it before the turn ends.
type Messages struct {
	Emit func(Event)

	Strict    bool // the tool prints only JSON, so any other line causes a warning
	Completed bool // the tool has ended its turn, so no message follows

	lines    Lines
	text     []byte
	whole    bool   // the field text holds a message, or its parts so far
	broken   []byte // beginning of the last unreadable line; nil if a message followed it
	fault    error  // the reason why that line is unreadable
	warnings Warnings
}

// Init sets two functions: the function emit gets the events, and the function parse reads a line.
// If the function parse returns an error, the line is unreadable. The function parse gets only lines
// that begin with "{", because other lines are texts for people.
func (m *Messages) Init(emit func(Event), parse func(line []byte) error) {
	m.Emit = emit
	m.lines.Each = func(line []byte) {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			return
		}
		if line[0] != '{' {
			m.emitProse(line)
		} else if err := parse(line); err != nil {
			m.rejectLine(line, err)
		}
	}
	m.lines.Long = func(begin []byte) { m.rejectLine(begin, errors.New("it is too long")) }
}

// Write reads a part of the output.
func (m *Messages) Write(p []byte) (int, error) { return m.lines.Write(p) }

// Flush reads the last line if it lacks a newline.
func (m *Messages) Flush() { m.lines.Flush() }

// emitProse emits a line that is not JSON as a line of the program, or as a warning if Strict is
// set. In both cases the last message stays the reply.
func (m *Messages) emitProse(line []byte) {
	if m.Strict {
		m.warnings.Warn(m.Emit, "a line of its output cannot be read (not a JSON object): "+EventText(string(line)))
		return
	}
	m.Emit(Event{Kind: Printed, Text: EventText(string(line))})
}

// rejectLine warns of an unreadable line. If the turn has not ended, this line might have been the
// reply, so the message before it is dropped.
func (m *Messages) rejectLine(line []byte, err error) {
	m.warnings.Warn(m.Emit, fmt.Sprintf("a line of its output cannot be read (%v)", err))
	m.Emit(Event{Kind: Unread})
	if m.Completed {
		return
	}
	m.Discard()
	m.broken, m.fault = append([]byte(nil), line[:min(len(line), maxJunk)]...), err
}

// Set replaces the last message with a new text.
func (m *Messages) Set(text string) {
	m.Discard()
	m.Add(text)
	m.EmitText()
}

// Add appends a part of a message. It keeps at most one byte more than the longest allowed reply
// has. That byte shows that the reply is too long.
func (m *Messages) Add(text string) {
	m.broken, m.fault, m.whole = nil, nil, true
	if room := contract.MaxReply + 1 - len(m.text); room > 0 {
		m.text = append(m.text, text[:min(room, len(text))]...)
	}
}

// EmitText emits the message as text.
func (m *Messages) EmitText() {
	if text := EventText(string(m.text)); text != "" {
		m.Emit(Event{Kind: Text, Text: text})
	}
}

// Discard drops the last message, because an event after it shows that it was not the reply.
func (m *Messages) Discard() { m.text, m.whole = nil, false }

// Reply returns the reply in the last message. If there is no message, it returns the beginning of
// the unreadable line that may have been the reply.
func (m *Messages) Reply(c contract.Kind) string {
	switch {
	case !m.whole:
		return string(m.broken)
	case c == contract.Review:
		return string(m.text)
	default:
		return contract.FindReply(string(m.text))
	}
}

// Missing returns the reason why there is no reply, or nil.
func (m *Messages) Missing() *contract.Failure {
	switch {
	case m.fault != nil:
		return contract.Failed("a line of its output cannot be read: %v", m.fault)
	case !m.whole:
		return contract.Failed("it ended without a message")
	default:
		return nil
	}
}
