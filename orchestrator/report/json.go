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

// FormVersion is the version of the JSON forms of events, of status and of report. A field that is added
// leaves it as it is.
const FormVersion = 1

// Line is the form of every line of run --json and log --json.
type Line struct {
	Version int        `json:"version"`
	Board   string     `json:"board,omitempty"` // "": about all boards of the run
	Seq     uint64     `json:"seq,omitempty"`   // number of the record in the journal
	Epoch   uint64     `json:"epoch,omitempty"` // of the run that wrote it
	Time    *time.Time `json:"time,omitempty"`  // of the record
	Type    string     `json:"type"`            // kind of event, or AGENT_EVENT, NOTICE, SUMMARY or REFUSED
	Rev     uint64     `json:"rev,omitempty"`   // revision of the subject
	Actor   string     `json:"actor,omitempty"` // who wrote the record
	Data    any        `json:"data"`            // of the type
}

// Entry writes a journaled event.
func (j *JSON) Entry(board string, e event.Entry) {
	j.write(Line{
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
		j.write(Line{Board: board, Type: "AGENT_EVENT", Data: s})
	}
}

// Notice writes a warning, with type NOTICE.
func (j *JSON) Notice(board, text string) {
	j.write(Line{Board: board, Type: "NOTICE", Data: Notice{text}})
}

// Summary writes the last line, with type SUMMARY: the ending of each board, and the exit code.
func (j *JSON) Summary(endings []Ending, code int) {
	j.write(Line{Type: "SUMMARY", Data: Summary{endings, code}})
}

// Refused writes the error that kept the run from starting, with type REFUSED.
func (j *JSON) Refused(text, hint string, code int) {
	j.write(Line{Type: "REFUSED", Data: Refusal{text, hint, code}})
}

func (j *JSON) write(e Line) {
	e.Version = FormVersion
	_ = j.out.JSON(e, "") // a closed pipe must not stop a run: the journal has the event
}

// Notice is the data of a line NOTICE.
type Notice struct {
	Text string `json:"text"` // of a warning
}

// Refusal is the data of a line REFUSED: an error that kept the run from starting.
type Refusal struct {
	Text string `json:"text"`           // of the error
	Hint string `json:"hint,omitempty"` // what mends it
	Code int    `json:"exit_code"`      // of the program
}

// Summary is the data of a line SUMMARY, the last one.
type Summary struct {
	Boards []Ending `json:"boards"`    // in the order of the command line
	Code   int      `json:"exit_code"` // of the program: the worst of the boards
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
