package gemini

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/proc"
)

// reader reads the events of one `gemini -o stream-json`, as recorded in testdata from gemini
// 0.61.0.
type reader struct {
	agent.Messages
	kind    contract.Kind
	tools   map[string]string // names of tools, by the ID of a running call
	session string
	status  string // status of the result event, which ends the stream; "" before that event
	failed  string // the error of the result event, in the provider's words
	denied  string // the first denied tool
	spent   *agent.Spending
	giveUp  func(error)
}

// event is a line of any type.
type event struct {
	Type       string          `json:"type"`
	SessionID  string          `json:"session_id"`
	Role       string          `json:"role"`
	Content    string          `json:"content"`
	ToolName   string          `json:"tool_name"`
	ToolID     string          `json:"tool_id"`
	Parameters json.RawMessage `json:"parameters"`
	Output     string          `json:"output"` // output of a tool
	Status     string          `json:"status"`
	Error      struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	} `json:"error"`
	Message string `json:"message"` // text of a warning
	Stats   *stats `json:"stats"`
}

// stats holds the tokens of this run of gemini, without earlier runs in the session.
type stats struct {
	Input  int64 `json:"input_tokens"`
	Cached int64 `json:"cached"`
	Output int64 `json:"output_tokens"`
}

func (r *reader) readEvent(line []byte) error {
	var e event
	if err := agent.Decode(line, &e); err != nil {
		return err
	}
	switch e.Type {
	case "init":
		r.session = e.SessionID
		r.Emit(agent.Event{Kind: agent.Session, ID: e.SessionID})
	case "message":
		if e.Role == "assistant" {
			r.Add(e.Content)
			r.Emit(agent.Event{Kind: agent.Writing})
		}
	case "tool_use":
		r.startTool(e)
	case "tool_result":
		r.endTool(e)
	case "error":
		// This error is not fatal. gemini reports a fatal error in the result event.
		r.Emit(agent.Event{Kind: agent.Text, Text: agent.EventText("warning: " + e.Message), Failed: true})
	case "result":
		r.readResult(e)
	}
	return nil
}

// maxTools bounds the map of running tool calls, because some calls might never end.
const maxTools = 1000

func (r *reader) startTool(e event) {
	r.EmitText()
	r.Discard() // a text before a tool call is not the reply
	if len(r.tools) < maxTools {
		r.tools[e.ToolID] = e.ToolName
	}
	r.Emit(agent.Event{Kind: agent.ToolStarted, Tool: e.ToolName, Class: classOf(e.ToolName), ID: e.ToolID,
		Text: agent.ToolSubject(e.Parameters), Sum: agent.Sum(e.Parameters)})
}

// endTool reports a call's end, and notes a denial. gemini's policy denies a tool that would need a
// person's consent.
func (r *reader) endTool(e event) {
	name, text := r.tools[e.ToolID], ""
	delete(r.tools, e.ToolID)
	r.Discard()
	if e.Status != "success" {
		text = agent.EventText(e.Error.Message)
	}
	if e.Error.Type == "policy_violation" && r.denied == "" {
		r.denied = name + " (" + text + ")"
	}
	ended := agent.Event{
		Kind:   agent.ToolEnded,
		Tool:   name,
		Class:  classOf(name),
		ID:     e.ToolID,
		Text:   text,
		Failed: e.Status != "success",
		Sum:    agent.Sum([]byte(text + "\n" + e.Output)),
	}
	r.Emit(ended.WithMissing(text + "\n" + e.Output))
}

// classOf returns the class of a tool. The names of the tools of MCP servers begin with mcp_.
func classOf(tool string) agent.ToolClass {
	switch tool {
	case "run_shell_command":
		return agent.ShellTool
	case "write_file", "replace":
		return agent.EditTool
	case "web_fetch", "google_web_search":
		return agent.WebTool
	}
	if strings.HasPrefix(tool, "mcp_") {
		return agent.MCPTool
	}
	return agent.OtherTool
}

func (r *reader) readResult(e event) {
	r.EmitText()
	r.status, r.failed = e.Status, providerText(e.Error.Message)
	if s := e.Stats; s != nil {
		r.spent = &agent.Spending{Input: s.Input, Cached: s.Cached, Output: s.Output}
		r.Emit(agent.Event{Kind: agent.Usage, Text: fmt.Sprintf("%d tokens read, %d written", s.Input, s.Output)})
	}
	r.Emit(agent.Event{
		Kind:   agent.Result,
		Text:   agent.EventText(e.Status + " " + r.failed),
		Failed: e.Status != "success",
	})
}

// WatchStderr ends the attempt if gemini announces that it sleeps until a quota is renewed.
// Meanwhile gemini prints nothing else. Source: gemini 0.61.0.
func (r *reader) WatchStderr(line string) {
	if later := words.LongWait("gemini", line, time.Now()); later != nil && r.giveUp != nil {
		r.giveUp(later)
	}
}

// End returns the report. A reply needs exit status 0 and a result "success", because gemini also
// exits with 0 after a cut stream or a signal.
func (r *reader) End(exit proc.Exit) agent.Report {
	r.Flush()
	report := agent.Report{Session: r.session, Spent: r.spent, Reply: r.Reply(r.kind)}
	if report.Failure = r.failure(exit); report.Failure != nil && !exit.TimedOut && exit.Signal == "" {
		report.Err, report.TooLong = classify(r.failed, exit.Code, time.Now()), words.IsTooLong(r.failed)
		report.Declined = words.IsDeclined(r.failed)
	} else if report.Failure == nil && r.denied != "" {
		report.Err = agent.Denied("gemini", r.denied)
	}
	return report
}

func (r *reader) failure(exit proc.Exit) *contract.Failure {
	switch bad := exit.Code != 0 || exit.Signal != "" || exit.TimedOut; {
	case bad && r.failed != "":
		return contract.Failed("%s: %s", exit, r.failed)
	case bad:
		return contract.Failed("%s", exit)
	case r.status == "":
		return contract.Failed("it ended without a result")
	case r.status != "success":
		return contract.Failed("the result is %s: %s", r.status, r.failed)
	default:
		return r.Missing()
	}
}
