// Package config resolves the settings of a run and records the origin of each value. A flag beats
// an environment variable, a variable beats the settings file, and the file beats the default.
package config

import (
	"path/filepath"
	"time"

	"kanban-run/orchestrator/event"
)

// FileName is the settings file's name in the work directory.
const FileName = ".kanban-run.yaml"

// DefaultAgent is the adapter of a role for which neither the settings nor the role file names an
// adapter.
const DefaultAgent = "claude"

const execAgent = "exec"

// Settings are resolved settings. Workdir, Roles and Stub are "" or absolute. A relative path in
// the settings file starts at the folder of that file. Any other relative path starts at the folder
// where kanban-run was started.
type Settings struct {
	Workdir, Roles, Stub string
	OnDivergence         string // "accept" or "freeze"
	OnOverlap            string // "wait" or "warn"
	OnTool               event.OnTool
	Decisions            string
	AckTimeout           time.Duration
	Reassign             []event.Substitutes
	Notify               Notify
	Git                  Git

	// The agents of the roles; see Choose. Role names are in lower case. Commands are not yet split
	// into words.
	Agent  string
	Agents map[string]string
	Exec   string
	Execs  map[string]string
	// A relative command in Exec starts at ExecDir. A relative command in Execs[role] starts at
	// ExecDirs[role].
	ExecDir  string
	ExecDirs map[string]string

	Timeout, Grace time.Duration // zero Timeout: no limit
	MaxRetries     int           // after the first attempt
	Limits         Limits
	Jobs           int // boards side by side, at least 1
	Strict         bool
	KeepGoing      *bool // nil: where a task declares needs
	KeepOutput     bool
	MaxOutput      int64 // in bytes; 0: no limit
	Redact         []Hidden
	Env            Env
	Watch          Watch
	Checkpoints    *event.Supervision // of boards without their own; nil: no supervision

	StartDir string // where kanban-run was started
	FileDir  string // the settings file's folder; "" without such a file

	given map[string]bool
}

// Git holds the settings by which the state of a board is kept as commits.
type Git struct {
	On     bool
	Branch string   // "": named after the board
	Remote string   // name or address; noDefault: commits stay here
	Signed bool     // a checkpoint has to be signed
	Allow  []string // paths and object names that may hold what looks like a secret
}

// Limits are the limits of a run. Zero means no limit. Costs are in millionths of a US dollar.
// Duration is the agents' working time and their waits for providers, TaskDuration their working time.
type Limits struct {
	Steps, TaskSteps            int // of the run, and of each task in it
	Cost, TaskCost, AttemptCost int64
	Duration, TaskDuration      time.Duration

	TotalCost int64         // of all boards of one command
	Until     time.Time     // the wall clock; zero: no limit
	Busy      time.Duration // the longest wait for a provider that is busy, 0: none
	Limit     time.Duration // and for the end of a limit of the account
}

// Watch holds the limits of the watch over running agents: seed 000, "配置参数". Zero means no limit.
type Watch struct {
	Off                                     bool
	Profile                                 string // "patient", or "strict": seed 000's own numbers
	Frequency                               time.Duration
	IdleWarning, IdleTimeout                time.Duration
	ProgressStale                           time.Duration
	ModelWarning, DeafTimeout, ModelTimeout time.Duration
	MCPDefault, MCPMax, MCPEnd              time.Duration
	FirstSign, LeftOver, Ceiling            time.Duration
	Grace, Answer, Consent, Graceful, Kill  time.Duration
	Errors, MaxRestarts                     int
	Coordinator                             string          // "policy" or "person"
	Judge                                   string          // role that answers the reboot test; "": the evidence does
	Stages                                  []time.Duration // three, rising; empty: off; nil: by the kind of the role
	SilentAgents                            string          // "warn" or "act"
	Resume                                  string          // "session": work that was cut short goes on in it; or "fresh"
}

// Hidden is a text that no output may show. Its name may be shown: "redact[2]", or "$NAME" for a
// variable's value.
type Hidden struct{ Name, Text string }

// Env selects the variables that agents get beyond the harmless ones.
type Env struct {
	Pass []string          // names that pass although they look secret; * matches any letters
	Set  map[string]string // values for the agents, also of variables that the runner lacks
	Only []string          // the strict list: no other variable passes; nil: no list; never empty
}

// Origin is the source of one value: "default", "flag --timeout", "variable KANBAN_RUN_TIMEOUT" or
// "FILE:LINE". Value leaves out the values of env.set and redact, because printed settings end up
// in bug reports.
type Origin struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Source string `json:"source"`
}

// Input holds the sources of the settings.
type Input struct {
	Flags     map[string][]string    // by setting name, in the order given
	Environ   []string               // as os.Environ gives it; an empty variable counts as unset
	File      string                 // path of the settings file; "" or a missing one: no file
	Partial   bool                   // the settings file is not known yet: relations of settings are not checked
	StartDir  string                 // where kanban-run was started, absolute
	KnownRole func(name string) bool // nil: any word may be a role, as the folder of the role files is unknown
	Adapters  []string               // the known adapters; nil: not checked
}

// Choice is the agent that the settings choose for one role.
type Choice struct {
	Agent   string // "": the role file names it, or else it is DefaultAgent
	Command string // for "exec": program and arguments; "": the role file names them
	Dir     string // where a relative Command starts
}

// Load resolves the settings. Errors: *Error for a wrong setting.
func Load(in Input) (*Settings, []Origin, error) {
	s := &Settings{StartDir: in.StartDir, given: map[string]bool{}}
	r := &resolver{in: in, settings: s, origins: map[string]Origin{}}
	if err := r.setDefaults(); err != nil {
		return nil, nil, err
	}
	// From the weakest to the strongest.
	for _, read := range []func() ([]given, error){r.fromFile, r.fromEnviron, r.fromFlags} {
		values, err := read()
		if err != nil {
			return nil, nil, err
		}
		if err := r.apply(values); err != nil {
			return nil, nil, err
		}
	}
	if err := r.finishWatch(); err != nil {
		return nil, nil, err
	}
	if err := r.finishPatience(); err != nil {
		return nil, nil, err
	}
	r.choices.store(s)
	return s, r.listOrigins(), nil
}

// IsExplicit reports whether a flag or a variable gave the setting. Such a value wins over a role
// file.
func (s *Settings) IsExplicit(name string) bool { return s.given[name] }

// Choose returns the agent that the settings choose for a role, whose name may be in any letter
// case. Within a source the role's own value beats the value for every role. A value for every role
// from a stronger source beats both.
func (s *Settings) Choose(role string) Choice {
	k := roleKey(role)
	own, hasOwn := s.Agents[k]
	command, hasCommand := s.Execs[k]
	switch {
	case hasCommand:
		return Choice{Agent: execAgent, Command: command, Dir: s.ExecDirs[k]}
	case hasOwn && own != execAgent:
		return Choice{Agent: own}
	case s.Exec != "":
		return Choice{Agent: execAgent, Command: s.Exec, Dir: s.ExecDir}
	case hasOwn:
		return Choice{Agent: own}
	}
	return Choice{Agent: s.Agent}
}

func (s *Settings) fromDir(dir, path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}
