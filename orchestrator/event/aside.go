package event

// SetAsideType is the type of the [Anomaly] that tells the Manager of a [TaskSetAside].
const SetAsideType = "task_set_aside"

// TaskSetAside sets a failed task aside, so that the board goes on without it. This happens only
// with the setting keep_going, which is like the option -k of make.
type TaskSetAside struct {
	Step   int    `json:"step"`
	Task   string `json:"task" text:"name"`
	Role   string `json:"role" text:"fact"`
	Status string `json:"status" text:"fact"` // new status of the task, from its reply or from package flow
	Reason string `json:"reason"`
	// Done is true for a task that was already marked as done before the failure.
	Done bool `json:"done,omitempty"`
}

func (TaskSetAside) Kind() string { return "TASK_SET_ASIDE" }

func (e TaskSetAside) Subject() string { return e.Task }

func (e TaskSetAside) Sentence() Sentence {
	s := inStep(e.Step, Warning, "%s is set aside, and the board goes on: %s", e.Task, Headline(e.Reason))
	s.Result = e.Status
	s = s.alert(AlertWarning, "STUCK", e.Role, escalate)
	s.Alert.Once = true
	return s
}
