// Package config resolves the settings of a run and records the origin of each value. A flag beats
// an environment variable, a variable beats the settings file, and the file beats the default.
package config

import (
	"errors"
	"path/filepath"
	"strings"
	"time"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/frontmatter"
)

// FileName is the settings file's name in the work directory.
const FileName = ".kanban-run.yaml"

// DefaultAgent is the adapter of a role if no setting and no role file names one.
const DefaultAgent = "claude"

const (
	execAgent = "exec"
	acpAgent  = "acp"
)

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
	// The folders at which relative paths of commands start: ExecDir for Exec, and ExecDirs[role]
	// for Execs[role].
	ExecDir  string
	ExecDirs map[string]string

	Timeout, Grace time.Duration // a zero Timeout means no limit
	MaxRetries     int           // number of attempts after the first
	Limits         Limits
	Jobs           int // number of boards that run side by side, at least 1
	Strict         bool
	KeepGoing      *bool // nil means true for boards on which a task declares needs
	KeepOutput     bool
	MaxOutput      int64 // in bytes; 0 means no limit
	Redact         []Hidden
	Env            Env
	Watch          Watch
	Checkpoints    *event.Supervision // supervision of boards without their own; nil means none

	StartDir string // where kanban-run was started
	FileDir  string // the settings file's folder; "" without such a file

	given  map[string]bool
	places map[string]given // values and parts of values, by name, for Fault
}

// Git holds the settings for the commits that keep the state of a board.
type Git struct {
	On     bool
	Branch string   // "" means a name made from the board's name
	Remote string   // name or address; noDefault keeps the commits in this clone
	Signed bool     // a run goes on only from signed commits
	Allow  []string // paths and object names of files in which apparent secrets are allowed
}

// Limits are the limits of a run. Zero means no limit, except in Busy and Limit. Costs are in
// millionths of a US dollar. Duration bounds the agents' working time and their waits for
// providers. TaskDuration bounds only working time.
type Limits struct {
	Steps, TaskSteps            int // number of steps of the run, and of each task in it
	Cost, TaskCost, AttemptCost int64
	Duration, TaskDuration      time.Duration

	TotalCost int64         // cost of all boards of one command
	Until     time.Time     // time at which the run stops; zero means no limit
	Busy      time.Duration // longest wait for a busy provider; 0 means no wait
	Limit     time.Duration // longest wait for the end of a limit of the account; 0 means no wait
}

// Watch holds the limits of the watch over running agents: seed 000, "配置参数". Zero means no limit.
type Watch struct {
	Off                                     bool
	Profile                                 string // "patient", or "strict" as in seed 000
	Frequency                               time.Duration
	IdleWarning, IdleTimeout                time.Duration
	ProgressStale                           time.Duration
	ModelWarning, DeafTimeout, ModelTimeout time.Duration
	MCPDefault, MCPMax, MCPEnd              time.Duration
	FirstSign, LeftOver, Ceiling            time.Duration
	Grace, Answer, Consent, Graceful, Kill  time.Duration
	Errors, MaxRestarts                     int
	Coordinator                             string // "policy" or "person"
	// Judge is the role that answers the reboot test. If it is "", the evidence answers the test.
	Judge string
	// Stages has three rising times. If it is empty, the stages are off. If it is nil, they depend
	// on the kind of role.
	Stages       []time.Duration
	SilentAgents string // "warn" or "act"
	// Resume is "session" or "fresh": how work that was cut short goes on.
	Resume string
}

// Hidden is a text that no output may show. Its name may be shown: "redact[2]", or "$NAME" for a
// variable's value.
type Hidden struct{ Name, Text string }

// Env selects the variables that agents get beyond the harmless ones.
type Env struct {
	Pass []string          // names that pass although they look secret; * matches any letters
	Set  map[string]string // values that agents get, also for variables that the runner lacks
	Only []string          // the only variables that pass; nil means no restriction; never empty
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
	Flags     map[string][]string    // values by setting name, in the order of the command line
	Environ   []string               // as os.Environ gives it; an empty variable counts as unset
	File      string                 // path of the settings file; it may be "" or missing
	Partial   bool                   // the file is not known yet, so limits are not compared
	StartDir  string                 // where kanban-run was started, absolute
	KnownRole func(name string) bool // nil if role files are unknown; then any word may be a role
	Adapters  []string               // the known adapters; nil accepts any name
}

// Choice is the agent that the settings choose for one role.
type Choice struct {
	Agent   string // "": the role file chooses, or DefaultAgent is used if the role file names no agent
	Command string // program and arguments for "exec" or "acp"; "" leaves them to the role file
	Dir     string // folder at which a relative path in Command starts
	Setting string // name of the setting that chooses, for Fault; "" if none does
}

// Load resolves the settings. Errors: *frontmatter.Problem for a wrong setting.
func Load(in Input) (*Settings, []Origin, error) {
	s := &Settings{StartDir: in.StartDir, given: map[string]bool{}, places: map[string]given{}}
	r := &resolver{in: in, settings: s, origins: map[string]Origin{}}
	if err := r.setDefaults(); err != nil {
		return nil, nil, err
	}
	// From the weakest source to the strongest.
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

// Choose returns the agent that the settings choose for a role. The case of letters does not
// matter. The role's own value beats the value for every role, whichever sources they are from.
func (s *Settings) Choose(role string) Choice {
	k := roleKey(role)
	own, hasOwn := s.Agents[k]
	command, hasCommand := s.Execs[k]
	runs, general := execAgent, execAgent // the adapters for a command of the role, and of every role
	if own == acpAgent {
		runs = acpAgent
	}
	if s.Agent == acpAgent {
		general = acpAgent
	}
	switch {
	case hasCommand:
		return Choice{Agent: runs, Command: command, Dir: s.ExecDirs[k], Setting: "exec." + k}
	case s.Exec != "" && (!hasOwn || own == general):
		return Choice{Agent: general, Command: s.Exec, Dir: s.ExecDir, Setting: "exec"}
	case hasOwn:
		return Choice{Agent: own, Setting: "agent." + k}
	}
	return Choice{Agent: s.Agent, Setting: "agent"}
}

// Fault returns an error whose cause is a setting, with the place of the setting in its file, or
// with the flag or the variable that gave it, as a *frontmatter.Problem. For a setting within a
// group that is not given, it takes the place of the group. Fault returns err itself if it has a
// place already, or if the setting has its default.
func (s *Settings) Fault(name string, err error) error {
	g, ok := s.places[name]
	for group := name; !ok && group != ""; {
		group = group[:max(strings.LastIndexByte(group, '.'), 0)]
		g, ok = s.places[group]
	}
	if err == nil || !ok || errors.As(err, new(*frontmatter.Problem)) {
		return err
	}
	text := err.Error()
	if g.file == "" {
		text = g.source + ": " + text
	}
	return &frontmatter.Problem{
		File: g.file, Line: g.line, Column: g.column, Text: text, Fix: failure.HintOf(err), Err: err,
	}
}

func (s *Settings) fromDir(dir, path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}
