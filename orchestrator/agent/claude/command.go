package claude

import (
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"strconv"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/contract"
)

// maxArgument bounds a prompt on the command line, in bytes: Linux takes 128 KiB in one argument,
// and every user of the machine can read them.
const maxArgument = 16 << 10

// commandLine grows option by option and keeps the first error.
type commandLine struct {
	argv    []string
	files   []agent.File
	scratch string
	err     error
}

func (l *commandLine) add(words ...string) { l.argv = append(l.argv, words...) }

func (l *commandLine) option(name, value string) {
	if value != "" {
		l.add(name, value)
	}
}

// prompt passes the role. A fork has another role: claude keeps the system prompt of a session's
// first call unless told otherwise. Source: seed 003, "Fork session 调用 Supervisor".
func (l *commandLine) prompt(a agent.Assignment) {
	if a.Follow == nil || !a.Follow.Fork {
		l.text("--append-system-prompt", a.Prompt)
		return
	}
	if l.text("--system-prompt", a.Prompt); a.Prompt != "" {
		l.add("--system-prompt-snapshot", "off")
	}
}

// text passes a long text as a file named by its sum: two roles have two files, a retry has the
// same.
func (l *commandLine) text(option, text string) {
	if len(text) <= maxArgument {
		l.option(option, text)
		return
	}
	if l.scratch == "" {
		text := fmt.Sprintf("the role's prompt is longer than %s", agent.Size(maxArgument))
		l.fail(&agent.ConfigError{Text: text, Fix: "shorten it"})
		return
	}
	path := filepath.Join(l.scratch, fmt.Sprintf("claude-%x.md", sha256.Sum256([]byte(text))))
	l.files = append(l.files, agent.File{Path: path, Data: []byte(text)})
	l.add(option+"-file", path)
}

func (l *commandLine) schema(c contract.Kind) {
	if c == contract.Review {
		return
	}
	source, err := c.ReplySchema()
	if err != nil {
		l.fail(err)
		return
	}
	l.add("--json-schema", string(source))
}

// follow names the session to resume. A fork is not saved: it would be the newest session, which
// `claude --continue` resumes.
func (l *commandLine) follow(f *agent.Follow) {
	if f == nil {
		return
	}
	l.add("--resume", f.Session)
	if f.Fork {
		l.add("--fork-session", "--no-session-persistence")
	}
}

// limits pass the limits of one attempt: claude counts from its start, also in a resumed session.
func (l *commandLine) limits(a agent.Assignment) {
	if a.MaxTurns > 0 {
		l.add("--max-turns", strconv.Itoa(a.MaxTurns))
	}
	if a.MaxCost > 0 {
		l.add("--max-budget-usd", strconv.FormatFloat(float64(a.MaxCost)/1e6, 'f', -1, 64))
	}
}

// mcp leaves out the user's own servers if the role names its servers, or lists tools without a
// server's: --tools covers claude's own tools only.
func (l *commandLine) mcp(a agent.Assignment) {
	l.option("--mcp-config", a.MCP)
	if a.MCP != "" || a.Tools != nil && !anyServer(a.Tools) {
		l.add("--strict-mcp-config")
	}
}

func (l *commandLine) fail(err error) {
	if l.err == nil {
		l.err = err
	}
}
