package orchestrator

import (
	"fmt"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/flow"
)

// noteMissing journals that a tool was not there, once for each call, and returns what becomes of it: seed 002, "Tool Unavailability".
func (r *run) noteMissing(c *call, e agent.Event, then flow.OnTool) (noted *flow.ToolUnavailable, err error) {
	tool := r.Redactor.String(e.Missing)
	agents, known := r.ledger.State().Misses(tool, c.AttemptRef)
	if known {
		return nil, nil
	}
	noted = &flow.ToolUnavailable{AttemptRef: c.AttemptRef, Tool: tool, Agent: c.player.Adapter.Name(), Reason: r.Redactor.String(agent.OneLine(e.Text)),
		Then: then, Agents: agents + 1}
	return noted, r.ledger.Record(*noted)
}

// onMissing does what the settings say of an agent whose tool is not there. A reviewer and a supervisor go on.
func (w *watch) onMissing(e agent.Event) error {
	then := w.run.OnTool
	if w.call.Call.IsReview() || w.call.Call.IsSupervision() {
		then = flow.ToolCaveat
	}
	step := w.run.ledger.State().Step
	found := flow.Anomaly{Type: "error", Check: "tool", Tool: w.run.Redactor.String(e.Missing), Severity: "critical", Advice: "restart"}
	if step.Hung != nil || then == flow.ToolRetry && step.WasRestartedFor(found.Check) {
		then = flow.ToolCaveat // it is ended by now, or was started again for a tool, this one or another
	}
	noted, err := w.run.noteMissing(w.call, e, then)
	if noted == nil || err != nil {
		return err
	}
	found.Details = fmt.Sprintf("%s is not available to %s: %s", noted.Tool, noted.Role, noted.Reason)
	switch then {
	case flow.ToolSkip:
		return w.send(flow.MessageSent{ID: agent.NewMessageID(), Type: flow.AssistOffer, Content: flow.Content{Assistance: "guidance",
			Details: noted.Tool + " is not available. Do without it, and say in your work log what could not be done."}})
	case flow.ToolRetry:
		return w.endHung(flow.RebootTested{AttemptRef: w.call.AttemptRef, Anomaly: found, Decision: flow.Restart,
			Text: fmt.Sprintf("%s was not available, and your program was started again. Try it once more; if it is still not there, do without it and say so in your work log.", noted.Tool)})
	case flow.ToolStop:
		found.Advice = "replan"
		return w.endHung(flow.RebootTested{AttemptRef: w.call.AttemptRef, Anomaly: found, Decision: flow.Stuck, Text: "TOOL_UNAVAILABLE: " + found.Details})
	}
	return nil
}
