package acp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coder/acp-go-sdk"

	"kanban-run/orchestrator/agent"
)

// maxText bounds the agent's text, in bytes. It is greater than contract.MaxReply, so that a reply
// over that limit is noticed.
const maxText = 17 << 20

// dialogue is the client's side of a session. It is safe for concurrent use, because requests and
// updates arrive at the same time.
type dialogue struct {
	permission agent.Permission
	mu         sync.Mutex
	to         *json.Encoder
	session    acp.SessionId   // "" before the first prompt
	text       strings.Builder // the agent's text that is not printed yet
	tools      map[acp.ToolCallId]acp.ToolKind
	cost       *float64  // cost of the session so far, in US dollars; nil if unknown
	charged    float64   // the part of cost that was printed
	wrote      time.Time // time of the last event of the kind "writing"
}

func newDialogue(p agent.Permission, stdout io.Writer) *dialogue {
	return &dialogue{permission: p, to: json.NewEncoder(stdout), tools: map[acp.ToolCallId]acp.ToolKind{}}
}

// runSession holds the whole dialogue, which is one session with a turn for each prompt. Errors:
// the error in an answer of the agent, *modelError, *closedError.
func (d *dialogue) runSession(ctx context.Context, conn *acp.ClientSideConnection, model string,
	prompts *prompts) error {
	// The client offers no files and no terminals, so the agent uses its own files and terminals,
	// under its own rules.
	_, err := conn.Initialize(ctx, acp.InitializeRequest{ProtocolVersion: acp.ProtocolVersionNumber})
	if err != nil {
		return d.explain(conn, err)
	}
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	s, err := conn.NewSession(ctx, acp.NewSessionRequest{Cwd: dir, McpServers: []acp.McpServer{}})
	if err != nil {
		return d.explain(conn, err)
	}
	d.print(event{Type: session, ID: string(s.SessionId)})
	if model != "" {
		set := acp.UnstableSetSessionModelRequest{SessionId: s.SessionId, ModelId: acp.UnstableModelId(model)}
		if _, err := conn.UnstableSetSessionModel(ctx, set); err != nil {
			return d.explain(conn, &modelError{model, err})
		}
	}
	for {
		m, err := prompts.next(conn.Done())
		if err != nil || m == nil {
			return err
		}
		if m.Type == "shutdown_request" {
			d.answer(message{Type: "shutdown_response", Request: m.Request, Approve: true})
			return nil
		}
		if err := d.prompt(ctx, conn, s.SessionId, m.Prompt); err != nil {
			return d.explain(conn, err)
		}
	}
}

// prompt starts one turn of the agent and waits for its end.
func (d *dialogue) prompt(ctx context.Context, conn *acp.ClientSideConnection, id acp.SessionId, text string) error {
	d.startPrompt(id)
	answer, err := conn.Prompt(ctx, acp.PromptRequest{SessionId: id, Prompt: []acp.ContentBlock{acp.TextBlock(text)}})
	d.flushText()
	if err != nil {
		return err
	}
	d.recordUsage(answer)
	d.print(event{Type: result, Text: string(answer.StopReason)})
	return nil
}

// prompts reads the client's input.
type prompts struct {
	lines *bufio.Reader
	all   bool // the whole input is one prompt
	given bool
}

// next returns the next message, or nil after the last one. Errors: *closedError if the agent ends
// during the wait for a message.
func (p *prompts) next(gone <-chan struct{}) (*message, error) {
	if p.all {
		if p.given {
			return nil, nil
		}
		p.given = true
		text, err := io.ReadAll(p.lines)
		return &message{Prompt: string(text)}, err
	}
	type read struct {
		line []byte
		err  error
	}
	got := make(chan read, 1)
	go func() {
		line, err := p.lines.ReadBytes('\n')
		got <- read{line, err}
	}()
	select {
	case <-gone:
		return nil, &closedError{}
	case r := <-got:
		if errors.Is(r.err, io.EOF) {
			return nil, nil
		}
		var m message
		if r.err == nil {
			r.err = json.Unmarshal(r.line, &m)
		}
		return &m, r.err
	}
}

// answer prints a message, which is no event, for the program that started the client.
func (d *dialogue) answer(m message) {
	d.mu.Lock()
	defer d.mu.Unlock()
	_ = d.to.Encode(m) // errors are ignored, as in printLocked
}

// explain returns a *closedError in place of an internal error if the connection is closed, or
// closes within 4 * lateWait. Otherwise it returns err.
func (d *dialogue) explain(conn *acp.ClientSideConnection, err error) error {
	var answered *acp.RequestError
	if errors.As(err, &answered) && answered.Code == internal {
		select {
		case <-conn.Done():
			return &closedError{}
		case <-time.After(4 * lateWait):
		}
	}
	return err
}

// startPrompt sets the session, so that updates are printed from now on. Earlier updates, such as
// the agent's mode, do not belong to an answer.
func (d *dialogue) startPrompt(id acp.SessionId) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.session = id
}

// cancel asks the agent to end its turn.
func (d *dialogue) cancel(conn *acp.ClientSideConnection) {
	d.mu.Lock()
	id := d.session
	d.mu.Unlock()
	if id != "" {
		// An error means that the agent has ended.
		_ = conn.Cancel(context.Background(), acp.CancelNotification{SessionId: id})
	}
}

// print writes an event as one line.
func (d *dialogue) print(e event) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.printLocked(e)
}

// printLocked writes an event as one line. It ignores errors, because the program that reads the
// output ends this process when it stops reading.
func (d *dialogue) printLocked(e event) { _ = d.to.Encode(e) }

// flushText prints the text since the last flush as one event.
func (d *dialogue) flushText() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.flushTextLocked()
}

func (d *dialogue) flushTextLocked() {
	if d.text.Len() > 0 {
		d.printLocked(event{Type: text, Text: d.text.String()})
		d.text.Reset()
	}
}

// recordUsage prints the usage that the agent reports at the end of a turn. It looks at the total,
// which may include cached and reasoning tokens that the single counts leave out.
func (d *dialogue) recordUsage(r acp.PromptResponse) {
	d.mu.Lock()
	defer d.mu.Unlock()
	u := quotaUsage(r.Meta)
	if r.Usage != nil {
		u = &usage{Cached: orZero(r.Usage.CachedReadTokens),
			Output: int64(r.Usage.OutputTokens) + orZero(r.Usage.ThoughtTokens)}
		u.Input = max(int64(r.Usage.InputTokens), int64(r.Usage.TotalTokens)-u.Output)
	}
	if u == nil {
		return
	}
	if d.cost != nil { // d.cost is the cost of the whole session so far
		cost := *d.cost - d.charged
		u.Cost, d.charged = &cost, *d.cost
	}
	d.printLocked(event{Type: spent, Usage: u})
}

func orZero(n *int) int64 {
	if n == nil {
		return 0
	}
	return int64(*n)
}

// quotaUsage returns the usage that gemini sends in a form of its own, or nil if there is none.
func quotaUsage(meta map[string]any) *usage {
	var m struct {
		Quota struct {
			Tokens *struct {
				Input  int64 `json:"input_tokens"`
				Output int64 `json:"output_tokens"`
			} `json:"token_count"`
		} `json:"quota"`
	}
	data, err := json.Marshal(meta)
	if err != nil || json.Unmarshal(data, &m) != nil || m.Quota.Tokens == nil {
		return nil
	}
	return &usage{Input: m.Quota.Tokens.Input, Output: m.Quota.Tokens.Output}
}

// printFailure prints the reason for the turn's failure.
func (d *dialogue) printFailure(err error) {
	e := event{Type: failure, Text: errorText(err)}
	var answered *acp.RequestError
	switch {
	case errors.As(err, new(*startError)) || errors.As(err, new(*modelError)):
		e.Fault = setup
	case errors.As(err, &answered):
		if slices.Contains([]int{authRequired, unauthorized, forbidden}, answered.Code) {
			e.Fault = login
		}
		if e.Status = answered.Code; e.Status < 0 { // the protocol's own code, and no HTTP status
			e.Status = agent.StatusIn(e.Text)
		}
	}
	d.print(e)
}

// The error codes of answers. A negative code is the protocol's own, and any other is an HTTP
// status, which only some agents report.
const (
	internal     = -32603
	authRequired = -32000
	unauthorized = 401
	forbidden    = 403
)

// errorText returns the text of an error. For an error answer it adds the details, which name the
// cause of an internal error.
func errorText(err error) string {
	answered, ok := err.(*acp.RequestError)
	if !ok {
		return err.Error()
	}
	details, isObject := answered.Data.(map[string]any)
	for _, key := range []string{"details", "error", "message"} {
		if text, ok := details[key].(string); ok && isObject && text != "" {
			return answered.Message + ": " + text
		}
	}
	return answered.Message
}
