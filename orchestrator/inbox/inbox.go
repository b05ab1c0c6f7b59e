// Package inbox passes messages from another process to a run at work: a folder with one file per
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

// Message is a text to the agent that works in a step, or a decision about that agent.
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

// Post leaves a message: its file appears whole or not at all.
func Post(dir string, m Message) error {
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".new-*") // readable by its owner only
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

// Withdraw takes back a message; false if the run has it.
func Withdraw(dir, id string) bool { return os.Remove(path(dir, id)) == nil }

// The bounds of one Take, in files in memory at a time and in readings of the folder: a process may
// leave files as quickly as they are removed.
const (
	looked    = 1000
	mostLooks = 10
)

// Take returns the messages, the oldest of each thousand first, and removes their files. It also
// removes invalid ones. Beyond most messages it removes the rest unread and returns
// their number: a person does not leave a thousand, and each would be journaled. Files beyond its
// bounds are left for the next Take.
func Take(dir string, most int) (all []Message, unread int) {
	folder, err := os.Open(dir)
	if err != nil {
		return nil, 0 // without a folder there are no messages
	}
	defer folder.Close()
	for range mostLooks {
		entries, err := folder.ReadDir(looked)
		entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return !fileName.MatchString(e.Name()) })
		slices.SortStableFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(written(a), written(b)) })
		for _, e := range entries {
			name := filepath.Join(dir, e.Name())
			if len(all) >= most {
				if os.Remove(name) == nil {
					unread++
				}
				continue
			}
			if m, ok := take(name, e); ok {
				all = append(all, m)
			}
		}
		if err != nil { // io.EOF: these were the last
			break
		}
	}
	return all, unread
}

// take reads a message and removes its file; false if it is no message, or another reader has it.
func take(name string, e fs.DirEntry) (m Message, ok bool) {
	data, err := plainfile.Read(name, maxFile)
	if !e.Type().IsRegular() { // a link could lead to a file of another program
		err = fs.ErrInvalid
	}
	if err == nil {
		err = json.Unmarshal(data, &m)
	}
	dir := filepath.Dir(name)
	return m, os.Remove(name) == nil && err == nil && path(dir, m.ID) == name && len(m.Text) <= MaxText
}

// written returns the time of a file's last change, in nanoseconds since 1970.
func written(e fs.DirEntry) int64 {
	info, err := e.Info()
	if err != nil {
		return 0
	}
	return info.ModTime().UnixNano()
}
