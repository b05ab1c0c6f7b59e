package contract

import (
	"encoding/json"
	"path"
	"slices"
)

// TaskList is the list of tasks in a Manager's input. It is made once for as long as the board's
// list stays the same: for 100,000 tasks that takes longer than the rest of a step.
type TaskList struct {
	Paths []string // as agents see them
	Clean []string // as they are compared; Paths itself where that is the same
	json  []byte
	safe  bool // FindSecret found none
}

// NewTaskList keeps the paths, which must not change afterwards.
func NewTaskList(paths []string) *TaskList {
	if paths == nil {
		paths = []string{}
	}
	return &TaskList{Paths: paths, Clean: cleanAll(paths)}
}

// JSON is what encoding/json makes of the paths.
func (l *TaskList) JSON() []byte {
	if l.json == nil {
		text, err := json.Marshal(l.Paths)
		if err != nil {
			panic("encode a list of strings: " + err.Error()) // there is a form for every one
		}
		l.json = text
	}
	return l.json
}

// Is says whether the list is that of these paths.
func (l *TaskList) Is(paths []string) bool {
	same := len(paths) == len(l.Paths) && len(paths) > 0 && &paths[0] == &l.Paths[0]
	return same || slices.Equal(l.Paths, paths)
}

// FindSecret is the first path that isSecret says holds a secret, or "".
func (l *TaskList) FindSecret(isSecret func(path string) bool) string {
	if l.safe {
		return ""
	}
	if i := slices.IndexFunc(l.Paths, isSecret); i >= 0 {
		return l.Paths[i]
	}
	l.safe = true
	return ""
}

// cleanAll is path.Clean for a list, which it returns itself when nothing changes.
func cleanAll(paths []string) []string {
	if !slices.ContainsFunc(paths, func(p string) bool { return path.Clean(p) != p }) {
		return paths
	}
	clean := make([]string, len(paths))
	for i, p := range paths {
		clean[i] = path.Clean(p)
	}
	return clean
}
