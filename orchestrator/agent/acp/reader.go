package acp

import (
	"fmt"
	"strings"
	"time"

	"github.com/coder/acp-go-sdk"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/proc"
)

// reader reads the client's events.
type reader struct {
	agent.Messages
	kind    contract.Kind
	session string
	stop    string // the reason for the turn's end
	failed  *event
	denied  string // the first denied tool
	said    string // the only text of the turn so far; "" if there is none
	worked  bool   // the turn has a tool call, or more than one text
	spent   *agent.Spending
}

func (r *reader) readEvent(line []byte) error {
	var e event
	if err := agent.Decode(line, &e); err != nil {
		return err
	}
	switch e.Type {
	case session:
		r.session = e.ID
		r.Emit(agent.Event{Kind: agent.Session, ID: e.ID})
	case text:
		r.worked = r.worked || r.said != ""
		r.said = e.Text
		r.Set(e.Text)
	case toolStarted:
		r.worked = true
		r.Discard()
		r.Emit(agent.Event{
			Kind:  agent.ToolStarted,
			Tool:  e.Tool,
			Class: classOf(e.Tool),
			ID:    e.ID,
			Text:  agent.EventText(e.Text),
			Sum:   e.Sum,
		})
	case toolEnded:
		r.Discard()
		ended := agent.Event{
			Kind:   agent.ToolEnded,
			Tool:   e.Tool,
			Class:  classOf(e.Tool),
			ID:     e.ID,
			Text:   agent.EventText(e.Text),
			Failed: e.Text != "",
			Sum:    e.Sum,
		}
		r.Emit(ended.WithMissing(e.Text))
	case writing:
		r.Emit(agent.Event{Kind: agent.Writing})
	case alive:
		r.Emit(agent.Event{Kind: agent.Heartbeat, ID: e.ID})
	case denied:
		r.recordDenial(e)
	case spent:
		r.recordUsage(e.Usage)
	case result:
		r.stop = e.Text
		if !r.worked && isFault(r.said) {
			r.failed = &event{Text: strings.TrimSpace(r.said), Status: agent.StatusIn(r.said)}
		}
		r.Emit(agent.Event{Kind: agent.Result, Text: e.Text, Failed: r.failed != nil})
	case failure:
		r.failed = &e
		r.Emit(agent.Event{Kind: agent.Result, Text: agent.EventText(e.Text), Failed: true})
	}
	return nil
}

// classOf returns the class of a kind of tool. ACP has no kind for the tools of MCP servers.
func classOf(kind string) agent.ToolClass {
	switch acp.ToolKind(kind) {
	case acp.ToolKindExecute:
		return agent.ShellTool
	case acp.ToolKindEdit, acp.ToolKindDelete, acp.ToolKindMove:
		return agent.EditTool
	case acp.ToolKindFetch:
		return agent.WebTool
	default:
		return agent.OtherTool
	}
}

func (r *reader) recordDenial(e event) {
	what := fmt.Sprintf("%s (%s)", e.Tool, agent.EventText(e.Text))
	if r.denied == "" {
		r.denied = what
	}
	r.Emit(agent.Event{Kind: agent.Text, Text: "permission denied: " + what})
}

func (r *reader) recordUsage(u *usage) {
	if u == nil {
		return
	}
	r.spent = &agent.Spending{Input: u.Input, Cached: u.Cached, Output: u.Output}
	if u.Cost != nil {
		r.spent.Cost = agent.Micros(*u.Cost)
	}
	r.Emit(agent.Event{Kind: agent.Usage, Text: fmt.Sprintf("%d tokens read, %d written", u.Input, u.Output)})
}

// End returns the report. There is a reply only if the agent ended the turn itself.
func (r *reader) End(exit proc.Exit) agent.Report {
	r.Flush()
	report := agent.Report{Session: r.session, Spent: r.spent, Reply: r.Reply(r.kind), Failure: r.failure(exit)}
	report.Declined = r.stop == string(acp.StopReasonRefusal)
	if r.failed != nil && report.Reply == "" {
		report.Reply = r.failed.Text
	}
	if report.Failure != nil && r.failed != nil && !exit.TimedOut {
		report.Err, report.TooLong = r.failed.classify(time.Now()), words.IsTooLong(r.failed.Text)
		report.Declined = words.IsDeclined(r.failed.Text)
	} else if report.Failure == nil && r.denied != "" {
		report.Err = agent.Denied("acp", r.denied)
	}
	return report
}

func (r *reader) failure(exit proc.Exit) *contract.Failure {
	switch bad := exit.Code != 0 || exit.Signal != "" || exit.TimedOut; {
	case exit.TimedOut:
		return contract.Failed("%s", exit)
	case r.failed != nil:
		return contract.Failed("%s", r.failed.Text)
	case bad:
		return contract.Failed("%s", exit)
	case r.stop == "":
		return contract.Failed("it ended without an end of its turn")
	case r.stop != "end_turn":
		return contract.Failed("its turn ended with %s, want end_turn", r.stop)
	default:
		return r.Missing()
	}
}

// classify returns an error if an immediate retry would fail, too, and nil otherwise.
func (e *event) classify(now time.Time) error {
	later := words.Later("acp", e.Status, e.Text, now)
	switch {
	case e.Fault == setup:
		return &agent.ConfigError{
			Text: "acp: " + e.Text,
			Fix:  "look at the command of the role, and start it at a terminal",
		}
	case e.Fault == login, e.Status == unauthorized, e.Status == forbidden && (later == nil || later.Busy):
		return &agent.ConfigError{Text: "acp: " + e.Text,
			Fix: "log in to the agent at a terminal, or set its key and name it in env.pass"}
	case words.IsOutOfMoney(e.Text):
		return &agent.ConfigError{Text: "acp: " + e.Text, Fix: "look at the account's billing page at the provider"}
	case later != nil:
		return later
	default:
		return nil
	}
}
