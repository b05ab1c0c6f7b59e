package roster

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/agent/acp"
	"kanban-run/orchestrator/agent/claude"
	"kanban-run/orchestrator/agent/codex"
	"kanban-run/orchestrator/agent/gemini"
	"kanban-run/orchestrator/agent/opencode"
	"kanban-run/orchestrator/agent/stub"
	"kanban-run/orchestrator/config"
	"kanban-run/orchestrator/event"
	"kanban-run/roles"
)

// program is the adapter and the command of a role. Flags, the role file and the settings choose
// them.
type program struct {
	name    string // name of the adapter
	command []string
	args    []string
	adapter agent.Adapter // nil: this version has no adapter of that name
	setting string        // the setting that chose it, for [config.Settings.Fault]; "" for the role file
}

// choose returns a role's program. The order of precedence is: the flag, variable or line of the
// settings file for this role, the general flag or variable, the role file, the settings file's
// choice for all roles, the default.
func (r *Roster) choose(role roles.Role, dir string) (program, error) {
	said := r.Settings.Choose(role.Name)
	inRole := role.Agent != "" || len(role.Command) > 0
	if inRole && !r.saysOf(role.Name) && !r.Settings.IsExplicit("agent") && !r.Settings.IsExplicit("exec") {
		said = config.Choice{Agent: role.Agent}
	}
	if said.Agent == "" && len(role.Command) > 0 {
		said.Agent = "exec"
	}
	p := program{name: said.Agent, args: role.Args, setting: said.Setting}
	if p.name == "" {
		p.name = config.DefaultAgent
	}
	var err error
	switch {
	case said.Command != "":
		p.args = nil
		if p.command, err = agent.SplitCommand(said.Command); err == nil {
			p.command[0] = resolveCommand(p.command[0], said.Dir)
		}
	case len(role.Command) > 0 && (p.name == "exec" || p.name == role.Agent):
		p.command, p.setting = slices.Clone(role.Command), ""
		p.command[0] = resolveCommand(p.command[0], dir)
	}
	p.adapter = r.adapter(p.name)
	return p, err
}

// saysOf reports whether the flags or settings choose an agent or a command for this role.
func (r *Roster) saysOf(role string) bool {
	key := strings.ToLower(role)
	_, agent := r.Settings.Agents[key]
	_, exec := r.Settings.Execs[key]
	return agent || exec
}

// resolveCommand resolves the relative path of a command against dir, so that the path names the
// same program in every work directory. It returns a name without a slash unchanged.
func resolveCommand(command, dir string) string {
	if !strings.ContainsRune(command, '/') {
		return command
	}
	return resolvePath(dir, command)
}

// isAtFault reports whether an error is about the program itself, and not about what the role file
// asks of it.
func (p program) isAtFault(role roles.Role, err error) bool {
	var c *agent.ConfigError
	if p.adapter == nil || role.IsBuiltIn() || p.adapter == (walker{}) && role.Name != event.ManagerRole {
		return true
	}
	return errors.As(err, &c) && c.Missing
}

// tool returns the adapter's description of the program, or the zero value if there is no adapter.
func (p program) tool() agent.Tool {
	if p.adapter == nil {
		return agent.Tool{}
	}
	return p.adapter.Tool()
}

// pathOf returns the path of the program of an assignment, or "" if it is not there or the adapter
// starts none by that name.
func pathOf(tool agent.Tool, a agent.Assignment) string {
	name := tool.Program
	if len(a.Command) > 0 {
		name = a.Command[0]
	}
	if name == "" {
		return ""
	}
	path, _ := agent.LookPath(name, a.Dir) // the adapter's check tells the error
	return path
}

// shown returns the command as a person would type it.
func (p program) shown() string {
	if len(p.command) == 0 {
		return p.name
	}
	words := make([]string, 0, len(p.command)+len(p.args))
	for _, w := range slices.Concat(p.command, p.args) {
		words = append(words, quote(w))
	}
	return strings.Join(words, " ")
}

func quote(word string) string {
	if word != "" && !strings.ContainsAny(word, " \t\n'\"\\$`*?[]{}()<>|&;#~!") {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

func (r *Roster) adapter(name string) agent.Adapter {
	if name == "stub" {
		return r.stub()
	}
	for _, a := range r.Adapters {
		if a.Name() == name {
			return a
		}
	}
	return adapters(r.Executable)[name]
}

func (r *Roster) stub() agent.Adapter {
	return stub.New(r.Executable, stub.Options{File: r.Settings.Stub, StateDir: r.StubState, InProcess: r.DryRun})
}

// adapters returns all adapters but the stub. The parameter executable is kanban-run's own path.
func adapters(executable string) map[string]agent.Adapter {
	return map[string]agent.Adapter{
		"acp":      acp.New(executable),
		"claude":   claude.New(),
		"codex":    codex.New(),
		"exec":     agent.Exec(),
		"gemini":   gemini.New(),
		"opencode": opencode.New(),
		"walk":     walker{},
	}
}

// Adapters returns the sorted names of all adapters but the stub.
func Adapters() []string {
	return slices.Sorted(maps.Keys(adapters("")))
}

// Listens reports whether the agents of an adapter can be told something while they work.
func Listens(adapter string) bool {
	_, ok := adapters("")[adapter].(agent.Listener)
	return ok
}

func unknownAdapter(name string) error {
	return &agent.ConfigError{
		Text: fmt.Sprintf("this version has no adapter for the agent %q (it has: %s)", name,
			strings.Join(append(Adapters(), "stub"), ", ")),
		Fix: "give a command with --exec 'COMMAND ARGS', or try the board with --dry-run",
	}
}
