package digest

import (
	"strings"
	"time"

	"kanban-run/orchestrator/event"
)

// Sign is an observation or an action of the watch about a running attempt (seed 000).
type Sign struct {
	Time time.Time `json:"time"`
	Kind SignKind  `json:"kind"`
	Text string    `json:"text"`
}

// SignKind is the kind of a sign.
type SignKind string

// The kinds of signs.
const (
	Noticed   SignKind = "noticed"   // an anomaly
	Asked     SignKind = "asked"     // a question to the agent, a judge or a person
	Answered  SignKind = "answered"  // an answer, or the reason why no answer came
	Said      SignKind = "said"      // a message of a person to the agent, or an offer of help
	Recovered SignKind = "recovered" // the agent works again
	Ended     SignKind = "ended"     // the watch ended the agent
	Missed    SignKind = "missed"    // a tool that the agent did not have
)

const mostSigns = 100

// addSign adds the sign of an entry to the last attempt, which keeps at most mostSigns. It does
// nothing if the entry has no sign.
func (s *Step) addSign(e event.Entry) {
	kind, ok := kindOf(e.Event)
	if !ok {
		return
	}
	s.update(func(a *Attempt) {
		if len(a.Watched) < mostSigns {
			a.Watched = append(a.Watched, Sign{e.Time, kind, e.Event.Sentence().Whole()})
		}
	})
}

func kindOf(e event.Event) (SignKind, bool) {
	switch e := e.(type) {
	case event.AnomalyFound, event.IdleBreach, event.ReviewBreach:
		return Noticed, true
	case event.ConsentAsked, event.JudgeAsked:
		return Asked, true
	case event.MessageSent:
		if e.Type == event.HealthCheck {
			return Asked, true
		}
		return Said, true
	case event.MessageHeard:
		return Answered, e.Answer != ""
	case event.MessageLost:
		return Answered, e.Type == event.HealthCheck
	case event.ConsentGiven, event.JudgeAnswered:
		return Answered, true
	case event.Recovered:
		return Recovered, true
	case event.RebootTested:
		return Ended, !e.Decision.Spares()
	case event.ToolUnavailable:
		return Missed, true
	default:
		return "", false
	}
}

// mostTold bounds the part of an input that is kept, in bytes.
const mostTold = 1600

func toldOf(e event.AttemptStarted) string {
	if len(e.Input) <= mostTold {
		return string(e.Input)
	}
	return strings.ToValidUTF8(string(e.Input[:mostTold]), "") + "…"
}
