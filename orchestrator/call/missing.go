package call

import (
	"strings"
	"sync"

	"kanban-run/orchestrator/agent"
)

// missing delays the report that a shell did not find a program, until the shell's next call has
// ended. The report is dropped if that call succeeded and ran a similar program. For example, a
// model that finds no python and then runs python3 misses nothing.
type missing struct {
	mu       sync.Mutex
	commands map[string]string // running shell commands; the key is the ID of the call
	held     *agent.Event
}

// pass takes note of e. It returns the event about a missing tool that is to be reported after e,
// or nil.
func (m *missing) pass(e agent.Event) (report *agent.Event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case e.Kind == agent.Result:
		report, m.held = m.held, nil
	case e.Class != agent.ShellTool && e.Missing != "":
		report = keep(e)
	case e.Class != agent.ShellTool:
	case e.Kind == agent.ToolStarted:
		if m.commands == nil {
			m.commands = map[string]string{}
		}
		m.commands[e.ID] = e.Text
	case e.Kind == agent.ToolEnded:
		command := m.commands[e.ID]
		delete(m.commands, e.ID)
		if m.held != nil && (e.Failed || !runs(command, m.held.Missing)) {
			report = m.held
		}
		m.held = nil
		if e.Missing != "" {
			m.held = keep(e)
		}
	}
	return report
}

// keep returns a copy of e on the heap. All other events stay off the heap.
func keep(e agent.Event) *agent.Event { return &e }

// end returns the event that is still held back when the agent has ended, or nil.
func (m *missing) end() *agent.Event {
	return m.pass(agent.Event{Kind: agent.Result})
}

// runs reports whether a command runs a program, or a program with a similar name: python3 for
// python, or pip for pip3.
func runs(command, program string) bool {
	for _, word := range strings.FieldsFunc(command, func(r rune) bool { return strings.ContainsRune(" \t\n;|&()/", r) }) {
		if strings.HasPrefix(word, program) || len(word) > 2 && strings.HasPrefix(program, word) {
			return true
		}
	}
	return false
}
