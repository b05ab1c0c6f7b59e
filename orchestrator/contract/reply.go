package contract

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"kanban-run/schema"
)

// Status is what an agent says of its work. All four are valid: seed 004, "Status Values".
type Status string

// The values of Status.
const (
	OK       Status = "ok"
	Blocked  Status = "blocked"
	Error    Status = "error"
	Escalate Status = "escalate"
)

// Reply is an agent's reply in the right format. A review has a Message only. NextTask, which is
// nil at the end of the work, and Tasks are the Manager's.
type Reply struct {
	Status   Status
	Message  string
	NextTask *string
	Tasks    []string

	Checkpoint *CheckpointReply // of a supervisor; nil in all others
	Judge      *JudgeReply      // of a judge; nil in all others
}

// Failure is the reason why a reply is not in the right format. The agent is started again with the
// same input: seed 004, "Retry Rule (CRITICAL)".
type Failure struct {
	Reason string
	Lost   bool // the tool no longer knows the session that the call continues
}

func (f *Failure) Error() string { return f.Reason }

// Failed makes a Failure.
func Failed(format string, args ...any) *Failure {
	return &Failure{Reason: fmt.Sprintf(format, args...)}
}

// Parse judges the format of a reply, never its content: it has to be one JSON object that fits the
// schema. Parse refuses what two parsers could read differently. given is the list of tasks in a
// Manager's input, nil for all others: a reply that repeats it byte for byte shares its Paths.
// Source: seed 004, "Output Specification (Agent → Supervisor)".
func Parse(k Kind, text string, given *TaskList) (*Reply, *Failure) {
	switch k {
	case Review:
		return parseReview(text)
	case Ready, Checkpoint, Judge:
		return parseWhole(k, text)
	}
	var known []byte
	if given != nil {
		known = given.JSON()
	}
	members, failure := readObject(text, known)
	if failure != nil {
		return nil, failure
	}
	if failure := checkKeys(k, members); failure != nil {
		return nil, failure
	}
	envelope, tasks, failure := decode(k, text, members, given)
	if failure != nil {
		return nil, failure
	}
	if !plainlyFits(k, envelope) {
		if failure := checkSchema(k, envelope); failure != nil {
			return nil, failure
		}
	}
	reply := &Reply{Status: Status(envelope["status"].(string)), Message: envelope["message"].(string)}
	if k == Manager {
		reply.Tasks = tasks
		if next, ok := envelope["next_task"].(string); ok {
			reply.NextTask = &next
		}
	}
	if failure := checkPaths(reply, given); failure != nil {
		return nil, failure
	}
	return reply, nil
}

// parseReview takes any text: it is feedback for the agent under review.
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

// checkKeys refuses Status beside or in place of status: many decoders treat them as the same key.
func checkKeys(k Kind, members []member) *Failure {
	for _, m := range members {
		for _, key := range replyKeys(k) {
			if m.key != key && strings.EqualFold(m.key, key) {
				return Failed("key %s instead of %s", shownKey(m.key), key)
			}
		}
	}
	return nil
}

// maxTasks bounds the Manager's list: no board that can be read holds more.
const maxTasks = 500_000

// decode decodes the keys of the contract. Their list of strings, which may be long, is read in one
// pass, and is empty in the envelope.
func decode(k Kind, text string, members []member, given *TaskList) (envelope map[string]any, tasks []string, failure *Failure) {
	envelope = map[string]any{}
	for _, m := range members {
		if !slices.Contains(replyKeys(k), m.key) {
			continue
		}
		span := text[m.from:m.to]
		if m.key == "tasks" && strings.Count(span, ",") >= maxTasks {
			return nil, nil, Failed("tasks has more than %d entries", maxTasks)
		}
		if m.key == "tasks" && given != nil && span == string(given.JSON()) {
			tasks, span = given.Paths, "[]"
		}
		if m.key == "tasks" && span[0] == '[' && tasks == nil {
			if tasks, failure = readStrings(span); failure != nil {
				return nil, nil, failure
			}
			span = "[]"
		}
		v, err := outline(span)
		if err != nil {
			return nil, nil, Failed("%s cannot be decoded: %v", m.key, err)
		}
		envelope[m.key] = v
	}
	return envelope, tasks, nil
}

// outline is a value as the schema has to see it. Lists and objects are empty, since the schema has
// no other: decoded, a reply of 16 MiB may take a gigabyte.
func outline(span string) (v any, err error) {
	switch span[0] {
	case '[':
		return []any{}, nil
	case '{':
		return map[string]any{}, nil
	}
	err = json.Unmarshal([]byte(span), &v)
	return v, err
}

// plainlyFits says whether a reply fits the schema without asking it, which would take longer than
// all else. TestPlainlyFits compares the two.
func plainlyFits(k Kind, envelope map[string]any) bool {
	status, _ := envelope["status"].(string)
	_, spoken := envelope["message"].(string)
	if !spoken || !slices.Contains([]Status{OK, Blocked, Error, Escalate}, Status(status)) {
		return false
	}
	if k != Manager {
		return true
	}
	next, given := envelope["next_task"]
	path, isPath := next.(string)
	_, listed := envelope["tasks"].([]any)
	return listed && given && (next == nil || isPath && path != "")
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

// checkPaths refuses paths that no board can hold. Those of the given list are a board's.
func checkPaths(r *Reply, given *TaskList) *Failure {
	if r.NextTask != nil && strings.ContainsFunc(*r.NextTask, unicode.IsControl) {
		return Failed("next_task holds a control character")
	}
	if given != nil && given.Is(r.Tasks) {
		return nil
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
