package config

import (
	"fmt"
	"slices"

	"gopkg.in/yaml.v3"

	"kanban-run/orchestrator/frontmatter"
)

// With returns w with the values of the field "watch" in the header of a role or a task. A value
// without a name is off or on. Errors: *frontmatter.Problem.
func (w Watch) With(file string, values []frontmatter.Value) (Watch, error) {
	r := &resolver{settings: &Settings{Watch: w, given: map[string]bool{}, places: map[string]given{}}, origins: map[string]Origin{}}
	var all []given
	for _, v := range values {
		g := given{name: "watch." + v.Name, value: v.Text, file: file, line: v.Line, source: fmt.Sprintf("%s:%d", file, v.Line)}
		if v.Node.Tag == "!!null" { // null means "not set", as in the settings file
			continue
		}
		if v.Node.Kind != yaml.ScalarNode {
			g.value = "a list" // no setting accepts this value
		}
		if v.Name == "" {
			on, ok := parseSwitch(g.value)
			if g.name = "watch"; !ok {
				return w, g.errorAt(fmt.Sprintf("%q is neither off nor a mapping", g.value),
					"write watch: off, or watch: {KEY: VALUE}")
			}
			g.name, g.value = "watch.enabled", on
		}
		if _, ok := find(g.name); !ok {
			return w, g.errorAt("no such setting", "kanban-run config lists the settings of the watch")
		}
		all = append(all, g)
		if g.name == "watch.profile" && g.value == "strict" {
			all = slices.Concat(strictWatch(), all) // the profile comes first, so other settings win
		}
	}
	for _, g := range all {
		if err := r.set(g); err != nil {
			return w, err
		}
		r.recordOrigin(g)
	}
	if err := r.checkWatch(); err != nil {
		return w, err
	}
	return r.settings.Watch, nil
}
