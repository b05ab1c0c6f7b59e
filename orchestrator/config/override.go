package config

import (
	"fmt"
	"slices"
)

// Override is a setting of the watch that a role or a task has for itself.
type Override struct {
	Name, Value string // Name is without "watch."; if Name is "", Value is off or on
	File        string
	Line        int
}

// With returns w with the overrides of a role or a task applied. Errors: *frontmatter.Problem.
func (w Watch) With(overrides []Override) (Watch, error) {
	r := &resolver{settings: &Settings{Watch: w, given: map[string]bool{}, places: map[string]given{}}, origins: map[string]Origin{}}
	var all []given
	for _, o := range overrides {
		g := given{
			name: "watch." + o.Name, value: o.Value,
			file: o.File, line: o.Line, source: fmt.Sprintf("%s:%d", o.File, o.Line),
		}
		if o.Name == "" {
			on, ok := parseSwitch(o.Value)
			if g.name = "watch"; !ok {
				return w, g.errorAt(fmt.Sprintf("%q is neither off nor a mapping", o.Value),
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
