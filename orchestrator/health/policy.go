package health

import "time"

// Policy is the set of limits at which a fault is found in a running agent. A zero limit is off.
// The names of the first limits are from seed 000, "配置参数".
type Policy struct {
	Frequency     time.Duration // time between two checks
	IdleWarning   time.Duration // silence before a warning
	IdleTimeout   time.Duration // silence before the watch acts
	ProgressStale time.Duration // time without progress of an active agent
	ModelWarning  time.Duration // silence while the agent waits for its model, before a warning
	ModelTimeout  time.Duration // silence while waiting for the model, before the watch acts
	DeafTimeout   time.Duration // ModelTimeout of an agent that has not answered two questions
	MCPDefault    time.Duration // length of one call of an MCP tool, before a warning
	MCPMax        time.Duration // length of one call of an MCP tool, before it is critical
	MCPEnd        time.Duration // length of one call of an MCP tool, before the watch acts
	FirstSign     time.Duration // time from the start to the first sign
	LeftOver      time.Duration // time from the final event to the end of the program
	Ceiling       time.Duration // time without progress, also of an active agent
	Grace         time.Duration // time after the start without the checks Idle, ProgressStale and Errors
	Answer        time.Duration // time to answer a question
	Errors        int           // number of errors in a row before a warning
	MaxRestarts   int           // number of restarts of one call
	SilentAgents  bool          // act also on agents that do not report their work
	Person        bool          // a person has to consent before an agent is ended
	Consent       time.Duration // time for the person's consent, or for the judge's answers
	Judge         string        // role that answers the reboot test; "" if the evidence answers it
	Graceful      time.Duration // time for a hung agent to end by itself; see [attempt.Attempt.End]
	Kill          time.Duration // time that a hung agent has after the request to end, before it is killed
	Stages        Stages
	ByClock       bool // output and work do not delay Stages, because a result is waited for
}

// Off reports whether the policy watches nothing.
func (p Policy) Off() bool { return p.Frequency <= 0 }

// Stages are the times without progress after which an agent is pinged, a person is told, and
// another agent is proposed: seed 002, "Event Monitoring Model". The agent is not ended at any
// stage.
type Stages [3]time.Duration

// reached returns the highest stage that d has reached. The first stage is 1. It returns 0 if d has
// reached no stage.
func (s Stages) reached(d time.Duration) int {
	n := 0
	for i, at := range s {
		if over(d, at) {
			n = i + 1
		}
	}
	return n
}
