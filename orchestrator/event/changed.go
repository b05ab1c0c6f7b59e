package event

import (
	"maps"
	"slices"
	"strings"
)

// Decider is a kind of file that decides what a run starts, or whom it believes.
type Decider string

// The values of Decider.
const (
	SettingsFile Decider = "settings" // .kanban-run.yaml
	RoleFile     Decider = "role"
	PromptFile   Decider = "prompt"  // SUPERVISOR.md
	ServersFile  Decider = "servers" // MCP servers of a role
	ProgramFile  Decider = "program" // a file of an agent's command
	PathFile     Decider = "path"    // a file that is found in PATH before the program of a role
	ReviewFile   Decider = "review"  // a file of the command that reviews a role's work
	NotifyFile   Decider = "notify"  // a file of the command for notifications
	TaskRole     Decider = "task"    // the role of another task
)

// ChangedFile is a file that decides, or one field of such a file.
type ChangedFile struct {
	By    Decider  `json:"by"`
	File  string   `json:"file"`                             // path, relative to the work directory if it is below it
	Field string   `json:"field,omitempty"`                  // field of the settings or of a role; "": the whole file
	Roles []string `json:"roles,omitempty"`                  // roles whose calls the file decides; empty: all
	SHA   string   `json:"sha256" text:"fact"`               // SHA-256 of the value that was left; "": it is gone
	Was   string   `json:"was_sha256,omitempty" text:"fact"` // SHA-256 of the value before the first change; "": there was none
}

// Is reports whether both are about the same file and field. Their values may differ.
func (f ChangedFile) Is(o ChangedFile) bool {
	return f.By == o.By && f.File == o.File && f.Field == o.Field && slices.Equal(f.Roles, o.Roles)
}

// Name returns the file with its field, as in "env in .kanban-run.yaml".
func (f ChangedFile) Name() string {
	if f.Field == "" {
		return f.File
	}
	return f.Field + " in " + f.File
}

// Reach is what an agent gets and decides.
type Reach struct {
	Decides    bool     `json:"decides,omitempty"` // it is the Manager, a judge or a supervisor
	Secrets    []string `json:"secrets,omitempty"` // names of the secret variables that it gets
	Permission int      `json:"permission"`        // 0: it only reads, 1: it edits, 2: nothing holds it
	Tools      []string `json:"tools,omitempty"`   // the only tools that it has; nil: any
}

// Exceeds reports whether an agent of this reach gets or decides more than one of the other.
func (r Reach) Exceeds(o Reach) bool {
	isMissing := func(from []string) func(string) bool {
		return func(s string) bool { return !slices.Contains(from, s) }
	}
	return r.Decides && !o.Decides || r.Permission > o.Permission || slices.ContainsFunc(r.Secrets, isMissing(o.Secrets)) ||
		o.Tools != nil && (r.Tools == nil || slices.ContainsFunc(r.Tools, isMissing(o.Tools)))
}

// FilesChanged reports files that decide, which were changed while an agent was at work. It is
// journaled before the end of the attempt, or at the begin of the next run if the attempt was cut
// short or was on another board.
type FilesChanged struct {
	Board string        `json:"board"` // board of the task
	Task  string        `json:"task"`
	Role  string        `json:"role"`
	Reach Reach         `json:"reach"` // of the agent
	Files []ChangedFile `json:"files"`
}

func (FilesChanged) Kind() string { return "FILES_CHANGED" }

// Subject returns the task.
func (e FilesChanged) Subject() string { return e.Task }

func (e FilesChanged) Sentence() Sentence {
	return say(Note, NamesOf(e.Files)+" changed in the turn of "+e.Role+" on "+e.Task)
}

// NamesOf names some files, each with its fields.
func NamesOf(files []ChangedFile) string {
	fields := map[string][]string{}
	for _, f := range files {
		fields[f.File] = append(fields[f.File], f.Field)
	}
	var names []string
	for _, file := range slices.Sorted(maps.Keys(fields)) {
		slices.Sort(fields[file])
		f := ChangedFile{File: file, Field: strings.Join(slices.Compact(fields[file]), " and ")}
		names = append(names, f.Name())
	}
	return List(names, mostNamed)
}

// FilesSettled reports changes of files that need no decision any more: a person has changed the
// file since, or has accepted the change with another board of the work tree.
type FilesSettled struct {
	Board string        `json:"board"`
	Files []ChangedFile `json:"files"`
}

func (FilesSettled) Kind() string { return "FILES_SETTLED" }

// Subject returns the board.
func (e FilesSettled) Subject() string { return e.Board }

func (e FilesSettled) Sentence() Sentence {
	return say(Trace, strings.TrimSpace("what an agent changed was changed again or accepted: "+NamesOf(e.Files)))
}
