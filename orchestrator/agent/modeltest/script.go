package modeltest

import (
	"encoding/base64"
	"encoding/json"
	"regexp"
	"strconv"
	"time"
)

// Script is the model's part. Each step that is no fault is one turn of the assistant. The last
// step is repeated, unless it calls a tool: then the model replies that the script is over.
type Script struct {
	Steps []Step `json:"steps"`
	Usage *Usage `json:"usage,omitempty"` // of every turn without its own; nil is DefaultUsage
	ID    string `json:"id,omitempty"`    // faults are counted by it; "" is the script's text
}

// Play makes a script of steps.
func Play(steps ...Step) Script { return Script{Steps: steps} }

// Usage is the tokens that a turn reports. Input is the whole prompt, Cached the part of it read
// from the cache; dialects that count them apart get them apart.
type Usage struct {
	Input  int64 `json:"input"`
	Cached int64 `json:"cached"`
	Output int64 `json:"output"`
}

// DefaultUsage is the usage of a turn unless the script says otherwise.
var DefaultUsage = Usage{Input: 1000, Output: 50}

type kind string

const (
	say        kind = "say"
	tool       kind = "tool"
	writeFile  kind = "write"
	shell      kind = "shell"
	structured kind = "structured"
	walk       kind = "walk"
	status     kind = "status"
	hang       kind = "hang"
	stall      kind = "stall"
	cut        kind = "cut"
)

// Step is one turn, or a fault before one.
type Step struct {
	Kind   kind            `json:"kind"`
	Name   string          `json:"name,omitempty"` // of the tool or the file
	Text   string          `json:"text,omitempty"`
	Input  json.RawMessage `json:"input,omitempty"`
	Code   int             `json:"code,omitempty"`
	Header [][2]string     `json:"header,omitempty"`
	Reset  int64           `json:"reset,omitempty"` // renewal of an allowance, in s since 1970
	Count  int             `json:"count,omitempty"`
	Tokens *Usage          `json:"usage,omitempty"`
}

// Say ends the agent's work with a text.
func Say(text string) Step { return Step{Kind: say, Text: text} }

// Tool calls a tool by its own name, with input marshalled to JSON; it panics where that fails. A
// freeform tool takes a string.
func Tool(name string, input any) Step { return Step{Kind: tool, Name: name, Input: encode(input)} }

// WriteFile writes a file with the tool that the agent has for it.
func WriteFile(path, text string) Step { return Step{Kind: writeFile, Name: path, Text: text} }

// Shell runs a command with the tool that the agent has for it.
func Shell(command string) Step { return Step{Kind: shell, Text: command} }

// Structured ends the agent's work with a reply in JSON: through the StructuredOutput tool if there
// is one, else as text.
func Structured(reply any) Step { return Step{Kind: structured, Input: encode(reply)} }

// Walk returns a Manager's reply, sent like Structured: status ok, the prompt's list of tasks, and
// the task after the done one.
func Walk() Step { return Step{Kind: walk} }

// Status refuses the request with a status code, the API's body for it, and headers as alternating
// names and values.
func Status(code int, header ...string) Step {
	s := Step{Kind: status, Code: code}
	for i := 0; i+1 < len(header); i += 2 {
		s.Header = append(s.Header, [2]string{header[i], header[i+1]})
	}
	return s
}

// Limited returns the 429 of a spent allowance, with the time of its renewal, and with retry-after
// unless that is 0.
func Limited(reset time.Time, retryAfter time.Duration) Step {
	at := strconv.FormatInt(reset.Unix(), 10)
	header := []string{
		"anthropic-ratelimit-unified-status", "rejected",
		"anthropic-ratelimit-unified-representative-claim", "five_hour",
		"anthropic-ratelimit-unified-reset", at,
		"anthropic-ratelimit-unified-5h-status", "rejected",
		"anthropic-ratelimit-unified-5h-reset", at,
	}
	if retryAfter > 0 {
		header = append(header, "retry-after", strconv.Itoa(int(retryAfter.Seconds())))
	}
	s := Status(429, header...)
	s.Reset = reset.Unix()
	return s
}

// Hang sends nothing until the client leaves.
func Hang() Step { return Step{Kind: hang} }

// Stall sends headers and a first event, and then nothing until the client leaves.
func Stall() Step { return Step{Kind: stall} }

// Cut ends the connection in the middle of a sentence.
func Cut() Step { return Step{Kind: cut, Text: "This sentence has no"} }

// Times ends a fault after n requests; else it stays, since a failed request is no turn of the
// assistant. Requests are counted by script (Script.ID), and apart for those without tools, as for
// a title.
func (s Step) Times(n int) Step { s.Count = n; return s }

// Using sets the usage of the turn.
func (s Step) Using(u Usage) Step { s.Tokens = &u; return s }

func (s Step) isFault() bool {
	switch s.Kind {
	case status, hang, stall, cut:
		return true
	default:
		return false
	}
}

func (s Step) callsTool() bool { return s.Kind == tool || s.Kind == writeFile || s.Kind == shell }

// String returns the script for a prompt: one word that no quoting, Markdown or shell changes.
func (s Script) String() string {
	return "@script:" + base64.RawURLEncoding.EncodeToString(encode(s)) + "@"
}

var marked = regexp.MustCompile(`@script:([A-Za-z0-9_-]+)@`)

// lastScript returns the last script in a text, with its ID filled in.
func lastScript(text string) (Script, bool) {
	all := marked.FindAllStringSubmatch(text, -1)
	for i := len(all) - 1; i >= 0; i-- {
		var s Script
		data, err := base64.RawURLEncoding.DecodeString(all[i][1])
		if err != nil || json.Unmarshal(data, &s) != nil || len(s.Steps) == 0 {
			continue
		}
		if s.ID == "" {
			s.ID = all[i][1]
		}
		return s, true
	}
	return Script{}, false
}

func encode(v any) json.RawMessage {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return data
}
