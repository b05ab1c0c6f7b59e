package watch

import (
	"fmt"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/event"
)

// noteMissing journals that a tool is missing, once for each call of a step: seed 002, "Tool
// Unavailability". The result known is true if the journal has that already.
func (w *Watch) noteMissing(e agent.Event, then event.OnTool) (known bool, err error) {
	tool := w.Redactor.String(e.Missing)
	agents, known := w.Journal.State().Misses(tool, w.agent.AttemptRef)
	if known {
		return true, nil
	}
	return false, w.Journal.Record(event.ToolUnavailable{AttemptRef: w.agent.AttemptRef, Tool: tool, Agent: w.agent.Player.Adapter.Name(),
		Reason: w.Redactor.String(agent.OneLine(e.Text)),
		Then:   then, Agents: agents + 1})
}

// onMissing acts on an agent whose tool is missing, as the setting on_tool demands. A reviewer and
// a supervisor always go on. The parameter "gone" is true if the agent has already ended. In that
// case onMissing stops the run if on_tool has the value "stop". For the other values of on_tool,
// onMissing then only journals the event.
func (w *Watch) onMissing(e agent.Event, gone bool) error {
	then := w.Run.OnTool
	if w.agent.Call.IsReview() || w.agent.Call.IsSupervision() {
		then = event.ToolCaveat
	}
	if gone && then != event.ToolStop {
		then = event.ToolOver
	}
	step := w.Journal.State().Step
	found := event.Anomaly{Type: "error", Check: event.ToolCheck, Tool: w.Redactor.String(e.Missing),
		Severity: "critical", Advice: "restart"}
	if step.Hung != nil || then == event.ToolRetry && step.WasRestartedFor(found.Check) {
		then = event.ToolCaveat // the agent is being ended, or was restarted for a tool before
	}
	known, err := w.noteMissing(e, then)
	if err != nil || known && then != event.ToolStop { // an earlier attempt may have died before it was stopped
		return err
	}
	found.Details = fmt.Sprintf("%s is not available to %s: %s", found.Tool, w.agent.Role, w.Redactor.String(agent.OneLine(e.Text)))
	switch then {
	case event.ToolSkip:
		return w.send(event.MessageSent{ID: agent.NewMessageID(), Type: event.AssistOffer,
			Content: event.Content{Assistance: event.Resource,
				Details: found.Tool + " is not available. Do without it, " +
					"and say in your work log what could not be done."}})
	case event.ToolRetry:
		return w.endHung(event.RebootTested{AttemptRef: w.agent.AttemptRef, Anomaly: found, Decision: event.Restart,
			Text: found.Tool + " was not available, and your program was started again. Try it once more; " +
				"if it is still not there, do without it and say so in your work log."})
	case event.ToolStop:
		found.Advice = "replan"
		stop := event.RebootTested{AttemptRef: w.agent.AttemptRef, Anomaly: found, Decision: event.Stuck,
			Text: event.ToolStopped + found.Details}
		if gone {
			return w.Journal.Record(stop)
		}
		return w.endHung(stop)
	}
	return nil
}
