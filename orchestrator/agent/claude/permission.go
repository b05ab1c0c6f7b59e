package claude

import (
	"maps"
	"slices"
	"strings"

	"kanban-run/orchestrator/agent"
)

// grant holds claude's permissions. Claude denies any other action without a question, because no
// person could answer.
type grant struct {
	mode    string   // value of --permission-mode; "" means to skip all permission checks
	tools   []string // claude's own tools that the model gets; nil means all
	denied  []string // rules for what claude must not do
	allowed []string // rules for what claude may do beyond the mode
}

func (g grant) asksNothing() bool { return g.mode == "" }

// confine returns the options and the environment that keep claude from what the project's files
// name: hooks, helpers for keys, MCP servers and permissions, which an agent may have written. The
// project's instructions (CLAUDE.md) count all the same, as those of a further folder.
func (g grant) confine(a agent.Assignment) (args, env []string) {
	if g.asksNothing() {
		return nil, a.Env
	}
	return []string{"--setting-sources", "user", "--add-dir", a.Dir},
		append(slices.Clone(a.Env), "CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD=1")
}

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

// grantFor translates the permission and tools of a role. In mode dontAsk, claude may only read the
// work directory, with its own tools and with commands known to change nothing. In mode
// acceptEdits, it may also change files in the work directory.
//
// If a role without a permission lists a rule such as Bash(git log:*) or a server's tool, the mode
// is dontAsk, because otherwise the rule would have no effect.
func grantFor(a agent.Assignment) grant {
	a.Tools = rules(a.Tools)
	g := grant{tools: ownTools(a.Tools), denied: rules(a.Denied)}
	switch {
	case a.Permission == agent.ReadOnly:
		g.mode, g.allowed = "dontAsk", without(a.Tools, changesFiles)
	case a.Permission == agent.Edit:
		g.mode, g.allowed = "acceptEdits", without(a.Tools, allowsAnyChange)
		if a.Tools == nil {
			g.allowed = servers(a)
		}
	case slices.ContainsFunc(a.Tools, isRule) || a.Tools != nil && a.MCP != "":
		g.mode, g.allowed = "dontAsk", a.Tools
	}
	return g
}

// servers returns rules that allow all tools of the MCP servers that the role names.
func servers(a agent.Assignment) (all []string) {
	named, err := a.Servers()
	if err != nil {
		return nil // Check reports the error
	}
	for _, name := range slices.Sorted(maps.Keys(named)) {
		all = append(all, "mcp__"+name)
	}
	return all
}

// rules splits an entry such as Bash(git log:*, git show:*) into one rule for each pattern, because
// a rule of claude has only one pattern.
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

// ownTools returns the names of those tools that are claude's own, without their patterns. It
// returns nil if tools is nil.
func ownTools(tools []string) []string {
	if tools == nil {
		return nil
	}
	names := []string{}
	for _, t := range tools {
		if name := toolName(t); !isServer(t) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

func toolName(tool string) string {
	name, _, _ := strings.Cut(tool, "(")
	return strings.TrimSpace(name)
}

func isServer(tool string) bool { return strings.HasPrefix(tool, "mcp__") }

func anyServer(tools []string) bool { return slices.ContainsFunc(tools, isServer) }

func isRule(tool string) bool { return strings.Contains(tool, "(") || isServer(tool) }

var writers = []string{"Bash", "PowerShell", "Write", "Edit", "MultiEdit", "NotebookEdit"}

// changesFiles reports whether a tool can change files, so that a read-only role must not have it.
func changesFiles(tool string) bool { return slices.Contains(writers, toolName(tool)) }

// allowsAnyChange reports whether an entry names a tool that changes files, and has no pattern that
// limits the tool.
func allowsAnyChange(tool string) bool { return changesFiles(tool) && !isRule(tool) }

func without(tools []string, unwanted func(string) bool) []string {
	return slices.DeleteFunc(slices.Clone(tools), unwanted)
}
