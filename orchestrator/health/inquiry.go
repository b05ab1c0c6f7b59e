package health

import (
	"slices"
	"time"
)

// inquiry is the questioning of a silent agent: seed 000, "场景 1". The agent is asked. If it does
// not answer, it is asked urgently, and then reported. Any progress is an answer.
type inquiry struct {
	asked  time.Time   // time of the first question in this silence; zero if there was none
	urgent time.Time   // time of the urgent question; zero if there was none
	nudges []time.Time // times of the first questions of all silences
}

// isSilence reports whether a finding is about silence, so that a question to the agent may help.
func isSilence(f Finding) bool { return f.Check == Idle || f.Check == ProgressStale }

// follow ends the inquiry if the agent has answered.
func (q *inquiry) follow(t *Trace) {
	if t.Answered.After(q.asked) || t.Progress.After(q.asked) {
		q.asked, q.urgent = time.Time{}, time.Time{}
	}
}

// next returns the question that is due, or Nothing. A question is asked at most once in 20 minutes
// and twice an hour. Its urgent repetition is not counted: seed 002, "Anti-Spam Policy". atLast is
// true if the agent is about to be ended. Then the agent is asked in any case.
func (q *inquiry) next(now time.Time, answer time.Duration, atLast bool) Action {
	n := len(q.nudges)
	tooMany := n > 0 && now.Sub(q.nudges[n-1]) < cooldown ||
		n >= mostInHour && now.Sub(q.nudges[n-mostInHour]) < time.Hour
	switch {
	case q.asked.IsZero() && !atLast && tooMany:
		return Nothing
	case q.asked.IsZero():
		return Ask
	case q.urgent.IsZero() && now.Sub(q.asked) >= answer:
		return AskAgain
	default:
		return Nothing
	}
}

func (q *inquiry) note(now time.Time, a Action) {
	if a == AskAgain {
		q.urgent = now
		return
	}
	q.asked = now
	q.nudges = append(slices.Clip(q.nudges), now)
}

func (q *inquiry) isUnanswered(now time.Time, answer time.Duration) bool {
	return !q.urgent.IsZero() && now.Sub(q.urgent) >= answer
}
