package opencode

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/proc"
)

// reader reads the events of one `opencode run --format json`, as recorded in testdata from
// opencode 1.18.33.
type reader struct {
	agent.Messages
	kind    contract.Kind
	session string
	lost    bool   // opencode does not know the session to resume
	reason  string // why the last step ended; "" while it runs
	fault   *fault
	denied  string // the first denied tool
	spent   *agent.Spending
	cost    float64 // cost in US dollars; also 0 if opencode does not know the price
	giveUp  func(error)
}

// event is a line of any type.
type event struct {
	Type      string `json:"type"`
	SessionID string `json:"sessionID"`
	Part      part   `json:"part"`
	Error     *fault `json:"error"`
}

// part is a part of a message: a text, an ended tool call, or the end of a step.
type part struct {
	Text   string  `json:"text"`
	Tool   string  `json:"tool"`
	CallID string  `json:"callID"`
	Reason string  `json:"reason"`
	Tokens tokens  `json:"tokens"`
	Cost   float64 `json:"cost"`
	State  struct {
		Status string          `json:"status"`
		Input  json.RawMessage `json:"input"`
		Output string          `json:"output"`
		Error  string          `json:"error"`

		Metadata struct {
			Exit *int `json:"exit"` // exit status of a command
		} `json:"metadata"`
	} `json:"state"`
}

// tokens counts the tokens of one step. Input and Output do not include cached and reasoning
// tokens.
type tokens struct {
	Input     int64 `json:"input"`
	Output    int64 `json:"output"`
	Reasoning int64 `json:"reasoning"`
	Cache     struct {
		Read  int64 `json:"read"`
		Write int64 `json:"write"`
	} `json:"cache"`
}

func (r *reader) readEvent(line []byte) error {
	var e event
	if err := agent.Decode(line, &e); err != nil {
		return err
	}
	if r.session == "" && e.SessionID != "" {
		r.session = e.SessionID
		r.Emit(agent.Event{Kind: agent.Session, ID: e.SessionID})
	}
	switch e.Type {
	case "text":
		r.Set(e.Part.Text)
	case "tool_use":
		r.reportTool(e.Part)
	case "step_start":
		r.reason = ""
	case "step_finish":
		r.endStep(e.Part)
	case "error":
		r.readFault(e.Error)
	}
	return nil
}

// reportTool reports both the start and the end of a call, because opencode prints only the end.
func (r *reader) reportTool(p part) {
	r.Discard()
	what := agent.ToolSubject(p.State.Input)
	class := classOf(p.Tool)
	r.Emit(agent.Event{
		Kind:  agent.ToolStarted,
		Tool:  p.Tool,
		Class: class,
		ID:    p.CallID,
		Text:  what,
		Sum:   agent.Sum(p.State.Input),
	})
	fault := agent.EventText(p.State.Error)
	if exit := p.State.Metadata.Exit; exit != nil && *exit != 0 {
		fault = fmt.Sprintf("exit status %d", *exit)
	}
	ended := agent.Event{Kind: agent.ToolEnded, Tool: p.Tool, Class: class, ID: p.CallID, Text: fault,
		Failed: fault != "", Sum: agent.Sum([]byte(fault + "\n" + p.State.Output))}
	r.Emit(ended.WithMissing(fault + "\n" + p.State.Output))
	refused := strings.Contains(p.State.Error, "rejected permission") ||
		strings.Contains(p.State.Error, "a rule which prevents you")
	if refused && r.denied == "" {
		r.denied = p.Tool
		if what != "" {
			r.denied += " (" + what + ")"
		}
	}
}

// classOf returns the class of a tool. The tools of MCP servers cannot be recognised by their
// names.
func classOf(tool string) agent.ToolClass {
	switch tool {
	case "bash":
		return agent.ShellTool
	case "edit", "write", "patch":
		return agent.EditTool
	case "webfetch", "websearch":
		return agent.WebTool
	default:
		return agent.OtherTool
	}
}

func (r *reader) endStep(p part) {
	r.reason = p.Reason
	if r.spent == nil {
		r.spent = &agent.Spending{Partial: true} // opencode asks the model for a title, which is in no event
	}
	t := p.Tokens
	r.spent.Input += t.Input + t.Cache.Read + t.Cache.Write
	r.spent.Cached += t.Cache.Read
	r.spent.Output += t.Output + t.Reasoning
	r.cost += p.Cost
	r.Emit(agent.Event{
		Kind: agent.Usage,
		Text: fmt.Sprintf("%d tokens read, %d written", r.spent.Input, r.spent.Output),
	})
	if p.Reason == "stop" {
		r.Emit(agent.Event{Kind: agent.Result, Text: p.Reason})
	}
}

func (r *reader) readFault(f *fault) {
	if f == nil {
		f = &fault{}
	}
	r.fault = f
	r.Emit(agent.Event{Kind: agent.Result, Text: agent.EventText(f.String()), Failed: true})
}

// End returns the report. A reply needs a last step that ended with the reason "stop".
func (r *reader) End(exit proc.Exit) agent.Report {
	r.Flush()
	if r.spent != nil && r.cost > 0 {
		r.spent.Cost = agent.Micros(r.cost)
	}
	report := agent.Report{Session: r.session, Spent: r.spent, Reply: r.Reply(r.kind)}
	report.Failure = r.failure(exit)
	switch ended := !exit.TimedOut && exit.Signal == ""; {
	case report.Failure != nil && r.fault != nil && ended:
		report.Err, report.TooLong = r.fault.classify(time.Now()), words.IsTooLong(r.fault.String())
		report.Declined = words.IsDeclined(r.fault.String())
	case report.Failure != nil && r.reason == "content-filter" && ended:
		report.Declined = true
	case r.denied != "" && r.fault == nil && ended && exit.Code == 0 && r.kind != contract.Review:
		// This case excludes a review. A review needs no tool, so it is accepted after a denial.
		report.Err = agent.Denied("opencode", r.denied)
	}
	return report
}

// streamError matches the line of opencode's log about a call that the provider has refused.
var streamError = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`message="stream error".* error\.error="(.*)"`) })

// WatchStderr ends the attempt when a limit is reached, because opencode would wait for the end of
// the limit, print nothing but its log, and perhaps never end. Source: opencode 1.18.33.
func (r *reader) WatchStderr(line string) {
	m := streamError().FindStringSubmatch(line)
	if m == nil || r.giveUp == nil {
		return
	}
	if later := words.Later("opencode", 0, m[1], time.Now()); later != nil && !later.Busy {
		r.giveUp(later)
	}
}

// ReadStderr notes whether opencode failed to find the session to resume. After this failure
// opencode prints no event, and exits with 1. Source: opencode 1.18.33.
func (r *reader) ReadStderr(tail string) { r.lost = strings.Contains(tail, "Session not found") }

func (r *reader) failure(exit proc.Exit) *contract.Failure {
	switch bad := exit.Code != 0 || exit.Signal != "" || exit.TimedOut; {
	case bad && r.lost && r.session == "":
		return &contract.Failure{Reason: exit.String() + ": opencode does not know the session to go on in", Lost: true}
	case bad && r.fault != nil:
		return contract.Failed("%s: %s", exit, r.fault)
	case bad:
		return contract.Failed("%s", exit)
	case r.fault != nil:
		return contract.Failed("%s", r.fault)
	case r.reason == "":
		return contract.Failed("it ended without an end of its last step")
	case r.reason != "stop":
		return contract.Failed("its last step ended with %s, want stop", r.reason)
	default:
		return r.Missing()
	}
}
