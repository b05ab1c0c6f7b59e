package config

import (
	"strings"

	"gopkg.in/yaml.v3"

	"kanban-run/orchestrator/checkpoint"
)

// checkpointRows returns the settings for the supervision of boards without checkpoints of their
// own. These settings have a meaning only together, so they have no flags and no variables, and
// only the file has them.
func checkpointRows() []row {
	return []row{
		{Setting{Name: "checkpoints.role", InFile: true, Default: checkpoint.DefaultRole,
			Help: "role that looks in on a board between its tasks"}, nil},
		{Setting{Name: "checkpoints.requirement", InFile: true, Default: "the first task",
			Help: "what a board is for: a text, or a file that says it"}, nil},
		{Setting{Name: "checkpoints.every", InFile: true, Default: "none",
			Help: "a checkpoint after every so many finished tasks, and after the last"}, nil},
		{Setting{Name: "checkpoints.on_block", InFile: true, Default: "person",
			Help: "person, revise, override or abort: what becomes of a run that the supervisor stops"}, nil},
	}
}

// checkpoints reads the settings below the key "checkpoints". A board with checkpoints of its own
// ignores these settings.
func (f *settingsFile) checkpoints(value *yaml.Node) {
	if at := keyOf(value, "at"); at != nil {
		f.fail(at, "write at: under checkpoints: on the board that has the tasks, and every: N here",
			"checkpoints: at names tasks, which belong to a board")
		return
	}
	s, off, err := checkpoint.Parse(f.doc, value)
	if err != nil {
		f.err = err
		return
	}
	if off {
		f.add(value, given{name: "checkpoints.every", value: "none"})
		return
	}
	f.mark("checkpoints", value)
	for i := 0; i+1 < len(value.Content); i += 2 {
		key, v := value.Content[i].Value, value.Content[i+1]
		switch {
		case v.Tag == "!!null":
			continue
		case key == "role" && f.knownRole != nil && !f.knownRole(v.Value):
			f.fail(v, "name a role that kanban-run roles lists", "checkpoints: unknown role %q", v.Value)
		}
		f.add(v, given{name: "checkpoints." + key, value: v.Value, shown: beginning(v.Value), checkpoints: s})
	}
}

// keyOf returns the node of a key in a mapping, or nil.
func keyOf(n *yaml.Node, name string) *yaml.Node {
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return n.Content[i]
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
