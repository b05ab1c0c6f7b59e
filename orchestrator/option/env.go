package option

import (
	"strings"

	"gopkg.in/yaml.v3"

	"kanban-run/orchestrator/frontmatter"
)

// Env is a rule for the environment variables that agents get. In a name of Pass and Only, * matches
// any letters. Variables of Set are set even if Only does not list them. A nil Only is no
// restriction; it is never empty.
type Env struct {
	Pass []string          `name:"env.pass" from:"file" shown:"none" help:"variables that agents get although they look secret"`
	Set  map[string]string `name:"env.set" from:"file" shown:"none" help:"variables that agents get with the given values"`
	Only []string          `name:"env.only" from:"file" shown:"none" help:"the only variables that agents get"`
}

// VariableName matches the name of an environment variable.
var VariableName = Pattern(`^[A-Za-z_][A-Za-z0-9_]*$`)

var variablePattern = Pattern(`^[A-Za-z_*][A-Za-z0-9_*]*$`)

// Env reads the field "env", which has the keys pass, set and only.
func (r *Reader) Env(value *yaml.Node) (env Env) {
	if value.Kind != yaml.MappingNode {
		r.Fail(value, "write env: {pass: [NAME], set: {NAME: value}}", "env must be a mapping")
		return env
	}
	for key, v := range Fields(value) {
		switch key.Value {
		case "pass":
			env.Pass = r.variables(v, "env.pass")
		case "only":
			env.Only = r.variables(v, "env.only")
		case "set":
			env.Set = r.assignments(v)
		default:
			r.Fail(key, frontmatter.Suggest(key.Value, []string{"pass", "set", "only"}, "env has the keys "),
				"unknown key %q in env", key.Value)
		}
	}
	return env
}

// variables reads a list of names. It refuses an empty env.only, which would either have no effect
// or stop every agent.
func (r *Reader) variables(value *yaml.Node, name string) []string {
	if value.Tag == "!!null" {
		return nil
	}
	names := r.List(value, name)
	if names != nil && len(names) == 0 && name == "env.only" {
		r.Fail(value, "name what agents need, for example [PATH, HOME]; or remove the line", "env.only is empty")
	}
	for i, n := range names {
		if !variablePattern().MatchString(n) {
			r.Fail(value.Content[i], "name the variable only, without $ or =; * stands for any letters",
				"%s: %q is no variable name", name, n)
		}
	}
	return names
}

func (r *Reader) assignments(value *yaml.Node) map[string]string {
	if value.Tag == "!!null" {
		return nil
	}
	if value.Kind != yaml.MappingNode {
		r.Fail(value, "write set: {NAME: value}", "env.set must map variable names to values")
		return nil
	}
	set := map[string]string{}
	for key, v := range Fields(value) {
		if !VariableName().MatchString(key.Value) || v.Kind != yaml.ScalarNode {
			r.Fail(key, "write set: {NAME: value}", "env.set: %q must be a variable name with one text as its value",
				key.Value)
		}
		if strings.ContainsRune(v.Value, 0) {
			r.Fail(v, "remove the character",
				"env.set: the value of %s holds a NUL character, which no variable can", key.Value)
		}
		if set[key.Value] = v.Value; v.Tag == "!!null" {
			set[key.Value] = ""
		}
	}
	return set
}
