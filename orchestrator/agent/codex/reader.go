package codex

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/proc"
)

// reader reads the events of one `codex exec --json`, as recorded in testdata from codex 0.169.0.
type reader struct {
	agent.Messages
	kind     contract.Kind
	host     agent.Host
	patience time.Duration
	timer    *time.Timer // runs while codex waits until a limit is over

	session string
	lost    bool // codex does not know the thread that it was to resume
	denials agent.Warnings
	failed  string // why the turn failed, in codex's words; "" if it did not
	spent   *agent.Spending
}

// event is a line of any type.
type event struct {
	Type     string `json:"type"`
	ThreadID string `json:"thread_id"`
	Message  string `json:"message"`
	Item     item   `json:"item"`
	Usage    *usage `json:"usage"`
	Error    struct {
		Message string `json:"message"`
	} `json:"error"`
}

// usage holds the tokens that a thread has used so far, including those of the threads from which
// it was forked.
type usage struct {
	Input  int64 `json:"input_tokens"`
	Cached int64 `json:"cached_input_tokens"`
	Output int64 `json:"output_tokens"`
}

func newReader(c contract.Kind, host agent.Host, patience time.Duration) *reader {
	r := &reader{kind: c, host: host, patience: patience}
	r.Init(host.Emit, r.readEvent)
	r.Strict = true
	return r
}

func (r *reader) readEvent(line []byte) error {
	r.stopWaiting()
	var e event
	if err := agent.Decode(line, &e); err != nil {
		return err
	}
	switch e.Type {
	case "thread.started":
		r.session = e.ThreadID
		r.Emit(agent.Event{Kind: agent.Session, ID: e.ThreadID})
	case "turn.started":
		r.Completed, r.failed = false, ""
	case "item.started":
		r.startItem(e.Item)
	case "item.updated":
		r.Emit(agent.Event{Kind: agent.Heartbeat, ID: e.Item.ID})
	case "item.completed":
		r.endItem(e.Item)
	case "error":
		r.onError(e.Message)
	case "turn.failed":
		r.failTurn(e.Error.Message)
	case "turn.completed":
		r.completeTurn(e.Usage)
	}
	return nil
}

func (r *reader) startItem(i item) {
	if name, what := i.tool(); name != "" {
		r.Emit(agent.Event{
			Kind:  agent.ToolStarted,
			Tool:  name,
			Class: i.class(),
			ID:    i.ID,
			Text:  agent.EventText(what),
			Sum:   i.inputSum(),
		})
	}
}

func (r *reader) endItem(i item) {
	name, _ := i.tool()
	switch {
	case name != "":
		if strings.Contains(i.Error.Message, "requires approval") {
			r.denials.Warn(r.Emit, agent.EventText(fmt.Sprintf("permission denied: %s %s (only servers that "+
				"mcp_config of the role names are approved, and none with permission: read-only)", name, i.Tool)))
		}
		ended := agent.Event{
			Kind:   agent.ToolEnded,
			Tool:   name,
			Class:  i.class(),
			ID:     i.ID,
			Text:   i.failure(),
			Failed: i.Status != "completed",
			Sum:    i.resultSum(),
		}
		r.Emit(ended.WithMissing(ended.Text + "\n" + i.Output))
	case i.Type == "agent_message":
		r.Set(i.Text)
	case i.Type == "reasoning":
		r.Emit(agent.Event{Kind: agent.Writing})
	case i.Type == "error":
		// This is only a warning, and the turn goes on. codex also reports an unknown model in this
		// way.
		r.Emit(agent.Event{Kind: agent.Text, Text: agent.EventText("warning: " + i.Message), Failed: true})
	}
}

// onError reads an error that announces a retry, or the last error before turn.failed. codex
// retries every failure five times. If a limit is reached, codex waits until the limit is over. The
// retries and the wait would look like work. So an error that every retry would repeat ends the
// attempt at once, and a limit ends the attempt after r.patience.
func (r *reader) onError(text string) {
	if !strings.HasPrefix(text, "Reconnecting") {
		r.failed = providerText(text)
		return
	}
	r.Emit(agent.Event{Kind: agent.Retry, Text: agent.EventText(text)})
	if cause, ok := retryCause(text); ok {
		text = cause
	}
	var later *agent.LaterError
	switch err := classify(text, time.Now()); {
	case err == nil:
	case !errors.As(err, &later):
		r.host.GiveUp(err)
	case !later.Busy || agent.StatusIn(text) == tooManyRequests || strings.Contains(text, noNetwork):
		r.timer = time.AfterFunc(r.patience, func() { r.host.GiveUp(later) })
	}
}

// tooManyRequests is the HTTP status after which codex waits for the time that the provider names.
const tooManyRequests = 429

// stopWaiting stops the timer, because codex has printed a line or ended.
func (r *reader) stopWaiting() {
	if r.timer != nil {
		r.timer.Stop()
		r.timer = nil
	}
}

func (r *reader) failTurn(text string) {
	if text != "" {
		r.failed = providerText(text)
	}
	if r.failed == "" {
		r.failed = "the turn failed"
	}
	r.Completed = false
	r.Emit(agent.Event{Kind: agent.Result, Text: agent.EventText(r.failed), Failed: true})
}

func (r *reader) completeTurn(u *usage) {
	r.Completed, r.failed = true, ""
	if u != nil {
		r.spent = &agent.Spending{Input: u.Input, Cached: u.Cached, Output: u.Output}
		r.Emit(agent.Event{Kind: agent.Usage, Text: fmt.Sprintf("%d tokens read, %d written", u.Input, u.Output)})
	}
	r.Emit(agent.Event{Kind: agent.Result, Text: "completed"})
}

// End returns the report. A reply needs a completed turn and exit status 0. If one of them is
// missing, the last message might be from the middle of the turn, and codex does not check such a
// message.
func (r *reader) End(exit proc.Exit) agent.Report {
	r.Flush()
	r.stopWaiting()
	report := agent.Report{Session: r.session, Spent: r.spent, Cumulative: true, Reply: r.Reply(r.kind)}
	if report.Failure = r.failure(exit); report.Failure != nil && r.failed != "" && !exit.TimedOut {
		report.Err, report.TooLong = classify(r.failed, time.Now()), words.IsTooLong(r.failed)
		report.Declined = words.IsDeclined(r.failed)
	}
	return report
}

// ReadStderr notes whether codex failed to find the thread to resume. After this failure codex
// prints no event, and exits with 1. Source: codex 0.169.0.
func (r *reader) ReadStderr(tail string) {
	r.lost = strings.Contains(tail, "no rollout found for thread id ")
}

func (r *reader) failure(exit proc.Exit) *contract.Failure {
	switch bad := exit.Code != 0 || exit.Signal != "" || exit.TimedOut; {
	case bad && r.lost && r.session == "":
		return &contract.Failure{Reason: exit.String() + ": codex does not know the thread to resume", Lost: true}
	case bad && r.failed != "":
		return contract.Failed("%s: %s", exit, r.failed)
	case bad:
		return contract.Failed("%s", exit)
	case r.failed != "":
		return contract.Failed("the turn failed: %s", r.failed)
	case !r.Completed:
		return contract.Failed("it ended without an end of its turn")
	default:
		return r.Missing()
	}
}
