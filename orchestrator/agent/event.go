package agent

import (
	"hash/crc32"
	"strconv"
	"strings"
	"time"

	"kanban-run/orchestrator/event"
)

// Kind is the type of an event.
type Kind int

// The kinds of events.
const (
	Text        Kind = iota
	Writing          // the model has written a part of a text, a thought or a call's input
	Printed          // the program, not its model, has printed a line for people
	ToolStarted      // a call of a tool has begun
	ToolEnded        // a call of a tool has ended
	Retry            // the provider has refused, and the program tries again
	Heartbeat        // the program is alive
	Usage
	Session
	Result
	Warning // a part of the output could not be understood
	Unread  // a line was not read; it may have reported anything, even the end of calls

	Heard    // the agent has read a message, see Listener.Tell
	Answered // the agent has answered a question, see Listener.Ask
	Echo     // the program has got a message or a question, but its model might not have read it yet
	Dropped  // a message or an answer will not reach the agent, for the reason in the text
)

var kindNames = [...]string{"text", "writing", "printed", "tool started", "tool ended", "retry", "heartbeat",
	"usage", "session", "result", "warning", "unread",
	"heard", "answered", "echo", "dropped"}

func (k Kind) String() string {
	if k < 0 || int(k) >= len(kindNames) {
		return "kind " + strconv.Itoa(int(k))
	}
	return kindNames[k]
}

// MarshalText returns the kind in one word, such as tool_started.
func (k Kind) MarshalText() ([]byte, error) {
	return []byte(strings.ReplaceAll(k.String(), " ", "_")), nil
}

// UnmarshalText parses the form of MarshalText. It reads an unknown kind, which is from a newer
// version, as Heartbeat.
func (k *Kind) UnmarshalText(text []byte) error {
	*k = Heartbeat
	for i, name := range kindNames {
		if strings.ReplaceAll(name, " ", "_") == string(text) {
			*k = Kind(i)
		}
	}
	return nil
}

// IsProgress reports whether this event alone shows progress of the agent's work. For instance, a
// heartbeat, a retry and a failed call show no progress.
func (e Event) IsProgress() bool {
	switch e.Kind {
	case Writing, ToolStarted, Result, Unread:
		return true
	case Text, ToolEnded:
		return !e.Failed
	default:
		return false
	}
}

// ToolClass is the class of the things that a tool acts on.
type ToolClass string

// The classes of tools.
const (
	ShellTool ToolClass = "shell"
	EditTool  ToolClass = "edit"
	WebTool   ToolClass = "web"
	MCPTool   ToolClass = "mcp"
	OtherTool ToolClass = "other"
	ReplyTool ToolClass = "reply" // the call that hands over the reply
)

// Event is something that happened within an agent, in a form that all adapters share. Its texts
// come from the agent and may do harm on a terminal, so code that shows them has to clean them.
type Event struct {
	Time   time.Time `json:"time"` // time at which the package "attempt" read the event
	Kind   Kind      `json:"kind"`
	Tool   string    `json:"tool,omitempty"` // name of the tool
	Class  ToolClass `json:"class,omitempty"`
	ID     string    `json:"id,omitempty"` // ID of the session, the message or the call of a tool
	Text   string    `json:"text,omitempty"`
	Failed bool      `json:"failed,omitempty"` // the result, the ended call or the text is an error
	Local  bool      `json:"local,omitempty"`  // for a Result: the program answered without a model

	// Missing is the tool, server or program that a failed call did not find, see
	// [Event.WithMissing]. It is "" if that is unknown.
	Missing string `json:"missing,omitempty"`

	// Sum is the checksum of a call's whole input, or of its whole result. It is 0 if the program
	// does not report the input or the result.
	Sum uint32 `json:"-"`
}

// Sign is an event of an agent, with the attempt in which it happened.
type Sign struct {
	event.AttemptRef
	Event
}

// Sum returns a checksum by which two inputs or results of tools can be compared.
func Sum(data []byte) uint32 { return crc32.ChecksumIEEE(data) }

// String returns one short line for people. The caller has to redact the texts first, because the
// redactor does not recognise a secret of several lines once they are joined.
func (e Event) String() string {
	line := e.Kind.String()
	switch {
	case e.Kind == Text, e.Kind == Printed:
		line = ""
	case e.Kind == Session:
		line += " " + OneLine(e.ID)
	case e.Kind == ToolEnded && e.Failed:
		line = "tool failed"
	}
	for _, part := range []string{e.Tool, OneLine(e.Text)} {
		if part != "" && line != "" {
			line += ": "
		}
		line += part
	}
	return line
}

// OneLine returns a text in one line, cut to its first 1 KiB.
func OneLine(text string) string {
	line := strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " ")
	if len(line) <= maxLine {
		return line
	}
	return string(WholeRunes([]byte(line[:maxLine]))) + "…"
}
