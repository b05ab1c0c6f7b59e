package contract

import (
	"encoding/json"
	"strconv"

	"kanban-run/orchestrator/event"
	"kanban-run/schema"
)

// Kind is the contract of a call: the form that its reply must have.
type Kind int

// The kinds. The reply to an instruction has the same form as the reply to a task. Only the
// Manager's reply names the next task. A review's reply is any text: seed 003, "Supervisor
// Feedback". A review command has no reply.
const (
	Task Kind = iota
	Manager
	Instruction
	Review
	Command
	Ready      // reply of a supervisor that starts (seed 001)
	Checkpoint // reply of a supervisor that is woken
	Judge      // reply of an agent that judges a hung agent (seed 000)
)

// kinds has the name of each kind, which is also the name of its call, and the JSON Schema that
// replies must fit. The schema is "" if there is no JSON reply.
var kinds = [...]struct{ name, schema string }{
	Task:        {"task", "reply"},
	Manager:     {"manager", "manager-reply"},
	Instruction: {"instruction", "reply"},
	Review:      {"review", ""},
	Command:     {"command", ""},
	Ready:       {"ready", "ready-reply"},
	Checkpoint:  {"checkpoint", "checkpoint-reply"},
	Judge:       {"judge", "judge-reply"},
}

// Of returns the contract of a call. It returns Task for an unknown call.
func Of(c event.Call) Kind {
	for k := range kinds {
		if kinds[k].name == string(c) {
			return Kind(k)
		}
	}
	return Task
}

// String returns the name of the kind.
func (k Kind) String() string {
	if k < 0 || int(k) >= len(kinds) {
		return "contract " + strconv.Itoa(int(k))
	}
	return kinds[k].name
}

// Schema returns the name of the JSON Schema that replies must fit, or "" if the call has no JSON
// reply.
func (k Kind) Schema() string { return kinds[k].schema }

// Expected returns the JSON Schema of the replies, for people to read. For a Review it returns "any
// text".
func (k Kind) Expected() string {
	if k == Review {
		return "any text"
	}
	source, _ := schema.Source(k.Schema()) // no error, because the schemas are embedded
	return string(source)
}

// ReplySchema returns the JSON Schema of the replies in the form that tools take: on one line,
// without the name of its dialect, which some tools refuse, and without the parts for people. It
// returns an error for a review and for a command, which have no schema.
func (k Kind) ReplySchema() ([]byte, error) {
	source, err := schema.Source(k.Schema())
	if err != nil {
		return nil, err
	}
	var s map[string]any
	if err := json.Unmarshal(source, &s); err != nil {
		return nil, err
	}
	if then, ok := s["then"].(map[string]any); ok { // tools do not take the keys "if" and "then"
		s["required"] = then["required"]
	}
	for _, key := range []string{"$schema", "$id", "title", "examples", "if", "then"} {
		delete(s, key)
	}
	return json.Marshal(s)
}

// ReplyForm returns the text that tells an agent what its reply has to look like, or "" if there is
// no JSON reply. Source: seed 004, "Output Specification (Agent → Supervisor)".
func (k Kind) ReplyForm() string {
	source, err := k.ReplySchema()
	if err != nil {
		return ""
	}
	return replyForm + string(source)
}

const replyForm = `When your work is done, your final message is one JSON object and nothing else: ` +
	`no text around it, no Markdown fence.
It fits this JSON Schema:

`
