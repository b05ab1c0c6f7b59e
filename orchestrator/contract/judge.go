package contract

import (
	"encoding/json"

	"kanban-run/orchestrator/event"
)

// judgeInput is the input of a judge. It has the anomaly, and the answers that the evidence gives
// to the questions of the reboot test. Source: seed 000, "5-Question Reboot Test".
type judgeInput struct {
	Type    string         `json:"type"` // reboot_test
	Task    string         `json:"task_file"`
	Kanban  string         `json:"kanban_file"`
	Call    event.Call     `json:"call"` // the call that hangs
	Report  AnomalyReport  `json:"report"`
	Answers []event.Answer `json:"answers"`
}

// ForJudge returns the input of a judge of a running attempt.
func ForJudge(r event.AttemptRef, kanban string, a event.Anomaly, answers []event.Answer) (Input, error) {
	text, err := json.Marshal(judgeInput{"reboot_test", r.Task, kanban, r.Call, Report(r.Role, a), answers})
	return Input{JSON: text}, err
}

// JudgeReply is a judge's reply: an answer to each question, and a message for the hung agent.
type JudgeReply struct {
	Q1      JudgeAnswer `json:"q1"`
	Q2      JudgeAnswer `json:"q2"`
	Q3      JudgeAnswer `json:"q3"`
	Q4      JudgeAnswer `json:"q4"`
	Q5      JudgeAnswer `json:"q5"`
	Message string      `json:"message"`
}

// JudgeAnswer is the answer to one question.
type JudgeAnswer struct {
	Yes      bool   `json:"yes"`
	Evidence string `json:"evidence"`
}

func decodeJudge(text string) (*Reply, *Failure) {
	var r JudgeReply
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return nil, Failed("the reply cannot be decoded: %v", err)
	}
	return &Reply{Status: OK, Message: r.Message, Judge: &r}, nil
}

// Answers returns the five answers in their order.
func (r JudgeReply) Answers() []JudgeAnswer { return []JudgeAnswer{r.Q1, r.Q2, r.Q3, r.Q4, r.Q5} }

var judgeKeys = []string{"q1", "q2", "q3", "q4", "q5", "message"}
