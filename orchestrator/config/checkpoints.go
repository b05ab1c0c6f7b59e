package config

import (
	"strings"

	"gopkg.in/yaml.v3"

	"kanban-run/orchestrator/checkpoint"
	"kanban-run/orchestrator/option"
)

// checkpoints reads the settings below the key "checkpoints". A board with checkpoints of its own
// ignores these settings.
func (f *settingsFile) checkpoints(value *yaml.Node) {
	if at := keyOf(value, "at"); at != nil {
		f.Fail(at, "write at: under checkpoints: on the board that has the tasks, and every: N here",
			"checkpoints: at names tasks, which belong to a board")
		return
	}
	s, off, err := checkpoint.Parse(f.Doc, value)
	if err != nil {
		f.Err = err
		return
	}
	if off {
		f.add(value, given{name: "checkpoints.every", value: "none", parsed: s})
		return
	}
	f.mark("checkpoints", value)
	for k, v := range option.Fields(value) {
		key := k.Value
		switch {
		case v.Tag == "!!null":
			continue
		case key == "role" && f.knownRole != nil && !f.knownRole(v.Value):
			f.Fail(v, "name a role that kanban-run roles lists", "checkpoints: unknown role %q", v.Value)
		}
		f.add(v, given{name: "checkpoints." + key, value: v.Value, shown: beginning(v.Value), parsed: s})
	}
}

// keyOf returns the node of a key in a mapping, or nil.
func keyOf(n *yaml.Node, name string) *yaml.Node {
	for key := range option.Fields(n) {
		if key.Value == name {
			return key
		}
	}
	return nil
}

// maxShown is the greatest number of characters of a text that a list of settings shows.
const maxShown = 60

// beginning returns the beginning of a text, on one line.
func beginning(text string) string {
	line := []rune(strings.Join(strings.Fields(text), " "))
	if len(line) <= maxShown {
		return string(line)
	}
	return string(line[:maxShown]) + "…"
}
