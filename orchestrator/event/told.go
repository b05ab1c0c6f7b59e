package event

import (
	"fmt"
	"strings"
)

// Sign is the kind of an observation or an action of the watch about a running attempt (seed 000).
type Sign string

// The kinds of signs.
const (
	Noticed  Sign = "noticed"   // an anomaly
	Asked    Sign = "asked"     // a question to the agent, a judge or a person
	Answered Sign = "answered"  // an answer, or the reason why no answer came
	Said     Sign = "said"      // a message of a person to the agent, or an offer of help
	Moving   Sign = "recovered" // the agent works again
	Ended    Sign = "ended"     // the watch ended the agent
	Missed   Sign = "missed"    // a tool that the agent did not have
)

// SignOf returns the kind of the sign that an event is, or "" if it is none.
func SignOf(e Event) Sign {
	switch e := e.(type) {
	case AnomalyFound, IdleBreach, ReviewBreach:
		return Noticed
	case ConsentAsked, JudgeAsked:
		return Asked
	case MessageSent:
		if e.Type == HealthCheck {
			return Asked
		}
		return Said
	case MessageHeard:
		if e.Answer != "" {
			return Answered
		}
	case MessageLost:
		if e.Type == HealthCheck {
			return Answered
		}
	case ConsentGiven, JudgeAnswered:
		return Answered
	case Recovered:
		return Moving
	case RebootTested:
		if !e.Decision.Spares() {
			return Ended
		}
	case ToolUnavailable:
		return Missed
	}
	return ""
}

// SourceOf returns the source of a divergence that an event reports, or "" for any other event.
func SourceOf(e Event) string {
	if d, ok := e.(StateDiverged); ok {
		return d.Source
	}
	return ""
}

// Decided is a decision of a person about a board.
type Decided struct {
	Word Choice `json:"word"`
	Task string `json:"task,omitempty"` // task that it is about; "": the board
	Note string `json:"note,omitempty"` // what the person wrote about it
	Text string `json:"text"`           // the decision in words
}

// String returns the decision and its note in words.
func (d Decided) String() string { return d.Text + noteSuffix(d.Note) }

// DecisionOf returns the decision of a person that an event records. It returns false for any other
// event, also for a question that nobody has answered and for a quarantine that an edit ended.
func DecisionOf(e Event) (d Decided, ok bool) {
	d.Text = e.Sentence().Text
	switch e := e.(type) {
	case Acknowledged:
		return Decided{e.Choice.Word(), e.Task, e.Note, e.Text}, true
	case ConsentGiven:
		d.Word, d.Task = Choice(e.Choice), e.Task
		return d, e.ID != ""
	case QuarantineEnded:
		d.Word, d.Task = Retry, e.Task
		return d, e.ID != ""
	case ForcedFinalizeAcked:
		d.Word, d.Note = Accept, e.Note
		return d, true
	}
	return d, false
}

// Looked is what became of a checkpoint, a look of the resident supervisor at the board (seed 001).
type Looked struct {
	ID       string   `json:"id"`
	Verdict  string   `json:"verdict"` // pass, warn, block or NoVerdict
	Score    float64  `json:"score"`   // from 0 to 1
	Trend    string   `json:"quality_trend,omitempty"`
	Findings []string `json:"key_findings,omitempty"`
	Report   string   `json:"report,omitempty"` // path of the report, relative to the board's folder
	Reason   string   `json:"reason,omitempty"` // reason why there is no verdict, or ""
}

// String returns the checkpoint in a few words.
func (c Looked) String() string {
	if c.Verdict == NoVerdict {
		return c.ID + " no verdict"
	}
	text := fmt.Sprintf("%s %s (score: %.2f)", c.ID, c.Verdict, c.Score)
	if c.Trend != "" {
		text += ", " + OneLine(c.Trend)
	}
	return text
}

// CheckpointOf returns the checkpoint that an event ends. It returns false for any other event.
func CheckpointOf(e Event) (Looked, bool) {
	switch e := e.(type) {
	case CheckpointHeld:
		d := e.Data
		return Looked{d.ID, d.Verdict, d.Score, e.Trend, d.Findings, d.Report, ""}, true
	case SupervisorFailed:
		return Looked{ID: e.Task, Verdict: NoVerdict, Reason: e.Reason}, true
	case ScopeViolated:
		return Looked{ID: e.Task, Verdict: NoVerdict, Reason: e.Text}, true
	case CheckpointMissed:
		return Looked{ID: e.Task, Verdict: NoVerdict, Reason: e.Reason}, true
	}
	return Looked{}, false
}

// ToSupervisor returns what the resident supervisor is told of an event (seed 001), or "" for nothing. It
// is not told what it caused itself, nor the replies and decisions that the states of the steps have.
func ToSupervisor(e Event) string {
	if _, own := CheckpointOf(e); own {
		return ""
	}
	s := e.Sentence()
	switch e := e.(type) {
	case ReplyAccepted, ManagerWalked, SupervisorLost, SupervisorDismissed, BoardEnded:
		return ""
	case StepFinished: // told only where the step has no state
		if s.Weight, s.Text = Note, e.Ended(); s.Text == "" {
			return ""
		}
	case Acknowledged:
		return "the Lead decided: " + strings.NewReplacer(", as you decided", "", "by you", "by the Lead").Replace(s.Text)
	case ReviewHeld:
		s = e.Whole()
	}
	switch {
	case s.Step != 0 && s.Weight >= Note:
		return fmt.Sprintf("step %d (%s): %s", s.Step, e.Subject(), s.Text)
	case s.Weight >= Warning:
		return s.Text
	default:
		return ""
	}
}
