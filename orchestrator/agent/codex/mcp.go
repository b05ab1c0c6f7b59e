package codex

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"

	"kanban-run/orchestrator/agent"
)

// server is an entry of mcp_config, in the form that most agents share.
type server struct {
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	URL     string            `json:"url"`
	Env     map[string]string `json:"env"`
	Headers map[string]string `json:"headers"`
}

var serverName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`) })

// serverOptions returns the options that configure the role's MCP servers. Every user of the
// machine can read these options. So a server with environment variables or headers is an error,
// because those hold secrets. Errors: *agent.ConfigError.
func serverOptions(a agent.Assignment) (options []string, err error) {
	servers, err := a.Servers()
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		var s server
		err := json.Unmarshal(servers[name], &s)
		if err != nil || len(s.Env)+len(s.Headers) > 0 || !serverName().MatchString(name) ||
			(s.Command == "") == (s.URL == "") {
			return nil, &agent.ConfigError{
				Text: fmt.Sprintf("codex cannot be given the MCP server %q of mcp_config", name),
				Fix: "it needs a plain name and a command or a url, and neither env nor headers, which everybody " +
					"could read on its command line: set those in codex's own config.toml",
			}
		}
		key := "mcp_servers." + name + "."
		options = append(options, s.options(key)...)
		if a.Permission != agent.ReadOnly {
			// Without this option codex would ask a person before each call, and refuse the call
			// for lack of an answer.
			options = append(options, "-c", key+`default_tools_approval_mode="approve"`)
		}
		if a.MCPTimeout > 0 { // after this time codex ends the call, but not the turn
			seconds := int(math.Ceil(a.MCPTimeout.Seconds()))
			options = append(options, "-c", fmt.Sprintf("%stool_timeout_sec=%d", key, seconds))
		}
	}
	return options, nil
}

// findServers looks for the programs of the role's MCP servers before the run starts, because codex
// tells nothing of a server that it cannot start. Errors: *agent.ConfigError.
func findServers(a agent.Assignment) error {
	servers, err := a.Servers()
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		var s server
		if json.Unmarshal(servers[name], &s) != nil || s.Command == "" {
			continue // serverOptions reports an invalid entry
		}
		if _, err := agent.LookPath(s.Command, a.Dir); err != nil {
			return &agent.ConfigError{
				Text: fmt.Sprintf("the MCP server %q of mcp_config cannot be started: %v", name, err),
				Fix:  "install its program, or have PATH lead to it; codex itself would tell nothing of a server that is not there",
			}
		}
	}
	return nil
}

func (s server) options(key string) []string {
	if s.URL != "" {
		return []string{"-c", key + "url=" + tomlString(s.URL)}
	}
	args := make([]string, len(s.Args))
	for i, a := range s.Args {
		args[i] = tomlString(a)
	}
	return []string{"-c", key + "command=" + tomlString(s.Command),
		"-c", key + "args=[" + strings.Join(args, ",") + "]"}
}
