package acp

// event is a line that the client prints for the reader.
type event struct {
	Type  kind   `json:"type"`
	ID    string `json:"id,omitempty"`
	Tool  string `json:"tool,omitempty"`
	Text  string `json:"text,omitempty"`
	Sum   uint32 `json:"sum,omitempty"`   // of a tool's input or result
	Fault fault  `json:"fault,omitempty"` // of a failure

	Status int    `json:"status,omitempty"` // of a failure: the HTTP status that the agent reports; 0: none
	Usage  *usage `json:"usage,omitempty"`
}

// message is a line of the dialogue with a client that stays: a prompt, the request to leave, or
// the answer to this request.
type message struct {
	Prompt string `json:"prompt,omitempty"`

	Type    string `json:"type,omitempty"` // shutdown_request, or shutdown_response as its answer
	Request string `json:"request_id,omitempty"`
	Approve bool   `json:"approve,omitempty"`
}

type kind string

// The kinds of events. A text event holds the whole text since the last text event.
const (
	session     kind = "session"
	text        kind = "text"
	writing     kind = "writing"
	alive       kind = "alive"
	toolStarted kind = "tool_started"
	toolEnded   kind = "tool_ended"
	denied      kind = "denied"
	spent       kind = "usage"
	result      kind = "result" // with the reason for the turn's end
	failure     kind = "error"
)

// fault is a kind of failure.
type fault string

// A setup fault fails in every retry.
const (
	setup fault = "setup"
	login fault = "login"
	other fault = ""
)

// usage is the usage that a prompt's answer reports.
type usage struct {
	Input  int64    `json:"input"`
	Cached int64    `json:"cached"`
	Output int64    `json:"output"`
	Cost   *float64 `json:"cost,omitempty"` // in US dollars
}
