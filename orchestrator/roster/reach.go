package roster

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/redact"
	"kanban-run/orchestrator/review"
)

// Places has the files and folders that a roster was read from.
type Places struct {
	Settings string   // the file of settings, which may be missing
	Roles    []string // folders of role files
}

// Unbound is the permission in [event.Reach] of an agent that nothing holds.
const Unbound = 2

// Loaded returns the programs that were found for the work directory dir so far, sorted by role.
func (r *Roster) Loaded(dir string) []*Player {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []*Player
	for _, key := range slices.SortedFunc(maps.Keys(r.players), comparePlayers) {
		if key.dir == dir {
			all = append(all, r.players[key])
		}
	}
	return all
}

func comparePlayers(a, b playerKey) int {
	return cmp.Or(cmp.Compare(a.role, b.role), cmp.Compare(a.dir, b.dir), cmp.Compare(a.adapter, b.adapter),
		cmp.Compare(a.approvals, b.approvals), cmp.Compare(strconv.FormatBool(a.looks), strconv.FormatBool(b.looks)))
}

// LoadAll finds the programs of all roles. A role without a program, or with a wrong one, stays
// unknown.
func (r *Roster) LoadAll(dir string) {
	for _, role := range r.Roles.All() {
		_, _ = r.Player(role.Name, dir)
	}
}

// Deciders returns the roles that judge the work of others, or decide what is next.
func (r *Roster) Deciders() []string {
	names := []string{event.ManagerRole, "Supervisor", r.Settings.Watch.Judge}
	if r.Settings.Checkpoints != nil {
		names = append(names, r.Settings.Checkpoints.Role)
	}
	for _, other := range r.Roles.All() {
		for _, v := range other.Watch {
			if v.Name == "judge" {
				names = append(names, v.Text)
			}
		}
	}
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool { return name == "" })
}

// Reach returns what the agent of a player gets. The field Decides is not set.
func (p *Player) Reach() event.Reach {
	a := p.Assignment
	reach := event.Reach{Permission: Unbound, Tools: a.Tools}
	if p.Adapter.Tool().Permits && len(a.Command) == 0 {
		switch a.Permission {
		case agent.ReadOnly:
			reach.Permission = 0
		case agent.Edit:
			reach.Permission = 1
		}
	}
	for _, entry := range a.Env {
		name, value, _ := strings.Cut(entry, "=")
		if controlsCI(name) || redact.IsSecretName(name) || redact.IsSecretValue(value) {
			reach.Secrets = append(reach.Secrets, name)
		}
	}
	return reach
}

// IsHeld reports whether the agent's own tool holds the agent to a permission below full.
func (p *Player) IsHeld() bool {
	return (p.Assignment.Permission == agent.ReadOnly || p.Assignment.Permission == agent.Edit) && len(p.Assignment.Command) == 0
}

// NotifyCommand returns the words of the command for notifications, or nil.
func (r *Roster) NotifyCommand() []string {
	argv, err := agent.SplitCommand(r.Settings.Notify.Command)
	if err != nil {
		return nil
	}
	return argv
}

// SupervisorPrompts returns the paths at which the prompt of supervisors is looked for.
func (r *Roster) SupervisorPrompts(dir string) []string {
	paths := []string{filepath.Join(dir, review.FileName)}
	if home := Variable(r.Environ, "HOME"); home != "" {
		paths = append(paths, filepath.Join(home, ".claude", review.FileName))
	}
	return paths
}

// SupervisorPrompt returns the prompt for supervisors in the work directory dir. Errors: those of
// [review.ReadPrompt].
func (r *Roster) SupervisorPrompt(dir string) (review.Prompt, error) {
	return review.ReadPrompt(dir, Variable(r.Environ, "HOME"))
}

// Variable returns the value of a variable in an environment, or "". The last one of a name counts.
func Variable(environ []string, name string) (value string) {
	for _, entry := range environ {
		if n, v, _ := strings.Cut(entry, "="); n == name {
			value = v
		}
	}
	return value
}
