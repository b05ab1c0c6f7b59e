package acp

import (
	"context"

	"github.com/coder/acp-go-sdk"
)

// RequestPermission answers in the place of a person. Some agents tell of a tool only by asking for it.
func (d *dialogue) RequestPermission(_ context.Context, q acp.RequestPermissionRequest) (acp.RequestPermissionResponse, error) {
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
		d.beginTool(id, kind, title)
	}
	a, allowed := answer(q.Options, allows(d.permission, kind))
	if !allowed {
		d.printLocked(event{Type: denied, ID: string(id), Tool: shown(kind), Text: title})
	}
	return a, nil
}

// SessionUpdate hears what the agent does. Thoughts, plans and the like are its own.
func (d *dialogue) SessionUpdate(_ context.Context, n acp.SessionNotification) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.session == "" {
		return nil
	}
	switch u := n.Update; {
	case u.AgentMessageChunk != nil:
		if t := u.AgentMessageChunk.Content.Text; t != nil && d.said.Len()+len(t.Text) <= maxText {
			d.said.WriteString(t.Text)
		}
	case u.ToolCall != nil:
		if _, begun := d.tools[u.ToolCall.ToolCallId]; !begun {
			d.beginTool(u.ToolCall.ToolCallId, u.ToolCall.Kind, u.ToolCall.Title)
		}
		d.updateTool(u.ToolCall.ToolCallId, u.ToolCall.Status)
	case u.ToolCallUpdate != nil && u.ToolCallUpdate.Status != nil:
		d.updateTool(u.ToolCallUpdate.ToolCallId, *u.ToolCallUpdate.Status)
	case u.UsageUpdate != nil:
		if c := u.UsageUpdate.Cost; c != nil && c.Currency == "USD" {
			d.cost = &c.Amount
		}
	}
	return nil
}

// maxTools bounds what is remembered of tools that are said to have begun, and never to have ended.
const maxTools = 1000

func (d *dialogue) beginTool(id acp.ToolCallId, kind acp.ToolKind, title string) {
	d.tellLocked()
	if len(d.tools) < maxTools {
		d.tools[id] = kind
	}
	d.printLocked(event{Type: toolStarted, ID: string(id), Tool: shown(kind), Text: title})
}

// updateTool also tells what was said so far: the question of leave for the tool may have overtaken it.
func (d *dialogue) updateTool(id acp.ToolCallId, status acp.ToolCallStatus) {
	e := event{Type: toolEnded, ID: string(id), Tool: shown(d.tools[id])}
	switch status {
	case acp.ToolCallStatusFailed:
		e.Text = string(status)
	case acp.ToolCallStatusCompleted:
	default:
		return
	}
	d.tellLocked()
	delete(d.tools, id)
	d.printLocked(e)
}

func shown(k acp.ToolKind) string {
	if k == "" {
		return string(acp.ToolKindOther)
	}
	return string(k)
}

// What the client does not offer, it has not.

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

func (d *dialogue) WaitForTerminalExit(context.Context, acp.WaitForTerminalExitRequest) (acp.WaitForTerminalExitResponse, error) {
	return acp.WaitForTerminalExitResponse{}, acp.NewMethodNotFound(acp.ClientMethodTerminalWaitForExit)
}
