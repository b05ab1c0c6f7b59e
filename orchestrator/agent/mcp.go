package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"kanban-run/orchestrator/plainfile"
)

// ReadMCP returns the content of a file of MCP servers. It returns nil if the file cannot be read;
// the adapter's check then reports the reason. The caller reads the file once for all attempts, so
// that an agent cannot change the start of the next attempt.
func ReadMCP(path string) []byte {
	if path == "" {
		return nil
	}
	data, err := plainfile.Read(path, maxMCP)
	if err != nil {
		return nil
	}
	return data
}

// maxMCP bounds a file of MCP servers, in bytes.
const maxMCP = 1 << 20

// Servers returns the unparsed entries of the assignment's MCP servers. The keys are the names of
// the servers. Errors: *ConfigError.
func (a Assignment) Servers() (map[string]json.RawMessage, error) {
	if a.MCP == "" {
		return nil, nil
	}
	text, err := a.MCPText, error(nil)
	if text == nil {
		if text, err = plainfile.Read(a.MCP, maxMCP); err != nil {
			err = fmt.Errorf("%s: %w", a.MCP, err)
		}
	}
	var servers map[string]json.RawMessage
	if err == nil {
		servers, err = parseMCP(text)
	}
	if err != nil {
		return nil, &ConfigError{
			Text: "mcp_config cannot be read",
			Fix:  `name a file like {"mcpServers": {"NAME": {"command": "…", "args": ["…"]}}}`,
			Err:  err,
		}
	}
	return servers, nil
}

// parseMCP parses the object "mcpServers" of a file. An empty object is valid. A file without this
// object is an error, because it is probably the wrong file. Keys are case-sensitive, as in the
// agent programs.
func parseMCP(text []byte) (map[string]json.RawMessage, error) {
	file, err := object(bytes.TrimPrefix(text, []byte("\ufeff")), "it")
	if err != nil {
		return nil, err
	}
	if file["mcpServers"] == nil {
		return nil, errors.New(`there are no "mcpServers" in it`)
	}
	servers, err := object(file["mcpServers"], `"mcpServers"`)
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		if servers[name][0] != '{' {
			return nil, fmt.Errorf("the server %q is no object", name)
		}
	}
	return servers, err
}

func object(text []byte, name string) (map[string]json.RawMessage, error) {
	var fields map[string]json.RawMessage
	err := json.Unmarshal(text, &fields)
	if errors.As(err, new(*json.UnmarshalTypeError)) || err == nil && fields == nil {
		return nil, fmt.Errorf("%s is no object", name)
	}
	return fields, err
}

// ServerCommand returns the words of the command that an entry of [Assignment.Servers] starts, or nil.
func ServerCommand(entry json.RawMessage) []string {
	var server struct {
		Command string   `json:"command"`
		Args    []string `json:"args"`
	}
	if json.Unmarshal(entry, &server) != nil || server.Command == "" {
		return nil
	}
	return append([]string{server.Command}, server.Args...)
}
