package health

import "time"

// Policy is the set of limits at which a fault is found in a running agent. A zero limit is off.
// The names of the first limits are from seed 000, "配置参数".
type Policy struct {
	Frequency     time.Duration // between two checks
	IdleWarning   time.Duration
	IdleTimeout   time.Duration
	ProgressStale time.Duration // without progress, although active
	ModelWarning  time.Duration // of silence while it waits for its model
	ModelTimeout  time.Duration
	DeafTimeout   time.Duration // of such silence, for an agent that has not answered two questions
	MCPDefault    time.Duration // of one call of an MCP tool, before a warning
	MCPMax        time.Duration // of such a call, before it is critical
	MCPEnd        time.Duration // of such a call, before the watch acts on it
	FirstSign     time.Duration // from the start to the first sign
	LeftOver      time.Duration // from the final event to the end of the program
	Ceiling       time.Duration // without progress, also of an active agent
	Grace         time.Duration // after the start, in which idle, stale and errors do not count
	Answer        time.Duration // to a question
	Errors        int           // in a row, before a warning
	MaxRestarts   int           // of one call
	SilentAgents  bool          // act also on agents that do not report their work
	Person        bool          // a person has to consent before an agent is ended
	Consent       time.Duration // time for the person's consent, or for the judge's answers
	Judge         string        // role that answers the reboot test; "": the evidence answers it
	Graceful      time.Duration // in which a hung agent may end by itself, see [attempt.Attempt.End]
	Kill          time.Duration // from asking a hung agent to end until it is killed
	Stages        Stages
	ByClock       bool // the work of a program is no progress for the stages, because its result is waited for
}

// Off reports whether the policy watches nothing.
func (p Policy) Off() bool { return p.Frequency <= 0 }

// Stages are the times without progress at which an agent is pinged, a person is told of it, and
// another agent is proposed: seed 002, "Event Monitoring Model". The agent is not ended at any
// stage.
type Stages [3]time.Duration

// reached returns the highest stage that a time has reached, from 1. It returns 0 if the time has
// not reached any stage.
func (s Stages) reached(d time.Duration) int {
	n := 0
	for i, at := range s {
		if over(d, at) {
			n = i + 1
		}
	}
	return n
}
