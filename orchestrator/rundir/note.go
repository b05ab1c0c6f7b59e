package rundir

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/plainfile"
)

// Note is what was looked at before a turn, for the next run of the board if this one is killed.
type Note struct {
	Parts  map[string]json.RawMessage // what each guard of the turn has kept, by its name
	SHA    string                     // SHA-256 of the file
	IsCopy bool                       // the file is a copy of the one that was written
}

// noteFile is the content of the file that [Dir.Turn] names.
type noteFile struct {
	Version int                        `json:"version"`
	Place   durable.Place              `json:"place"` // of the file itself; that of a copy is another
	Parts   map[string]json.RawMessage `json:"parts"`
}

const (
	noteVersion = 1
	maxNote     = 64 << 20
)

// Turn returns the path of the note of the last turn.
func (d Dir) Turn() string { return filepath.Join(d.Path, "turn.json") }

// WriteNote writes the note of a turn, and returns its SHA-256. It does not sync: the intent of the
// attempt has the digest, and of another note nothing is known.
func (d Dir) WriteNote(parts map[string]json.RawMessage) (sha string, err error) {
	f := noteFile{Version: noteVersion, Parts: parts}
	for range 2 { // a new file has its place behind the first time
		f.Place = durable.PlaceOf(d.Turn())
		text, err := json.Marshal(f)
		if err == nil {
			err = OverwriteFile(d.Turn(), text)
		}
		if err != nil {
			return "", fmt.Errorf("keep what was looked at before the turn: %w", err)
		}
		if sha = shaOf(text); f.Place == durable.PlaceOf(d.Turn()) {
			break
		}
	}
	return sha, nil
}

// ReadNote reads the note of the last turn. It returns the zero value if the note is of another version,
// or cannot be read.
func (d Dir) ReadNote() Note {
	text, err := plainfile.Read(d.Turn(), maxNote)
	if errors.Is(err, fs.ErrNotExist) { // versions before the note kept only marks for this time, in the same form
		marks, lost := plainfile.Read(filepath.Join(d.Path, "marks.before"), maxNote)
		if lost == nil {
			return Note{Parts: map[string]json.RawMessage{"marks": marks}}
		}
	}
	var f noteFile
	if err != nil || json.Unmarshal(text, &f) != nil || f.Version != noteVersion {
		return Note{}
	}
	return Note{f.Parts, shaOf(text), !f.Place.IsAt(durable.PlaceOf(d.Turn()))}
}

func shaOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
