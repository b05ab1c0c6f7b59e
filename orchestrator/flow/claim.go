package flow

// DuplicateTask says that another run works on a task: seed 002, "Duplicate / Overlap Work". In
// the same process its end is waited for, else this run ends. It changes nothing.
type DuplicateTask struct {
	Task  string `json:"task"`
	Owner string `json:"owner"` // the board whose run has it; "": it is not known
}

// ScopeOverlaps says that another step works on files that a task
// declares, too. It changes nothing.
type ScopeOverlaps struct {
	Task      string   `json:"task"`
	Owner     string   `json:"owner"`                  // the board whose run is at work, and
	OwnerTask string   `json:"owner_task" text:"free"` // on which task
	Files     []string `json:"files" text:"free"`      // a pattern of each
	Waits     bool     `json:"waits"`                  // for the end of that step
}

// Kind is the record's type in the journal.
func (DuplicateTask) Kind() string { return "DUPLICATE_TASK_KEY" }

// Kind is the record's type in the journal.
func (ScopeOverlaps) Kind() string { return "OVERLAP_SCOPE" }

// Subject is the task.
func (e DuplicateTask) Subject() string { return e.Task }

// Subject is the task.
func (e ScopeOverlaps) Subject() string { return e.Task }

func (DuplicateTask) apply(*State) error { return nil }

func (ScopeOverlaps) apply(*State) error { return nil }
