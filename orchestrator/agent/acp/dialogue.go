package acp

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/coder/acp-go-sdk"

	"kanban-run/orchestrator/agent"
)

// maxText is how much of what the agent says is kept: more than a reply may have.
const maxText = 17 << 20

// dialogue is the client's side of a session with one prompt. It is safe for concurrent use: what the agent asks and what it tells
// comes at the same time.
type dialogue struct {
	permission agent.Permission
	mu         sync.Mutex
	to         *json.Encoder
	session    acp.SessionId   // "" before the prompt
	said       strings.Builder // since the last tool began
	tools      map[acp.ToolCallId]acp.ToolKind
	cost       *float64 // of the session so far
}

func newDialogue(p agent.Permission, stdout io.Writer) *dialogue {
	return &dialogue{permission: p, to: json.NewEncoder(stdout), tools: map[acp.ToolCallId]acp.ToolKind{}}
}

// talk is the whole dialogue. Errors: what the agent answered, *goneError.
func (d *dialogue) talk(ctx context.Context, conn *acp.ClientSideConnection, model, prompt string) error {
	// No file system and no terminal of the client's is offered: the agent's own obey the agent's own rules.
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
	d.begin(s.SessionId)
	answer, err := conn.Prompt(ctx, acp.PromptRequest{SessionId: s.SessionId, Prompt: []acp.ContentBlock{acp.TextBlock(prompt)}})
	d.tell()
	if err != nil {
		return d.explain(conn, err)
	}
	d.count(answer)
	d.print(event{Type: result, Text: string(answer.StopReason)})
	return nil
}

// explain tells an answer from a connection that is no more, to which nothing can be written, or from which nothing comes.
func (d *dialogue) explain(conn *acp.ClientSideConnection, err error) error {
	var answered *acp.RequestError
	if errors.As(err, &answered) && answered.Code == internal {
		select {
		case <-conn.Done():
			return &goneError{}
		case <-time.After(4 * lateWait):
		}
	}
	return err
}

// begin: what came before the prompt, as the news of a mode, is not the answer to it.
func (d *dialogue) begin(id acp.SessionId) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.session = id
}

// cancel asks the agent to leave its turn, which it then ends itself.
func (d *dialogue) cancel(conn *acp.ClientSideConnection) {
	d.mu.Lock()
	id := d.session
	d.mu.Unlock()
	if id != "" {
		_ = conn.Cancel(context.Background(), acp.CancelNotification{SessionId: id}) // else it is gone
	}
}

// print writes a line.
func (d *dialogue) print(e event) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.printLocked(e)
}

// printLocked does not look at errors: who does not read what this process prints ends it.
func (d *dialogue) printLocked(e event) { _ = d.to.Encode(e) }

// tell prints what was said.
func (d *dialogue) tell() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tellLocked()
}

func (d *dialogue) tellLocked() {
	if d.said.Len() > 0 {
		d.printLocked(event{Type: text, Text: d.said.String()})
		d.said.Reset()
	}
}

// count prints what the session came to. Tokens that were read from a cache, or thought, may be in the sum only.
func (d *dialogue) count(r acp.PromptResponse) {
	d.mu.Lock()
	defer d.mu.Unlock()
	u := quota(r.Meta)
	if r.Usage != nil {
		u = &usage{Cached: orZero(r.Usage.CachedReadTokens), Output: int64(r.Usage.OutputTokens) + orZero(r.Usage.ThoughtTokens)}
		u.Input = max(int64(r.Usage.InputTokens), int64(r.Usage.TotalTokens)-u.Output)
	}
	if u != nil {
		u.Cost = d.cost
		d.printLocked(event{Type: spent, Usage: u})
	}
}

func orZero(n *int) int64 {
	if n == nil {
		return 0
	}
	return int64(*n)
}

// quota is what gemini says instead of a usage.
func quota(meta map[string]any) *usage {
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

// fail prints why there is no end of the turn.
func (d *dialogue) fail(err error) {
	e := event{Type: failure, Text: said(err)}
	var answered *acp.RequestError
	switch {
	case errors.As(err, new(*startError)) || errors.As(err, new(*modelError)):
		e.Fault = setup
	case errors.As(err, &answered):
		e.Fault = answeredFault(answered)
	}
	d.print(e)
}

// Codes of answers: the protocol's own, and the statuses that some agents hand on from their provider.
const (
	internal     = -32603
	authRequired = -32000
	unauthorized = 401
	forbidden    = 403
	tooMany      = 429
)

func answeredFault(e *acp.RequestError) fault {
	switch e.Code {
	case authRequired, unauthorized, forbidden:
		return login
	case tooMany:
		return limit
	default:
		return other
	}
}

// said is an answer's text for people: with the details, which are where an internal error says what it is.
func said(err error) string {
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
