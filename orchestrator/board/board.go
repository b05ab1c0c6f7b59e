// Package board reads kanban and task files, reports their faults by file and line, and
// edits a board without moving a byte that is not part of the edit.
package board

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/frontmatter"
)

// Board is a kanban file as it was read. It is immutable.
type Board struct {
	File     string
	Source   []byte
	SHA      string // SHA-256 of Source in hex
	Phase    string // value as its author wrote it; "" if the field is missing
	SubPhase string
	Current  Current
	Ended    string                 // blocked, error, escalate or incomplete; "" for other values
	Warnings []*frontmatter.Problem // oddities that stop no run; see maxWarnings

	Checkpoints    *event.Supervision // supervision that the board declares; nil if it declares none
	CheckpointsOff bool               // supervision is off, even if the settings declare it

	editor
	entries  []Entry
	nodes    []*yaml.Node // nodes[i] is the node of entries[i]
	unlisted []*yaml.Node // tasks that are named in checkpoints but missing in the list
}

// Current is the field "current". Set is false if there is no such field. Null is true if the value
// is null, which means that the work is over.
type Current struct {
	Set, Null    bool
	Path         string
	Line, Column int
}

// Entry is one task in the list. State is the author's note: a suffix in brackets after the path,
// or the field "state" or "status" of the entry.
type Entry struct {
	Path, State, Assignee string
	Line                  int
}

// Done reports whether State marks the task as done or cancelled.
func (e Entry) Done() bool { return isDone(e.State) }

// doneWords mark a task as done or cancelled. Boards and task files of other tools have closed,
// finished and resolved.
var doneWords = [...]string{"done", "complete", "completed", "x", "cancelled", "canceled", "closed", "finished",
	"resolved"}

// openWords are the known states of a task that is not done.
var openWords = [...]string{"todo", "open", "pending", "ready", "draft", "backlog", "in progress", "review", "blocked"}

func isDone(state string) bool { return slices.Contains(doneWords[:], fold(state)) }

// isKnownState reports whether a state is empty, or is one of the known words.
func isKnownState(state string) bool {
	spaced := strings.NewReplacer("_", " ", "-", " ").Replace(fold(state))
	return spaced == "" || isDone(state) || slices.Contains(openWords[:], spaced)
}

func fold(word string) string { return strings.ToLower(strings.TrimSpace(word)) }

// SHA returns the SHA-256 of a board's bytes in hex.
func SHA(source []byte) string {
	sum := sha256.Sum256(source)
	return hex.EncodeToString(sum[:])
}

// Terminal reports whether the work is over: the field "phase" has the value complete, completed or
// done, or the field "current" is explicitly null. Seed 004, "State Machine", step 2.
func (b *Board) Terminal() bool {
	return isTerminal(b.Phase) || b.Current.Null
}

// PhaseEnds reports whether the field "phase" alone ends the work.
func (b *Board) PhaseEnds() bool { return isTerminal(b.Phase) }

func isTerminal(phase string) bool {
	return slices.Contains([]string{"complete", "completed", "done"}, fold(phase))
}

// EndedWith returns the status with which the Manager ended the board. It returns "" if the status
// was ok, or if the board goes on.
func (b *Board) EndedWith() string {
	if !b.Terminal() {
		return ""
	}
	return b.Ended
}

// CanWriteEnded reports whether the runner is allowed to write the field "ended". For that, the
// field must be missing or empty, or have a value that the runner writes.
func (b *Board) CanWriteEnded() bool {
	_, value := b.doc.Field("ended")
	return value == nil || scalarText(value) == "" && value.Kind == yaml.ScalarNode || b.Ended != ""
}

// Finder returns a function that finds a task on the list by the path that agents use. The function
// returns the index of the task, or -1 if the task is not listed. It looks for the whole path
// first. Then it looks for the path without the folders that lead to the board, because a path on
// the list can start at the board's folder.
func (b *Board) Finder() func(task string) int {
	folder := b.folder()
	places := make(map[string]int, b.Len())
	for i, p := range slices.Backward(b.TaskPaths()) { // if a path is listed twice, the first entry counts
		places[cleanPath(p)] = i
	}
	return func(task string) int {
		whole := cleanPath(task)
		for rest, more := whole, true; more; _, rest, more = strings.Cut(rest, "/") {
			if !strings.HasSuffix(folder, "/"+strings.TrimSuffix(whole, rest)) && rest != whole {
				continue
			}
			if i, listed := places[rest]; listed {
				return i
			}
		}
		return -1
	}
}

// folder returns the absolute path of the board's folder, without links and with a slash at its
// end.
func (b *Board) folder() string {
	file, err := filepath.Abs(b.File)
	if err != nil {
		return ""
	}
	return filepath.ToSlash(durable.RealPath(filepath.Dir(file))) + "/"
}

// MissingCurrent returns the error for a board that is not over and names no current task.
func (b *Board) MissingCurrent() error {
	fix := "add current: with the path of the task to start with, or current: null when the work is over"
	for i, path := range b.TaskPaths() {
		if !b.Entry(i).Done() {
			fix = "add for example current: " + path + ", or current: null when the work is over"
			break
		}
	}
	for i := 0; i+1 < len(b.doc.Root.Content); i += 2 {
		if key := b.doc.Root.Content[i].Value; !isBoardField(key) && frontmatter.OneEditApart(key, "current") {
			fix = "did you mean current: instead of " + key + ":?"
		}
	}
	return &frontmatter.Problem{File: b.File, Line: b.doc.FirstLine,
		Text: "current is missing, and phase does not say that the work is over", Fix: fix}
}

// CurrentProblem adds the place of the field "current" to an error about the current task. An error
// that already has a place keeps it.
func (b *Board) CurrentProblem(err error) error {
	return addPlace(err, &frontmatter.Problem{File: b.File, Line: b.Current.Line, Column: b.Current.Column,
		Text: "current: "})
}

// EntryProblem adds the place of a task's entry to an error about the task. An error that already
// has a place keeps it.
func (b *Board) EntryProblem(e Entry, err error) error {
	return addPlace(err, &frontmatter.Problem{File: b.File, Line: e.Line, Text: "tasks: "})
}

func isYAML(file string) bool {
	ext := strings.ToLower(filepath.Ext(file))
	return ext == ".yaml" || ext == ".yml"
}

// Spelled returns the path of a task, which is given as agents see it, as the board's list spells it. It
// returns "" if the list does not have the task.
func (b *Board) Spelled(task string) string {
	if i := b.Finder()(task); i >= 0 {
		return b.TaskPaths()[i]
	}
	return ""
}
