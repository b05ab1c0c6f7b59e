package trust

import (
	"slices"
	"strings"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/git"
	"kanban-run/orchestrator/roster"
	"kanban-run/orchestrator/rundir"
)

// RefuseHere returns a *ChangedError if a command without a board may not start its agents in the
// work directory dir, because of what agents have changed. The programs that it would start are
// those that the roster has loaded. The parameter prompts is true for a command that uses the prompt
// of supervisors. Errors: those of the index.
func RefuseHere(dir string, r *roster.Roster, prompts bool) error {
	k := newHere(dir, r, prompts)
	loaded := r.Loaded(dir)
	isUsed := func(p *roster.Player) bool { return slices.Contains(loaded, p) }
	r.LoadAll(dir)
	pending, err := k.pending()
	if err != nil {
		return err
	}
	for _, c := range pending {
		if k.isAsked(c, isUsed) {
			k.asks = append(k.asks, c)
		}
	}
	if k.asks == nil {
		return nil
	}
	return &ChangedError{Changes: k.asks}
}

// PendingHere returns what agents have changed in the work tree of dir and no person has accepted.
// Errors: those of the index.
func PendingHere(dir string, r *roster.Roster) ([]flow.Changed, error) {
	r.LoadAll(dir)
	return newHere(dir, r, true).pending()
}

func newHere(dir string, r *roster.Roster, prompts bool) *Keeper {
	return NewKeeper(Turn{Dir: dir, Roster: r, Skip: func(string) bool { return false }, Prompts: prompts})
}

// pending returns the changes in the index that still stand, and that the command looks at.
func (k *Keeper) pending() (changes []flow.Changed, err error) {
	k.known = k.look()
	x, err := readIndex(k.Dir)
	if err != nil {
		return nil, err
	}
	k.takeUp(x, &flow.State{}, nil)
	return slices.DeleteFunc(slices.Clone(x.Changed), func(c flow.Changed) bool { return !k.looksAt(c) && c.By != event.TaskRole }), nil
}

// Held says which parts of the settings a run must not use before a person has accepted what an agent
// changed.
type Held struct {
	Notify  string // the commands and addresses for notifications: what was changed; "": nothing
	Command string // the command alone
	Git     bool   // the way of the checkpoints
}

// HeldHere returns what is held in the work directory dir. Errors: those of the index.
func HeldHere(dir string, r *roster.Roster) (h Held, err error) {
	pending, err := newHere(dir, r, true).pending()
	for _, c := range pending {
		text := c.Task + " changed " + c.Name()
		switch {
		case c.By == event.NotifyFile:
			h.Command = text
		case c.By == event.SettingsFile && slices.Contains([]string{"", "notify", "env"}, c.Field):
			h.Notify = text
		}
		h.Git = h.Git || c.By == event.SettingsFile && (c.Field == "" || strings.HasPrefix(c.Field, "checkpoint") || c.Field == "secrets_allow")
	}
	return h, err
}

// Single watches the files that decide while an agent without a board is at work. The returned
// function tells the boards of the work tree what the agent has changed. p is the agent's player, and redact hides
// secrets in names.
func Single(dir string, r *roster.Roster, p *roster.Player, redact func(string) string) (end func() error) {
	k := newHere(dir, r, false)
	k.watch.redact = redact
	r.LoadAll(dir)
	k.known = k.look()
	return func() error {
		changed := slices.DeleteFunc(k.changes(), func(f event.ChangedFile) bool { return !k.matters(f, k.reach(p)) })
		if len(changed) == 0 {
			return nil
		}
		return update(dir, func(x *index) bool {
			for _, f := range changed {
				x.add(flow.Changed{ChangedFile: f, Board: "once", Task: "a call of once", Reach: k.reach(p)})
			}
			return true
		})
	}
}

// Hint returns what a person can do.
func (e *ChangedError) Hint() string {
	command := "kanban-run ack --here accept"
	if e.Board != "" {
		command = "kanban-run ack " + failure.Quote(e.Board) + " accept"
	}
	return "look at it, or put it back; " + command + " lets it count, for all boards of this work tree; then the same command goes on"
}

// Unchanged returns a function that tells whether the files of a command are as they are now. It
// returns an error otherwise.
func Unchanged(argv []string, path, dir string) func() error {
	w := watch{top: git.TopOf(dir), seen: map[source]look{}}
	var sources []source
	for _, file := range Files(argv, path, dir, w.top) {
		sources = append(sources, source{by: event.NotifyFile, path: file})
	}
	before := w.values(sources)
	return func() error {
		if changed := difference(before, w.values(sources)); changed != nil {
			return &notSameError{event.NamesOf(changed)}
		}
		return nil
	}
}

type notSameError struct{ files string }

func (e *notSameError) Error() string {
	return "it is not started any more, because " + e.files + " was changed since the run began"
}

// isAtWork reports whether the run of a folder is at work. A folder that cannot be looked at counts
// as one of a run that is.
func isAtWork(folder string) bool {
	owned, err := rundir.Dir{Path: folder}.IsOwned()
	return owned || err != nil
}
