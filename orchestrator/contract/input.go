// Package contract has the inputs of agents and the form of their replies. It reads and writes no
// files.
package contract

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"kanban-run/orchestrator/event"
)

// Input is the input of an agent. A call that begins a session gets the object in JSON. A call that
// continues a session gets Text. Source: seed 004, "Input Specification (Supervisor → Agent)".
type Input struct {
	JSON  []byte
	Text  string
	Tasks []string // tasks in a Manager's JSON, never nil there; nil in other inputs

	head managerHead // a Manager's JSON without Tasks
}

// ForTask returns the input of a task agent. The paths of the task file and the board are as agents
// see them. The feedback is the reason why earlier work on the task was sent back. If there is no
// feedback, the field is left out.
func ForTask(task, kanban, feedback string) (Input, error) {
	text, err := json.Marshal(struct {
		TaskFile   string `json:"task_file"`
		KanbanFile string `json:"kanban_file"`
		Feedback   string `json:"feedback,omitempty"`
	}{task, kanban, feedback})
	return Input{JSON: text}, err
}

// ForInstruction returns the input of an agent that carries out one instruction, without a board.
func ForInstruction(instruction string) (Input, error) {
	text, err := json.Marshal(struct {
		Instruction string `json:"instruction"`
	}{instruction})
	return Input{JSON: text}, err
}

// AnomalyReport tells the Manager of an agent that was ended: seed 000, "anomaly_report".
type AnomalyReport struct {
	Type    string         `json:"type"`
	Content AnomalyContent `json:"content"`
}

// AnomalyContent is the content of an AnomalyReport.
type AnomalyContent struct {
	Executor       string `json:"executor_id"` // the role
	Anomaly        string `json:"anomaly_type"`
	Severity       string `json:"severity"`
	Details        string `json:"details"`
	Recommendation string `json:"recommendation"`
}

// Report returns the report of an anomaly of a role's agent.
func Report(role string, a event.Anomaly) AnomalyReport {
	return AnomalyReport{"anomaly_report", AnomalyContent{role, a.Type, a.Severity, a.Details, a.Advice}}
}

// ForManager returns the input of the Manager. Only the Manager gets the list of tasks. The field
// done_task names the task whose agent has ended. If this task is not done, the anomalies tell the
// reason. If the board is about to end, they also tell which other tasks are not done.
func ForManager(kanban, done string, anomalies []AnomalyReport, tasks []string) (Input, error) {
	return withTasks(managerHead{kanban, done, anomalies}, notNil(tasks))
}

// managerHead is the Manager's input without the list of tasks.
type managerHead struct {
	KanbanFile string `json:"kanban_file"`
	DoneTask   string `json:"done_task"`

	Anomalies []AnomalyReport `json:"anomalies,omitempty"`
}

func withTasks(head managerHead, tasks []string) (Input, error) {
	text, err := json.Marshal(struct {
		managerHead
		Tasks []string `json:"tasks"`
	}{head, tasks})
	return Input{JSON: text, Tasks: tasks, head: head}, err
}

// GoOn returns the text that asks an agent to resume its work on the input. The work was cut short,
// and the agent resumes it in its session. The parameter why holds the cause, or "" if the cause is
// not known. The text repeats the input, because the tool may have died before it stored the input.
func (in Input) GoOn(why string) string {
	asked := in.Text
	if asked == "" {
		asked = "Your input:\n\n" + string(in.JSON)
	}
	if why == "" {
		why = "Your program was stopped."
	}
	return "Your work on this was cut short. " + why +
		" Go on from where you were, and do not do again what is done; " +
		"a command that was running may have been broken off in the middle.\n\nThis is what you were asked:\n\n" + asked
}

// MaxInline is the greatest length, in bytes, of a text that is kept in the journal.
const MaxInline = 4 << 10

// Journaled returns the input in two parts. The part inline is for the journal, and the part stored
// is for a file beside the journal. If the input is longer than MaxInline, stored has its long
// part, and inline has the rest. Otherwise inline has the whole input, and stored is nil.
func (in Input) Journaled() (inline json.RawMessage, stored []byte, err error) {
	if in.Text != "" {
		if len(in.Text) > MaxInline {
			return json.RawMessage(`""`), []byte(in.Text), nil
		}
		inline, err = json.Marshal(in.Text)
		return inline, nil, err
	}
	switch {
	case len(in.JSON) <= MaxInline:
		return in.JSON, nil, nil
	case in.Tasks == nil:
		return json.RawMessage(`{}`), in.JSON, nil
	}
	if stored, err = json.Marshal(in.Tasks); err != nil {
		return nil, nil, err
	}
	inline, err = json.Marshal(in.head)
	return inline, stored, err
}

// Restore reverses Journaled.
func Restore(inline json.RawMessage, stored []byte) (Input, error) {
	restore := restoreJSON
	if bytes.HasPrefix(inline, []byte(`"`)) {
		restore = restoreText
	}
	in, err := restore(inline, stored)
	if err != nil {
		return Input{}, fmt.Errorf("decode a journaled input: %w", err)
	}
	return in, nil
}

func restoreText(inline json.RawMessage, stored []byte) (in Input, err error) {
	if stored != nil {
		return Input{Text: string(stored)}, nil
	}
	err = json.Unmarshal(inline, &in.Text)
	return in, err
}

func restoreJSON(inline json.RawMessage, stored []byte) (Input, error) {
	if stored != nil && string(inline) == "{}" { // the record has only a placeholder, because the whole input is in a file
		return Input{JSON: stored}, nil
	}
	if stored != nil {
		var head managerHead
		tasks := []string{}
		if err := errors.Join(json.Unmarshal(inline, &head), json.Unmarshal(stored, &tasks)); err != nil {
			return Input{}, err
		}
		return withTasks(head, tasks)
	}
	var manager struct {
		managerHead
		Tasks []string `json:"tasks"`
	}
	err := json.Unmarshal(inline, &manager)
	return Input{JSON: inline, Tasks: manager.Tasks, head: manager.managerHead}, err
}
