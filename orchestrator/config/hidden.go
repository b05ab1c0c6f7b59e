package config

import (
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"

	"kanban-run/orchestrator/plainfile"
)

// ReadHidden returns the texts of a settings file that must not be shown. The list hidden has the
// entries of the setting "redact", and the map set has the values of "env.set" by name. If the file
// cannot be read, both are nil. ReadHidden serves messages that are printed before the settings are
// known, or because the settings are wrong.
func ReadHidden(file string, environ []string) (hidden []Hidden, set map[string]string) {
	var s struct {
		Redact yaml.Node `yaml:"redact"`
		Env    struct {
			Set yaml.Node `yaml:"set"`
		} `yaml:"env"`
	}
	if text, err := plainfile.Read(file, maxFile); err != nil || yaml.Unmarshal(text, &s) != nil {
		return nil, nil
	}
	for i, n := range s.Redact.Content {
		hidden = append(hidden, Hidden{fmt.Sprintf("redact[%d]", i), n.Value})
		if name, isVariable := strings.CutPrefix(n.Value, "$"); isVariable {
			hidden[i] = Hidden{n.Value, lookup(environ, name)}
		}
	}
	set = map[string]string{}
	for i := 0; i+1 < len(s.Env.Set.Content); i += 2 {
		set[s.Env.Set.Content[i].Value] = s.Env.Set.Content[i+1].Value
	}
	return hidden, set
}
