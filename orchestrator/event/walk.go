package event

// ManagerWalked is the decision of package walk, which plays the Manager without a model. It is
// also the intent to write that decision onto the board.
type ManagerWalked struct {
	Step     int     `json:"step"`
	Task     string  `json:"task" text:"name"`
	Status   string  `json:"status" text:"fact"`
	Message  string  `json:"message"`
	NextTask *string `json:"next_task" text:"name"`
	Marked   bool    `json:"marked,omitempty"` // Task is marked as done
	// Warning is a notice that the board has no place to record its end; "" for no notice.
	Warning string `json:"warning,omitempty"`
	ByNeeds bool   `json:"by_needs,omitempty"`        // package walk met a task that needs an unfinished task
	Before  string `json:"before_sha256" text:"fact"` // SHA-256 of the board before the decision
	Current string `json:"current" text:"name"`       // current task before the decision; "" for none
	After   string `json:"after_sha256" text:"fact"`  // SHA-256 of the board after the decision
	// Left are the tasks that package walk could not name as next, each with the reason.
	Left []string `json:"left,omitempty"`
}

func (ManagerWalked) Kind() string { return "MANAGER_WALKED" }

// Subject returns the task.
func (e ManagerWalked) Subject() string { return e.Task }

func (e ManagerWalked) Sentence() Sentence {
	s := inStep(e.Step, weightOfStatus(e.Status), "%s %s: %s", ManagerRole, e.Status, Brief(e.Message))
	for _, text := range e.Left {
		s.Add(Warning, text)
	}
	return s
}
