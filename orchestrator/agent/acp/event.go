package acp

// event is a line that the client prints for the reader.
type event struct {
	Type  kind   `json:"type"`
	ID    string `json:"id,omitempty"`
	Tool  string `json:"tool,omitempty"`
	Text  string `json:"text,omitempty"`
	Fault fault  `json:"fault,omitempty"` // of a failure
	Usage *usage `json:"usage,omitempty"`
}

type kind string

// What the client tells of. A text is all that the agent has said since its last tool began.
const (
	session     kind = "session"
	text        kind = "text"
	toolStarted kind = "tool_started"
	toolEnded   kind = "tool_ended"
	denied      kind = "denied"
	spent       kind = "usage"
	result      kind = "result" // why the turn ended
	failure     kind = "error"
)

// fault is what kind of failure it is.
type fault string

// A setup is wrong whatever is tried; all others may pass.
const (
	setup fault = "setup"
	login fault = "login"
	limit fault = "limit"
	other fault = ""
)

// usage is what the session came to.
type usage struct {
	Input  int64    `json:"input"`
	Cached int64    `json:"cached"`
	Output int64    `json:"output"`
	Cost   *float64 `json:"cost,omitempty"` // in US dollars
}
