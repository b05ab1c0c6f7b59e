package claude

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/proc"
)

// Bounds of what is kept, whatever a stream brings.
const (
	maxDenials = 8
	maxTools   = 256
	patience   = time.Minute // for a provider that says how long it wants to be left alone
)

// reader follows claude's stream. It is used by one goroutine at a time.
type reader struct {
	agent.Lines
	contract agent.Contract
	host     agent.Host
	session  string
	lost     bool   // standard error says that the session to resume is unknown
	text     string // the last that the agent itself said
	fault    string // what kind of error the last message was, if it was one
	waiting  string // why claude tries again, since it last got an answer
	refusals int    // of the key or the login
	warnings agent.Warnings
	broken   int       // lines that could not be read
	resets   time.Time // when a limit is over
	tools    map[string]string
	denials  []denied
	last     *result // of the last result line; nil: none yet
	subtype  string  // and its subtype
	spent    account
}

// showCursor is what claude leaves on a terminal when it ends.
var showCursor = []byte("\x1b[?25h")

// maxEvent is how long an event may be to be read, in bytes. To read one takes several times its length, and only a result is worth that.
const maxEvent = 2 << 20

var resultType = []byte(`"type":"result"`)

// denied is a call of a tool that claude was not allowed.
type denied struct{ id, tool, about string }

func newReader(c agent.Contract, h agent.Host) *reader {
	r := &reader{contract: c, host: h, tools: map[string]string{}}
	r.Each = r.take
	r.Long = func([]byte) { r.warn("a line of claude's output cannot be read (it is too long)") }
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

// ending is the event of the last result: what claude says of it where it did not go well.
func (r *reader) ending() agent.Event {
	e := agent.Event{Kind: agent.Result, Text: r.subtype, Failed: r.last.IsError}
	if e.Failed {
		e.Text = r.words()
	}
	return e
}

// take reads a line. One that cannot be read is no reason to stop: seed 003, "解析错误处理".
func (r *reader) take(text []byte) {
	if text = bytes.TrimSuffix(text, showCursor); len(text) == 0 {
		return
	}
	if len(text) > maxEvent && !bytes.Contains(text, resultType) {
		r.warn(fmt.Sprintf("an event of %s is not looked into", agent.Size(int64(len(text))>>10<<10)))
		return
	}
	l, err := parse(text)
	if err != nil {
		r.broken++
		r.warn(fmt.Sprintf("a line of claude's output cannot be read (%v): %s", err, agent.Clip(string(text), maxText)))
		return
	}
	r.meet(l.SessionID)
	switch l.Type {
	case "assistant":
		r.assistant(l)
	case "user":
		r.user(l)
	case "system":
		r.system(l)
	case "tool_progress":
		r.emit(agent.Event{Kind: agent.Heartbeat, Tool: agent.Clip(l.ToolName, maxName), Text: fmt.Sprintf("%.0f s", l.Elapsed)})
	case "rate_limit_event":
		r.limit(l.RateLimit)
	case "result":
		r.result(l)
	}
}

func (r *reader) warn(text string) { r.warnings.Warn(r.emit, text) }

// meet takes the session's ID from whatever line brings it first.
func (r *reader) meet(id string) {
	if r.session == "" && id != "" && len(id) <= maxName {
		r.session = id
		r.emit(agent.Event{Kind: agent.Session, ID: id})
	}
}

// assistant: what a sub-agent says is no word of the agent itself, but its tools are at work too.
func (r *reader) assistant(l *line) {
	r.waiting = ""
	if r.fault = ""; l.APIErrorText {
		r.fault = l.Error
	}
	r.spent.message(l.Message)
	for _, b := range l.Message.blocks() {
		switch {
		case b.Type == "text" && l.Parent == "" && b.Text != "":
			r.text = agent.Clip(b.Text, maxText)
			r.emit(agent.Event{Kind: agent.Text, Text: r.text})
		case b.Type == "tool_use":
			name := agent.Clip(b.Name, maxName)
			id := agent.Clip(b.ID, maxName)
			if len(r.tools) < maxTools {
				r.tools[id] = name
			}
			r.emit(agent.Event{Kind: agent.ToolStarted, Tool: name, ID: id, Text: agent.About(b.Input)})
		}
	}
}

// user: what a tool brought.
func (r *reader) user(l *line) {
	for _, b := range l.Message.blocks() {
		if b.Type != "tool_result" {
			continue
		}
		id := agent.Clip(b.ToolUseID, maxName)
		e := agent.Event{Kind: agent.ToolEnded, Tool: r.tools[id], ID: id}
		if b.IsError {
			e.Text = "failed"
		}
		delete(r.tools, id)
		r.emit(e)
	}
}

func (r *reader) system(l *line) {
	switch l.Subtype {
	case "init":
		r.begin(l)
	case "api_retry":
		r.retry(l)
	case "permission_denied":
		r.warn("permission denied: " + agent.Clip(l.ToolName, maxName))
	}
}

// begin tells of a server that the role counts on, and that claude does without.
func (r *reader) begin(l *line) {
	for _, s := range l.Servers {
		if s.Status == "failed" || s.Status == "needs-auth" {
			r.warn("MCP server " + agent.Clip(s.Name, maxName) + ": " + s.Status)
		}
	}
}

func (r *reader) retry(l *line) {
	r.waiting = agent.Clip(l.Error, maxName)
	if l.ErrorStatus != 0 {
		r.waiting = fmt.Sprintf("%d %s", l.ErrorStatus, agent.Clip(l.Error, maxName))
	}
	delay := time.Duration(min(max(l.DelayMillis, 0), 1e12)) * time.Millisecond
	r.emit(agent.Event{Kind: agent.Retry, Text: fmt.Sprintf("%s, again in %v (%d of %d)", r.waiting, delay.Round(time.Millisecond), l.Attempt, l.MaxRetries)})
	switch l.ErrorStatus {
	case unauthorized, forbidden:
		// Claude answers the first refusal with a renewed login, or with another key from its helper. A second one is final, however
		// often claude would go on.
		if r.refusals++; r.refusals > 1 {
			r.giveUp(refused(fmt.Sprintf("the API refuses the key or the login (%s)", r.waiting)))
		}
	case tooManyRequests:
		if delay > patience {
			r.giveUp(r.later("the API wants to be left alone ("+r.waiting+")", time.Now().Add(delay).Round(time.Second)))
		}
	}
}

// limit: "allowed" comes in every good run of somebody who is logged in.
func (r *reader) limit(l rateLimit) {
	if l.Status == "rejected" && l.ResetsAt > 0 && l.ResetsAt < 1e11 {
		r.resets = time.Unix(int64(l.ResetsAt), 0).UTC()
	}
}

// result: the last one counts, for a task in the background may have been waited for.
func (r *reader) result(l *line) {
	r.subtype = agent.Clip(l.Subtype, maxName)
	for _, d := range l.Denials {
		now := denied{id: agent.Clip(d.ID, maxName), tool: agent.Clip(d.Tool, maxName), about: agent.About(d.Input)}
		if len(r.denials) < maxDenials && !slices.Contains(r.denials, now) {
			r.denials = append(r.denials, now)
		}
	}
	r.spent.result(&l.result)
	last := l.result // and not the whole line
	r.last = &last
	r.emit(agent.Event{Kind: agent.Usage, Text: r.spent.String()})
	r.emit(r.ending())
}

// End: see report.go.
func (r *reader) End(exit proc.Exit) agent.Report {
	r.Flush()
	report := agent.Report{Session: r.session, Spent: r.spent.total()}
	report.Reply, report.Failure, report.Err = r.outcome(exit)
	return report
}
