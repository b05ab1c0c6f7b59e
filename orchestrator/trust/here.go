package trust

import (
	"path/filepath"
	"slices"
	"strings"

	"kanban-run/orchestrator/asked"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/git"
	"kanban-run/orchestrator/roster"
	"kanban-run/orchestrator/turns"
)

// RefuseHere returns a *ChangedError if a command without a board may not start its agents in the work
// directory dir, because of what waits there for a person. The programs that it would start are those
// that the roster has loaded. The parameter prompts is true for a command that uses the prompt of
// supervisors.
func RefuseHere(dir string, r *roster.Roster, prompts bool) error {
	var refused []asked.Item
	for _, i := range asked.Waiting(dir) {
		isUsed := i.By == event.SettingsFile || i.By == event.PromptFile && prompts
		if isUsed || slices.ContainsFunc(r.Loaded(dir), func(p *roster.Player) bool { return isOf(p, i.Roles) }) {
			refused = append(refused, i)
		}
	}
	if refused == nil {
		return nil
	}
	return &ChangedError{Items: refused}
}

// Single opens the turn of an agent without a board. p is the agent's player, and what says in words what
// it is at work on.
func (t *Tree) Single(p *roster.Player, what string) (end func()) {
	n := &turn{Turn: turns.Turn{Doing: what + " ran", Reach: t.playerReach(p)}, role: p.Role.Name}
	t.begin(n)
	return func() { t.end(n) }
}

// WaitsForWay reports whether a setting of where checkpoints go waited for a person when the command began.
func (t *Tree) WaitsForWay() bool {
	return t != nil && slices.ContainsFunc(t.first, func(i asked.Item) bool {
		return i.Asks && (i.By == event.GitFile || i.By == event.SettingsFile && (strings.HasPrefix(i.Field, "checkpoint") || i.Field == "secrets_allow"))
	})
}

// Said returns in one line what was changed while agents worked and waits for nobody; "": nothing.
func (t *Tree) Said() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var names, files []string
	add := func(name, file string) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
		if !slices.Contains(files, file) {
			files = append(files, file)
		}
	}
	for _, f := range t.found {
		if f.weight == isSaid || f.weight == isSaidAgain {
			add(f.Spoken(), f.File)
		}
	}
	for _, s := range t.sources {
		if t.exempt[s] && len(asked.Fields(t.begun[s], t.watch.Look(s))) > 0 &&
			slices.ContainsFunc(t.users[s], func(r string) bool { return t.getsMore(r, event.Reach{}) }) {
			add(asked.ShowPath(t.top, s.Path), asked.ShowPath(t.top, s.Path))
		}
	}
	if names == nil {
		return ""
	}
	text := "changed while agents worked: " + event.List(names, 5)
	if _, folder := git.Folder(t.Dir); folder == "" {
		return text
	}
	for i, file := range files {
		if t.top != t.Dir && !filepath.IsAbs(file) {
			file = ":/" + file // from the top of the work tree
		}
		files[i] = failure.Quote(file)
	}
	return text + "; `git diff " + strings.Join(files, " ") + "`"
}

// Close ends a command: what waits stays on the list, also if an agent has removed it.
func (t *Tree) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.waiting) == 0 {
		return nil
	}
	return asked.Update(t.Dir, func(items []asked.Item, known bool) []asked.Item {
		if !known {
			return t.waiting
		}
		return items
	})
}
