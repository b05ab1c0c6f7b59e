package agent

import (
	"bytes"
	"errors"
	"fmt"

	"kanban-run/orchestrator/contract"
)

// Messages reads the output of a tool that speaks in lines of JSON, as far as all such tools are alike: the last message is the reply,
// unless there is something that cannot be read where it should be.
type Messages struct {
	Lines
	Emit func(Event)

	Strict    bool // the tool says nothing but JSON, so that a line of anything else is one that cannot be read
	Completed bool // the tool has said that its turn came to its end: no message follows

	text   []byte
	said   bool
	broken []byte // the beginning of the last line that could not be read, unless a message came after it
	why    error  // what was wrong with it
	warned Warnings
}

// Init sets who reads a line, whose error says that it cannot be read. Other lines than those of JSON are for people.
func (m *Messages) Init(emit func(Event), each func(line []byte) error) {
	m.Emit = emit
	m.Each = func(line []byte) {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			return
		}
		if line[0] != '{' {
			m.prose(line)
		} else if err := each(line); err != nil {
			m.distrust(line, err)
		}
	}
	m.Long = func(begin []byte) { m.distrust(begin, errors.New("it is too long")) }
}

// prose tells of a line that is no event, not even half of one: the last message stays the last.
func (m *Messages) prose(line []byte) {
	if m.Strict {
		m.warned.Warn(m.Emit, "a line of its output cannot be read (not a JSON object): "+Told(string(line)))
		return
	}
	m.Emit(Event{Kind: Text, Text: Told(string(line))})
}

// distrust tells of a line that cannot be read, and reading goes on. Before the turn's end it may have been the reply, so that no earlier
// message is.
func (m *Messages) distrust(line []byte, err error) {
	m.warned.Warn(m.Emit, fmt.Sprintf("a line of its output cannot be read (%v)", err))
	if m.Completed {
		return
	}
	m.Forget()
	m.broken, m.why = append([]byte(nil), line[:min(len(line), maxJunk)]...), err
}

// Say takes a message.
func (m *Messages) Say(text string) {
	m.Forget()
	m.Add(text)
	m.Tell()
}

// Add takes a part of a message. More of one than a reply may have is not kept.
func (m *Messages) Add(text string) {
	m.broken, m.why, m.said = nil, nil, true
	if room := contract.MaxReply + 1 - len(m.text); room > 0 {
		m.text = append(m.text, text[:min(room, len(text))]...)
	}
}

// Tell tells of the message that is whole now.
func (m *Messages) Tell() {
	if text := Told(string(m.text)); text != "" {
		m.Emit(Event{Kind: Text, Text: text})
	}
}

// Forget says that the last message was not the reply: something came after it.
func (m *Messages) Forget() { m.text, m.said = nil, false }

// Reply is that of the contract in the last message; where there is none, the line that may have been it.
func (m *Messages) Reply(c contract.Kind) []byte {
	switch {
	case !m.said:
		return m.broken
	case c == contract.Review:
		return m.text
	default:
		return contract.FindReply(string(m.text))
	}
}

// Missing is why there is no reply, nil where there is one.
func (m *Messages) Missing() *contract.Failure {
	switch {
	case m.why != nil:
		return contract.Failed("a line of its output cannot be read: %v", m.why)
	case !m.said:
		return contract.Failed("it ended without a message")
	default:
		return nil
	}
}
