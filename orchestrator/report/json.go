package report

import (
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/console"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
)

// JSON is an observer that writes one JSON object a line: for every journaled event, as the journal
// has it, for signs of agents, and for notices. It is safe for concurrent use.
type JSON struct {
	out      *console.Printer
	noAgents bool
}

// NewJSON returns an observer that writes to out. If agents is true, it also writes the signs of
// agents.
func NewJSON(out *console.Printer, agents bool) *JSON { return &JSON{out, !agents} }

// jsonEvent is the shape of every line.
type jsonEvent struct {
	Board string     `json:"board,omitempty"`
	Seq   uint64     `json:"seq,omitempty"`
	Epoch uint64     `json:"epoch,omitempty"`
	Time  *time.Time `json:"time,omitempty"`
	Type  string     `json:"type"`
	Rev   uint64     `json:"rev,omitempty"`
	Actor string     `json:"actor,omitempty"`
	Data  any        `json:"data"`
}

// Entry writes a journaled event.
func (j *JSON) Entry(board string, e event.Entry) {
	j.write(jsonEvent{
		Board: board,
		Seq:   e.Seq,
		Epoch: e.Epoch,
		Rev:   e.Rev,
		Actor: e.Actor,
		Time:  &e.Time,
		Type:  e.Event.Kind(),
		Data:  e.Event,
	})
}

// Agent writes a sign of an agent that isTold accepts, with type AGENT_EVENT.
func (j *JSON) Agent(board string, s agent.Sign) {
	if !j.noAgents && isTold(s.Event) {
		j.write(jsonEvent{Board: board, Type: "AGENT_EVENT", Data: s})
	}
}

// Notice writes a warning, with type NOTICE.
func (j *JSON) Notice(board, text string) {
	j.write(jsonEvent{Board: board, Type: "NOTICE", Data: map[string]string{"text": text}})
}

// Summary writes the last line, with type SUMMARY: the ending of each board, and the exit code.
func (j *JSON) Summary(endings []Ending, code int) {
	j.write(jsonEvent{Type: "SUMMARY", Data: struct {
		Boards []Ending `json:"boards"`
		Code   int      `json:"exit_code"`
	}{endings, code}})
}

// Refused writes the error that kept the run from starting, with type REFUSED.
func (j *JSON) Refused(text, hint string, code int) {
	j.write(jsonEvent{Type: "REFUSED", Data: struct {
		Text string `json:"text"`
		Hint string `json:"hint,omitempty"`
		Code int    `json:"exit_code"`
	}{text, hint, code}})
}

func (j *JSON) write(e jsonEvent) {
	_ = j.out.JSON(e, "") // a closed pipe must not stop a run: the journal has the event
}

// Ending is the end of one board's run.
type Ending struct {
	Board   string        `json:"board"`
	Outcome event.Outcome `json:"outcome"`
	Text    string        `json:"text"`
	Said    string        `json:"said,omitempty"` // by the agent of the last task, if a person is needed
	Hint    string        `json:"hint,omitempty"`
	Steps   int           `json:"steps"`
	Used    flow.Tally    `json:"used"`
	Until   string        `json:"until,omitempty"` // with outcome later: when to try again, in RFC 3339
	Code    int           `json:"exit_code"`

	Unpushed string `json:"unpushed,omitempty"` // a branch with checkpoints that the remote lacks
	Unsaved  bool   `json:"unsaved,omitempty"`  // the work after the last checkpoint is only in this clone
}
