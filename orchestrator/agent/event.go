package agent

import (
	"strconv"
	"strings"
)

// Kind says what an event is about.
type Kind int

// The kinds of events. Heartbeat and Retry are no progress: the agent is alive, and waits.
const (
	Text Kind = iota
	ToolStarted
	ToolEnded
	Retry
	Heartbeat
	Usage
	Session
	Result
	Warning // a part of the output could not be understood
)

func (k Kind) String() string {
	switch k {
	case Text:
		return "text"
	case ToolStarted:
		return "tool started"
	case ToolEnded:
		return "tool ended"
	case Retry:
		return "retry"
	case Heartbeat:
		return "heartbeat"
	case Usage:
		return "usage"
	case Session:
		return "session"
	case Result:
		return "result"
	case Warning:
		return "warning"
	default:
		return "kind " + strconv.Itoa(int(k))
	}
}

// Event is something that happened within an agent, in terms that all adapters share. Its texts are
// the agent's own: the code that shows them makes them harmless.
type Event struct {
	Kind Kind
	Tool string // name of the tool
	ID   string // of a call of a tool, or of a session
	Text string

	Failed bool // of a result: it is an error
}

// String is one short line for people. Its texts have to be redacted before: a secret may have
// several lines, and the redactor would not recognise one of them.
func (e Event) String() string {
	line := e.Kind.String()
	switch e.Kind {
	case Text:
		line = ""
	case Session:
		line += " " + OneLine(e.ID)
	}
	for _, part := range []string{e.Tool, OneLine(e.Text)} {
		if part != "" && line != "" {
			line += ": "
		}
		line += part
	}
	return line
}

// OneLine is a text in one line, or its beginning.
func OneLine(text string) string {
	line := strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " ")
	if len(line) <= maxLine {
		return line
	}
	return string(WholeRunes([]byte(line[:maxLine]))) + "…"
}
