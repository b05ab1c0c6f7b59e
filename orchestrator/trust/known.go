package trust

import (
	"encoding/json"
	"fmt"
	"path/filepath"

	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/rundir"
)

// knownValues are the values that a run knew at its last look.
type knownValues struct {
	Dir    string              `json:"dir"` // work directory
	Values []event.ChangedFile `json:"values"`
}

// keep writes the values that are known, for a run after a kill. It writes only what is new.
func (k *Keeper) keep() error {
	text, err := json.Marshal(knownValues{k.Dir, k.known})
	if err != nil {
		return err
	}
	path := knownFile(k.Folder.Path)
	if old, err := durable.ReadPlain(path, maxKnown); err == nil && string(old) == string(text) {
		return nil
	}
	if err := rundir.OverwriteFile(path, text); err != nil {
		return fmt.Errorf("keep what decides: %w", err)
	}
	return nil
}

// maxKnown bounds a file of known values, in bytes.
const maxKnown = 64 << 20

func knownFile(folder string) string { return filepath.Join(folder, "deciding.json") }

// load returns what the run of a folder knew, or false if that is not known.
func load(folder string) (was knownValues, ok bool) {
	text, err := durable.ReadPlain(knownFile(folder), maxKnown)
	return was, err == nil && json.Unmarshal(text, &was) == nil
}
