package health

import "time"

// Policy is the set of limits at which a fault is found in a running agent. A zero limit is off.
// Their tags are those of settings; see package config. The names of the first limits are from seed
// 000, "配置参数".
type Policy struct {
	Frequency     time.Duration `name:"watch.frequency" default:"30s" help:"time between two looks at an agent"`
	IdleWarning   time.Duration `name:"watch.idle_warning" default:"2m" help:"warn of an agent without a sign for so long; it waits for no model"`
	IdleTimeout   time.Duration `name:"watch.idle_timeout" default:"5m" help:"and end it"`
	ProgressStale time.Duration `name:"watch.progress_stale" default:"2m" help:"warn of an agent that is active without progress"`
	ModelWarning  time.Duration `name:"watch.model_warning" default:"10m" help:"warn of a model that does not answer"`
	ModelTimeout  time.Duration `name:"watch.model_timeout" default:"20m" help:"and end its agent"`
	DeafTimeout   time.Duration `name:"watch.deaf_timeout" default:"17m" help:"or end it so early, if it has not answered two questions either"`
	MCPDefault    time.Duration `name:"watch.mcp_timeout.default" default:"30s" help:"warn of a call of an MCP tool that takes longer"`
	MCPMax        time.Duration `name:"watch.mcp_timeout.max" default:"1m" help:"call it critical"`
	MCPEnd        time.Duration `name:"watch.mcp_timeout.end" default:"10m" help:"and end its agent"`
	FirstSign     time.Duration `name:"watch.first_sign" default:"3m" help:"end an agent that gives no sign after its start"`
	LeftOver      time.Duration `name:"watch.left_over" default:"30s" help:"end a program that is there so long after its result"`
	Ceiling       time.Duration `name:"watch.ceiling" default:"30m" help:"end an agent without progress for so long, but for a command that works"`
	Grace         time.Duration `name:"watch.grace" default:"7m" help:"after its start an agent may be idle for so long"` // also without ProgressStale and Errors
	Answer        time.Duration `name:"watch.answer" default:"2m" help:"a silent agent that can be asked has so long for its answer; 0: it is not asked"`
	Graceful      time.Duration `name:"watch.graceful_timeout" default:"30s" help:"a hung agent has so long to end by itself"` // see [attempt.Attempt.End]
	Kill          time.Duration `name:"watch.force_kill_after" default:"0" help:"kill a hung agent so long after it was asked to end; 0: twice graceful_timeout"`
	Person        bool          `name:"watch.coordinator" one:"policy person" default:"policy" help:"policy, or person: a person has to consent before a hung agent is ended (kanban-run inbox, ack)"`
	Judge         string        `name:"watch.judge" shown:"none" help:"role that answers the five questions before a hung agent is ended; without it the evidence does"`
	Consent       time.Duration `name:"watch.consent" default:"10m" help:"a person has so long for it, then the run ends with exit code 3; a judge has, too, then the evidence decides"`
	Stages        Stages        `name:"watch.stages" default:"role" help:"tell of an agent without progress after three times, such as 15m 45m 60m; role: by the kind of its role; off: never"`
	Errors        int           `name:"watch.errors" default:"3" help:"warn of so many errors in a row; 0: never"`
	MaxRestarts   int           `name:"watch.max_restarts" default:"2" help:"restart the agent of a call up to so often"`
	SilentAgents  bool          `name:"watch.silent_agents" one:"warn act" default:"warn" help:"warn or act: of an agent that tells nothing of its work, such as exec, silence proves nothing"`
	ByClock       bool          // output and work do not delay Stages, because a result is waited for
}

// Off reports whether the policy watches nothing.
func (p Policy) Off() bool { return p.Frequency <= 0 }

// Stages are the times without progress after which an agent is pinged, a person is told, and
// another agent is proposed: seed 002, "Event Monitoring Model". The agent is not ended at any
// stage. There are three rising times, or none. In the settings, nil means that they depend on the
// kind of role.
type Stages []time.Duration

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
