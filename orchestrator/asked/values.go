package asked

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/frontmatter"
	"kanban-run/orchestrator/git"
	"kanban-run/orchestrator/plainfile"
	"kanban-run/roles"
)

// Value is what a file, or a field of a file, says. The zero value is that of what is not there.
type Value struct {
	SHA string `json:"sha256,omitempty"` // SHA-256 of the value
	// Parts are the entries of a list or the word of a choice, where it matters whether they let more
	// through than others. What may be a secret is a digest.
	Parts []string `json:"parts,omitempty"`
}

// Prompt is the field of the text of a role.
const Prompt = "prompt"

// maxFile bounds a file of settings or a role, in bytes.
const maxFile = 1 << 20

// leaders are the variables that lead a program elsewhere: to other code, or to another server.
var leaders = []string{"PATH", "LD_*", "DYLD_*", "*_OPTIONS", "PYTHON*", "PERL5*", "RUBY*", "BASH_ENV", "ENV", "GIT_*", "*_BASE_URL", "*_PROXY"}

// IsLeader reports whether a variable leads a program elsewhere.
func IsLeader(name string) bool {
	return slices.ContainsFunc(leaders, func(pattern string) bool {
		ok, _ := filepath.Match(pattern, strings.ToUpper(name))
		return ok
	})
}

// settingValues returns the values of a settings file by field. The choices of agents have a value
// for each role, as in agent.Manager.
func settingValues(text []byte) map[string]Value {
	fields := map[string]any{}
	if yaml.Unmarshal(text, &fields) != nil {
		return map[string]Value{"": {SHA: board.SHA(text)}}
	}
	values := map[string]Value{}
	for name, value := range fields {
		choices, several := value.(map[string]any)
		switch {
		case name == "env" && several:
			addEnv(values, choices)
		case several && (name == "agent" || name == "exec"):
			for role, choice := range choices {
				if role = strings.TrimSpace(role); strings.EqualFold(role, "default") {
					values[name] = valueOf(name, choice)
				} else {
					values[name+"."+role] = valueOf(name, choice)
				}
			}
		default:
			values[name] = valueOf(name, value)
		}
	}
	return values
}

// roleValues returns the values of a role file by field, and the name of the role. A file that is no
// role has the one value of its bytes. That of a SUPERVISOR.md is read in the same way.
func roleValues(path string, text []byte) (values map[string]Value, role string) {
	doc, role := roles.Header(path, text)
	values = map[string]Value{}
	if doc == nil {
		if doc, _ = frontmatter.Parse(path, text); doc == nil {
			return map[string]Value{"": {SHA: board.SHA(text)}}, role
		}
	}
	values[Prompt] = Value{SHA: board.SHA([]byte(strings.Join(strings.Fields(string(text[doc.Body:])), " ")))}
	if doc.Root == nil {
		return values, role
	}
	for i := 0; i+1 < len(doc.Root.Content); i += 2 {
		var value any
		name, node := doc.Root.Content[i].Value, doc.Root.Content[i+1]
		if node.Decode(&value) != nil {
			value = node.Value
		}
		if env, is := value.(map[string]any); is && name == "env" {
			addEnv(values, env)
		} else {
			values[name] = valueOf(name, value)
		}
	}
	return values, role
}

// addEnv adds a value for each key of the field env.
func addEnv(values map[string]Value, env map[string]any) {
	for key, value := range env {
		v := Value{SHA: digest(value)}
		if set, is := value.(map[string]any); is {
			for name, to := range set {
				if IsLeader(name) {
					v.Parts = append(v.Parts, name+"="+digest(to))
				}
			}
			slices.Sort(v.Parts)
		} else {
			v.Parts = entries(value)
		}
		values["env."+key] = v
	}
}

func valueOf(name string, value any) Value {
	v := Value{SHA: digest(value)}
	switch name {
	case "permission", "permissionMode", "tools", "disallowedTools", "strict", "secrets_allow", "checkpoint":
		v.Parts = entries(value)
	case "redact":
		if list, is := value.([]any); is {
			for _, hidden := range list {
				v.Parts = append(v.Parts, digest(hidden))
			}
		}
	}
	return v
}

// entries returns the entries of a list, or the words of a text between commas.
func entries(value any) (all []string) {
	list, is := value.([]any)
	if !is {
		for word := range strings.SplitSeq(fmt.Sprint(value), ",") {
			list = append(list, word)
		}
	}
	for _, e := range list {
		if word := strings.TrimSpace(fmt.Sprint(e)); word != "" && e != nil {
			all = append(all, word)
		}
	}
	return all
}

// digest returns the SHA-256 of a value, however it is written. Whitespace alone makes no other value.
func digest(value any) string {
	text, err := json.Marshal(folded(value))
	if err != nil { // a key that is no text
		text = fmt.Append(nil, value)
	}
	return board.SHA(text)
}

func folded(value any) any {
	switch v := value.(type) {
	case string:
		return strings.Join(strings.Fields(v), " ")
	case []any:
		all := make([]any, len(v))
		for i := range v {
			all[i] = folded(v[i])
		}
		return all
	case map[string]any:
		all := make(map[string]any, len(v))
		for name, of := range v {
			all[name] = folded(of)
		}
		return all
	default:
		return value
	}
}

// wayValues returns the values of git's settings by name, and lines that show them without passwords.
func wayValues(way map[string][]string) (values map[string]Value, text []byte) {
	values = map[string]Value{}
	for _, name := range slices.Sorted(maps.Keys(way)) {
		values[name] = Value{SHA: digest(strings.Join(way[name], "\n"))}
		for _, value := range way[name] {
			text = fmt.Appendf(text, "%s = %s\n", name, git.ShowAddress(value))
		}
	}
	return values, text
}

// TextOf returns the lines of a text that say a field, to be shown to a person; for "" all of them.
func TextOf(by event.Decider, path, field string, text []byte) string {
	if by == event.GitFile {
		return linesOf(field+" = ", string(text))
	}
	top, _, _ := strings.Cut(field, ".")
	doc, _ := frontmatter.ParseYAML(path, text)
	if by != event.SettingsFile {
		if doc, _ = roles.Header(path, text); doc == nil {
			doc, _ = frontmatter.Parse(path, text)
		}
	}
	switch {
	case field == "" || doc == nil:
		return string(text)
	case field == Prompt:
		return string(text[doc.Body:])
	}
	if doc.Root == nil {
		return ""
	}
	if key, value := doc.Field(top); key != nil {
		return string(bytes.TrimRight(doc.Source[doc.Offset(key):doc.End(value, doc.Root)], "\n")) + "\n"
	}
	return ""
}

// linesOf returns the lines that begin with a prefix.
func linesOf(prefix, text string) (lines string) {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, prefix) {
			lines += line
		}
	}
	return lines
}

// scripts returns the value of a package.json: of its scripts alone, which npm runs.
func scripts(text []byte) (v Value, ok bool) {
	var file struct {
		Scripts map[string]any `json:"scripts"`
	}
	if json.Unmarshal(text, &file) != nil {
		return v, false
	}
	return Value{SHA: digest(file.Scripts)}, true
}

// read reads a file of settings or a role; nil if there is none.
func read(path string) []byte {
	text, err := plainfile.Read(path, maxFile)
	if err != nil {
		return nil
	}
	return text
}
