package report

import (
	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/console"
	"kanban-run/orchestrator/event"
)

// Plain is an observer that writes one stable line for each event, for logs and pipes. It is safe
// for concurrent use.
type Plain struct {
	out      *console.Printer
	names    bool
	NoAgents bool // if true, the method Agent writes nothing
	lines    describer
}

// NewPlain returns an observer that writes to out. If names is true, the board's name stands before
// the text of each line.
func NewPlain(out *console.Printer, names bool) *Plain { return &Plain{out: out, names: names} }

// Entry writes the lines of a journaled event.
func (p *Plain) Entry(board string, e event.Entry) {
	for _, l := range p.lines.describe(e.Event) {
		p.print(board, e.Time.Local().Format("15:04:05"), l.String())
	}
}

// Agent writes a line about the start of a tool, the failure of a tool, or the agent's wait for the
// provider. Other signs would fill most of the log.
func (p *Plain) Agent(board string, s agent.Sign) {
	if said := describeTool(s); said.Text != "" && !p.NoAgents {
		p.print(board, s.Time.Local().Format("15:04:05"), said.String())
	}
}

// Notice writes a warning.
func (p *Plain) Notice(board, text string) { p.print(board, "warning:", text) }

func (p *Plain) print(board, head, text string) {
	if p.names && board != "" {
		head += " " + board
	}
	// A closed terminal or a full disk must not stop a run.
	_ = p.out.Printf("%s %s\n", head, text)
}

// Quiet is an observer that writes only warnings.
type Quiet struct{ *Plain }

// Entry shows nothing.
func (Quiet) Entry(string, event.Entry) {}

// Agent shows nothing.
func (Quiet) Agent(string, agent.Sign) {}
