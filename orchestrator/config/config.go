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
	"kanban-run/orchestrator/health"
	"kanban-run/orchestrator/option"
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
// where kanban-run was started. The tags of the fields, and their order, are those of [Table] and of
// package option.
type Settings struct {
	Workdir string `name:"workdir" from:"flags" flag:"DIR" short:"C" path:"yes" shown:"chosen by the board" help:"run in DIR: agents work there and paths start there"`
	Roles   string `name:"roles" flag:"DIR" path:"yes" help:"look for role files in DIR before .kanban-run/roles"`

	// The agents of the roles; see Choose. Role names are in lower case. Commands are not yet split
	// into words.
	Agent  string `name:"agent" flag:"[ROLE=]ADAPTER" repeated:"yes" shown:"claude" help:"adapter of every role that has none of its own, or of ROLE"`
	Agents map[string]string
	Exec   string `name:"exec" flag:"[ROLE=]COMMAND" repeated:"yes" help:"program that works for every role that has none of its own, or for ROLE: JSON on stdin, JSON on stdout; beside --agent [ROLE=]acp the program speaks ACP"`
	Execs  map[string]string
	// The folders at which relative paths of commands start: ExecDir for Exec, and ExecDirs[role]
	// for Execs[role].
	ExecDir  string
	ExecDirs map[string]string

	Stub       string        `name:"stub" flag:"FILE" path:"yes" help:"what stub agents do instead of answering well"`
	Timeout    time.Duration `name:"timeout" flag:"DURATION" default:"1h" help:"stop an agent's attempt after DURATION; 0: never"`
	Grace      time.Duration `name:"grace" default:"5s" help:"time between asking an agent to stop and killing it"`
	MaxRetries int           `name:"max_retries" flag:"N" default:"3" help:"start an agent up to N times again when its reply is invalid"`
	Limits     Limits
	Watch      Watch

	// Supervision of boards without their own; nil means none. Its keys have a meaning only together.
	Checkpoints *event.Supervision
	_           struct{} `name:"checkpoints.role" from:"file" shown:"Supervisor" help:"role that looks in on a board between its tasks"`
	_           struct{} `name:"checkpoints.requirement" from:"file" shown:"the first task" help:"what a board is for: a text, or a file that says it"`
	_           struct{} `name:"checkpoints.every" from:"file" shown:"none" help:"a checkpoint after every so many finished tasks, and after the last"`
	_           struct{} `name:"checkpoints.on_block" from:"file" shown:"person" help:"person, revise, override or abort: what becomes of a run that the supervisor stops"`

	Notify Notify
	Jobs   int `name:"jobs" flag:"N" short:"j" least:"1" default:"1" help:"run up to N boards side by side"`
	Run
	Redact []Hidden `name:"redact" from:"file" shown:"none" help:"texts that no output may show; $NAME is the value of that variable"`
	Env    option.Env

	StartDir string // where kanban-run was started
	FileDir  string // the settings file's folder; "" without such a file

	given  map[string]bool
	places map[string]given // values and parts of values, by name, for Fault
}

// Run has the settings that the parts of a run use. Each of them has the whole by value, so that a setting
// is named where it is declared and where it is used.
type Run struct {
	KeepGoing    *bool         `name:"keep_going" flag:"" short:"k" shown:"none" help:"when a task fails, set it aside and go on with the next (the default where tasks declare needs); run the other boards where one cannot be run" opposite:"no-keep-going: stop at the first task that fails, also where tasks declare needs"` // nil means true for boards on which a task declares needs
	Strict       bool          `name:"strict" flag:"" default:"true" help:"exit with 3 when a board ends with tasks undone" opposite:"lenient: exit with 0 when a board ends with tasks undone"`
	KeepOutput   bool          `name:"keep_output" flag:"" default:"false" help:"keep the full output of every attempt, not only both ends of what failed ones of the last start printed"`
	MaxOutput    int64         `name:"max_output" unit:"bytes" default:"1GiB" help:"stop an agent's attempt that prints more; 0: no limit"`
	OnDivergence string        `name:"on_divergence" one:"accept freeze" default:"accept" help:"accept or freeze a board that something other than the Manager changed"`
	AckTimeout   time.Duration `name:"ack_timeout" default:"1m" help:"a supervisor has so long to answer the request to shut down, and is asked again three times on a board that is over"`
	Decisions    string        `name:"decisions" shown:"none" help:"file that operational escalations and notes are appended to; without it DECISIONS.md beside the board, if that is there"`
	Git          Git
	Clones       bool                `name:"clones" flag:"" default:"false" help:"have the agents of each board work in a clone of the repository, and commit what is accepted on the branch kanban/NAME"`
	ClonesDir    string              `name:"clones_dir" flag:"DIR" path:"yes" shown:"CHECKOUT.clones beside the checkout" help:"make clones in DIR"`
	ClonesSetup  string              `name:"clones_setup" from:"file" shown:"none" help:"command that makes a new clone ready, such as npm ci"`
	Land         bool                `name:"land" flag:"" default:"false" help:"bring the work of each board that is complete into the branch that is checked out (with clones)"`
	LandVerify   string              `name:"land_verify" from:"file" shown:"none" help:"command that a merge has to pass before land brings it in, in a clone in which no agent worked, such as make test"`
	OnOverlap    string              `name:"on_overlap" one:"wait warn" default:"wait" help:"wait for, or only warn of, another board's step that works on the same files"`
	OnTool       event.OnTool        `name:"on_tool_unavailable" one:"caveat retry skip stop" default:"caveat" help:"caveat, retry, skip or stop: what becomes of an agent whose tool is not there"`
	Reassign     []event.Substitutes `name:"reassign" from:"file" shown:"none" help:"agents that take a role's work over, one after the other, when its own has come to nothing"`

	Discarded bool // no setting: the work is thrown away behind the run, with the machine of a CI job

	DryRun bool // no setting: stubs play the roles, and the run is one of a copy of the board
}

// Dry returns the settings for a dry run, which pushes nothing.
func (r Run) Dry() Run {
	r.DryRun, r.Git.On = true, false
	return r
}

// Git holds the settings for the commits that keep the state of a board.
type Git struct {
	On     bool
	Branch string   `name:"checkpoint" flag:"git|BRANCH" default:"off" help:"git: keep the state of a board as commits, on the branch board/NAME or on BRANCH, so that it can go on in another clone"` // "" means a name made from the board's name
	Remote string   `name:"checkpoint_remote" flag:"REMOTE" default:"origin" help:"name or address of the repository that gets that branch; none: it stays here"`
	Signed bool     `name:"checkpoint_signed" default:"false" help:"go on only from a checkpoint whose signature git trusts"`
	Allow  []string `name:"secrets_allow" from:"file" shown:"none" help:"files, by path or by git's name of their contents, that checkpoints may hold although they look like secrets"`
}

// Limits are the limits of a run and of each of its tasks. Zero means no limit. Costs are in
// millionths of a US dollar. Duration bounds the agents' working time and their waits for
// providers. TaskDuration bounds only working time.
type Limits struct {
	Steps        int           `name:"max_steps" flag:"N" default:"0" help:"stop after N steps; 0: no limit"`
	Cost         int64         `name:"max_cost" flag:"USD" unit:"USD" default:"0" help:"stop once the agents have cost USD, as far as they tell; 0: no limit"`
	TotalCost    int64         `name:"max_cost_total" flag:"USD" unit:"USD" default:"0" help:"stop once the agents of all boards of the command have cost USD; 0: no limit"`
	Duration     time.Duration `name:"max_duration" flag:"DURATION" default:"0" help:"stop once agents have worked, and waited for providers, for DURATION; 0: no limit"`
	TaskSteps    int           `name:"max_task_steps" flag:"N" default:"0" help:"stop before step N+1 of the same task; 0: no limit"`
	TaskCost     int64         `name:"max_task_cost" flag:"USD" unit:"USD" default:"0" help:"stop once a task has cost USD; 0: no limit"`
	TaskDuration time.Duration `name:"max_task_duration" flag:"DURATION" default:"0" help:"stop once agents have worked on a task for DURATION; 0: no limit"`
	AttemptCost  int64         `name:"max_attempt_cost" flag:"USD" unit:"USD" default:"0" help:"have an agent end its attempt at USD, if its adapter can; 0: no limit"`
	Patience     Patience      `name:"patience" flag:"DURATION" shown:"none" help:"wait so long for a provider that is busy or whose limit is reached; 0: exit with 75 at once"`
	Until        time.Time     `name:"until" from:"flags" flag:"TIME" shown:"none" help:"stop at TIME, such as 07:00 or 2026-01-31T07:00:00Z"`
}

// Patience has the longest waits until a provider serves calls again. 0 means no wait.
type Patience struct {
	Busy  time.Duration `name:"patience.busy" default:"1h" help:"wait so long for a provider that is busy or cannot be reached; with CI set 2m"`
	Limit time.Duration `name:"patience.limit" default:"6h" help:"wait so long for the end of a limit of the account; with CI set 0"`
}

// Watch holds the settings of the watch over running agents: seed 000, "配置参数".
type Watch struct {
	Enabled bool   `name:"watch.enabled" default:"true" help:"look at running agents, and restart those that hang; watch: off in the file is false"`
	Profile string `name:"watch.profile" one:"patient strict" default:"patient" help:"patient, or strict: an agent that is silent for five minutes is ended"` // "strict" is as in seed 000
	health.Policy
	Fresh bool `name:"watch.resume" one:"session fresh" default:"session" help:"session: work that was cut short goes on in its session, where the agent has one; fresh: it starts again"`
}

// Notify holds the ways to send messages to a person, and the topics of these messages.
type Notify struct {
	Command string        `name:"notify.command" shown:"none" help:"program that gets a message as JSON on its standard input when a person is needed"`
	Webhook string        `name:"notify.webhook" shown:"none" help:"address that the message is posted to"` // may be a secret
	On      []event.Topic `name:"notify.on" default:"needs_person stuck loop tool limit later" help:"what is told: needs_person stuck loop tool limit later complete"`
}

// IsSet reports whether messages are sent.
func (n Notify) IsSet() bool { return n.Command != "" || n.Webhook != "" }

// Hidden is a text that no output may show. Its name may be shown: "redact[2]", or "$NAME" for a
// variable's value.
type Hidden struct{ Name, Text string }

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
