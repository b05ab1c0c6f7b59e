package roster

import (
	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/event"
)

// walker is the adapter named walk. With it, the run itself plays the Manager. People choose walk
// like an agent, but it starts no program.
type walker struct{}

func (walker) Name() string { return event.Walker }

func (walker) Check(call agent.Assignment) error {
	if call.Role != event.ManagerRole {
		return &agent.ConfigError{
			Text: "walk is a Manager, and cannot play " + call.Role,
			Fix:  "write --agent Manager=walk, and another agent for the other roles",
		}
	}
	return call.Support(event.Walker, "model", "tools")
}

// Invoke returns an error, because only a call without a board invokes walk. Such a call has no
// list that walk could work through.
func (walker) Invoke(agent.Assignment) (agent.Invocation, error) {
	return agent.Invocation{}, &agent.ConfigError{
		Text: "walk goes down the list of a board, and this call has none",
		Fix:  "give the Manager an agent with --agent Manager=ADAPTER or --exec Manager=COMMAND",
	}
}

func (walker) Reader(contract.Kind, agent.Host) agent.Reader { return agent.NewObjectReader() }

func (walker) Tool() agent.Tool { return agent.Tool{Ignores: []string{"tools", "model"}, Free: true} }
