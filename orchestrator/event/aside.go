package event

// SetAsideType is the type of an [Anomaly] by which the Manager is told of a task that is set aside.
const SetAsideType = "task_set_aside"

// TaskSetAside sets a task aside, so that the board goes on without it: as in make, with the setting keep_going.
type TaskSetAside struct {
	Step   int    `json:"step"`
	Task   string `json:"task"`
	Role   string `json:"role"`
	Status string `json:"status"` // that the task has from now on: of its reply, or one of flow's
	Reason string `json:"reason" text:"free"`
}

func (TaskSetAside) Kind() string { return "TASK_SET_ASIDE" }

func (e TaskSetAside) Subject() string { return e.Task }

// Sentence implements [Event].
func (e TaskSetAside) Sentence() Sentence {
	return inStep(e.Step, Warning, "%s is set aside, and the board goes on: %s", e.Task, Headline(e.Reason))
}
