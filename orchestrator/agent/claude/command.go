package claude

import (
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"strconv"

	"kanban-run/orchestrator/agent"
)

// maxArgument is how long a prompt on the command line may be, in bytes. Linux takes 128 KiB in one argument, Windows 32 KiB in
// all of them; and who lists processes sees it.
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

// prompt gives the role. In a fork it is another's role: claude keeps the system prompt of a session's first call unless it is told
// not to. Source: seed 003, "Fork session 调用 Supervisor".
func (l *commandLine) prompt(a agent.Assignment) {
	if a.Follow == nil || !a.Follow.Fork {
		l.text("--append-system-prompt", a.Prompt)
		return
	}
	if l.text("--system-prompt", a.Prompt); a.Prompt != "" {
		l.add("--system-prompt-snapshot", "off")
	}
}

// text gives a long text as a file, whose name is its sum: two roles of a run have two files, and retries have the same.
func (l *commandLine) text(option, text string) {
	if len(text) <= maxArgument {
		l.option(option, text)
		return
	}
	if l.scratch == "" {
		l.fail(&agent.ConfigError{Text: fmt.Sprintf("the role's prompt is longer than %s", agent.Size(maxArgument)), Fix: "shorten it"})
		return
	}
	path := filepath.Join(l.scratch, fmt.Sprintf("claude-%x.md", sha256.Sum256([]byte(text))))
	l.files = append(l.files, agent.File{Path: path, Data: []byte(text)})
	l.add(option+"-file", path)
}

func (l *commandLine) schema(c agent.Contract) {
	if c == agent.ReviewContract {
		return
	}
	source, err := c.ReplySchema()
	if err != nil {
		l.fail(err)
		return
	}
	l.add("--json-schema", string(source))
}

// follow names the session that goes on. Nobody goes on in a fork: it is not saved, else it would be the newest session, in which
// `claude --continue` goes on.
func (l *commandLine) follow(f *agent.Follow) {
	if f == nil {
		return
	}
	l.add("--resume", f.Session)
	if f.Fork {
		l.add("--fork-session", "--no-session-persistence")
	}
}

// limits are of one attempt: claude counts both from its start, also in a session that goes on.
func (l *commandLine) limits(a agent.Assignment) {
	if a.MaxTurns > 0 {
		l.add("--max-turns", strconv.Itoa(a.MaxTurns))
	}
	if a.MaxCost > 0 {
		l.add("--max-budget-usd", strconv.FormatFloat(float64(a.MaxCost)/1e6, 'f', -1, 64))
	}
}

// mcp leaves out the servers that the user has set up where the role says which it wants, or which tools it has and none of them is a
// server's: --tools speaks of claude's own tools only.
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
