package claude

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"kanban-run/orchestrator/agent"
)

// line holds those fields of a line that the reader uses, for lines of any type. Unknown
// types and keys are ignored, because every version adds some.
type line struct {
	Type         string  `json:"type"`
	Subtype      string  `json:"subtype"`
	SessionID    string  `json:"session_id"`
	SessionCamel string  `json:"sessionId"`          // session ID, as in seed 003, "解析 session_id"
	Parent       string  `json:"parent_tool_use_id"` // set in a sub-agent's line
	Message      message `json:"message"`
	Error        string  `json:"error"` // kind of error, in an assistant or api_retry line
	APIErrorText bool    `json:"is_api_error_message"`

	result
	retry
	RateLimit rateLimit `json:"rate_limit_info"`
	Servers   []server  `json:"mcp_servers"` // in an init line
	ToolName  string    `json:"tool_name"`   // in a tool_progress or permission_denied line
	ToolUseID string    `json:"tool_use_id"` // in the same lines as ToolName
	Elapsed   float64   `json:"elapsed_time_seconds"`
	Stream    struct {
		Type  string `json:"type"`
		Block block  `json:"content_block"`
	} `json:"event"` // in a stream_event line
	Command  string   `json:"command_uuid"` // in a command_lifecycle line: the ID of a message
	State    string   `json:"state"`        // in a command_lifecycle line
	Response response `json:"response"`     // in a control_response line
}

// response is the answer to a control request.
type response struct {
	Subtype string `json:"subtype"`
	ID      string `json:"request_id"`
	Error   string `json:"error"`
	Answer  struct {
		Text      string `json:"response"`
		Synthetic bool   `json:"synthetic"` // the model has called a tool, and not answered
	} `json:"response"`
}

type message struct {
	ID      string          `json:"id"`
	Model   string          `json:"model"`
	Content json.RawMessage `json:"content"` // text, or a list of blocks
	Usage   usage           `json:"usage"`
}

type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	IsError   bool            `json:"is_error"`
	Content   json.RawMessage `json:"content"` // in a tool_result: text, or a list of blocks
}

type usage struct {
	Input      int64 `json:"input_tokens"`
	CacheWrite int64 `json:"cache_creation_input_tokens"`
	CacheRead  int64 `json:"cache_read_input_tokens"`
	Output     int64 `json:"output_tokens"`
}

// modelUsage is the usage of one model, with its price. Its JSON keys are spelled differently from
// the keys of the type usage.
type modelUsage struct {
	Input      int64 `json:"inputTokens"`
	CacheWrite int64 `json:"cacheCreationInputTokens"`
	CacheRead  int64 `json:"cacheReadInputTokens"`
	Output     int64 `json:"outputTokens"`
	CostUSD    price `json:"costUSD"`
}

// price is an amount in millionths of a US dollar. micros is nil if the amount is invalid.
type price struct{ micros *int64 }

func (p *price) UnmarshalJSON(text []byte) error {
	if amount, err := strconv.ParseFloat(string(text), 64); err == nil && amount >= 0 {
		p.micros = agent.Micros(amount)
	}
	return nil
}

type result struct {
	IsError        bool                  `json:"is_error"`
	Result         string                `json:"result"`
	Structured     json.RawMessage       `json:"structured_output"`
	Errors         []string              `json:"errors"`
	Denials        []denial              `json:"permission_denials"`
	APIErrorStatus int                   `json:"api_error_status"`
	APIError       string                `json:"api_error"`
	TerminalReason string                `json:"terminal_reason"`
	StopReason     string                `json:"stop_reason"` // reason for the last message's end
	Usage          usage                 `json:"usage"`
	CostUSD        price                 `json:"total_cost_usd"`
	Turns          *int                  `json:"num_turns"` // number of model turns; 0 after /cost
	Since          map[string]modelUsage `json:"model_usage_since_last_result"`
}

type denial struct {
	Tool  string          `json:"tool_name"`
	ID    string          `json:"tool_use_id"`
	Input json.RawMessage `json:"tool_input"`
}

type retry struct {
	Attempt     int     `json:"attempt"`
	MaxRetries  int     `json:"max_retries"`
	DelayMillis float64 `json:"retry_delay_ms"`
	ErrorStatus int     `json:"error_status"`
}

type server struct {
	Name   string `json:"name"`
	Status string `json:"status"`
}

type rateLimit struct {
	Status   string  `json:"status"`
	Type     string  `json:"rateLimitType"`
	ResetsAt float64 `json:"resetsAt"` // seconds since 1970
}

// parse parses a line and leaves out values of an unexpected type. It returns an error for a line
// that is not an object. It also returns an error for a line that is not UTF-8, because decoding
// would replace the invalid bytes.
func parse(text []byte) (*line, error) {
	text = bytes.TrimSpace(text)
	if len(text) == 0 || text[0] != '{' {
		return nil, errors.New("not a JSON object")
	}
	l := &line{}
	if err := agent.Decode(text, l); err != nil {
		return nil, err
	}
	if l.SessionID == "" {
		l.SessionID = l.SessionCamel
	}
	return l, nil
}

// blocks returns the parts of a message or of a tool's result, or nil if the content cannot be
// read.
func blocks(content json.RawMessage) []block {
	var all []block
	if len(content) == 0 || agent.Decode(content, &all) != nil {
		return nil
	}
	if all == nil {
		var text string
		if json.Unmarshal(content, &text) == nil {
			all = []block{{Type: "text", Text: text}}
		}
	}
	return all
}

// wholeText returns all texts of a tool's result, because any of them may name a missing tool or
// program.
func wholeText(content json.RawMessage) string {
	var all []string
	for _, b := range blocks(content) {
		all = append(all, agent.Clip(b.Text, maxText))
	}
	return strings.Join(all, "\n")
}

// firstLine returns the first line of a tool's result.
func firstLine(content json.RawMessage) string {
	for _, b := range blocks(content) {
		if line, _, _ := strings.Cut(strings.TrimSpace(b.Text), "\n"); line != "" {
			return agent.Clip(line, maxName)
		}
	}
	return ""
}
