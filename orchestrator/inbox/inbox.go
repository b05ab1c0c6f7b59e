// Package inbox passes messages from other processes to a run at work, through a folder with one
// file for each message. A message has no proven sender: any process of the user can write such a
// file.
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
	Choice string `json:"choice,omitempty"` // the decision; "": the text is for the agent
	Task   string `json:"task,omitempty"`   // the task to release from quarantine; "": all tasks
}

// MaxText bounds the text of a message, in bytes.
const MaxText = 16 << 10

const maxFile = 8 * MaxText // JSON escapes make a text longer

var fileName = regexp.MustCompile(`^[0-9a-f-]{36}\.json$`)

func path(dir, id string) string { return filepath.Join(dir, id+".json") }

// Post writes a message into the folder dir. The message's file appears whole or not at all.
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

// Withdraw removes a message. It returns false if the run has already taken the message.
func Withdraw(dir, id string) bool { return os.Remove(path(dir, id)) == nil }

// The bounds of one call of [Take]. Without them, Take would not end if a process writes files as
// quickly as Take removes them.
const (
	looked    = 1000 // number of files that one look at the folder reads
	mostLooks = 10   // greatest number of looks at the folder
)

// Take returns messages and removes their files. It also removes files without a valid message. It
// reads a thousand files at a time, the oldest of them first. The parameter "most" bounds the
// number of messages, because each message is journaled. A person writes fewer messages. Once Take
// has that number, it removes the other files without reading them. The result "unread" is the
// number of files that were removed in this way. Take looks at no more than 10,000 files, and
// leaves the others to its next call.
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
		if err != nil { // io.EOF: these were the last files
			break
		}
	}
	return all, unread
}

// take reads a message and removes its file. It returns false if the file holds no valid message,
// or if another process has removed the file.
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

// written returns the time of a file's last change, in nanoseconds since 1970. It returns 0 if the
// time is unknown.
func written(e fs.DirEntry) int64 {
	info, err := e.Info()
	if err != nil {
		return 0
	}
	return info.ModTime().UnixNano()
}
