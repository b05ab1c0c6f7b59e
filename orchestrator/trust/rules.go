package trust

import (
	"path"
	"slices"
	"strings"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/asked"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/option"
	"kanban-run/orchestrator/redact"
	"kanban-run/orchestrator/roster"
)

// weight is what follows from a change.
type weight int

// The weights, in their order.
const (
	isNothing   weight = iota
	isSaid             // named once, at the end of the command
	isSaidAgain        // named also at the next start of a board that uses it
	isReview           // named with the acceptances by the command that reads the file
	isAsked            // waits for a person
)

// row says by which rule a change of a field gives more. A change that does not is said.
type row struct {
	field string
	more  func(*Tree, *change, []event.Reach) bool
}

// rows are the fields of settings and roles of which a person may have to hear before they are used.
var rows = []row{
	{"env.pass", passesMore},
	{"env.only", letsMoreThrough},
	{"env.set", leadsElsewhere},
	{"permission", isRaised},
	{"permissionMode", isRaised},
	{"tools", hasMoreTools},
	{"disallowedTools", deniesLess},
	{"roles", always},
	{"reassign", always},
	{"secrets_allow", always},
	{"checkpoint", always},
	{"checkpoint_remote", always},
	{"checkpoint_signed", always},
	{"strict", isOff},
	{"redact", hidesLess},
	{"agent", startsAnother},
	{"exec", startsAnother},
	{"command", startsAnother},
	{"args", startsAnother},
	{"mcp_config", startsAnother},
	{"name", startsAnother},
}

// weigh returns what follows from a change in turns of these reaches.
func (t *Tree) weigh(c *change, reaches []event.Reach) weight {
	switch c.By {
	case event.SettingsFile, event.RoleFile, event.PromptFile:
		return t.weighField(c, reaches)
	case event.ReviewFile:
		return isReview
	case event.NotifyFile:
		return isSaid
	case event.GitFile:
		return isAsked
	default:
		more := t.withMore(c.Roles, reaches)
		if t.exempt[c.source] || more == nil {
			return isNothing
		}
		c.Roles = more // the others are started with it: they get nothing for it
		return isAsked
	}
}

func (t *Tree) weighField(c *change, reaches []event.Reach) weight {
	field, _, isChoice := strings.Cut(c.Field, ".")
	for _, r := range rows {
		if (r.field == c.Field || isChoice && r.field == field && field != "env") && r.more(t, c, reaches) {
			return isAsked
		}
	}
	switch {
	case c.Field == "review" && c.before.SHA != "":
		return isSaidAgain
	case c.By != event.RoleFile, c.Field == "review" || c.Field == "watch", slices.ContainsFunc(c.Roles, func(r string) bool { return t.getsMore(r, event.Reach{}) }):
		return isSaid
	default:
		return isNothing
	}
}

func always(*Tree, *change, []event.Reach) bool { return true }

// isOff reports whether a switch that is on unless it is written is off now.
func isOff(_ *Tree, c *change, _ []event.Reach) bool {
	return slices.Contains(c.after.Parts, "false") && !slices.Contains(c.before.Parts, "false")
}

func hidesLess(_ *Tree, c *change, _ []event.Reach) bool {
	return len(missing(c.before.Parts, c.after.Parts)) > 0
}

// passesMore reports whether variables are passed that none of the roles had which had a turn.
func passesMore(_ *Tree, c *change, reaches []event.Reach) bool {
	more := missing(c.after.Parts, c.before.Parts)
	return len(more) > 0 && !slices.ContainsFunc(reaches, func(r event.Reach) bool { return len(unmatched(more, r.Secrets)) == 0 })
}

// letsMoreThrough is like passesMore for the list of the only variables, which passes secrets, too. Without
// the list all variables pass that are no secret.
func letsMoreThrough(t *Tree, c *change, reaches []event.Reach) bool {
	if c.after.Parts == nil || c.before.Parts != nil {
		return c.after.Parts == nil || passesMore(t, c, reaches)
	}
	named := *c
	named.after.Parts = slices.DeleteFunc(slices.Clone(c.after.Parts), func(name string) bool { return !t.isSecret(name) })
	return passesMore(t, &named, reaches)
}

// leadsElsewhere reports whether a variable leads a program elsewhere that gets or decides more.
func leadsElsewhere(t *Tree, c *change, reaches []event.Reach) bool {
	differs := len(missing(c.after.Parts, c.before.Parts)) > 0 || len(missing(c.before.Parts, c.after.Parts)) > 0
	roles := c.Roles
	if c.By == event.SettingsFile {
		roles = t.started()
	}
	return differs && t.anyGetsMore(roles, reaches)
}

// startsAnother reports whether another program plays a role that gets or decides more.
func startsAnother(t *Tree, c *change, reaches []event.Reach) bool {
	roles := c.Roles
	switch {
	case c.By == event.SettingsFile && !strings.Contains(c.Field, "."):
		roles = t.byDefault(c.now)
	case c.Field == "name" && !slices.ContainsFunc([]string{"agent", "command", "args", "mcp_config", "env.set"}, func(f string) bool { return c.now.Values[f].SHA != "" }):
		return false // it has but another prompt
	}
	return t.anyGetsMore(roles, reaches)
}

// isRaised reports whether a permission is higher than it was, and than those of the turns.
func isRaised(t *Tree, c *change, reaches []event.Reach) bool {
	rank := t.permissionOf(c, c.after)
	return rank > t.permissionOf(c, c.before) && !t.isCovered(c, reaches, func(r event.Reach) bool { return r.Permission >= rank })
}

// permissionOf returns the permission that a value means, as in [event.Reach]. Who looks at the work of
// others may only read unless it is written.
func (t *Tree) permissionOf(c *change, v asked.Value) int {
	if len(v.Parts) == 0 {
		if c.By == event.PromptFile || !slices.Contains(c.Roles, event.ManagerRole) && slices.ContainsFunc(c.Roles, t.decides) {
			return 0
		}
		return roster.Unbound
	}
	switch agent.ParsePermission(v.Parts[0]) {
	case agent.ReadOnly:
		return 0
	case agent.Edit:
		return 1
	default:
		return roster.Unbound
	}
}

// hasMoreTools reports whether a role has tools that it had not. Without the list it has all.
func hasMoreTools(t *Tree, c *change, reaches []event.Reach) bool {
	all := func(v asked.Value) bool { return v.SHA == "" || slices.Contains(v.Parts, "*") }
	more := missing(c.after.Parts, c.before.Parts)
	if all(c.before) || !all(c.after) && len(more) == 0 {
		return false
	}
	return !t.isCovered(c, reaches, func(r event.Reach) bool {
		return r.Tools == nil || !all(c.after) && len(missing(more, r.Tools)) == 0
	})
}

func deniesLess(t *Tree, c *change, reaches []event.Reach) bool {
	return len(missing(c.before.Parts, c.after.Parts)) > 0 && !t.isCovered(c, reaches, func(r event.Reach) bool { return r.Tools == nil })
}

// isCovered reports whether a role that had a turn gets all that the roles of a change get, and has this
// itself.
func (t *Tree) isCovered(c *change, reaches []event.Reach, has func(event.Reach) bool) bool {
	return slices.ContainsFunc(reaches, func(r event.Reach) bool {
		return has(r) && (c.By != event.PromptFile || r.Decides) && !slices.ContainsFunc(c.Roles, func(role string) bool { return t.getsMore(role, r) })
	})
}

// anyGetsMore reports whether one of the roles gets a secret or decides, and no role that had a turn gets as
// much.
func (t *Tree) anyGetsMore(roles []string, reaches []event.Reach) bool {
	return t.withMore(roles, reaches) != nil
}

// withMore returns the roles that get a secret or decide, where no role that had a turn gets as much.
func (t *Tree) withMore(roles []string, reaches []event.Reach) (more []string) {
	for _, role := range roles {
		if !slices.ContainsFunc(reaches, func(r event.Reach) bool { return !t.getsMore(role, r) }) {
			more = append(more, role)
		}
	}
	return more
}

// getsMore reports whether a role decides or gets a secret, unlike one of this reach.
func (t *Tree) getsMore(role string, than event.Reach) bool {
	r := t.reachOf(role)
	return r.Decides && !than.Decides || len(unmatched(r.Secrets, than.Secrets)) > 0
}

// reachOf returns what a role gets by all the programs that play it. One without a program may decide.
func (t *Tree) reachOf(role string) event.Reach {
	r, is := t.reach[strings.ToLower(role)]
	if !is {
		r.Decides = t.decides(role)
		t.reach[strings.ToLower(role)] = r
	}
	return r
}

// findReaches computes what roles get, those without a program by their files.
func (t *Tree) findReaches(players []*roster.Player) {
	t.reach = map[string]event.Reach{}
	add := func(role string, secrets []string) {
		r := t.reachOf(role)
		r.Secrets = append(r.Secrets, secrets...)
		t.reach[strings.ToLower(role)] = r
	}
	for _, p := range players {
		add(p.Role.Name, t.secretsOf(p))
	}
	for _, role := range t.Roster.Roles.All() {
		add(role.Name, t.handed(role.Env))
	}
}

// playerReach returns what the agent of a player gets and decides.
func (t *Tree) playerReach(p *roster.Player) event.Reach {
	r := p.Reach()
	r.Secrets, r.Decides = t.secretsOf(p), t.decides(p.Role.Name)
	return r
}

// secretsOf returns the names, or patterns of them, of the secrets that a program is handed.
func (t *Tree) secretsOf(p *roster.Player) []string {
	all := append(p.Reach().Secrets, t.handed(p.Role.Env)...)
	slices.Sort(all)
	return slices.Compact(all)
}

// handed returns the names that the settings and the rule of a role pass although they are secret.
func (t *Tree) handed(rule option.Env) []string {
	all := slices.Concat(t.Roster.Settings.Env.Pass, rule.Pass)
	for _, name := range rule.Only {
		if t.isSecret(name) {
			all = append(all, name)
		}
	}
	return all
}

// isSecret reports whether a name, or a pattern, is that of a secret variable.
func (t *Tree) isSecret(pattern string) bool {
	return redact.IsSecretName(pattern) || slices.ContainsFunc(t.Roster.Environ, func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		ok, err := path.Match(pattern, name)
		return ok && err == nil && redact.IsSecretName(name)
	})
}

func (t *Tree) decides(role string) bool {
	is := func(name string) bool { return strings.EqualFold(name, role) }
	return slices.ContainsFunc(t.deciders, is) || slices.ContainsFunc(t.Residents, is)
}

// started returns the roles that a program plays.
func (t *Tree) started() (names []string) {
	for _, p := range t.Roster.Loaded(t.Dir) {
		if !p.Pretends {
			names = append(names, p.Role.Name)
		}
	}
	return names
}

// byDefault returns the roles whose program the settings choose for all roles.
func (t *Tree) byDefault(settings *asked.Look) (names []string) {
	for _, role := range t.Roster.Roles.All() {
		own := role.Agent != "" || len(role.Command) > 0
		for field := range settings.Values {
			kind, of, _ := strings.Cut(field, ".")
			own = own || (kind == "agent" || kind == "exec") && strings.EqualFold(of, role.Name)
		}
		if !own {
			names = append(names, role.Name)
		}
	}
	return names
}

// missing returns the entries of all that are not among the others.
func missing(all, others []string) (rest []string) {
	for _, e := range all {
		if !slices.Contains(others, e) {
			rest = append(rest, e)
		}
	}
	return rest
}

// unmatched is like missing, for others that are names of variables in which * matches any letters.
func unmatched(all, patterns []string) []string {
	return slices.DeleteFunc(missing(all, patterns), func(name string) bool {
		return slices.ContainsFunc(patterns, func(p string) bool { ok, err := path.Match(p, name); return ok && err == nil })
	})
}
