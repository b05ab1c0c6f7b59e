package report

import (
	"cmp"
	"fmt"
	"strings"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/flow"
)

// describePlaybook is of what the run does about trouble: seed 002, "Event Handling Playbooks".
func describePlaybook(e event.Event) []line {
	switch e := e.(type) {
	case event.ToolUnavailable:
		return describeMissing(e)
	case event.DuplicateTask:
		return []line{{warn, fmt.Sprintf("DUPLICATE_TASK_KEY: %s is worked on by the run of %s", e.Task, cmp.Or(e.Owner, "another board"))}}
	case event.ScopeOverlaps:
		return []line{{warn, describeOverlap(e)}}
	case event.Reassigned:
		return []line{{warn, fmt.Sprintf("step %d: %s takes the work of %s over, with the same input: %s", e.Step, e.To, e.Role, brief(oneLine(e.Reason)))}}
	case event.ReassignProposed:
		return []line{{warn, fmt.Sprintf("step %d: REASSIGN_PROPOSAL: %s for %s (%s); reassign in .kanban-run.yaml names agents that take over", e.Step, e.Strategy, e.Task, e.Role)}}
	case event.MarkerMissing:
		return []line{{warn, e.Text}}
	case event.DecisionsViolated:
		return []line{{bad, e.Text}}
	case event.TeardownMoved:
		return []line{{calm, "teardown: " + string(e.To) + teardownSuffix(e)}}
	case event.ForcedFinalizeCandidate:
		return []line{{bad, fmt.Sprintf("FORCED_FINALIZE_CANDIDATE: %s never answered (kanban-run ack %s forced-finalize goes on without)", strings.Join(e.Missing, ", "), failure.Quote(e.Board))}}
	case event.TeardownBlocked:
		return []line{{bad, "TEARDOWN_BLOCKED: " + e.Reason}}
	case event.ForcedFinalizeAcked:
		return []line{{calm, "forced finalize approved by the Lead" + noteSuffix(e.Note)}}
	case event.LoopSuspected:
		return describeLoop(e)
	case event.QuarantineEnded:
		return []line{{calm, fmt.Sprintf("%s leaves quarantine: %s", e.Task, e.Reason)}}
	default:
		return nil
	}
}

func teardownSuffix(e event.TeardownMoved) string {
	switch {
	case e.Round > 0:
		return fmt.Sprintf(" (round %d of %d)", e.Round, flow.AckRetryRounds)
	case e.Status != "":
		return " (ACK_STATUS=" + e.Status + ")"
	case e.Reason != "":
		return ": " + e.Reason
	default:
		return ""
	}
}

func describeMissing(e event.ToolUnavailable) []line {
	lines := []line{{warn, fmt.Sprintf("step %d: TOOL_UNAVAILABLE: %s for %s (%s): %s%s", e.Step, e.Tool, Player(e.AttemptRef), e.Agent, brief(e.Reason), toolSuffix(e.Then))}}
	if e.Agents == event.SystemicAgents {
		lines = append(lines, line{bad, fmt.Sprintf("%s is not there for %d agents of this run: look at the machine, and not at the tasks", e.Tool, e.Agents)})
	}
	return lines
}

func toolSuffix(then event.OnTool) string {
	switch then {
	case event.ToolRetry:
		return "; the agent is started again, where it was"
	case event.ToolSkip:
		return "; the agent is told to do without"
	case event.ToolStop:
		return "; the run stops"
	default:
		return "; the agent goes on"
	}
}

func describeOverlap(e event.ScopeOverlaps) string {
	text := fmt.Sprintf("OVERLAP_SCOPE: %s changes %s, and so does the work on %s of %s", e.Task, strings.Join(e.Files, " and "), e.OwnerTask, e.Owner)
	if e.Waits {
		return text + ": it waits for the end of that step"
	}
	return text
}

func describeLoop(e event.LoopSuspected) []line {
	lines := []line{{bad, fmt.Sprintf("LOOP_SUSPECTED: %s", brief(oneLine(e.Text)))},
		{calm, fmt.Sprintf("recommended: %s, since %s", e.Recommend, e.Reason)}}
	if e.Told {
		return append(lines, line{warn, e.Task + " is in quarantine; the Manager is told and may name another task"})
	}
	return append(lines, line{bad, e.Task + " is in quarantine, and a person decides"})
}
