package orchestrator

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/agent/acp"
	"kanban-run/orchestrator/agent/claude"
	"kanban-run/orchestrator/agent/codex"
	"kanban-run/orchestrator/agent/gemini"
	"kanban-run/orchestrator/agent/opencode"
	"kanban-run/orchestrator/config"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/redact"
	"kanban-run/orchestrator/review"
	"kanban-run/roles"
)

// Cast says which program plays which role. It is safe for concurrent use: nothing that is set in it changes.
type Cast struct {
	Settings   *config.Settings
	Roles      *roles.Set
	Environ    []string      // of kanban-run itself
	Executable string        // kanban-run's own path, for the stub
	StubState  string        // folder in which stubs count their calls
	DryRun     bool          // every role is played by a stub
	Single     bool          // for one call without a board: nobody reviews it
	MaxGrace   time.Duration // over what settings and roles say; 0: no limit

	mu    sync.Mutex
	known map[[2]string]*Player // by role and work directory
}

// Player is the program that plays a role.
type Player struct {
	Role     roles.Role
	Adapter  agent.Adapter
	Shown    string   // the command as a person would type it
	Withheld []string // names of variables that it does not get
	// Supervisor is the prompt of who looks at the work, "" where nobody does.
	Supervisor string
	template   agent.Assignment
	refusal    error // why a run would not start it, where this is none
}

// Player finds who plays a role in the work directory dir and checks that its command exists. Once found it is the same for as
// long as the Cast lives: every attempt of a call has the same command. Errors: *roles.UnknownError, *agent.ConfigError.
func (c *Cast) Player(role, dir string) (*Player, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := [2]string{role, dir}
	if p := c.known[key]; p != nil {
		return p, nil
	}
	p, err := c.find(role, dir)
	if err != nil {
		return nil, err
	}
	if c.known == nil {
		c.known = map[[2]string]*Player{}
	}
	c.known[key] = p
	return p, nil
}

func (c *Cast) find(role, dir string) (*Player, error) {
	r, err := c.Roles.Lookup(role)
	if err != nil {
		return nil, err
	}
	choice, err := c.choose(r, dir)
	if err != nil {
		return nil, fmt.Errorf("role %s: %w", r.Name, err)
	}
	env, withheld := environment(c.Environ, c.rule(r, choice.tool()))
	p := &Player{Role: r, Withheld: withheld, Shown: choice.shown()}
	p.template = agent.Assignment{
		Role: r.Name, Prompt: r.Prompt, Command: choice.command, Args: choice.args, Model: r.Model, Tools: r.Tools, Denied: r.Denied, Dir: dir,
		Permission: agent.Permission(r.Permission), MaxTurns: r.MaxTurns, MaxCost: c.budget(r.MaxCost), Review: r.Review && !c.Single,
		MCP: beneath(dir, r.MCPConfig),
		Env: env, Timeout: c.duration("timeout", r.Timeout, c.Settings.Timeout), Grace: c.grace(r),
	}
	p.template.MCPText = agent.ReadMCP(p.template.MCP)
	p.Adapter = choice.adapter
	if c.DryRun && p.Adapter == nil {
		p.Shown += " (not in this version)"
	}
	if c.DryRun {
		p.refusal = refusal(choice.adapter, p.template)
		p.Adapter, p.template.Command, p.template.Args = c.stub(), nil, nil
	}
	if p.Adapter == nil {
		return nil, fmt.Errorf("role %s: %w", r.Name, unknownAdapter(choice.name))
	}
	if p.Supervisor, err = c.supervisor(r, dir); err != nil {
		return nil, fmt.Errorf("role %s: %w", r.Name, err)
	}
	if err := p.Adapter.Check(p.template); err != nil {
		return nil, fmt.Errorf("role %s: %w", r.Name, err)
	}
	return p, nil
}

// refusal is why a run would refuse what a dry run lets pass. A program that is not there is none: a dry run needs no program.
func refusal(a agent.Adapter, as agent.Assignment) error {
	if a == nil {
		return nil
	}
	err := a.Check(as)
	if setup, ok := errors.AsType[*agent.ConfigError](err); ok && setup.Missing {
		return nil
	}
	return err
}

// supervisor is the prompt of who reviews the role's work. The Manager's is not reviewed: what it decides is on the board, not in its session.
func (c *Cast) supervisor(r roles.Role, dir string) (string, error) {
	switch {
	case !r.Review || c.Single:
		return "", nil
	case r.Name == flow.ManagerRole:
		return "", &agent.ConfigError{Text: "review: supervisor is for roles that work on tasks", Fix: "remove it from the Manager's role file"}
	}
	return c.SupervisorPrompt(dir)
}

// SupervisorPrompt is that of a supervisor in the work directory. Errors: those of [review.Prompt].
func (c *Cast) SupervisorPrompt(dir string) (string, error) {
	home := ""
	for _, entry := range c.Environ {
		if value, ok := strings.CutPrefix(entry, "HOME="); ok {
			home = value
		}
	}
	return review.Prompt(dir, home)
}

// rounds is how often the role's supervisor may send work back.
func (p *Player) rounds() int { return cmp.Or(p.Role.Rounds, defaultRounds) }

// tool is what is known of the program that plays the role; a role that has no adapter yet has no tool.
func (c choice) tool() agent.Tool {
	if c.adapter == nil {
		return agent.Tool{}
	}
	return c.adapter.Tool()
}

// invoke gives the exact argv, standard input, environment and folder of a call; they are the same in every attempt.
// scratch is a folder for files that the adapter hands over by name.
func (p *Player) invoke(contract agent.Contract, in input, scratch string) (agent.Invocation, error) {
	a := p.template
	a.Contract, a.Input, a.InputSum, a.Scratch = contract, in.text, in.sum, scratch
	return p.Adapter.Invoke(a)
}

// choice is the outcome of looking through flags, role file and settings.
type choice struct {
	name    string
	command []string
	args    []string
	adapter agent.Adapter
}

func (c choice) shown() string {
	if len(c.command) == 0 {
		return c.name
	}
	words := make([]string, 0, len(c.command)+len(c.args))
	for _, w := range slices.Concat(c.command, c.args) {
		words = append(words, quote(w))
	}
	return strings.Join(words, " ")
}

func quote(word string) string {
	if word != "" && !strings.ContainsAny(word, " \t\n'\"\\$`*?[]{}()<>|&;#~!") {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// choose: a role's own flag beats the general one, which beats the role file, which beats what the settings file says of all
// roles, which beats the default.
func (c *Cast) choose(r roles.Role, dir string) (choice, error) {
	said := c.Settings.Choose(r.Name)
	inRole := r.Agent != "" || len(r.Command) > 0
	if inRole && !c.saysOf(r.Name) && !c.Settings.Given("agent") && !c.Settings.Given("exec") {
		said = config.Choice{Agent: r.Agent}
	}
	if said.Agent == "" && len(r.Command) > 0 {
		said.Agent = "exec"
	}
	ch := choice{name: said.Agent, args: r.Args}
	if ch.name == "" {
		ch.name = config.DefaultAgent
	}
	var err error
	switch {
	case said.Command != "":
		ch.args = nil
		if ch.command, err = agent.SplitCommand(said.Command); err == nil {
			ch.command[0] = fromFolder(ch.command[0], said.Dir)
		}
	case len(r.Command) > 0 && (ch.name == "exec" || ch.name == r.Agent):
		ch.command = slices.Clone(r.Command)
		ch.command[0] = fromFolder(ch.command[0], dir)
	}
	ch.adapter = c.adapter(ch.name)
	return ch, err
}

// Talker finds the agent that a person can talk to, and gives the assignment what it needs to be started. withheld are the names of variables
// that it does not get. Errors: *agent.ConfigError.
func (c *Cast) Talker(a *agent.Assignment, dir string) (t agent.Talker, withheld []string, err error) {
	name := cmp.Or(c.Settings.Agent, config.DefaultAgent)
	talker, ok := c.adapter(name).(agent.Talker)
	if !ok {
		return nil, nil, &agent.ConfigError{Text: fmt.Sprintf("nobody can talk to the agent %q", name), Fix: "claude is one that reads messages while it works"}
	}
	r := roles.Role{Name: a.Role}
	a.Dir, a.Grace = dir, c.grace(r)
	a.Env, withheld = environment(c.Environ, c.rule(r, talker.Tool()))
	return talker, withheld, talker.Check(*a)
}

// budget is what one attempt may cost: a flag or a variable beats the role file, which beats the settings file.
func (c *Cast) budget(inRole int64) int64 {
	if inRole == 0 || c.Settings.Given("max_attempt_cost") {
		return c.Settings.Limits.AttemptCost
	}
	return inRole
}

// saysOf reports whether the settings name the role itself.
func (c *Cast) saysOf(role string) bool {
	key := strings.ToLower(role)
	_, agent := c.Settings.Agents[key]
	_, exec := c.Settings.Execs[key]
	return agent || exec
}

// fromFolder makes a relative command with a slash absolute, so that it means the same in every work directory.
func fromFolder(command, dir string) string {
	if !strings.ContainsRune(command, '/') {
		return command
	}
	return beneath(dir, command)
}

// beneath is where a file is that is named from dir; "" stays "".
func beneath(dir, name string) string {
	if dir == "" || name == "" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}

func (c *Cast) adapter(name string) agent.Adapter {
	if name == "stub" {
		return c.stub()
	}
	return adapters(c.Executable)[name]
}

// adapters are all but the stub. executable is kanban-run's own path.
func adapters(executable string) map[string]agent.Adapter {
	return map[string]agent.Adapter{
		"acp":      acp.New(executable),
		"claude":   claude.New(),
		"codex":    codex.New(),
		"exec":     agent.Exec(),
		"gemini":   gemini.New(),
		"opencode": opencode.New(),
	}
}

// Adapters lists the names of all adapters, sorted.
func Adapters() []string {
	return slices.Sorted(maps.Keys(adapters("")))
}

func (c *Cast) stub() agent.Adapter {
	return agent.Stub(c.Executable, agent.StubOptions{File: c.Settings.Stub, StateDir: c.StubState})
}

func unknownAdapter(name string) error {
	return &agent.ConfigError{
		Text: fmt.Sprintf("this version has no adapter for the agent %q (it has: %s)", name, strings.Join(append(Adapters(), "stub"), ", ")),
		Fix:  "give a command with --exec 'COMMAND ARGS', or try the board with --dry-run",
	}
}

// Secrets are what no output may show: of the environment, of what the settings and the role files set for agents, and what the
// settings list.
func (c *Cast) Secrets() []redact.Secret {
	secrets := Secrets(c.Environ)
	sets := []map[string]string{c.Settings.Env.Set}
	for _, r := range c.Roles.All() {
		sets = append(sets, r.Env.Set)
	}
	for _, set := range sets {
		for _, name := range slices.Sorted(maps.Keys(set)) {
			secrets = append(secrets, Secrets([]string{name + "=" + set[name]})...)
		}
	}
	for _, h := range c.Settings.Redact {
		secrets = append(secrets, redact.Secret{Name: h.Name, Value: h.Text})
	}
	return secrets
}

// rule is the settings' and the role's; what the adapter's tool needs passes, unless they have a list of their own of all that does.
func (c *Cast) rule(r roles.Role, tool agent.Tool) EnvRule {
	s := c.Settings.Env
	rule := EnvRule{Pass: s.Pass, Set: s.Set, Only: s.Only}.merge(EnvRule{Pass: r.Env.Pass, Set: r.Env.Set, Only: r.Env.Only})
	rule.Pass = slices.Concat(rule.Pass, tool.Keys)
	for name, value := range tool.Env {
		if _, set := rule.Set[name]; !set && !slices.ContainsFunc(c.Environ, func(e string) bool { return strings.HasPrefix(e, name+"=") }) {
			rule.Set[name] = value
		}
	}
	rule.Set["KANBAN_RUN_ROLE"] = r.Name
	return rule
}

// grace is how long an agent may take to end. Where the whole program has little time itself, nobody gets more.
func (c *Cast) grace(r roles.Role) time.Duration {
	d := c.duration("grace", r.Grace, c.Settings.Grace)
	if c.MaxGrace > 0 {
		d = min(d, c.MaxGrace)
	}
	return d
}

// duration: a flag or a variable beats the role file, which beats the settings file.
func (c *Cast) duration(name string, inRole *time.Duration, settings time.Duration) time.Duration {
	if inRole == nil || c.Settings.Given(name) {
		return settings
	}
	return *inRole
}
