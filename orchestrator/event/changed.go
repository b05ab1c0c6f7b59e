package event

import (
	"cmp"
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
	TaskRole     Decider = "task"    // the role of a task
	GitFile      Decider = "git"     // a file of git's settings, of which those count that lead to a remote
)

// ChangedFile is a file that decides, or one field of such a file.
type ChangedFile struct {
	By    Decider  `json:"by"`
	File  string   `json:"file"`                             // path, relative to the work directory if it is below it
	Field string   `json:"field,omitempty"`                  // field of the settings or of a role; "": the whole file
	Roles []string `json:"roles,omitempty"`                  // roles whose calls the file decides; empty: all
	SHA   string   `json:"sha256" text:"fact"`               // SHA-256 of the value that was left; "": it is gone
	Was   string   `json:"was_sha256,omitempty" text:"fact"` // SHA-256 of the value before the first change; "": there was none
	// Asks reports that the value gives more than the role got that had the turn, so that a person has
	// to accept it. Earlier versions asked by other rules, and their records ask nothing now.
	Asks bool `json:"asks,omitempty"`
}

// Is reports whether both are about the same file and field. Their values may differ.
func (f ChangedFile) Is(o ChangedFile) bool {
	return f.By == o.By && f.File == o.File && f.Field == o.Field
}

// Name returns the file with its field, as in "env in .kanban-run.yaml".
func (f ChangedFile) Name() string {
	if f.Field == "" {
		return f.File
	}
	return f.Field + " in " + f.File
}

// Spoken returns the file with its field as in a sentence, such as "the prompt of Manager".
func (f ChangedFile) Spoken() string {
	if f.By == RoleFile && f.Field == "prompt" && len(f.Roles) > 0 {
		return "the prompt of " + f.Roles[0]
	}
	return f.Name()
}

// Reach is what an agent gets and decides.
type Reach struct {
	Decides    bool     `json:"decides,omitempty"` // it is the Manager, a judge or a supervisor
	Secrets    []string `json:"secrets,omitempty"` // names of the secret variables that it gets
	Permission int      `json:"permission"`        // 0: it only reads, 1: it edits, 2: nothing holds it
	Tools      []string `json:"tools,omitempty"`   // the only tools that it has; nil: any
}

// FilesChanged reports files that decide, which were changed while agents of this command were at
// work. A person may have changed them as well. It is journaled before the end of the attempt, or at the
// begin of the next run if a kill has cut the attempt short.
type FilesChanged struct {
	Board string        `json:"board"` // board of the task
	Task  string        `json:"task"`  // the tasks that were worked on
	Role  string        `json:"role"`
	Reach Reach         `json:"reach"` // of the role
	Files []ChangedFile `json:"files"`
	// While says in words when it was, as in "while tasks/1.md was worked on"; "": while the task was.
	While string `json:"while,omitempty"`
}

func (FilesChanged) Kind() string { return "FILES_CHANGED" }

// Subject returns the task.
func (e FilesChanged) Subject() string { return e.Task }

func (e FilesChanged) Sentence() Sentence {
	when := " changed " + cmp.Or(e.While, "while "+e.Task+" was worked on")
	if len(e.Files) == 1 && e.Files[0].By == TaskRole && e.Files[0].Asks {
		f := e.Files[0]
		return say(Note, f.File+" was given to "+List(f.Roles, mostNamed)+strings.TrimPrefix(when, " changed")).tell(Lead, AboutPerson)
	}
	if asked := slices.DeleteFunc(slices.Clone(e.Files), func(f ChangedFile) bool { return !f.Asks }); len(asked) > 0 {
		return say(Note, NamesOf(asked)+when).tell(Lead, AboutPerson)
	}
	return say(Trace, NamesOf(e.Files)+when) // it is said at the end of the command
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

// FilesSettled reports changes of files that need no decision any more: the file was changed again
// since, or a person has accepted the change.
type FilesSettled struct {
	Board string        `json:"board"`
	Files []ChangedFile `json:"files"`
}

func (FilesSettled) Kind() string { return "FILES_SETTLED" }

// Subject returns the board.
func (e FilesSettled) Subject() string { return e.Board }

func (e FilesSettled) Sentence() Sentence {
	return say(Trace, strings.TrimSpace("what was changed was changed again or accepted: "+NamesOf(e.Files)))
}
