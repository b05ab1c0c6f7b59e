package flow

import "strings"

// Anomaly is what the watch found wrong with a running agent: seed 000, "anomaly_report".
type Anomaly struct {
	Type     string `json:"anomaly_type"`        // idle, error, timeout or mcp_stuck
	Check    string `json:"check"`               // the row of the check table
	Severity string `json:"severity"`            // warning or critical
	Tool     string `json:"tool,omitempty"`      // whose call it is about
	Details  string `json:"details" text:"free"` // the evidence in words
	Advice   string `json:"recommendation"`      // continue, assist, restart or replan
	Executor string `json:"executor,omitempty"`  // the role that it is about, where another is called
	Action   string `json:"action,omitempty"`    // what the runner does about it at once, in words; "" for nothing
}

// AnomalyFound says that the watch found something wrong with the running attempt. It changes
// nothing.
type AnomalyFound struct {
	AttemptRef
	Anomaly `text:"free"`
}

// Recovered says that the running attempt gets on again, of which an anomaly was told: seed 002,
// "Recovery confirmation". It changes nothing.
type Recovered struct {
	AttemptRef
	Text string `json:"text" text:"free"`
}

// RebootTested is the decision about a running attempt that is to be ended: seed 000, "5-Question
// Reboot Test". It stands in the journal before the agent is ended.
type RebootTested struct {
	AttemptRef
	Anomaly  `text:"free"`
	Answers  []Answer `json:"answers" text:"free"`
	Decision Decision `json:"decision"`
	Text     string   `json:"text" text:"free"` // of the decision, for people and for the next attempt
}

// Answer is the answer to a question of the test, with its evidence.
type Answer struct {
	Question string `json:"question"`
	Yes      bool   `json:"yes"`
	Evidence string `json:"evidence" text:"free"`
}

// Decision is what is done about a hung agent.
type Decision string

// The decisions about a critical anomaly: seed 000, "决策类型".
const (
	Continue Decision = "CONTINUE" // the agent is left alone, with a clarification
	Assist   Decision = "ASSIST"   // it is left alone, with help

	Restart Decision = "RESTART"
	Replan  Decision = "REPLAN" // the Manager is called, and the task is not done
	Stuck   Decision = "STUCK"  // a restart would not help: a person is needed
)

// Kind is the record's type in the journal.
func (AnomalyFound) Kind() string { return "ANOMALY_FOUND" }

// Kind is the record's type in the journal.
func (RebootTested) Kind() string { return "REBOOT_TESTED" }

// Kind is the record's type in the journal.
func (Recovered) Kind() string { return "RECOVERED" }

func (e Recovered) apply(s *State) error { return s.checkRunning(e, e.AttemptRef) }

func (e AnomalyFound) apply(s *State) error { return s.checkRunning(e, e.AttemptRef) }

// ReplannedTimes is how often the Manager was asked for another plan of a task under these limits.
func (s *State) ReplannedTimes(task string) int {
	n := 0
	for _, t := range s.Replanned {
		if t == task {
			n++
		}
	}
	return n
}

func (e RebootTested) apply(s *State) error {
	if err := s.checkRunning(e, e.AttemptRef); err != nil {
		return err
	}
	s.Step.Hung = &Hung{Anomaly: e.Key(), Decision: e.Decision, Text: e.Text}
	if e.Decision == Replan {
		s.Step.Hung.Found = &e.Anomaly
	}
	return nil
}

// Key tells anomalies of different kinds, or about different tools, apart.
func (a Anomaly) Key() string {
	if a.Tool == "" {
		return a.Check
	}
	return a.Check + " " + a.Tool
}

// WasRestartedFor says whether the last restart of the call was for what a
// check found, of any tool.
func (s *Step) WasRestartedFor(check string) bool {
	return s.LastHung == check || strings.HasPrefix(s.LastHung, check+" ")
}

// Hung is the decision about the running attempt, or the last one that was ended for it.
type Hung struct {
	Anomaly  string   `json:"anomaly"`
	Decision Decision `json:"decision"`
	Text     string   `json:"text"`
	Found    *Anomaly `json:"found,omitempty"` // of a Replan
}

// ToolCheck is the check of an anomaly for a tool that is not there.
const ToolCheck = "tool"

// stopsForTool says whether the run is to end because a tool is not there, even if
// the attempt came to a reply.
func (h *Hung) stopsForTool() bool {
	return h != nil && h.Decision == Stuck && strings.HasPrefix(h.Anomaly, ToolCheck+" ")
}

// endHung does what was decided about an attempt that has been ended; nil: nothing was. The next
// one goes on in its session, or starts afresh with the reason as feedback.
func (s *Step) endHung(h *Hung) {
	switch {
	case h == nil:
	case h.Decision == Stuck:
		s.Unsettled = stuckPrefix + h.Text
	case h.Decision == Replan:
		s.TaskStatus = "blocked"
		s.callManager()
		s.Anomaly = h.Found
	default:
		s.Restarts++
		s.Advice, s.LastHung = h.Text, h.Anomaly
		if s.GoesOn == nil {
			s.tellAdvice()
		}
	}
}

// tellAdvice makes the advice a part of the next input of a task agent that starts afresh.
func (s *Step) tellAdvice() {
	if s.Advice != "" && s.Call == TaskCall {
		s.Input, s.Stored = nil, ""
	}
}

const stuckPrefix = "STUCK: "

// isStuck says whether a hung agent ended the run, and not a review that is never content.
func (s *Step) isStuck() bool { return strings.HasPrefix(s.Unsettled, stuckPrefix) }

// Why is why the decision is proposed, for a person who has to consent.
func (e RebootTested) Why() string {
	if e.Decision == Stuck {
		return e.Text
	}
	return e.Details
}
