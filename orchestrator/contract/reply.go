package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"kanban-run/schema"
)

// Status is an agent's own verdict on its work: seed 004, "Status Values".
type Status string

// The values of Status.
const (
	OK       Status = "ok"
	Blocked  Status = "blocked"
	Error    Status = "error"
	Escalate Status = "escalate"
)

// Reply is an agent's reply in the right format. The reply of a review has only a Message. Only the
// Manager's reply has NextTask and Tasks. NextTask is nil at the end of the work.
type Reply struct {
	Status   Status
	Message  string
	NextTask *string
	Tasks    []string

	Checkpoint *SupervisorReply // reply of a supervisor; nil in all others
	Judge      *JudgeReply      // reply of a judge; nil in all others

	Warning string // a fault in the text that does not void the reply; "" if there is none
}

// Failure is the reason why a reply is not in the right format. The agent is started again with the
// same input: seed 004, "Retry Rule (CRITICAL)".
type Failure struct {
	Reason string
	Lost   bool // the tool no longer knows the session that the call continues
	Prose  bool // the reply is, or has beside its object, a text for people
}

func (f *Failure) Error() string { return f.Reason }

// Failed returns a Failure with a formatted reason.
func Failed(format string, args ...any) *Failure {
	return &Failure{Reason: fmt.Sprintf(format, args...)}
}

// Parse checks the format of a reply, never its content. The reply has to be one JSON object that
// fits the schema. Parse refuses a reply that two parsers could read differently. The exceptions are
// half a surrogate pair, which it reads as U+FFFD, and a key that stands twice where nobody reads it.
// Both get a Warning: the rest of the work is whole.
// Source: seed 004, "Output Specification (Agent → Supervisor)".
func Parse(k Kind, text string) (*Reply, *Failure) {
	if k == Review {
		return parseReview(text)
	}
	parse := parseEnvelope
	if k == Ready || k == Checkpoint || k == Judge {
		parse = parseWhole
	}
	joined, changed := joinSurrogates(text)
	reply, failure := parse(k, joined)
	if reply != nil && changed {
		reply.Warning = strings.TrimPrefix(reply.Warning+"; "+halfRead, "; ")
	}
	return reply, failure
}

// parseEnvelope checks the format of the reply to a task or an instruction, or of the Manager's. It
// decodes only the values that the contract names.
func parseEnvelope(k Kind, text string) (*Reply, *Failure) {
	o, failure := readObject(text, replyKeys(k))
	if failure != nil {
		return nil, failure
	}
	if failure := checkKeys(k, o.members); failure != nil {
		return nil, failure
	}
	envelope, failure := decode(k, o.members)
	if failure != nil {
		return nil, failure
	}
	if failure := checkSchema(k, envelope); failure != nil {
		return nil, failure
	}
	reply := &Reply{Status: Status(envelope["status"].(string)), Message: envelope["message"].(string), Warning: o.warning}
	if k == Manager {
		if next, ok := envelope["next_task"].(string); ok {
			reply.NextTask = &next
		}
		list, _ := envelope["tasks"].([]any)
		reply.Tasks = make([]string, len(list))
		for i, task := range list {
			reply.Tasks[i], _ = task.(string) // the schema allows only strings
		}
	}
	if failure := checkPaths(reply); failure != nil {
		return nil, failure
	}
	return reply, nil
}

// parseReview accepts any text that is UTF-8 and not blank, because the text is feedback for the
// reviewed agent.
func parseReview(text string) (*Reply, *Failure) {
	if !utf8.ValidString(text) {
		return nil, Failed("invalid UTF-8")
	}
	if strings.TrimSpace(text) == "" {
		return nil, Failed("it says nothing")
	}
	return &Reply{Status: OK, Message: text}, nil
}

func replyKeys(k Kind) []string {
	switch k {
	case Manager:
		return []string{"status", "message", "next_task", "tasks"}
	case Ready, Checkpoint:
		return supervisorKeys(k)
	case Judge:
		return judgeKeys
	default:
		return []string{"status", "message"}
	}
}

// checkKeys refuses a key, such as "Status", that differs from a key of the contract only in case,
// because many decoders treat both as the same key.
func checkKeys(k Kind, members map[string]json.RawMessage) *Failure {
	for _, name := range slices.Sorted(maps.Keys(members)) {
		for _, key := range replyKeys(k) {
			if name != key && strings.EqualFold(name, key) {
				return Failed("key %s instead of %s", shownKey(name), key)
			}
		}
	}
	return nil
}

// maxTasks is the greatest number of tasks on the Manager's list. A longer list makes a board that
// cannot be read.
const maxTasks = 500_000

// decode decodes the values of the contract's keys for the check against the schema. It replaces
// every object by an empty object, and every list by an empty list, except the list "tasks". The
// schema checks only the kind of the replaced values, and a decoded reply of 16 MiB can take a
// gigabyte.
func decode(k Kind, members map[string]json.RawMessage) (map[string]any, *Failure) {
	envelope := map[string]any{}
	for _, key := range replyKeys(k) {
		text, given := members[key]
		switch {
		case !given:
			continue
		case key == "tasks" && bytes.Count(text, []byte{','}) >= maxTasks:
			return nil, Failed("tasks has more than %d entries", maxTasks)
		case key != "tasks" && text[0] == '[':
			envelope[key] = []any{}
			continue
		case text[0] == '{':
			envelope[key] = map[string]any{}
			continue
		}
		var value any
		if err := json.Unmarshal(text, &value); err != nil {
			return nil, Failed("%s cannot be decoded: %v", key, err)
		}
		envelope[key] = value
	}
	return envelope, nil
}

func checkSchema(k Kind, envelope map[string]any) *Failure {
	violations, err := schema.Validate(k.Schema(), envelope)
	if err != nil {
		return Failed("the reply cannot be judged: %v", err)
	}
	if len(violations) == 0 {
		return nil
	}
	const most = 4
	var reasons []string
	for _, v := range violations[:min(most, len(violations))] {
		reasons = append(reasons, v.String())
	}
	return &Failure{Reason: strings.Join(reasons, "; ")}
}

// checkPaths refuses paths that a board cannot hold.
func checkPaths(r *Reply) *Failure {
	if r.NextTask != nil && strings.ContainsFunc(*r.NextTask, unicode.IsControl) {
		return Failed("next_task holds a control character")
	}
	for i, t := range r.Tasks {
		if t == "" {
			return Failed("tasks[%d] is empty", i)
		}
		if strings.ContainsFunc(t, unicode.IsControl) {
			return Failed("tasks[%d] holds a control character", i)
		}
	}
	return nil
}
