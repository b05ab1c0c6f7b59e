package agent

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Options are what a role asks of the program that plays it. An adapter refuses those that its tool
// lacks, see [Assignment.Support]. The tags are those of package option; "also" is the name in the
// agent files of Claude Code.
type Options struct {
	Model    string   `name:"model"`
	Tools    []string `name:"tools" as:"tools"`                    // tools that the agent may use; nil means all
	MaxTurns int      `name:"max_turns" also:"maxTurns" least:"1"` // limit of model turns in one attempt; 0 means none
	MaxCost  int64    `name:"max_cost" unit:"USD"`                 // limit of one attempt; 0 means none
	// MCP is the path of a file that names MCP servers, in the tool's own form. In a role, a relative
	// path starts at the work directory. If it is "", the agent has only the servers of the tool's
	// settings.
	MCP        string     `name:"mcp_config"`
	Permission Permission `name:"permission" also:"permissionMode"`
	Denied     []string   `name:"disallowedTools" as:"tools"` // tools that the agent must not use
}

// Support returns an error if the assignment asks for an option of a role that is not among the
// given ones, or for a review. An agent that ignores a limit or a permission would be worse than no
// agent. Errors: *ConfigError.
func (a Assignment) Support(program string, options ...string) error {
	var refused []string
	refuse := func(name string, isZero bool) {
		if !isZero && !slices.Contains(options, name) {
			refused = append(refused, name)
		}
	}
	refuse("review", !a.Review)
	for field, value := range reflect.ValueOf(a.Options).Fields() {
		refuse(field.Tag.Get("name"), value.IsZero())
	}
	if len(refused) == 0 {
		return nil
	}
	return &ConfigError{Text: fmt.Sprintf("%s does not support %s", program, strings.Join(refused, ", ")),
		Fix: "remove it from the role or the settings, or give the " +
			"role another agent; kanban-run docs agents says which of them supports what"}
}

// Permission is the set of actions that an agent may take. The agent takes them without a question,
// because no person could answer.
type Permission string

// The values of Permission; "" means the default of the adapter.
const (
	ReadOnly Permission = "read-only" // the agent may read the work directory, and change nothing
	Edit     Permission = "edit"      // the agent may also change files in the work directory
	Full     Permission = "full"      // the agent may do all that the user can do
)

// permissions maps words, in lower case, to permissions. The words are our own, those of Claude
// Code's sub-agents (permissionMode) and those of Codex's sandboxes.
var permissions = map[string]Permission{
	"read-only": ReadOnly, "default": ReadOnly, "plan": ReadOnly, "dontask": ReadOnly,
	"edit": Edit, "acceptedits": Edit, "workspace-write": Edit, "auto": Edit,
	"full": Full, "bypasspermissions": Full, "danger-full-access": Full,
}

// ParsePermission returns the permission for a word, or "" for an unknown word.
func ParsePermission(word string) Permission { return permissions[strings.ToLower(word)] }
