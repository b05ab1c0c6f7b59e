// Package trust keeps what agents write from deciding more than the agents may. Some files decide
// what a run starts, what it gets, and whom it believes: settings, roles, prompts of supervisors,
// MCP servers, and the files of commands. A change of one of them in the turn of an agent is
// journaled. If it would get or decide more than that agent, a person has to accept it: the next run
// starts nothing before that. This run goes on with what it has read, but it does not start a
// changed program that gets or decides more.
package trust

import (
	"errors"
	"path/filepath"
	"slices"

	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/git"
	"kanban-run/orchestrator/roster"
	"kanban-run/orchestrator/rundir"
)

// Turn has the parts of a run that a [Keeper] uses.
type Turn struct {
	Board   string // path of the board as the user wrote it
	Dir     string // work directory
	Journal Journal
	Folder  rundir.Dir
	Roster  *roster.Roster
	RoleOf  func(task string) string // role that a task names; nil: the command has no board
	Skip    func(path string) bool   // whether a file is the board or a task, which decide nothing here
	Notice  func(text string)
	Redact  func(string) string // hides secrets in the names that are kept; nil: none are kept
	Used    []string            // roles that the board needs as it stands
	// Supervisor is the role of the board's resident supervisor; "": there is none.
	Supervisor string
	// Siblings returns the changes in the journals of other boards beside this one. It is called if the
	// index is lost. It may be nil.
	Siblings func() []flow.Changed
	Prompts  bool // the prompt of supervisors is used whatever the roles ask
	DryRun   bool
}

// Journal is the journal of the board.
type Journal interface {
	State() *flow.State
	Append(event.Event) error
}

// Keeper knows the changes of files that decide, for one board's run. A nil Keeper knows none.
type Keeper struct {
	Turn
	watch watch
	files map[*roster.Player][]source // the files of a player
	known []event.ChangedFile         // the values at the last look
	reads int                         // number of sources that were read by then

	all     []source            // the files of players, see sources
	players int                 // the number of these players
	asks    []flow.Changed      // changes of earlier turns that a person has to accept
	fresh   []event.ChangedFile // changes in this run
	opened  bool                // Open was called
	warned  bool                // ReviewedBy has given its warning
}

// NewKeeper returns the keeper of a run. In a dry run it is nil, because no agent is at work.
func NewKeeper(t Turn) *Keeper {
	if t.DryRun {
		return nil
	}
	k := &Keeper{Turn: t, files: map[*roster.Player][]source{}}
	k.watch = watch{top: git.TopOf(t.Dir), decides: k.decides, redact: t.Redact, seen: map[source]look{}}
	return k
}

// lowest is the reach of an agent of which nothing is known.
func lowest() event.Reach { return event.Reach{Permission: roster.Unbound} }

// Open takes up the changes of earlier runs and of other boards, and finds those of a turn that a
// kill has cut short: cut is the step of that turn, or nil. Errors: those of the journal, and of an
// index that something else has taken the place of.
func (k *Keeper) Open(cut *flow.Step) error {
	if k == nil {
		return nil
	}
	k.Roster.LoadAll(k.Dir) // an agent may change the files of any role
	k.known, k.opened = k.look(), true
	k.reads = k.watch.reads
	var events []event.Event
	err := update(k.Dir, func(x *index) bool {
		events = k.takeUp(x, k.Journal.State(), cut)
		x.Open = append(x.Open, openRun{k.Folder.Path, thisProcess()})
		return true
	})
	if errors.As(err, new(*durable.NotPlainError)) {
		return err // an agent may have done that
	}
	if err != nil {
		k.Notice("what agents of other boards changed is not known: " + err.Error())
	}
	for _, e := range events {
		if err := k.Journal.Append(e); err != nil {
			return err
		}
	}
	for _, c := range k.Journal.State().Changed {
		if k.isAsked(c, k.isUsed) {
			k.asks = append(k.asks, c)
		}
	}
	return k.keep()
}

// Begin takes the files as they are before a turn. What was changed since the last turn is a
// person's doing, unless another board of the work tree is at work.
func (k *Keeper) Begin() error {
	if k == nil {
		return nil
	}
	changed := k.changes()
	if changed == nil {
		return nil
	}
	others := k.others()
	if others == nil {
		return k.keep()
	}
	return k.record(event.FilesChanged{Board: k.Board, Task: event.List(others, 3), Role: "an agent", Reach: lowest(), Files: changed})
}

// End journals what was changed in a turn. While other boards of the work tree are at work, it cannot
// be told whose turn it was, so that all of them are named. Errors: those of the journal.
func (k *Keeper) End(ref event.AttemptRef, p *roster.Player) error {
	if k == nil {
		return nil
	}
	changed := k.changes()
	if changed == nil {
		return nil
	}
	e := event.FilesChanged{Board: k.Board, Task: ref.Task, Role: ref.Player(), Reach: k.reach(p), Files: changed}
	if others := k.others(); others != nil {
		e.Task, e.Role, e.Reach = event.List(append([]string{ref.Task}, others...), 3), "an agent", lowest()
	}
	return k.record(e)
}

// changes returns what has changed since the last look.
func (k *Keeper) changes() []event.ChangedFile {
	now := k.look()
	if k.watch.reads == k.reads && len(now) == len(k.known) { // nothing was read since
		return nil
	}
	changed := difference(k.known, now)
	k.known, k.reads = now, k.watch.reads
	return changed
}

// others names the other boards of the work tree that are at work.
func (k *Keeper) others() (boards []string) {
	x, err := readIndex(k.Dir)
	if err != nil {
		return nil // without an index there is nothing to tell
	}
	for _, r := range x.Open {
		if r.Folder != k.Folder.Path && r.isAtWork() {
			boards = append(boards, filepath.Base(r.Folder))
		}
	}
	return boards
}

// record journals changes of which a person may have to hear, and tells the other boards. A change
// that brings back what was there before the first one is settled.
func (k *Keeper) record(e event.FilesChanged) error {
	if k.Redact != nil {
		e = event.Redacted(e, k.Redact)
	}
	var back []event.ChangedFile
	pending := k.Journal.State().Changed
	e.Files = slices.DeleteFunc(e.Files, func(f event.ChangedFile) bool {
		i := slices.IndexFunc(pending, func(c flow.Changed) bool { return c.Is(f) })
		if i >= 0 && pending[i].Was == f.SHA {
			back = append(back, f)
			return true
		}
		return !k.matters(f, e.Reach)
	})
	for i, f := range e.Files {
		if at := slices.IndexFunc(pending, func(c flow.Changed) bool { return c.Is(f) }); at >= 0 {
			e.Files[i].Was = pending[at].Was
		}
	}
	k.fresh = slices.DeleteFunc(k.fresh, func(f event.ChangedFile) bool { return contains(back, f) || contains(e.Files, f) })
	k.fresh = append(k.fresh, e.Files...)
	var err error
	if len(back) > 0 {
		err = k.Journal.Append(event.FilesSettled{Board: k.Board, Files: back})
	}
	if len(e.Files) > 0 {
		err = errors.Join(err, k.Journal.Append(e))
	}
	failed := k.update(func(x *index) bool {
		for _, f := range back {
			x.forget(f)
		}
		for _, f := range e.Files {
			x.add(flow.Changed{ChangedFile: f, Board: e.Board, Task: e.Task, Reach: e.Reach})
		}
		return len(back) > 0 || len(e.Files) > 0
	})
	if failed != nil {
		k.Notice("other boards do not hear of it: " + e.Sentence().Text + ": " + failed.Error())
	}
	return errors.Join(err, k.keep())
}

func contains(files []event.ChangedFile, f event.ChangedFile) bool {
	return slices.ContainsFunc(files, f.Is)
}

// Close ends the run's part of the index.
func (k *Keeper) Close() error {
	if k == nil || !k.opened {
		return nil
	}
	return k.update(func(x *index) bool {
		x.close(k.Folder.Path)
		return true
	})
}

// update changes the index of the work tree. An index that was removed since Open gets back what the
// board's own journal has.
func (k *Keeper) update(edit func(*index) bool) error {
	return update(k.Dir, func(x *index) bool {
		if x.isNew {
			x.Open = append(x.Open, openRun{k.Folder.Path, thisProcess()})
			for _, c := range k.Journal.State().Changed {
				x.add(c)
			}
		}
		return edit(x) || x.isNew
	})
}
