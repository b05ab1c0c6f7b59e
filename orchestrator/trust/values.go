package trust

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/plainfile"
	"kanban-run/roles"
)

// The fields that decide what is started, what it gets, and who judges it.
var (
	settingFields = []string{"roles", "agent", "exec", "env", "notify", "checkpoint", "checkpoint_remote",
		"checkpoint_signed", "secrets_allow", "reassign", "checkpoints"}
	roleFields = []string{"name", "agent", "command", "args", "env", "tools", "disallowedTools", "permission", "permissionMode",
		"model", "review", "mcp_config"}
)

// body is the name of the value of a prompt.
const body = "prompt"

// maxFile bounds a file of settings or a role, in bytes.
const maxFile = 1 << 20

// settingValues returns the values of a settings file that decide. The choices of agents have a
// value for each role.
func settingValues(path string) (values []event.ChangedFile) {
	text, err := plainfile.Read(path, maxFile)
	if err != nil {
		return nil
	}
	fields := map[string]any{}
	if yaml.Unmarshal(text, &fields) != nil {
		return []event.ChangedFile{{SHA: board.SHA(text)}}
	}
	add := func(name string, value any, roles ...string) {
		values = append(values, event.ChangedFile{Field: name, Roles: roles, SHA: hashValue(value)})
	}
	for _, name := range settingFields {
		value, is := fields[name]
		byRole, several := value.(map[string]any)
		switch {
		case !is:
		case several && (name == "agent" || name == "exec"):
			for role, choice := range byRole {
				if role = strings.TrimSpace(role); strings.EqualFold(role, "default") {
					add(name, choice)
				} else {
					add(name+"."+role, choice, role)
				}
			}
		default:
			add(name, value)
		}
	}
	if watch, is := fields["watch"].(map[string]any); is && watch["judge"] != nil {
		add("watch.judge", watch["judge"])
	}
	return values
}

// roleValues returns the values of a role file that decide. The prompt is among them if the
// parameter decides returns true for the role.
func roleValues(path string, decides func(role string) bool) (values []event.ChangedFile) {
	text, err := plainfile.Read(path, maxFile)
	if err != nil {
		return nil
	}
	doc, role := roles.Header(path, text)
	if doc == nil {
		return []event.ChangedFile{{Roles: []string{role}, SHA: board.SHA(text)}}
	}
	if _, watch := doc.Field("watch"); watch != nil {
		var w struct{ Judge any }
		if watch.Decode(&w) == nil && w.Judge != nil {
			values = append(values, event.ChangedFile{Field: "watch.judge", Roles: []string{role}, SHA: hashValue(w.Judge)})
		}
	}
	for _, field := range roleFields {
		_, node := doc.Field(field)
		if node == nil {
			continue
		}
		var value any
		if node.Decode(&value) != nil {
			value = node.Value
		}
		values = append(values, event.ChangedFile{Field: field, Roles: []string{role}, SHA: hashValue(value)})
	}
	if decides(role) {
		prompt := strings.TrimSpace(string(text[doc.Body:]))
		values = append(values, event.ChangedFile{Field: body, Roles: []string{role}, SHA: board.SHA([]byte(prompt))})
	}
	return values
}

// hashValue returns the SHA-256 of a value, however it is written.
func hashValue(value any) string {
	text, err := json.Marshal(value)
	if err != nil { // a key that is no text
		text = fmt.Append(nil, value)
	}
	return board.SHA(text)
}

// isForOneRole reports whether a field of the settings is the choice for one role.
func isForOneRole(f event.ChangedFile) bool {
	return len(f.Roles) == 1 && slices.Contains([]string{"agent", "exec"}, strings.SplitN(f.Field, ".", 2)[0])
}
