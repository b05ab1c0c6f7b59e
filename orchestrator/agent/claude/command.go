package claude

import (
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"strconv"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/contract"
)

// maxArgument bounds a prompt on the command line, in bytes. Linux takes at most 128 KiB in one
// argument, and every user of the machine can read arguments.
const maxArgument = 16 << 10

// commandLine builds a command line. It keeps the first error.
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

// prompt adds the role's prompt. For a session that goes on, claude keeps the system prompt of the
// session's first call, and prompt turns this off. The role may be another one by now: a fork has
// another role than its session (seed 003, "Fork session 调用 Supervisor"), and a person may have
// edited the role.
func (l *commandLine) prompt(a agent.Assignment) {
	option := "--append-system-prompt"
	if a.Follow != nil && a.Follow.Fork {
		option = "--system-prompt"
	}
	l.text(option, a.Prompt)
	if a.Follow != nil && a.Prompt != "" {
		l.add("--system-prompt-snapshot", "off")
	}
}

// text adds a text as an argument, or a long text as a file. The checksum in the file's name keeps
// the files of two roles apart, and is the same in a retry.
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

// follow names the session to resume. A fork is not saved, because it would become the newest
// session, which `claude --continue` resumes.
func (l *commandLine) follow(f *agent.Follow) {
	if f == nil {
		return
	}
	l.add("--resume", f.Session)
	if f.Fork {
		l.add("--fork-session", "--no-session-persistence")
	}
}

// limits adds the limits of one attempt. Claude counts turns and cost from the start of its
// process, even in a resumed session.
func (l *commandLine) limits(a agent.Assignment) {
	if a.MaxTurns > 0 {
		l.add("--max-turns", strconv.Itoa(a.MaxTurns))
	}
	if a.MaxCost > 0 {
		l.add("--max-budget-usd", strconv.FormatFloat(float64(a.MaxCost)/1e6, 'f', -1, 64))
	}
}

// mcp adds the role's MCP servers. It excludes the user's own servers if the role names servers. It
// also excludes them if the role lists tools but no tool of a server, because --tools limits only
// claude's own tools. The servers are those of the file as it was read, because an agent may have
// written the file since.
func (l *commandLine) mcp(a agent.Assignment) {
	path := a.MCP
	if path != "" && a.MCPText != nil && l.scratch != "" {
		path = filepath.Join(l.scratch, fmt.Sprintf("claude-%x.mcp.json", sha256.Sum256(a.MCPText)))
		l.files = append(l.files, agent.File{Path: path, Data: a.MCPText})
	}
	l.option("--mcp-config", path)
	if a.MCP != "" || a.Tools != nil && !anyServer(a.Tools) {
		l.add("--strict-mcp-config")
	}
}

func (l *commandLine) fail(err error) {
	if l.err == nil {
		l.err = err
	}
}
