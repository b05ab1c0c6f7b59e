package roles

import (
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"
)

func (f *fields) readEnv() Env {
	value := f.lookUp("env")
	if value == nil {
		return Env{}
	}
	if value.Kind != yaml.MappingNode {
		f.fail(value, "write env: {pass: [NAME], set: {NAME: value}}", "env must be a mapping")
		return Env{}
	}
	var env Env
	for i := 0; i+1 < len(value.Content); i += 2 {
		switch k, v := value.Content[i], value.Content[i+1]; k.Value {
		case "pass":
			env.Pass = f.readVariables(v, "env.pass")
		case "only":
			env.Only = f.readVariables(v, "env.only")
		case "set":
			env.Set = f.readAssignments(v)
		default:
			f.fail(k, "env has the keys pass, set and only", "unknown key %q in env", k.Value)
		}
	}
	return env
}

// readVariables returns a list of names or patterns of environment variables. An empty env.only is
// a problem, because it would either mean nothing or stop every agent.
func (f *fields) readVariables(value *yaml.Node, name string) []string {
	if value.Tag == "!!null" {
		return nil
	}
	if value.Kind != yaml.SequenceNode {
		f.fail(value, fmt.Sprintf("write %s: [NAME, NAME]", strings.TrimPrefix(name, "env.")),
			"%s must be a list of variable names", name)
		return nil
	}
	names := f.readList(value, name)
	if len(names) == 0 && name == "env.only" {
		f.fail(value, "name what the agent needs, for example [PATH, HOME]; or remove the line", "env.only is empty")
	}
	for i, n := range names {
		if !variablePattern().MatchString(n) {
			f.fail(value.Content[i], "name the variable only, without $ or =; * stands for any letters",
				"%s: %q is no variable name", name, n)
			break
		}
	}
	return names
}

func (f *fields) readAssignments(value *yaml.Node) map[string]string {
	if value.Tag == "!!null" {
		return nil
	}
	if value.Kind != yaml.MappingNode {
		f.fail(value, "write set: {NAME: value}", "env.set must map variable names to values")
		return nil
	}
	set := map[string]string{}
	for i := 0; i+1 < len(value.Content); i += 2 {
		k, v := value.Content[i], value.Content[i+1]
		if !variableName().MatchString(k.Value) || v.Kind != yaml.ScalarNode {
			f.fail(k, "write set: {NAME: value}", "env.set: %q must be a variable name with one text as its value",
				k.Value)
		}
		if strings.ContainsRune(v.Value, 0) {
			f.fail(v, "remove the character",
				"env.set: the value of %s holds a NUL character, which no variable can", k.Value)
		}
		set[k.Value] = v.Value
		if v.Tag == "!!null" {
			set[k.Value] = ""
		}
	}
	return set
}
