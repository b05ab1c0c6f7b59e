package event

// MessageType is the purpose of a message to a running agent.
type MessageType string

// The types. Tell is a message of a person. The others are from seed 000, "发送给 Executor 的消息".
const (
	HealthCheck MessageType = "health_check"
	AssistOffer MessageType = "assist_offer"
	Tell        MessageType = "tell"
)

// The types of assistance: seed 000, "协助提供".
const (
	Guidance  = "guidance"
	Resource  = "resource"   // an input or a tool is missing
	NewMember = "new_member" // another agent takes the work over
)

// Content is the body of a message: seed 000, "通信协议".
type Content struct {
	// The fields of a health check.
	Reason       string   `json:"reason,omitempty"`        // idle_detected or progress_stale
	IdleDuration float64  `json:"idle_duration,omitempty"` // in minutes
	Question     string   `json:"question,omitempty"`
	Options      []string `json:"options,omitempty"` // the possible answers

	// The fields of an offer of assistance.
	Assistance string `json:"assistance_type,omitempty"` // such as [Guidance]
	Details    string `json:"details,omitempty"`

	Text string `json:"text,omitempty"` // the message of a person
}

// String returns the message in words.
func (c Content) String() string { return c.Question + c.Details + c.Text }

// MessageSent is a message or question to a running agent. The event is journaled before the agent
// reads the message. Like all events about messages, the event changes no state.
type MessageSent struct {
	AttemptRef
	ID      string      `json:"id"`
	Type    MessageType `json:"type"`
	Urgent  bool        `json:"urgent,omitempty"` // an earlier question is not answered yet
	Content Content     `json:"content"`
	Hidden  bool        `json:"hidden,omitempty"` // a secret was taken out of the text
}

func (MessageSent) Kind() string { return "MESSAGE_SENT" }

func (e MessageSent) Sentence() Sentence {
	to, text := e.Player(), Brief(e.Content.String())
	switch {
	case e.Type == Tell:
		return inStep(e.Step, Note, "a person tells %s: %s", to, text)
	case e.Type == AssistOffer:
		return inStep(e.Step, Note, "%s is offered help: %s", to, text)
	case e.Urgent:
		return inStep(e.Step, Note, "%s is asked again: %s", to, text).did("NUDGE")
	default:
		return inStep(e.Step, Note, "%s is asked: %s", to, text).did("PING")
	}
}

// MessageHeard is the receipt of a message, or the answer to a question.
type MessageHeard struct {
	AttemptRef
	ID     string `json:"id"`
	Answer string `json:"answer,omitempty"`
}

func (MessageHeard) Kind() string { return "MESSAGE_HEARD" }

func (e MessageHeard) Sentence() Sentence {
	if e.Answer == "" {
		return inStep(e.Step, Note, "%s has the message", e.Player())
	}
	return inStep(e.Step, Note, "%s answers: %s", e.Player(), Brief(e.Answer))
}

// MessageLost is a message that the agent never got, or a question that it has not answered.
type MessageLost struct {
	AttemptRef
	ID     string      `json:"id"`
	Type   MessageType `json:"type,omitempty"`
	Reason string      `json:"reason"`
	Text   string      `json:"text,omitempty"` // text of a message that was never sent
}

func (MessageLost) Kind() string { return "MESSAGE_LOST" }

func (e MessageLost) Sentence() Sentence {
	what := "got the message"
	if e.Type == HealthCheck {
		what = "answered"
	}
	s := inStep(e.Step, Warning, "%s has not %s: %s", e.Player(), what, e.Reason)
	if e.Text != "" {
		s.Text += ": " + Brief(e.Text)
	}
	return s
}

// MessageID returns the ID of the message or of the person's answer in e. It returns "" for any
// other event.
func MessageID(e Event) string {
	switch e := e.(type) {
	case MessageSent:
		return e.ID
	case MessageHeard:
		return e.ID
	case MessageLost:
		return e.ID
	case ConsentGiven:
		return e.ID
	case QuarantineEnded:
		return e.ID
	case Acknowledged:
		return e.ID
	default:
		return ""
	}
}
