package clone

import (
	"fmt"
	"strings"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/inert"
)

// message returns the message of a commit. An agent's words are indented, so that none of them is a trailer.
func (k *Keeper) message(due flow.DueWork) string {
	subject := due.Task
	if text, err := k.Workspace.ReadText(due.Task); err == nil {
		if title := titleOf(text); title != "" {
			subject += ": " + event.OneLine(k.Redactor.String(title))
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", inert.Line(event.OneLine(subject)))
	if words := strings.TrimSpace(k.Redactor.String(due.Message)); words != "" {
		for line := range strings.Lines(inert.Lines(words[:min(len(words), mostWords)])) {
			b.WriteString("    " + strings.TrimRight(line, "\r\n ") + "\n")
		}
		b.WriteString("\n")
	}
	steps := make([]string, len(due.Steps))
	for i, n := range due.Steps {
		steps[i] = fmt.Sprint(n)
	}
	fmt.Fprintf(&b, "Kanban-Board: %s\nKanban-Task: %s\nKanban-Role: %s\nKanban-Steps: %s\nKanban-Outcome: %s\n",
		inert.Line(event.OneLine(k.both.pathOf(k.Workspace.Path))), inert.Line(event.OneLine(due.Task)), inert.Line(due.Role), strings.Join(steps, " "), inert.Line(event.OneLine(due.Outcome)))
	return b.String()
}

// titleOf returns the first heading of a task, or "".
func titleOf(text string) string {
	for line := range strings.Lines(text) {
		if title, ok := strings.CutPrefix(line, "# "); ok {
			return strings.TrimSpace(title)
		}
	}
	return ""
}

// mostWords bounds the agent's words in a message, in bytes.
const mostWords = 4 << 10
