// Package roles loads role definitions, the prompts and options of agents: Markdown files with
// frontmatter, from the given folders first and from the binary last. A role file is read whole or
// refused with its line.
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

	"kanban-run/orchestrator/frontmatter"
	"kanban-run/orchestrator/plainfile"
)

// Role is the start and the prompt of one kind of agent.
type Role struct {
	Name        string // as in tasks, in any case; a replacement gets the embedded spelling
	Description string
	Agent       string         // adapter, in lower case; "" leaves it to the settings
	Model       string         // "" is the adapter's own default; "inherit" reads as ""
	Command     []string       // program and fixed arguments of an exec agent; nil without one
	Args        []string       // appended to the adapter's command line
	Tools       []string       // nil: all of the adapter's; empty: no tool
	Denied      []string       // tools that it must not use
	Timeout     *time.Duration // of one attempt; nil leaves it to the settings, zero is no limit
	Grace       *time.Duration // between TERM and KILL; nil leaves it to the settings
	Env         Env
	Permission  string // read-only, edit or full; "" leaves it to the adapter
	MaxTurns    int    // of the model in one attempt; 0: no limit
	MaxCost     int64  // of one attempt, in millionths of a US dollar; 0: no limit
	MCPConfig   string // a file that names MCP servers, from the work directory
	Review      Review
	Rounds      int  // the times a review may send the work back; 0 leaves it to the program
	Feedback    bool // accepts feedback: the reason why its earlier work was sent back
	// Anomalies: a Manager accepts anomalies, the tasks that are not done because their agent was
	// ended.
	Anomalies bool
	// Watch holds its settings of the watch, named below watch, "" for watch: off. They replace the
	// general ones.
	Watch   []frontmatter.Value
	WatchAs string // the stages of its agents: coder, reviewer or lead; "" leaves it to the program
	Prompt  string // the file's body with LF line ends, without blank lines around it
	File    string // the path that was read, or "embedded:manager.md"
}

// IsBuiltIn reports whether the role comes from the program and not from a file.
func (r Role) IsBuiltIn() bool { return strings.HasPrefix(r.File, embeddedPrefix) }

// Review is the check of the work before the agent's reply counts: seed 003. The command comes
// first.
type Review struct {
	Command    []string // accepts the work by its exit status 0; nil without one
	Supervisor bool     // in a fork of the agent's session
	Permission string   // of the supervisor; "" leaves it to its prompt's file
}

// IsSet reports whether the work is reviewed at all.
func (r Review) IsSet() bool { return r.Supervisor || len(r.Command) > 0 }

// Env is a rule for the variables that an agent gets beyond the harmless ones.
type Env struct {
	Pass []string          // names that pass although they look secret; * matches any letters
	Set  map[string]string // given to the agent, whether the runner has it or not
	Only []string          // strict: only these variables pass; nil without a list, never empty
}

// Set holds the roles of one run, found by name in any case.
type Set struct{ roles map[string]Role }

//go:embed *.md
var embedded embed.FS

// Embedded reports whether a role of this name, in any case, is part of the program.
func Embedded(name string) bool {
	_, err := fs.Stat(embedded, strings.ToLower(name)+".md")
	return err == nil
}

const embeddedPrefix = "embedded:"

// maxFile bounds a role file: a larger prompt fits no model's attention, and a device or a log is
// refused early.
const maxFile = 1 << 20

// Load reads every *.md file of the folders, except README.md and hidden ones, and then the
// embedded roles. An earlier folder wins over a later one, and a whole file over a whole file:
// nothing is merged. A missing folder holds no roles. Errors: *frontmatter.Problem for a wrong
// file, with its line.
func Load(dirs ...string) (*Set, error) {
	s := &Set{roles: map[string]Role{}}
	for _, dir := range dirs {
		if err := s.addFolder(dir); err != nil {
			return nil, err
		}
	}
	return s, s.addEmbedded()
}

// Lookup finds a role by its name in any case. Errors: *UnknownError.
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
	// No file of a folder has precedence: addFile refuses a role that an earlier one defines.
	here := map[string]string{}
	for _, entry := range entries {
		if !isRoleFile(entry.Name()) {
			continue
		}
		if err := s.addFile(filepath.Join(dir, entry.Name()), here); err != nil {
			return err
		}
	}
	return nil
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
		// `name: manager` must still be the Manager when names are compared: sub-agent files are in
		// lower case.
		if replacement, ok := s.roles[key(role.Name)]; ok {
			replacement.Name = role.Name
			role = replacement
		}
		s.roles[key(role.Name)] = role
	}
	return err
}

func key(name string) string { return strings.ToLower(strings.TrimSpace(name)) }

// UnknownError reports that no role has the name.
type UnknownError struct {
	Name  string
	Known []string // sorted
}

func (e *UnknownError) Error() string { return fmt.Sprintf("unknown role %q", e.Name) }

// Hint names the role that was probably meant, and all known roles.
func (e *UnknownError) Hint() string {
	known := "the known roles are " + strings.Join(e.Known, ", ")
	for _, name := range e.Known {
		if frontmatter.OneEditApart(key(name), key(e.Name)) {
			return fmt.Sprintf("did you mean %s? %s", name, known)
		}
	}
	return known + "; add another as .kanban-run/roles/NAME.md"
}
