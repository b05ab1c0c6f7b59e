package acp

// event is a line that the client prints for the reader.
type event struct {
	Type  kind   `json:"type"`
	ID    string `json:"id,omitempty"`
	Tool  string `json:"tool,omitempty"`
	Text  string `json:"text,omitempty"`
	Sum   uint32 `json:"sum,omitempty"`   // checksum of a tool's input or result
	Fault fault  `json:"fault,omitempty"` // kind of a failure

	Status int    `json:"status,omitempty"` // HTTP status of a failure; 0 if unknown
	Usage  *usage `json:"usage,omitempty"`
}

// message is a line of the dialogue with a client that stays between prompts. It is a prompt, the
// request to leave, or the answer to this request.
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
	result      kind = "result" // Text is the reason for the turn's end
	failure     kind = "error"
)

// fault is a kind of failure.
type fault string

// The kinds of failures. A setup fault recurs in every retry.
const (
	setup fault = "setup"
	login fault = "login"
	other fault = ""
)

// usage is the usage that the answer to a prompt reports.
type usage struct {
	Input  int64    `json:"input"`
	Cached int64    `json:"cached"`
	Output int64    `json:"output"`
	Cost   *float64 `json:"cost,omitempty"` // in US dollars
}
