// Package roles loads roles: the prompts and options of agents, in Markdown files with frontmatter.
// Roles come from folders and from the binary. A role in a folder replaces the role of the same
// name in the binary. The error for a wrong role file names the line.
package roles

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/frontmatter"
	"kanban-run/orchestrator/option"
	"kanban-run/orchestrator/plainfile"
)

// Role is the definition of one kind of agent: its prompt and the options of its start.
type Role struct {
	// Name is spelt like the embedded role that this role replaces, if there is one. A task is
	// allowed to write the name in upper or lower case.
	Name        string   `name:"name"`
	Description string   `name:"description"`
	Agent       string   `name:"agent"`   // name of the adapter, in lower case; "": the settings decide
	Command     []string `name:"command"` // program and fixed arguments of an exec agent; nil: none
	Args        []string `name:"args"`    // appended to the adapter's command line
	agent.Options
	Timeout  *time.Duration `name:"timeout"` // limit of one attempt; nil: the settings decide, zero: no limit
	Grace    *time.Duration `name:"grace"`   // time between SIGTERM and SIGKILL; nil: the settings decide
	Env      option.Env     `name:"env"`
	Review   Review         `name:"review"`
	Rounds   int            `name:"review_rounds" least:"1"` // how often a review may send the work back; 0: the default
	Feedback bool           `name:"accepts"`                 // the input may have a field "feedback": why the work was sent back
	// Anomalies means that a Manager's input may have a field "anomalies": the tasks that are not
	// done because their agent was ended. The key "accepts" sets it, too.
	Anomalies bool
	// Watch holds the values of the field "watch", which replace the general settings for the
	// watch of agents. The name of a value is its key in that field. The line `watch: off` gives
	// one value with the name "".
	Watch   []frontmatter.Value `name:"watch"`
	WatchAs string              // kind of agent for the watch: coder, reviewer or lead; "": the name decides
	Prompt  string              // the body of the file, with LF line ends and without blank lines around it
	File    string              // path of the file, or a name such as "embedded:manager.md"

	source []byte // the file as it was read
}

// IsBuiltIn reports whether the role comes from the binary and not from a folder.
func (r Role) IsBuiltIn() bool { return strings.HasPrefix(r.File, embeddedPrefix) }

// Source returns the contents of the role's file, as they were read.
func (r Role) Source() ([]byte, error) {
	if !r.IsBuiltIn() {
		return r.source, nil
	}
	return embedded.ReadFile(strings.TrimPrefix(r.File, embeddedPrefix))
}

// Review is the check of the work before the agent's reply counts. The command runs before the
// supervisor. Source: seed 003.
type Review struct {
	Command    []string         // its exit status 0 accepts the work; nil: no command
	Supervisor bool             // a supervisor reviews in a fork of the agent's session
	Permission agent.Permission // permission of the supervisor; "": the file of its prompt decides
	// AsksOfChange means that the command is not started after an agent has changed it, until a person
	// accepts the change.
	AsksOfChange bool
}

// IsSet reports whether there is any review.
func (r Review) IsSet() bool { return r.Supervisor || len(r.Command) > 0 }

// Set is the set of the roles of one run.
type Set struct {
	roles   map[string]Role
	skipped fs.FileInfo // see LoadWithout
}

//go:embed *.md
var embedded embed.FS

// Embedded reports whether a role of this name is part of the program. It ignores the name's case.
func Embedded(name string) bool {
	_, err := fs.Stat(embedded, strings.ToLower(name)+".md")
	return err == nil
}

const embeddedPrefix = "embedded:"

// maxFile bounds a role file, in bytes. No model could use a larger prompt. The bound also keeps
// kanban-run from reading a large log.
const maxFile = 1 << 20

// Load reads every *.md file of the folders, except README.md and hidden files, and then the
// embedded roles. If two folders have a role of the same name, the role in the earlier folder
// replaces the other role as a whole. Two roles of the same name in one folder are an error. A
// missing folder holds no roles. Errors: *frontmatter.Problem for a wrong file, with the line.
func Load(dirs ...string) (*Set, error) { return LoadWithout(nil, dirs...) }

// LoadWithout is like Load, but skips one file of the folders, which may be nil: the file to which a
// role is printed is empty at that time.
func LoadWithout(skipped fs.FileInfo, dirs ...string) (*Set, error) {
	s := &Set{roles: map[string]Role{}, skipped: skipped}
	for _, dir := range dirs {
		if err := s.addFolder(dir); err != nil {
			return nil, err
		}
	}
	return s, s.addEmbedded()
}

// Lookup returns the role of a name. It ignores the case of the name. Errors: *UnknownError.
func (s *Set) Lookup(name string) (Role, error) {
	role, ok := s.roles[key(name)]
	if !ok {
		return Role{}, &UnknownError{Name: name, Known: s.listNames()}
	}
	return role, nil
}

// All returns the roles sorted by name.
func (s *Set) All() []Role {
	all := make([]Role, 0, len(s.roles))
	for _, k := range slices.Sorted(maps.Keys(s.roles)) {
		all = append(all, s.roles[k])
	}
	return all
}

func (s *Set) listNames() []string {
	var names []string
	for _, role := range s.All() {
		names = append(names, role.Name)
	}
	return names
}

func (s *Set) addFolder(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read roles in %s: %w", dir, err)
	}
	// This map has the file of each role of the folder. Within a folder no file has precedence, so
	// addFile refuses a role that an earlier file defines.
	here := map[string]string{}
	for _, entry := range entries {
		path := filepath.Join(dir, entry.Name())
		if !isRoleFile(entry.Name()) || s.isSkipped(path) {
			continue
		}
		if err := s.addFile(path, here); err != nil {
			return err
		}
	}
	return nil
}

func (s *Set) isSkipped(path string) bool {
	if s.skipped == nil {
		return false
	}
	info, err := os.Stat(path)
	return err == nil && os.SameFile(info, s.skipped)
}

func isRoleFile(name string) bool {
	return strings.EqualFold(filepath.Ext(name), ".md") && !strings.HasPrefix(name, ".") &&
		!strings.EqualFold(name, "readme.md")
}

func (s *Set) addFile(path string, here map[string]string) error {
	source, err := plainfile.Read(path, maxFile)
	if err != nil {
		return fmt.Errorf("read role %s: %w", path, err)
	}
	role, err := parse(path, source)
	if err != nil {
		return err
	}
	k := key(role.Name)
	if first, ok := here[k]; ok {
		return &frontmatter.Problem{File: path, Text: fmt.Sprintf("the role %s is already defined by %s", role.Name,
			first),
			Fix: "remove one of the two files, or give one another name"}
	}
	here[k] = path
	if _, ok := s.roles[k]; !ok {
		s.roles[k] = role
	}
	return nil
}

// builtIn returns the embedded roles, parsed once and shared by all sets.
var builtIn = sync.OnceValues(func() (all []Role, err error) {
	names, err := fs.Glob(embedded, "*.md")
	if err != nil {
		return nil, fmt.Errorf("list embedded roles: %w", err)
	}
	for _, name := range names {
		source, err := embedded.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("read embedded role %s: %w", name, err)
		}
		role, err := parse(embeddedPrefix+name, source)
		if err != nil {
			return nil, err
		}
		all = append(all, role)
	}
	return all, nil
})

func (s *Set) addEmbedded() error {
	all, err := builtIn()
	for _, role := range all {
		// The embedded spelling of a name replaces the spelling in a file. Sub-agent files have
		// names in lower case, and `name: manager` must still equal Manager.
		if replacement, ok := s.roles[key(role.Name)]; ok {
			replacement.Name = role.Name
			role = replacement
		}
		s.roles[key(role.Name)] = role
	}
	return err
}

func key(name string) string { return strings.ToLower(strings.TrimSpace(name)) }

// UnknownError reports that no role has the name Name.
type UnknownError struct {
	Name  string
	Known []string // sorted
}

func (e *UnknownError) Error() string { return fmt.Sprintf("unknown role %q", e.Name) }

// Hint names the role that was probably meant, if there is one, and then the known roles.
func (e *UnknownError) Hint() string {
	known := "the known roles are " + strings.Join(e.Known, ", ")
	for _, name := range e.Known {
		if frontmatter.OneEditApart(key(name), key(e.Name)) {
			return fmt.Sprintf("did you mean %s? %s", name, known)
		}
	}
	return known + "; add another as .kanban-run/roles/NAME.md"
}
