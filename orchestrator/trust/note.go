package trust

import (
	"encoding/json"
	"fmt"
	"path/filepath"

	"kanban-run/orchestrator/asked"
	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/rundir"
)

// note is what the begin of a turn has found, for the next run of the board if both halves of this one
// are killed.
type note struct {
	Version int           `json:"version"`
	Place   durable.Place `json:"place"` // of the note itself; those of a copy are others
	Dir     string        `json:"dir"`
	Looks   []noted       `json:"looks"`
}

// noted is a source as it was.
type noted struct {
	asked.Source
	Role   string                 `json:"role,omitempty"`
	Values map[string]asked.Value `json:"values,omitempty"`
}

const (
	noteVersion = 1
	maxNote     = 64 << 20
)

func noteFile(folder string) string { return filepath.Join(folder, "deciding.json") }

// writeNote writes the note of a board's folder, and returns its SHA-256. It needs no sync: the intent has
// the digest, and of another note nothing is known.
func (t *Tree) writeNote(folder string) (sha string, err error) {
	n := note{Version: noteVersion, Dir: t.Dir}
	for _, s := range t.sources {
		if l := t.known[s]; l != nil && !t.exempt[s] && s.By != event.ReviewFile && s.By != event.NotifyFile {
			n.Looks = append(n.Looks, noted{s, l.Role, l.Values})
		}
	}
	path := noteFile(folder)
	for range 2 { // a new file has its place behind the first time
		n.Place = durable.PlaceOf(path)
		text, err := json.Marshal(n)
		if err == nil {
			err = rundir.OverwriteFile(path, text)
		}
		if err != nil {
			return "", fmt.Errorf("keep what decides: %w", err)
		}
		sha = board.SHA(text)
		if n.Place == durable.PlaceOf(path) {
			break
		}
	}
	return sha, nil
}

// readNote returns the note of a board's folder, or nil if nothing is known: it is another one than the
// intent says, of another version or work directory, or a copy.
func (t *Tree) readNote(folder, sha string) *note {
	path := noteFile(folder)
	text, err := durable.ReadPlain(path, maxNote)
	n := &note{}
	if err != nil || sha == "" || board.SHA(text) != sha || json.Unmarshal(text, n) != nil {
		return nil
	}
	if n.Version != noteVersion || n.Dir != t.Dir || !n.Place.IsAt(durable.PlaceOf(path)) {
		return nil
	}
	return n
}

// since returns what differs from a note. What the note did not look at is unknown.
func (t *Tree) since(n *note) (changes []change) {
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
