package trust

import (
	"path/filepath"

	"kanban-run/orchestrator/asked"
	"kanban-run/orchestrator/event"
)

// kept is what the begin of a turn has found, in the note of the turn.
type kept struct {
	Dir   string  `json:"dir"`
	Looks []noted `json:"looks"`
}

// noted is a source as it was.
type noted struct {
	asked.Source
	Role   string                 `json:"role,omitempty"`
	Values map[string]asked.Value `json:"values,omitempty"`
}

// keep returns what was found at the last look. The caller holds t.mu.
func (t *Tree) keep() kept {
	k := kept{Dir: t.Dir}
	for _, s := range t.sources {
		if l := t.known[s]; l != nil && !t.exempt[s] && s.By != event.ReviewFile && s.By != event.NotifyFile {
			k.Looks = append(k.Looks, noted{s, l.Role, l.Values})
		}
	}
	return k
}

// since returns what differs from a note. What the note did not look at is unknown.
func (t *Tree) since(n *kept) (changes []change) {
	there := map[asked.Source]bool{}
	for _, was := range n.Looks {
		there[was.Source] = true
		if now := t.begun[was.Source]; now != nil && !was.IsFolder() {
			changes = append(changes, t.compare(was.Source, &asked.Look{Role: was.Role, Values: was.Values}, now)...)
		}
	}
	for _, s := range t.sources {
		folder := asked.Source{By: event.RoleFile, Path: filepath.Dir(s.Path)}
		if s.By == event.RoleFile && !s.IsFolder() && !there[s] && there[folder] {
			changes = append(changes, t.compare(s, &asked.Look{}, t.begun[s])...)
		}
	}
	return changes
}
