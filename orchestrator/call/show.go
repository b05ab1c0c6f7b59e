package call

import (
	"encoding/json"
	"strings"
	"sync"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/attempt"
	"kanban-run/orchestrator/health"
	"kanban-run/orchestrator/rundir"
)

// emitterOf passes on what an agent does: what is journaled to the run, all of it to the
// observer and to the file of the step. A warning is a notice, which is shown also where agents
// are not: seed 003, "解析错误处理".
func (c *Caller) emitterOf(call *Ready) func(agent.Event) {
	return func(ev agent.Event) {
		if ev.Kind == agent.Session && attempt.IsSession(ev.ID) || isAboutMessage(ev) || ev.Missing != "" {
			sign := ev // so that only these events outlive the call
			select {
			case call.Signs <- &sign:
			default:
			}
		}
		if ev.Kind == agent.Warning {
			c.run.Observer.Notice(c.run.Board, strings.TrimPrefix(ev.String(), ev.Kind.String()+": "))
			return
		}
		sign := agent.Sign{AttemptRef: call.AttemptRef, Event: ev}
		c.run.Observer.Agent(c.run.Board, sign)
		call.keepSign(sign)
	}
}

func isAboutMessage(e agent.Event) bool {
	return e.Kind == agent.Heard || e.Kind == agent.Answered || e.Kind == agent.Dropped
}

// shower writes what the agent does for other programs. That it cannot be written
// changes nothing for the run.
func (c *Caller) shower(call *Ready) func(health.Live) {
	if c.run.DryRun {
		return nil
	}
	var mu sync.Mutex
	return func(l health.Live) {
		mu.Lock()
		defer mu.Unlock()
		if call.Call.IsReview() {
			l.WaitReason = "waiting_review"
		}
		if data, err := json.Marshal(health.LiveAttempt{AttemptRef: call.AttemptRef, Live: l}); err == nil {
			_ = rundir.ReplaceFile(c.run.Folder.Live(), append(data, '\n'))
		}
	}
}

// keepSign keeps what the agent did for `kanban-run log --events`.
func (c *Ready) keepSign(s agent.Sign) {
	switch s.Kind {
	case agent.ToolStarted, agent.ToolEnded, agent.Retry, agent.Text, agent.Result:
		s.Text = agent.OneLine(s.Text)
		if data, err := json.Marshal(s); err == nil {
			c.events.Append(data)
		}
	}
}
