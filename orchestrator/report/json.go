package report

import (
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/console"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/projection"
)

// JSON is an observer that writes one JSON object a line, for each journaled event, each sign of an
// agent and each notice. It is safe for concurrent use.
type JSON struct {
	out      *console.Printer
	noAgents bool
}

// NewJSON returns an observer that writes to out. If agents is true, it also writes the signs of
// agents.
func NewJSON(out *console.Printer, agents bool) *JSON { return &JSON{out, !agents} }

// Line is the form of every line that the commands "run --json" and "log --json" print.
type Line struct {
	Version int        `json:"version"`
	Board   string     `json:"board,omitempty"` // "" if the line is about all boards of the run
	Seq     uint64     `json:"seq,omitempty"`   // number of the record in the journal
	Epoch   uint64     `json:"epoch,omitempty"` // epoch of the run that wrote the record
	Time    *time.Time `json:"time,omitempty"`  // time of the record
	Type    string     `json:"type"`            // kind of event, or AGENT_EVENT, NOTICE, SUMMARY or REFUSED
	Rev     uint64     `json:"rev,omitempty"`   // revision of the board at this record
	Actor   string     `json:"actor,omitempty"` // author of the record
	Data    any        `json:"data"`            // data of the form that Type implies
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

// Agent writes a sign of an agent, with type AGENT_EVENT. It skips a sign that isTold rejects.
func (j *JSON) Agent(board string, s agent.Sign) {
	if !j.noAgents && isTold(s.Event) {
		j.write(Line{Board: board, Type: "AGENT_EVENT", Data: s})
	}
}

// Notice writes a warning, with type NOTICE.
func (j *JSON) Notice(board, text string) {
	j.write(Line{Board: board, Type: "NOTICE", Data: Notice{text}})
}

// Summary writes the last line, with type SUMMARY. It has the result of each board and the exit
// code.
func (j *JSON) Summary(boards []projection.Board, asked []projection.Asked, code int) {
	j.write(Line{Type: "SUMMARY", Data: Summary{projection.FormVersion, boards, code, asked}})
}

// Refused writes the error that kept the run from starting, with type REFUSED.
func (j *JSON) Refused(text, hint string, code int) {
	j.write(Line{Type: "REFUSED", Data: Refusal{text, hint, code}})
}

func (j *JSON) write(e Line) {
	e.Version = projection.FormVersion
	_ = j.out.JSON(e, "") // a closed pipe must not stop a run, because the journal has the event
}

// Notice is the data of a line NOTICE.
type Notice struct {
	Text string `json:"text"` // text of a warning
}

// Refusal is the data of a line REFUSED: an error that kept the run from starting.
type Refusal struct {
	Text string `json:"text"`           // text of the error
	Hint string `json:"hint,omitempty"` // action that mends the error
	Code int    `json:"exit_code"`      // exit code of the program
}

// Summary is the data of a line SUMMARY, the last line of a run.
type Summary struct {
	Version int                `json:"version"`
	Boards  []projection.Board `json:"boards"`          // the boards, in the order of the command line
	Code    int                `json:"exit_code"`       // exit code of the program, the worst of all boards
	Asked   []projection.Asked `json:"asked,omitempty"` // what waits for a person in the work tree
}
