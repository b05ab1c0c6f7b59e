// Package inbox is how another process leaves a word for a run at work: a folder with one file a
// message. Files of one user cannot prove which process wrote them.
package inbox

import (
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"kanban-run/orchestrator/plainfile"
)

// Message is a word to the agent that works in a step, or a decision about that agent.
type Message struct {
	ID     string `json:"id"` // a UUID
	Step   int    `json:"step"`
	Text   string `json:"text,omitempty"`
	Choice string `json:"choice,omitempty"` // "": the text is for the agent
}

// MaxText bounds the text of a message, in bytes.
const MaxText = 16 << 10

const maxFile = 8 * MaxText // escapes make a text longer

var fileName = regexp.MustCompile(`^[0-9a-f-]{36}\.json$`)

func path(dir, id string) string { return filepath.Join(dir, id+".json") }

// Post leaves a message: its file is there as a whole or not at all.
func Post(dir string, m Message) error {
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".new-*") // of its owner alone
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path(dir, m.ID))
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// Withdraw takes a message back; false: the run has it.
func Withdraw(dir, id string) bool { return os.Remove(path(dir, id)) == nil }

// Take returns the messages, oldest first, and removes their files. What is
// no message is removed, too.
func Take(dir string) []Message {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // without a folder there are none
	}
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return !fileName.MatchString(e.Name()) })
	slices.SortStableFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(written(a), written(b)) })
	var all []Message
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		data, err := plainfile.Read(name, maxFile)
		if !e.Type().IsRegular() { // a link could lead to a file of another program
			err = fs.ErrInvalid
		}
		var m Message
		if err == nil {
			err = json.Unmarshal(data, &m)
		}
		if os.Remove(name) == nil && err == nil && path(dir, m.ID) == name && len(m.Text) <= MaxText {
			all = append(all, m)
		}
	}
	return all
}

// written is when a file was written, in nanoseconds since 1970.
func written(e fs.DirEntry) int64 {
	info, err := e.Info()
	if err != nil {
		return 0
	}
	return info.ModTime().UnixNano()
}
