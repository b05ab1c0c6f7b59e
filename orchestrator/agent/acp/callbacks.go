package acp

import (
	"context"
	"encoding/json"
	"time"

	"github.com/coder/acp-go-sdk"

	"kanban-run/orchestrator/agent"
)

// RequestPermission answers in place of a person, by the role's permission. It also reports a new
// tool call, because some agents report a call only by this request.
func (d *dialogue) RequestPermission(_ context.Context,
	q acp.RequestPermissionRequest) (acp.RequestPermissionResponse, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	id, title := q.ToolCall.ToolCallId, ""
	if q.ToolCall.Title != nil {
		title = *q.ToolCall.Title
	}
	kind, begun := d.tools[id]
	if q.ToolCall.Kind != nil {
		kind = *q.ToolCall.Kind
	}
	if !begun {
		d.beginTool(id, kind, title, q.ToolCall.RawInput)
	}
	a, allowed := chooseOption(q.Options, isAllowed(d.permission, kind))
	if !allowed {
		d.printLocked(event{Type: denied, ID: string(id), Tool: toolKind(kind), Text: title})
	}
	return a, nil
}

// SessionUpdate prints the agent's activity. It prints that the agent thinks or plans, but not its
// thoughts and plans.
func (d *dialogue) SessionUpdate(_ context.Context, n acp.SessionNotification) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.session == "" {
		return nil
	}
	switch u := n.Update; {
	case u.AgentMessageChunk != nil:
		if t := u.AgentMessageChunk.Content.Text; t != nil && d.text.Len()+len(t.Text) <= maxText {
			d.text.WriteString(t.Text)
		}
		d.printWriting()
	case u.AgentThoughtChunk != nil, u.Plan != nil:
		d.printWriting()
	case u.ToolCall != nil:
		if _, begun := d.tools[u.ToolCall.ToolCallId]; !begun {
			d.beginTool(u.ToolCall.ToolCallId, u.ToolCall.Kind, u.ToolCall.Title, u.ToolCall.RawInput)
		}
		d.updateTool(u.ToolCall.ToolCallId, u.ToolCall.Status, u.ToolCall.RawOutput)
	case u.ToolCallUpdate != nil && u.ToolCallUpdate.Status != nil:
		d.updateTool(u.ToolCallUpdate.ToolCallId, *u.ToolCallUpdate.Status, u.ToolCallUpdate.RawOutput)
	case u.ToolCallUpdate != nil:
		d.printLocked(event{Type: alive, ID: string(u.ToolCallUpdate.ToolCallId)})
	case u.UsageUpdate != nil:
		if c := u.UsageUpdate.Cost; c != nil && c.Currency == "USD" {
			d.cost = &c.Amount
		}
	}
	return nil
}

// maxTools bounds the number of tool calls that are kept as running, because some may never end.
const maxTools = 1000

// writingEvery is the shortest time between two events of the kind "writing".
const writingEvery = time.Second

func (d *dialogue) printWriting() {
	if now := time.Now(); now.Sub(d.wrote) >= writingEvery {
		d.wrote = now
		d.printLocked(event{Type: writing})
	}
}

// sum returns the checksum of a tool's input or result, or 0 if there is none.
func sum(raw any) uint32 {
	if raw == nil {
		return 0
	}
	data, err := json.Marshal(raw)
	if err != nil {
		return 0
	}
	return agent.Sum(data)
}

func (d *dialogue) beginTool(id acp.ToolCallId, kind acp.ToolKind, title string, input any) {
	d.flushTextLocked()
	if len(d.tools) < maxTools {
		d.tools[id] = kind
	}
	d.printLocked(event{Type: toolStarted, ID: string(id), Tool: toolKind(kind), Text: title, Sum: sum(input)})
}

// updateTool reports that a call has ended or is alive. If the call has ended, it first prints the
// text that came after the call's start.
func (d *dialogue) updateTool(id acp.ToolCallId, status acp.ToolCallStatus, output any) {
	e := event{Type: toolEnded, ID: string(id), Tool: toolKind(d.tools[id]), Sum: sum(output)}
	switch status {
	case acp.ToolCallStatusFailed:
		e.Text = string(status)
	case acp.ToolCallStatusCompleted:
	case acp.ToolCallStatusInProgress:
		d.printLocked(event{Type: alive, ID: string(id)})
		return
	default:
		return
	}
	d.flushTextLocked()
	delete(d.tools, id)
	d.printLocked(e)
}

func toolKind(k acp.ToolKind) string {
	if k == "" {
		return string(acp.ToolKindOther)
	}
	return string(k)
}

// The client offers neither files nor terminals, so the following methods return errors.

func (d *dialogue) ReadTextFile(context.Context, acp.ReadTextFileRequest) (acp.ReadTextFileResponse, error) {
	return acp.ReadTextFileResponse{}, acp.NewMethodNotFound(acp.ClientMethodFsReadTextFile)
}

func (d *dialogue) WriteTextFile(context.Context, acp.WriteTextFileRequest) (acp.WriteTextFileResponse, error) {
	return acp.WriteTextFileResponse{}, acp.NewMethodNotFound(acp.ClientMethodFsWriteTextFile)
}

func (d *dialogue) CreateTerminal(context.Context, acp.CreateTerminalRequest) (acp.CreateTerminalResponse, error) {
	return acp.CreateTerminalResponse{}, acp.NewMethodNotFound(acp.ClientMethodTerminalCreate)
}

func (d *dialogue) KillTerminal(context.Context, acp.KillTerminalRequest) (acp.KillTerminalResponse, error) {
	return acp.KillTerminalResponse{}, acp.NewMethodNotFound(acp.ClientMethodTerminalKill)
}

func (d *dialogue) TerminalOutput(context.Context, acp.TerminalOutputRequest) (acp.TerminalOutputResponse, error) {
	return acp.TerminalOutputResponse{}, acp.NewMethodNotFound(acp.ClientMethodTerminalOutput)
}

func (d *dialogue) ReleaseTerminal(context.Context, acp.ReleaseTerminalRequest) (acp.ReleaseTerminalResponse, error) {
	return acp.ReleaseTerminalResponse{}, acp.NewMethodNotFound(acp.ClientMethodTerminalRelease)
}

func (d *dialogue) WaitForTerminalExit(context.Context,
	acp.WaitForTerminalExitRequest) (acp.WaitForTerminalExitResponse, error) {
	return acp.WaitForTerminalExitResponse{}, acp.NewMethodNotFound(acp.ClientMethodTerminalWaitForExit)
}
