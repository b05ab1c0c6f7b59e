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

// Files of an inbox that are in memory at a time, and how often one Take looks: a process may leave
// files as quickly as they are removed.
const (
	looked    = 1000
	mostLooks = 10
)

// Take returns the messages, the oldest of each thousand first, and removes their files. What is no
// message is removed, too. Of more than most messages it removes the others unread, and says how many:
// no person leaves a thousand, and each would be journaled. What one Take does not come to is left for
// the next.
func Take(dir string, most int) (all []Message, unread int) {
	folder, err := os.Open(dir)
	if err != nil {
		return nil, 0 // without a folder there are none
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

// take reads a message and removes its file; false: it is none, or another reader has it.
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

// written is when a file was written, in nanoseconds since 1970.
func written(e fs.DirEntry) int64 {
	info, err := e.Info()
	if err != nil {
		return 0
	}
	return info.ModTime().UnixNano()
}
