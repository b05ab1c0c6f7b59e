package digest

import (
	"strings"
	"time"

	"kanban-run/orchestrator/flow"
)

// Sign is what the watch saw of a running attempt, or did about it: seed 000.
type Sign struct {
	Time time.Time `json:"time"`
	Kind SignKind  `json:"kind"`
	Text string    `json:"text"`
}

// SignKind is what a sign is of.
type SignKind string

// The kinds of signs.
const (
	Noticed   SignKind = "noticed"   // an anomaly
	Asked     SignKind = "asked"     // the agent, a judge, or a person for consent
	Answered  SignKind = "answered"  // or nothing came
	Said      SignKind = "said"      // to the agent, by a person or as help
	Recovered SignKind = "recovered" // it moves again
	Ended     SignKind = "ended"     // by the watch
	Missed    SignKind = "missed"    // a tool that was not there
)

const mostSigns = 100

// watch adds the sign that an entry is.
func (s *Step) watch(e flow.Entry) {
	kind, ok := kindOf(e.Event)
	if !ok {
		return
	}
	s.update(func(a *Attempt) {
		if len(a.Watched) < mostSigns {
			a.Watched = append(a.Watched, Sign{e.Time, kind, Note(e.Event)})
		}
	})
}

func kindOf(e flow.Event) (SignKind, bool) {
	switch e := e.(type) {
	case flow.AnomalyFound, flow.IdleBreach, flow.ReviewBreach:
		return Noticed, true
	case flow.ConsentAsked, flow.JudgeAsked:
		return Asked, true
	case flow.MessageSent:
		if e.Type == flow.HealthCheck {
			return Asked, true
		}
		return Said, true
	case flow.MessageHeard:
		return Answered, e.Answer != ""
	case flow.MessageLost:
		return Answered, e.Type == flow.HealthCheck
	case flow.ConsentGiven, flow.JudgeAnswered:
		return Answered, true
	case flow.Recovered:
		return Recovered, true
	case flow.RebootTested:
		return Ended, true
	case flow.ToolUnavailable:
		return Missed, true
	default:
		return "", false
	}
}

// mostTold is how much of an input is kept, in bytes.
const mostTold = 1600

func toldOf(e flow.AttemptStarted) string {
	if len(e.Input) <= mostTold {
		return string(e.Input)
	}
	return strings.ToValidUTF8(string(e.Input[:mostTold]), "") + "…"
}
