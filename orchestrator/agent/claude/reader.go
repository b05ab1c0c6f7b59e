package claude

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/proc"
)

// maxDenials and maxTools bound the numbers of denials and of running calls that a reader keeps.
const (
	maxDenials = 8
	maxTools   = 256
	patience   = time.Minute // longest pause before a retry; a longer one ends the attempt
)

// reader reads claude's stream. Only one goroutine at a time may use it.
type reader struct {
	agent.Lines
	kind     contract.Kind
	host     agent.Host
	session  string
	lost     bool   // according to its stderr, claude does not know the session
	text     string // the agent's last message
	fault    string // kind of error, if the last message reports an error
	waiting  string // the reason for claude's last retry; "" after the next answer
	refusals int    // number of times that the API refused the key or the login
	warnings agent.Warnings
	broken   int       // unreadable lines
	resets   time.Time // end of a limit; zero if unknown
	ofModel  bool      // the limit is the allowance of one model
	tools    map[string]string
	denials  []denied
	last     *result // the last result; nil before the first
	reply    *result // the last result with a valid reply; nil before the first
	told     bool    // the reply is complete, and the current turn answers a later message
	subtype  string  // subtype of the last result
	spent    account
}

// showCursor is the escape sequence that claude prints at its end, for a terminal.
var showCursor = []byte("\x1b[?25h")

// maxEvent bounds the events that are parsed, in bytes, because parsing takes several times the
// memory of the event. It does not bound results.
const maxEvent = 2 << 20

var resultType = []byte(`"type":"result"`)

// denied is a tool call that claude has denied.
type denied struct{ id, tool, about string }

func newReader(c contract.Kind, h agent.Host) *reader {
	r := &reader{kind: c, host: h, tools: map[string]string{}}
	r.Each = r.readLine
	r.Long = func([]byte) { r.skip("a line of claude's output cannot be read (it is too long)") }
	return r
}

func (r *reader) emit(e agent.Event) {
	if r.host.Emit != nil {
		r.host.Emit(e)
	}
}

func (r *reader) giveUp(err error) {
	if r.host.GiveUp != nil {
		r.host.GiveUp(err)
	}
}

// resultEvent returns the event of the last result, in claude's words if it failed.
func (r *reader) resultEvent() agent.Event {
	e := agent.Event{Kind: agent.Result, Text: r.subtype, Failed: r.last.IsError}
	e.Local = !e.Failed && r.last.Turns != nil && *r.last.Turns == 0 && r.last.Usage == usage{}
	if e.Failed {
		e.Text = r.describeError()
	}
	return e
}

// readLine reads a line. It warns of an unreadable line and skips it. Source: seed 003, "解析错误处理".
func (r *reader) readLine(text []byte) {
	if text = bytes.TrimSuffix(text, showCursor); len(text) == 0 {
		return
	}
	if len(text) > maxEvent && !bytes.Contains(text, resultType) {
		r.skip(fmt.Sprintf("an event of %s is not looked into", agent.Size(int64(len(text))>>10<<10)))
		return
	}
	l, err := parse(text)
	if err != nil {
		r.broken++
		r.skip(fmt.Sprintf("a line of claude's output cannot be read (%v): %s", err, agent.Clip(string(text), maxText)))
		return
	}
	r.noteSession(l.SessionID)
	switch l.Type {
	case "assistant":
		r.onAssistant(l)
	case "user":
		r.onUser(l)
	case "system":
		r.onSystem(l)
	case "stream_event":
		r.onStream(l)
	case "tool_progress":
		r.emit(agent.Event{Kind: agent.Heartbeat, Tool: agent.Clip(l.ToolName, maxName), Class: classOf(l.ToolName),
			ID: agent.Clip(l.ToolUseID, maxName), Text: fmt.Sprintf("%.0f s", l.Elapsed)})
	case "rate_limit_event":
		r.noteLimit(l.RateLimit)
	case "command_lifecycle":
		r.onLifecycle(l)
	case "control_response":
		r.onResponse(l.Response)
	case "result":
		r.result(l)
	}
}

func (r *reader) warn(text string) { r.warnings.Warn(r.emit, text) }

// skip warns of a line that was not read, and emits an Unread event.
func (r *reader) skip(text string) {
	r.warn(text)
	r.emit(agent.Event{Kind: agent.Unread})
}

// noteSession takes the session's ID from the first line that has one.
func (r *reader) noteSession(id string) {
	if r.session == "" && id != "" && len(id) <= maxName {
		r.session = id
		r.emit(agent.Event{Kind: agent.Session, ID: id})
	}
}

// noModel is the model of a text that claude itself has written, such as the provider's refusal.
const noModel = "<synthetic>"

// onAssistant reports texts and tool calls. For a text of a sub-agent it reports only a sign of
// work.
func (r *reader) onAssistant(l *line) {
	r.waiting = ""
	if r.fault = ""; l.APIErrorText {
		r.fault = l.Error
	}
	r.spent.message(l.Message)
	for _, b := range blocks(l.Message.Content) {
		switch {
		case b.Type == "text" && l.Parent != "": // only a sign of work
			r.emit(agent.Event{Kind: agent.Writing})
		case b.Type == "text" && b.Text != "":
			r.text = agent.Clip(b.Text, maxText)
			r.emit(agent.Event{Kind: agent.Text, Text: r.text, Failed: l.APIErrorText || l.Message.Model == noModel})
		case b.Type == "tool_use":
			name := agent.Clip(b.Name, maxName)
			id := agent.Clip(b.ID, maxName)
			if len(r.tools) < maxTools {
				r.tools[id] = name
			}
			r.emit(agent.Event{
				Kind:  agent.ToolStarted,
				Tool:  name,
				Class: classOf(name),
				ID:    id,
				Text:  agent.ToolSubject(b.Input),
				Sum:   agent.Sum(b.Input),
			})
		}
	}
}

// onUser reports the tool calls that ended.
func (r *reader) onUser(l *line) {
	for _, b := range blocks(l.Message.Content) {
		if b.Type != "tool_result" {
			continue
		}
		id := agent.Clip(b.ToolUseID, maxName)
		e := agent.Event{
			Kind:   agent.ToolEnded,
			Tool:   r.tools[id],
			Class:  classOf(r.tools[id]),
			ID:     id,
			Failed: b.IsError,
			Sum:    agent.Sum(b.Content),
		}
		if e.Failed {
			e.Text = firstLine(b.Content)
			e = e.WithMissing(wholeText(b.Content))
		}
		delete(r.tools, id)
		r.emit(e)
	}
}

// onStream reports that the model writes. The whole text follows in an assistant line.
func (r *reader) onStream(l *line) {
	switch l.Stream.Type {
	case "content_block_start":
		e := agent.Event{Kind: agent.Writing}
		if l.Stream.Block.Type == "tool_use" {
			e.Class = classOf(l.Stream.Block.Name)
		}
		r.emit(e)
	case "message_start", "content_block_delta":
		r.emit(agent.Event{Kind: agent.Writing})
	default:
		r.emit(agent.Event{Kind: agent.Heartbeat})
	}
}

// classOf returns the class of one of claude's tools. The name of an MCP server's tool begins with
// mcp__ and the server's name.
func classOf(tool string) agent.ToolClass {
	switch tool {
	case "Bash", "BashOutput":
		return agent.ShellTool
	case "Edit", "MultiEdit", "Write", "NotebookEdit":
		return agent.EditTool
	case "WebFetch", "WebSearch":
		return agent.WebTool
	case "StructuredOutput":
		return agent.ReplyTool
	}
	if strings.HasPrefix(tool, "mcp__") {
		return agent.MCPTool
	}
	return agent.OtherTool
}

func (r *reader) onSystem(l *line) {
	switch l.Subtype {
	case "thinking_tokens":
		r.emit(agent.Event{Kind: agent.Writing})
	case "status":
		r.emit(agent.Event{Kind: agent.Heartbeat})
	case "init":
		r.warnOfServers(l)
	case "api_retry":
		r.onRetry(l)
	case "control_request_progress":
		r.emit(agent.Event{Kind: agent.Echo})
	case "permission_denied":
		r.warn("permission denied: " + agent.Clip(l.ToolName, maxName))
	}
}

// warnOfServers warns of the MCP servers that claude could not start. Claude works without them.
func (r *reader) warnOfServers(l *line) {
	for _, s := range l.Servers {
		name, fault := agent.Clip(s.Name, maxName), ""
		switch s.Status {
		case "failed", "needs-auth":
			fault = ": " + s.Status
		case "pending": // claude waits 30 s for a server
			fault = " did not start in time, and its tools are left out"
		default:
			continue
		}
		r.emit(agent.Event{Kind: agent.Heartbeat, Missing: "mcp:" + name, Text: s.Status})
		r.warn("MCP server " + name + fault)
	}
}

func (r *reader) onRetry(l *line) {
	r.waiting = agent.Clip(l.Error, maxName)
	switch {
	case l.ErrorStatus == 0 && l.Error == "unknown":
		r.waiting = "no connection"
	case l.ErrorStatus != 0:
		r.waiting = fmt.Sprintf("%d %s", l.ErrorStatus, agent.Clip(l.Error, maxName))
	}
	delay := time.Duration(min(max(l.DelayMillis, 0), 1e12)) * time.Millisecond
	r.emit(agent.Event{
		Kind: agent.Retry,
		Text: fmt.Sprintf("%s, again in %v (%d of %d)", r.waiting, delay.Round(time.Millisecond), l.Attempt,
			l.MaxRetries),
	})
	switch l.ErrorStatus {
	case unauthorized, forbidden:
		// Claude reacts to the first refusal with a renewed login or its helper's next key. The
		// second refusal is final, although claude would go on.
		if r.refusals++; r.refusals > 1 {
			r.giveUp(loginError(fmt.Sprintf("the API refuses the key or the login (%s)", r.waiting)))
		}
	case tooManyRequests:
		if delay > patience {
			r.giveUp(&agent.LaterError{Text: "claude: the API wants to be left alone (" + r.waiting + ")",
				Reset: time.Now().Add(delay).Round(time.Second), Model: r.ofModel})
		}
	}
}

// limitsOfModels are the types of limits that hold for one model only.
var limitsOfModels = []string{"seven_day_opus", "seven_day_sonnet", "seven_day_overage_included"}

// noteLimit keeps the end of a limit that was reached. It skips the status "allowed", which comes
// in every good run with a login.
func (r *reader) noteLimit(l rateLimit) {
	if l.Status != "rejected" {
		return
	}
	r.ofModel = slices.Contains(limitsOfModels, l.Type)
	if l.ResetsAt > 0 && l.ResetsAt < 1e11 {
		r.resets = time.Unix(int64(l.ResetsAt), 0).UTC()
	}
}

// result keeps the newest result, and the newest with a valid reply. Claude prints another result
// after a background task: a later reply is the better one, but the turn of a notification may also
// fail, or end without words, after the work is done. A message that claude begins after a result gets a turn of its own (r.told). The results of
// that turn are not kept.
func (r *reader) result(l *line) {
	if !r.told {
		r.subtype = agent.Clip(l.Subtype, maxName)
	}
	for _, d := range l.Denials {
		now := denied{
			id:    agent.Clip(d.ID, maxName),
			tool:  agent.Clip(d.Tool, maxName),
			about: agent.ToolSubject(d.Input),
		}
		if len(r.denials) < maxDenials && !slices.Contains(r.denials, now) {
			r.denials = append(r.denials, now)
		}
	}
	r.spent.result(&l.result)
	if !r.told {
		last := l.result // not the whole line, which would stay in memory
		if r.last = &last; r.hasReply() {
			r.reply = r.last
		}
	}
	r.emit(agent.Event{Kind: agent.Usage, Text: r.spent.String()})
	r.emit(r.resultEvent())
}

// onLifecycle reports the delivery of a message. If claude begins a message only after the result,
// the message gets a turn of its own, and is reported as dropped.
func (r *reader) onLifecycle(l *line) {
	e := agent.Event{Kind: agent.Echo, ID: agent.Clip(l.Command, maxName)}
	switch sent := r.host.Told == nil || r.host.Told(e.ID); {
	case l.State != "started" || !sent:
	case r.last == nil:
		e.Kind = agent.Heard
	default:
		r.told = true
		e.Kind, e.Text = agent.Dropped, "it came after the reply"
	}
	r.emit(e)
}

// onResponse reports the answer to a question. It reports the response to any other request only as
// an Echo.
func (r *reader) onResponse(answer response) {
	e := agent.Event{
		Kind: agent.Answered,
		ID:   agent.Clip(answer.ID, maxName),
		Text: agent.Clip(answer.Answer.Text, maxText),
	}
	switch {
	case r.host.Told != nil && !r.host.Told(e.ID):
		e.Kind, e.Text = agent.Echo, ""
	case answer.Subtype == "error":
		e.Kind, e.Text = agent.Dropped, "its program refuses it: "+agent.Clip(answer.Error, maxName)
	case answer.Answer.Synthetic || e.Text == "":
		e.Text = "(no words)"
	}
	r.emit(e)
}

// End returns the report. The judgement is in report.go.
func (r *reader) End(exit proc.Exit) agent.Report {
	r.Flush()
	report := agent.Report{Session: r.session, Spent: r.spent.total(), SessionCost: r.spent.session}
	r.conclude(&report, exit)
	return report
}
