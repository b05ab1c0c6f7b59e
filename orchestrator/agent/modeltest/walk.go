package modeltest

import (
	"encoding/json"
	"path"
	"slices"
	"strings"
)

// managerInput is the input of a Manager.
type managerInput struct {
	KanbanFile *string  `json:"kanban_file"`
	DoneTask   *string  `json:"done_task"`
	Tasks      []string `json:"tasks"`
}

type managerReply struct {
	Status   string   `json:"status"`
	Message  string   `json:"message"`
	NextTask *string  `json:"next_task"`
	Tasks    []string `json:"tasks"`
}

// walkReply returns the Manager's reply to the last question in the conversation.
func walkReply(messages []Message) json.RawMessage {
	for _, m := range slices.Backward(messages) {
		if m.Role != "user" && m.Role != "system" {
			continue
		}
		if in, found := lastQuestion(m.Text); found {
			return encode(in.reply())
		}
	}
	return encode(managerReply{Status: "error", Message: "modeltest: the prompt has no input of a Manager"})
}

// lastQuestion returns the last input of a Manager in a text. Such an input is a JSON object.
func lastQuestion(text string) (managerInput, bool) {
	for at := len(text); ; {
		if at = strings.LastIndexByte(text[:at], '{'); at < 0 {
			return managerInput{}, false
		}
		var in managerInput
		err := json.NewDecoder(strings.NewReader(text[at:])).Decode(&in)
		if err == nil && in.KanbanFile != nil && in.DoneTask != nil && in.Tasks != nil {
			return in, true
		}
	}
}

func (in managerInput) reply() managerReply {
	r := managerReply{Status: "ok", Message: "The work is over.", Tasks: in.Tasks}
	done := slices.IndexFunc(in.Tasks, func(task string) bool { return file(task) == file(*in.DoneTask) })
	for _, task := range in.Tasks[done+1:] {
		if strings.HasSuffix(strings.TrimSpace(task), doneMark) {
			continue
		}
		r.NextTask, r.Message = &task, "Next is "+task+"."
		break
	}
	return r
}

const doneMark = "[done]"

func file(entry string) string {
	return path.Clean(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(entry), doneMark)))
}
