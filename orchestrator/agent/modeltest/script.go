package modeltest

import (
	"encoding/base64"
	"encoding/json"
	"regexp"
	"strconv"
	"time"
)

// Script is the list of steps that the model plays. Each step that is not a fault is one turn of
// the assistant. After the last step the model repeats that step. If that step calls a tool, the
// model replies instead that the script is over.
type Script struct {
	Steps []Step `json:"steps"`
	Usage *Usage `json:"usage,omitempty"` // usage of a step without Tokens; nil means DefaultUsage
	ID    string `json:"id,omitempty"`    // key for the count of faults; "" means the script's text
}

// Play returns a script of the steps.
func Play(steps ...Step) Script { return Script{Steps: steps} }

// Usage is the number of tokens that a turn reports. Input counts the whole prompt. Cached counts
// the part of the prompt that was read from the cache. Some APIs do not count cached tokens as
// input. In answers of these APIs the number of input tokens is Input minus Cached.
type Usage struct {
	Input  int64 `json:"input"`
	Cached int64 `json:"cached"`
	Output int64 `json:"output"`
}

// DefaultUsage is the usage of a turn unless the script sets another one.
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
	decline    kind = "decline"
)

// Step is one turn of the assistant, or a fault before a turn.
type Step struct {
	Kind   kind            `json:"kind"`
	Name   string          `json:"name,omitempty"` // name of the tool or the file
	Text   string          `json:"text,omitempty"`
	Input  json.RawMessage `json:"input,omitempty"`
	Code   int             `json:"code,omitempty"`
	Header [][2]string     `json:"header,omitempty"`
	Reset  int64           `json:"reset,omitempty"` // time of renewal, in Unix seconds
	Count  int             `json:"count,omitempty"`
	Tokens *Usage          `json:"usage,omitempty"`
}

// Say ends the agent's work with a text.
func Say(text string) Step { return Step{Kind: say, Text: text} }

// Tool calls the tool to which the agent gives this name. The input of a freeform tool is a string.
// The function panics if the input has no form in JSON.
func Tool(name string, input any) Step { return Step{Kind: tool, Name: name, Input: encode(input)} }

// WriteFile writes a file with the tool that the agent has for it.
func WriteFile(path, text string) Step { return Step{Kind: writeFile, Name: path, Text: text} }

// Shell runs a command with the tool that the agent has for it.
func Shell(command string) Step { return Step{Kind: shell, Text: command} }

// Structured ends the agent's work with a reply in JSON. It uses the StructuredOutput tool if there
// is one, and a text if not.
func Structured(reply any) Step { return Step{Kind: structured, Input: encode(reply)} }

// Walk ends the work of a Manager with a reply in JSON, like Structured. The reply has the status
// "ok", and repeats the list of tasks from the prompt. Its next task is the first open task after
// the done one.
func Walk() Step { return Step{Kind: walk} }

// Status refuses the request with a status code and the API's body for this code. The arguments
// after the code are the headers of the answer: a name, its value, the next name, and so on.
func Status(code int, header ...string) Step {
	s := Step{Kind: status, Code: code}
	for i := 0; i+1 < len(header); i += 2 {
		s.Header = append(s.Header, [2]string{header[i], header[i+1]})
	}
	return s
}

// Limited refuses the request with the 429 of a spent allowance. The answer names the time of
// renewal. If retryAfter is above 0, the answer names this duration, too.
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

// Saying sets the words of a refusal with a status code, for the APIs of Anthropic and OpenAI.
func (s Step) Saying(text string) Step { s.Text = text; return s }

// Decline ends the agent's work as the safeguards of Anthropic's API do: without an answer, and with
// the stop reason "refusal".
func Decline() Step { return Step{Kind: decline} }

// Hang sends nothing until the client leaves.
func Hang() Step { return Step{Kind: hang} }

// Stall sends headers and a first event, and then nothing until the client leaves.
func Stall() Step { return Step{Kind: stall} }

// Cut ends the connection in the middle of a sentence.
func Cut() Step { return Step{Kind: cut, Text: "This sentence has no"} }

// Times returns a fault that ends after n requests. A fault without Times never ends. Requests are
// counted for each Script.ID. Requests without tools, such as one for a title, have a count of
// their own.
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

// String returns the script in a form for prompts. This form is one word, which stays the same in
// quotes, in Markdown and in a shell.
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
