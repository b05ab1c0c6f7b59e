package console

import (
	"strings"

	"kanban-run/orchestrator/inert"
)

// Property is a property of a workflow command.
type Property struct{ Name, Value string }

// Command prints a workflow command of GitHub Actions (::name key=value::message). The message and
// the values are foreign texts. They are redacted, made inert and escaped, so that they can neither
// end the command nor form another one. Empty values are left out.
//
// Source: docs.github.com, "Workflow commands for GitHub Actions", and escapeData and
// escapeProperty of actions/toolkit.
func (p *Printer) Command(name, message string, properties ...Property) error {
	var b strings.Builder
	b.WriteString("::" + name)
	for i, prop := range dropEmpty(properties) {
		b.WriteString([]string{" ", ","}[min(i, 1)])
		b.WriteString(prop.Name + "=" + escapeProperty.Replace(inert.Lines(p.secrets.Hide(prop.Value))))
	}
	b.WriteString("::" + escapeData.Replace(inert.Lines(p.secrets.Hide(message))) + "\n")
	return p.write(b.String())
}

func dropEmpty(properties []Property) []Property {
	var all []Property
	for _, p := range properties {
		if p.Value != "" {
			all = append(all, p)
		}
	}
	return all
}

var (
	escapeData     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	escapeProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

const shortestMask = 6 // bytes

// Mask makes the job's runner hide a secret in all later logs, even those of other programs. It
// leaves out the lines of the secret that are shorter than shortestMask, because hiding those would
// make every log unreadable. Mask prints the secret, so only the runner itself may read the stream.
func (p *Printer) Mask(secret string) error {
	var b strings.Builder
	for line := range strings.Lines(secret) { // the runner masks line by line
		if line = strings.TrimRight(line, "\r\n"); len(strings.TrimSpace(line)) >= shortestMask {
			b.WriteString("::add-mask::" + escapeData.Replace(line) + "\n")
		}
	}
	return p.write(b.String())
}
