package event

// ConsentAsked asks a person for consent to a decision about the running attempt.
type ConsentAsked struct {
	AttemptRef
	Anomaly
	Decision Decision `json:"decision"`
	Text     string   `json:"text"`
}

func (ConsentAsked) Kind() string { return "CONSENT_ASKED" }

func (e ConsentAsked) Sentence() Sentence {
	return inStep(e.Step, Critical, "%s waits for your consent to %s it: %s (kanban-run inbox)",
		e.Player(), e.Advice, e.Details).tell(Lead, AboutPerson).did(escalate)
}

// ConsentGiven is a person's answer to a question for consent, or the withdrawal of a void
// question.
type ConsentGiven struct {
	AttemptRef
	ID     string        `json:"id,omitempty"` // ID of the answer; "" if the question is void
	Choice ConsentChoice `json:"choice"`
}

func (ConsentGiven) Kind() string { return "CONSENT_GIVEN" }

func (e ConsentGiven) Sentence() Sentence {
	return inStep(e.Step, Note, "%s", e.Answer())
}

// Answer returns the answer in words.
func (e ConsentGiven) Answer() string {
	switch e.Choice {
	case ConsentRestart:
		return "you consented: " + e.Player() + " may be ended"
	case ConsentContinue:
		return "you left " + e.Player() + " alone"
	default:
		return e.Player() + " goes on by itself, and needs no consent any more"
	}
}

// ConsentChoice is the decision about an agent that was found hung.
type ConsentChoice string

// The choices.
const (
	ConsentRestart  ConsentChoice = "restart"  // carry out the proposal
	ConsentContinue ConsentChoice = "continue" // leave the agent alone, and restart all clocks
	ConsentVoid     ConsentChoice = "void"     // no decision, because the agent goes on by itself
)

// Overdue is a stage that an agent without progress has reached: seed 002, "Event Monitoring
// Model". The events that embed it change no state.
type Overdue struct {
	Severity string `json:"severity" text:"fact"` // INFO, WARN or CRITICAL
	Action   string `json:"action" text:"fact"`   // PING, ESCALATE or REASSIGN_PROPOSAL
	Millis   int64  `json:"elapsed_millis"`
	Text     string `json:"text"`
}

// IdleBreach reports that a working agent has made no progress for so long that the next stage of
// alerts is reached: seed 002, "Idle / No-response".
type IdleBreach struct {
	AttemptRef
	Overdue
}

func (IdleBreach) Kind() string { return "IDLE_BREACH" }

func (o Overdue) sentence(r AttemptRef) Sentence {
	w := map[string]Weight{"WARN": Warning, "CRITICAL": Critical}[o.Severity]
	return inStep(r.Step, max(w, Note), "%s: %s", r.Player(), o.Text)
}

func (e IdleBreach) Sentence() Sentence {
	return e.Overdue.sentence(e.AttemptRef).tell(0, AboutStuck).alert(e.Severity, e.Kind(), e.Role, e.Action)
}

// ReviewBreach reports that a review has made no progress for so long that the next stage of alerts
// is reached. The reviewed agent waits meanwhile.
type ReviewBreach struct {
	AttemptRef
	Overdue
}

func (ReviewBreach) Kind() string { return "REVIEW_SLA_BREACH" }

func (e ReviewBreach) Sentence() Sentence {
	return e.Overdue.sentence(e.AttemptRef).tell(0, AboutStuck).alert(e.Severity, e.Kind(), e.Role, e.Action)
}

// Anomaly is a finding of the watch about a running agent: seed 000, "anomaly_report".
type Anomaly struct {
	Type     string `json:"anomaly_type" text:"fact"`   // such as idle, error, timeout or mcp_stuck
	Check    string `json:"check" text:"fact"`          // name of the check that found the anomaly
	Severity string `json:"severity" text:"fact"`       // warning or critical
	Tool     string `json:"tool,omitempty"`             // tool whose call has the anomaly; "" for none
	Details  string `json:"details"`                    // the evidence in words
	Advice   string `json:"recommendation" text:"fact"` // continue, assist, restart or replan
	// Executor is the role of the agent with the anomaly; "" if it is the role of the step.
	Executor string `json:"executor,omitempty" text:"fact"`
	// Action is what the run does at once, in words; "" for nothing.
	Action string `json:"action,omitempty" text:"fact"`
}

// AnomalyFound is an anomaly of the running attempt. The event changes no state.
type AnomalyFound struct {
	AttemptRef
	Anomaly
}

func (AnomalyFound) Kind() string { return "ANOMALY_FOUND" }

func (e AnomalyFound) Sentence() Sentence {
	w, then := Warning, ""
	if e.Severity == "critical" {
		w = Critical
	}
	if e.Action != "" {
		then = "; " + e.Action
	}
	if e.Advice == "replan" {
		then += "; recommended: plan anew"
	}
	s := inStep(e.Step, w, "%s: %s: %s%s", e.Player(), e.Check, e.Details, then)
	if e.Check == asksForHelp {
		return s.tell(Lead|Team, AboutPerson)
	}
	if e.Advice == "replan" { // more than one agent has this trouble (seed 000, "REPLAN")
		s.Alert.Proposal = "a new plan for " + e.Task + ": " + e.Details
		return s.tell(Lead, AboutStuck)
	}
	return s
}

// asksForHelp is the Check of an anomaly in which an agent asks for help: seed 000, "ASSIST".
const asksForHelp = "asks for help"

// Recovered reports that the running attempt makes progress again after an anomaly: seed 002,
// "Recovery confirmation". The event changes no state.
type Recovered struct {
	AttemptRef
	Text string `json:"text"`
}

func (Recovered) Kind() string { return "RECOVERED" }

func (e Recovered) Sentence() Sentence {
	return inStep(e.Step, Note, "%s is moving again", e.Player()).tell(0, AboutStuck)
}

// RebootTested is the decision about the running attempt after the reboot test: seed 000,
// "5-Question Reboot Test". For the decisions Continue and Assist the event changes no state. For
// the others it is journaled before the agent is ended.
type RebootTested struct {
	AttemptRef
	Anomaly
	Answers  []Answer `json:"answers"`
	Decision Decision `json:"decision"`
	Text     string   `json:"text"` // reason, for people and for the next attempt
}

func (RebootTested) Kind() string { return "REBOOT_TESTED" }

// Needs implements [Needs]. Programs of the first form take every decision as one to end the agent.
func (e RebootTested) Needs() int {
	if e.Decision.Spares() {
		return 2
	}
	return 0
}

func (e RebootTested) Sentence() Sentence {
	switch e.Decision {
	case Continue:
		return inStep(e.Step, Note, "%s is left to go on: %s", e.Player(), e.Text)
	case Assist:
		return inStep(e.Step, Note, "%s is left to go on, and offered help: %s", e.Player(), e.Text)
	case Stuck:
		return inStep(e.Step, Critical, "%s is ended: %s", e.Player(), e.Text).
			tell(Lead|Team, AboutStuck).alert(AlertCritical, "STUCK", e.Role, escalate)
	case Replan:
		return inStep(e.Step, Warning, "%s is ended, and the Manager plans anew: %s", e.Player(), e.Text).
			alert(AlertWarning, "STUCK", e.Role, escalate)
	default:
		return inStep(e.Step, Warning, "%s is ended and started again: %s", e.Player(), e.Details).
			alert(AlertWarning, "IDLE_BREACH", e.Role, escalate)
	}
}

// Answer is the answer to a question of the reboot test, with the evidence for it.
type Answer struct {
	Question string `json:"question"`
	Yes      bool   `json:"yes"`
	Evidence string `json:"evidence"`
}

// Decision is the treatment of a hung agent.
type Decision string

// The decisions about an anomaly: seed 000, "决策类型".
const (
	Continue Decision = "CONTINUE" // the agent is left alone, and gets a clarification
	Assist   Decision = "ASSIST"   // the agent is left alone, and gets help

	Restart Decision = "RESTART"
	Replan  Decision = "REPLAN" // the Manager plans anew; the task is not done
	Stuck   Decision = "STUCK"  // a person decides, because a restart would not help
)

// Spares reports whether the agent is left alone.
func (d Decision) Spares() bool { return d == Continue || d == Assist }

// Key returns the check and the tool. Anomalies with the same key are of the same kind.
func (a Anomaly) Key() string {
	if a.Tool == "" {
		return a.Check
	}
	return a.Check + " " + a.Tool
}

// Why returns the reason for the decision, for the person that has to consent.
func (e RebootTested) Why() string {
	if e.Decision == Stuck {
		return e.Text
	}
	return e.Details
}

// ToolCheck is the Check of an anomaly about a tool that is not available.
const ToolCheck = "tool"
