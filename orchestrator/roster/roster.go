// Package roster finds the program that plays a role, with its command and environment.
package roster

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
	"kanban-run/orchestrator/config"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/frontmatter"
	"kanban-run/orchestrator/redact"
	"kanban-run/roles"
)

// Roster finds the program that plays a role. It is safe for concurrent use, if its exported fields
// do not change.
type Roster struct {
	Settings   *config.Settings
	Places     Places // where the settings and roles come from
	Roles      *roles.Set
	Environ    []string        // environment of kanban-run itself
	Executable string          // path of kanban-run itself, which some adapters start
	StubState  string          // folder in which stubs count their calls
	DryRun     bool            // stubs play the roles
	Single     bool            // true for a call without a board; its work is not reviewed
	MaxGrace   time.Duration   // limit of the time that an agent gets to end; 0: no limit
	Adapters   []agent.Adapter // further adapters; they take precedence over the built-in ones

	mu      sync.Mutex
	players map[playerKey]*Player
	clones  map[string]Clone // by work directory
}

// Clone is where a work directory in a clone stands for one at home.
type Clone struct {
	Home     string // the work directory at home, whose settings and roles are believed
	From, To string // top of the checkout, and of its clone
}

// WorkIn has the roles that are played in the work directory dir be played in a clone: what is believed is read at
// home, and a program that lies in the checkout is started from the same place in the clone.
func (r *Roster) WorkIn(dir string, c Clone) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.clones == nil {
		r.clones = map[string]Clone{}
	}
	r.clones[dir] = c
}

// homeOf returns the folder in which is believed what belongs to a work directory.
func (r *Roster) homeOf(dir string) string { return cmp.Or(r.clones[dir].Home, dir) }

// place returns the path of a program of the checkout in the clone, and any other path unchanged.
func (c Clone) place(path string) string {
	if rel, err := filepath.Rel(c.From, path); c.From != "" && filepath.IsAbs(path) && err == nil && filepath.IsLocal(rel) {
		return filepath.Join(c.To, rel)
	}
	return path
}

type playerKey struct {
	role, dir string
	looks     bool
	adapter   string // name of the adapter that replaces the role's adapter; "": not replaced
	approvals string // other role whose review applies if this role has no review; "": none
}

// Player is the program that plays a role.
type Player struct {
	Role       roles.Role
	Adapter    agent.Adapter
	Shown      string   // the command as a person would type it
	Withheld   []string // names of environment variables that the agent does not get
	ways       []string // those of the variables it does not get that name the way to a server
	Supervisor *Player  // player that reviews the work in a fork of the session; nil: none
	Command    *Player  // player that reviews the work before the supervisor; nil: none
	Refusal    error    // in a dry run, the reason why a real run would not start the program
	Resumes    bool     // interrupted work goes on in the session of its agent
	Reviews    bool     // the command that reviews the work of the role
	Pretends   bool     // the role is played by walk or by a stub, also in a real run
	Uncosted   bool     // the settings limit the cost of an attempt, and the program cannot hold that
	watch      config.Watch
	dryRun     bool

	// Assignment is complete except for the contract, the input and the session of one call.
	Assignment agent.Assignment
}

// Player returns the program that plays a role in the work directory dir, and checks that its
// command exists. The Roster keeps the result, so that every attempt of a call has the same
// command. Errors: *roles.UnknownError, *agent.ConfigError.
func (r *Roster) Player(role, dir string) (*Player, error) { return r.player(role, dir, false) }

// ReadOnlyPlayer returns the program that plays a resident supervisor or a judge. The program may
// only read, unless its role grants more. The adapter exec cannot enforce this restriction. Source:
// seed 001, "Role Isolation Rules".
func (r *Roster) ReadOnlyPlayer(role, dir string) (*Player, error) { return r.player(role, dir, true) }

func (r *Roster) player(role, dir string, looks bool) (*Player, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.once(playerKey{role: role, dir: dir, looks: looks})
}

// Substitute returns the program that takes over a role's work. The parameter agent names an
// adapter or another role. An adapter gets the prompt of the replaced role. Another role that has
// no review gets the review of the replaced role. Errors: those of [Roster.Player].
func (r *Roster) Substitute(role, agent, dir string) (*Player, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.adapter(agent) != nil {
		return r.once(playerKey{role: role, dir: dir, adapter: agent})
	}
	return r.once(playerKey{role: agent, dir: dir, approvals: role})
}

// once is like find, but it keeps each player that it finds, and returns that player again at later
// calls for the same key. The caller holds r.mu.
func (r *Roster) once(key playerKey) (*Player, error) {
	if p := r.players[key]; p != nil {
		return p, nil
	}
	p, err := r.find(key)
	if err != nil {
		return nil, err
	}
	if r.players == nil {
		r.players = map[playerKey]*Player{}
	}
	r.players[key] = p
	return p, nil
}

// IsUnknown reports whether an error of [Roster.Player] is about a role that does not exist.
func IsUnknown(err error) bool { return errors.As(err, new(*roles.UnknownError)) }

func (r *Roster) find(key playerKey) (*Player, error) {
	role, err := r.Roles.Lookup(key.role)
	if err != nil {
		return nil, err
	}
	if key.approvals != "" && !role.Review.IsSet() {
		if first, err := r.Roles.Lookup(key.approvals); err == nil {
			role.Review, role.Rounds = first.Review, first.Rounds
		}
	}
	program, err := r.choose(role, key.dir)
	if err != nil {
		return nil, r.Settings.Fault(program.setting, inRole(role, err))
	}
	p, err := r.newPlayer(role, key, program)
	if err != nil && program.isAtFault(role, err) && key.adapter == "" {
		return nil, r.Settings.Fault(program.setting, inRole(role, err))
	}
	if err != nil {
		return nil, inRole(role, err)
	}
	return p, nil
}

func inRole(role roles.Role, err error) error { return fmt.Errorf("role %s: %w", role.Name, err) }

func (r *Roster) newPlayer(role roles.Role, key playerKey, program program) (*Player, error) {
	dir := key.dir
	if key.adapter != "" {
		program.name, program.adapter, program.command, program.args = key.adapter, r.adapter(key.adapter), nil, nil
		role.Model = "" // the role's model belongs to another tool
	}
	if key.looks && role.Permission == "" && program.tool().Permits {
		role.Permission = agent.ReadOnly
	}
	clone := r.clones[dir]
	if len(program.command) > 0 {
		program.command[0] = clone.place(program.command[0])
	}
	env, withheld := environment(r.Environ, r.envRule(role, program.tool()))
	p := &Player{Role: role, Adapter: program.adapter, Withheld: withheld, ways: waysLeftOut(r.Environ, env), Shown: program.shown(), dryRun: r.DryRun}
	var err error
	if p.watch, err = r.Settings.Watch.With(role.File, role.Watch); err != nil {
		return nil, err
	}
	p.Pretends = program.name == event.Walker || program.name == "stub"
	p.Resumes = program.tool().Resumes && !p.watch.Fresh
	p.Assignment = agent.Assignment{
		Role: role.Name, Prompt: role.Prompt, Command: program.command, Args: program.args, Options: role.Options,
		Dir: dir, Review: r.continues(role, program.tool()), Env: env, Timeout: r.duration("timeout", role.Timeout, r.Settings.Timeout), Grace: r.grace(role),
	}
	if clone.To != "" { // an agent that spoils its own .git does not come upon the one above
		p.Assignment.Env = append(p.Assignment.Env, "GIT_CEILING_DIRECTORIES="+filepath.Dir(clone.To))
	}
	p.Assignment.MCP = resolvePath(r.homeOf(dir), role.MCP)
	if p.Assignment.MaxCost = r.maxCost(role.MaxCost); p.Assignment.MaxCost > 0 && role.MaxCost == 0 && !program.tool().EndsAt {
		p.Assignment.MaxCost, p.Uncosted = 0, !program.tool().Free
	}
	p.Assignment.Path = pathOf(program.tool(), p.Assignment)
	if p.watch.Enabled {
		p.Assignment.MCPTimeout = p.watch.MCPEnd
	}
	p.Assignment.MCPText = agent.ReadMCP(p.Assignment.MCP)
	if r.DryRun {
		r.replaceByStub(p)
	}
	if p.Adapter == nil {
		return nil, unknownAdapter(program.name)
	}
	if err := r.setReviewers(p); err != nil {
		return nil, err
	}
	return p, p.Adapter.Check(p.Assignment)
}

// continues reports whether a review needs the session of a role's work. A supervisor reviews in a
// fork of the session. If the agent's tool can resume sessions, the agent goes on in the session
// after a review that sends the work back.
func (r *Roster) continues(role roles.Role, tool agent.Tool) bool {
	return !r.Single && (role.Review.Supervisor || role.Review.IsSet() && tool.Resumes)
}

// replaceByStub replaces a role's program by a stub, for a dry run. If a real run would refuse the
// program, Refusal gets the reason. A missing program does not count, because a dry run needs only
// the stub. A Manager with the adapter "walk" keeps that adapter, because it starts no program.
func (r *Roster) replaceByStub(p *Player) {
	if p.Adapter == nil {
		p.Shown += " (not in this version)"
	} else if err := p.Adapter.Check(p.Assignment); err != nil {
		if setup, ok := errors.AsType[*agent.ConfigError](err); !ok || !setup.Missing {
			p.Refusal = err
		}
	}
	if p.Adapter != (walker{}) {
		p.Adapter, p.Assignment.Command, p.Assignment.Args, p.Assignment.Path = r.stub(), nil, nil, ""
	}
}

// setReviewers sets the reviewers of a role's work. The Manager's work cannot be reviewed, because
// its decisions are on the board and not in its session. Errors: *agent.ConfigError, and those of
// [Roster.SupervisorPrompt].
func (r *Roster) setReviewers(p *Player) error {
	review, dir := p.Role.Review, p.Assignment.Dir
	switch {
	case !review.IsSet() || r.Single:
		return nil
	case p.Role.Name == event.ManagerRole:
		return &agent.ConfigError{
			Text: "review is for roles that work on tasks",
			Fix:  "remove it from the Manager's role file",
		}
	}
	if review.Supervisor {
		prompt, err := r.SupervisorPrompt(r.homeOf(dir))
		if err != nil {
			return err
		}
		supervisor := *p
		supervisor.Resumes = false // each review begins in a new copy of the work's session
		supervisor.Assignment.Prompt = prompt.Text
		supervisor.Assignment.Permission = cmp.Or(review.Permission, prompt.Permission, agent.ReadOnly)
		p.Supervisor = &supervisor
	}
	if len(review.Command) > 0 {
		return r.setCommand(p)
	}
	return nil
}

// setCommand sets the reviewer that runs the role's review command. It refuses an agent that has no
// way to learn the command's findings, because such an agent would do the same work again. In a dry
// run it sets Refusal instead of returning an error.
func (r *Roster) setCommand(p *Player) error {
	if !p.Assignment.Review && !p.Role.Feedback {
		name := p.Adapter.Name()
		if r.DryRun {
			name = p.Shown // p.Adapter is a stub in a dry run
		}
		deaf := &agent.ConfigError{
			Text: fmt.Sprintf("review: command could not tell %s why its work is sent back: it goes on in no "+
				"session, and the role accepts no feedback", name),
			Fix: "write accepts: [feedback] into the role file; the agent's input then has the field " +
				"feedback when it is called again",
		}
		if !r.DryRun {
			return deaf
		}
		p.Refusal = deaf
	}
	a := p.Assignment
	words := p.Role.Review.Command
	a.Command, a.Args, a.Prompt, a.Review = words, nil, "", false
	a.Path = pathOf(agent.Tool{}, a)
	p.Command = &Player{
		Role:       p.Role,
		Adapter:    agent.ReviewCommand(),
		Reviews:    true,
		Shown:      strings.Join(words, " "),
		Withheld:   p.Withheld,
		ways:       p.ways,
		Assignment: a,
		watch:      p.watch,
	}
	if r.DryRun {
		r.replaceByStub(p.Command)
		p.Refusal = cmp.Or(p.Refusal, p.Command.Refusal)
		return nil
	}
	if err := p.Command.Adapter.Check(a); err != nil {
		return fmt.Errorf("review: command: %w", err)
	}
	return nil
}

// defaultRounds bounds the number of times that a review sends work back. A role can have its own
// bound.
const defaultRounds = 5

// JudgeFault returns an error about the judge of a role, with the place where the judge is named: the
// role file or the settings.
func (r *Roster) JudgeFault(role roles.Role, err error) error {
	for _, v := range role.Watch {
		if v.Name == "judge" {
			return &frontmatter.Problem{File: role.File, Line: v.Line, Text: err.Error(), Fix: failure.HintOf(err), Err: err}
		}
	}
	return r.Settings.Fault("watch.judge", err)
}

// Plan returns the plan of the reviews of the role's work, or nil if there is no review.
func (p *Player) Plan() *event.Plan {
	if p.Supervisor == nil && p.Command == nil {
		return nil
	}
	return &event.Plan{
		Agent:   p.Supervisor != nil,
		Command: p.Command != nil,
		Rounds:  cmp.Or(p.Role.Rounds, defaultRounds),
	}
}

// Memory returns the place where this program keeps its memory of earlier work when it plays a
// supervisor: its process, its session, or reports.
func (p *Player) Memory() event.Memory {
	if _, stays := p.Adapter.(agent.Resident); stays {
		return event.InProcess
	}
	if p.Adapter.Tool().Resumes && !p.dryRun {
		return event.InSession
	}
	return event.InReports
}

// IsConfined reports whether the agent's own tool prevents the agent from changing files. It
// returns false for a command in place of the tool, because it is unknown whether such a command
// obeys the permission.
func (p *Player) IsConfined() bool {
	return p.Assignment.Permission == agent.ReadOnly && len(p.Assignment.Command) == 0
}

// Explain returns a *failure.Invalid for a *agent.ConfigError, such as a missing command or an
// expired login, and any other error unchanged. If the error names a withheld environment variable,
// the fix is to pass the variable.
func (p *Player) Explain(err error) error {
	var c *agent.ConfigError
	if !errors.As(err, &c) {
		return err
	}
	for _, name := range p.Withheld {
		if strings.Contains(c.Text, name) {
			return &failure.Invalid{
				Err: err,
				Fix: fmt.Sprintf(
					"kanban-run withholds %s from agents; env: {pass: [%s]} in .kanban-run.yaml passes it", name, name),
			}
		}
	}
	return &failure.Invalid{Err: err}
}

// ExplainEnd returns the reason for the end of an attempt, and adds the variables that the agent does
// not get if it did not reach a server: they may be why. The result lacks has these variables.
func (p *Player) ExplainEnd(reason, stderr string) (text string, lacks []string) {
	if len(p.ways) == 0 || !agent.IsUnconnected(reason+"\n"+stderr) {
		return reason, nil
	}
	return fmt.Sprintf("%s; it does not get %s, which may be why", reason, strings.Join(p.ways, ", ")), p.ways
}

// Talker returns the adapter for a conversation, and sets the folder, grace and environment of the
// assignment. The result "withheld" is the list of the environment variables that the agent does
// not get. Errors: *agent.ConfigError.
func (r *Roster) Talker(a *agent.Assignment, dir string) (t agent.Talker, withheld []string, err error) {
	name := cmp.Or(r.Settings.Agent, config.DefaultAgent)
	talker, ok := r.adapter(name).(agent.Talker)
	if !ok {
		return nil, nil, &agent.ConfigError{
			Text: fmt.Sprintf("the agent %q takes no messages while it works", name),
			Fix:  "use claude, which does",
		}
	}
	role := roles.Role{Name: a.Role}
	a.Dir, a.Grace = dir, r.grace(role)
	a.Env, withheld = environment(r.Environ, r.envRule(role, talker.Tool()))
	return talker, withheld, talker.Check(*a)
}

// Shown returns the command of the program that plays a role in a work directory, as a person would type it.
func (r *Roster) Shown(role roles.Role, dir string) string {
	p, err := r.choose(role, dir)
	if err != nil {
		return err.Error()
	}
	return p.shown()
}

// maxCost returns the cost limit of one attempt. A flag or an environment variable beats the role
// file, which beats the settings file.
func (r *Roster) maxCost(inRole int64) int64 {
	if inRole == 0 || r.Settings.IsExplicit("max_attempt_cost") {
		return r.Settings.Limits.AttemptCost
	}
	return inRole
}

// grace returns the time that an agent gets to end. r.MaxGrace bounds it, because kanban-run itself
// may have little time to end.
func (r *Roster) grace(role roles.Role) time.Duration {
	d := r.duration("grace", role.Grace, r.Settings.Grace)
	if r.MaxGrace > 0 {
		d = min(d, r.MaxGrace)
	}
	return d
}

// duration returns the value of a setting that role files can contain, too. A flag or an
// environment variable beats the role file, which beats the settings file.
func (r *Roster) duration(name string, inRole *time.Duration, settings time.Duration) time.Duration {
	if inRole == nil || r.Settings.IsExplicit(name) {
		return settings
	}
	return *inRole
}

// Secrets returns the secrets to redact: those in the environment, those that settings and role
// files set for agents, the webhook's address, and those listed in the settings.
func (r *Roster) Secrets() []redact.Secret {
	secrets := Secrets(r.Environ)
	sets := []map[string]string{r.Settings.Env.Set}
	for _, role := range r.Roles.All() {
		sets = append(sets, role.Env.Set)
	}
	for _, set := range sets {
		for _, name := range slices.Sorted(maps.Keys(set)) {
			secrets = append(secrets, Secrets([]string{name + "=" + set[name]})...)
		}
	}
	if hook := r.Settings.Notify.Webhook; hook != "" {
		secrets = append(secrets, redact.Secret{Name: "notify.webhook", Value: hook})
	}
	for _, h := range r.Settings.Redact {
		secrets = append(secrets, redact.Secret{Name: h.Name, Value: h.Text})
	}
	return secrets
}

// envRule returns the settings' rule merged with the role's rule. It adds the tool's keys and
// default variables. If the rule has Only, the keys have no effect.
func (r *Roster) envRule(role roles.Role, tool agent.Tool) EnvRule {
	rule := EnvRule{Env: r.Settings.Env}.merge(role.Env)
	if rule.Keys = tool.Keys; tool.Signals.Session {
		rule.Keys = slices.Concat(rule.Keys, proxies) // without its proxy it does not reach its model
	}
	for name, value := range tool.Env {
		named := func(entry string) bool { return strings.HasPrefix(entry, name+"=") }
		if _, set := rule.Set[name]; !set && !slices.ContainsFunc(r.Environ, named) {
			rule.Set[name] = value
		}
	}
	rule.Set["KANBAN_RUN_ROLE"] = role.Name
	return rule
}

// resolvePath resolves a relative path against dir. It returns "" and an absolute path unchanged.
func resolvePath(dir, name string) string {
	if dir == "" || name == "" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}
