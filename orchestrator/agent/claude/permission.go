package claude

import (
	"slices"
	"strings"

	"kanban-run/orchestrator/agent"
)

// grant is what claude may do without asking, which is all that it may do: nobody is there to be asked.
type grant struct {
	mode    string   // of --permission-mode; "" skips permissions altogether
	tools   []string // claude's own that there are at all; nil: all
	denied  []string // rules
	allowed []string // rules
}

func (g grant) unasked() bool { return g.mode == "" }

func (g grant) args() []string {
	args := []string{"--dangerously-skip-permissions"}
	if g.mode != "" {
		args = []string{"--permission-mode", g.mode}
	}
	if g.tools != nil {
		args = append(args, "--tools", strings.Join(g.tools, ","))
	}
	if len(g.allowed) > 0 {
		args = append(args, "--allowedTools", strings.Join(g.allowed, ","))
	}
	if len(g.denied) > 0 {
		args = append(args, "--disallowedTools", strings.Join(g.denied, ","))
	}
	return args
}

// permit puts permission and tools of a role into claude's terms. dontAsk lets claude look at the work directory, with its own
// tools and with commands that it knows to change nothing, and denies the rest; acceptEdits also lets it change files there.
//
// A rule such as Bash(git log:*) or the name of a server's tool means something only where the rest is denied.
func permit(a agent.Assignment) grant {
	a.Tools = rules(a.Tools)
	g := grant{tools: own(a.Tools), denied: rules(a.Denied)}
	switch {
	case a.Permission == agent.ReadOnly:
		g.mode, g.allowed = "dontAsk", without(a.Tools, changing)
	case a.Permission == agent.Edit:
		g.mode, g.allowed = "acceptEdits", without(a.Tools, blanket)
	case slices.ContainsFunc(a.Tools, isRule) || a.Tools != nil && a.MCP != "":
		g.mode, g.allowed = "dontAsk", a.Tools
	}
	return g
}

// rules makes of Bash(git log:*, git show:*) two, as claude wants them.
func rules(tools []string) []string {
	if tools == nil {
		return nil
	}
	all := []string{}
	for _, t := range tools {
		name, patterns, found := strings.Cut(strings.TrimSuffix(t, ")"), "(")
		if !found {
			all = append(all, t)
			continue
		}
		for pattern := range strings.SplitSeq(patterns, ",") {
			all = append(all, name+"("+strings.TrimSpace(pattern)+")")
		}
	}
	return all
}

// own are the names of claude's own tools in a list, without rules; nil for no list.
func own(tools []string) []string {
	if tools == nil {
		return nil
	}
	names := []string{}
	for _, t := range tools {
		if name := base(t); !isServer(t) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

func base(tool string) string {
	name, _, _ := strings.Cut(tool, "(")
	return strings.TrimSpace(name)
}

func isServer(tool string) bool { return strings.HasPrefix(tool, "mcp__") }

func anyServer(tools []string) bool { return slices.ContainsFunc(tools, isServer) }

func isRule(tool string) bool { return strings.Contains(tool, "(") || isServer(tool) }

var writers = []string{"Bash", "PowerShell", "Write", "Edit", "MultiEdit", "NotebookEdit"}

// changing tools are not allowed by a list where the role may only read.
func changing(tool string) bool { return slices.Contains(writers, base(tool)) }

// blanket entries would allow more than to change files of the work directory.
func blanket(tool string) bool { return changing(tool) && !isRule(tool) }

func without(tools []string, unwanted func(string) bool) []string {
	return slices.DeleteFunc(slices.Clone(tools), unwanted)
}
