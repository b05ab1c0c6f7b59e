package call

import (
	"strings"
	"sync"
	"time"

	"kanban-run/orchestrator/agent"
)

// missing delays the report that a shell did not find a program, until the shell's next call has
// ended, but not for longer than mostHeld. The report is dropped if that call succeeded and ran a
// similar program. For example, a model that finds no python and then runs python3 misses nothing.
// After the agent's reply the report waits for the end of the agent, since nothing can be done about
// it sooner.
type missing struct {
	mu       sync.Mutex
	commands map[string]string // running shell commands; the key is the ID of the call
	held     *agent.Event
	late     *time.Timer // reports held; nil: nothing was held yet
}

// mostHeld bounds the delay of a report while the agent works.
const mostHeld = 30 * time.Second

// pass takes note of e, and calls report with the event about a missing tool that is to be reported
// after e, if there is one. It may call report later, in another goroutine.
func (m *missing) pass(e agent.Event, report func(*agent.Event)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case e.Kind == agent.Result:
		m.stop()
	case e.Class != agent.ShellTool && e.Missing != "":
		report(keep(e))
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
			report(m.held)
		}
		m.stop()
		m.held = nil
		if e.Missing != "" {
			m.hold(keep(e), report)
		}
	}
}

// hold holds a report back.
func (m *missing) hold(e *agent.Event, report func(*agent.Event)) {
	m.held = e
	m.late = time.AfterFunc(mostHeld, func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.held == e && m.late != nil {
			m.held = nil
			report(e)
		}
	})
}

// stop stops the timer of a report that is held back.
func (m *missing) stop() {
	if m.late != nil {
		m.late.Stop()
		m.late = nil
	}
}

// keep returns a copy of e on the heap. All other events stay off the heap.
func keep(e agent.Event) *agent.Event { return &e }

// end returns the event that is still held back when the agent has ended, or nil.
func (m *missing) end() *agent.Event {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stop()
	held := m.held
	m.held = nil
	return held
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
