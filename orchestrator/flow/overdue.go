package flow

// Overdue is a stage that an agent without progress has reached: seed 002, "Event Monitoring
// Model". It changes nothing, as all events about it.
type Overdue struct {
	Severity string `json:"severity"` // INFO, WARN or CRITICAL
	Action   string `json:"action"`   // PING, ESCALATE or REASSIGN_PROPOSAL
	Millis   int64  `json:"elapsed_millis"`
	Text     string `json:"text" text:"free"`
}

// IdleBreach says that an agent at work has made no progress for so long that the next stage is
// reached: seed 002, "Idle / No-response".
type IdleBreach struct {
	AttemptRef
	Overdue `text:"free"`
}

// ReviewBreach says the same of a review, for which the agent waits whose work is reviewed.
type ReviewBreach struct {
	AttemptRef
	Overdue `text:"free"`
}

// Kind is the record's type in the journal.
func (IdleBreach) Kind() string { return "IDLE_BREACH" }

// Kind is the record's type in the journal.
func (ReviewBreach) Kind() string { return "REVIEW_SLA_BREACH" }

func (e IdleBreach) apply(s *State) error   { return s.checkRunning(e, e.AttemptRef) }
func (e ReviewBreach) apply(s *State) error { return s.checkRunning(e, e.AttemptRef) }
