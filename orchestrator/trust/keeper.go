package trust

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"kanban-run/orchestrator/asked"
	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/guard"
	"kanban-run/orchestrator/roster"
	"kanban-run/orchestrator/rundir"
	"kanban-run/orchestrator/turns"
)

// Turn has the parts of a run that a [Keeper] uses.
type Turn struct {
	Board   string // path of the board as the user wrote it
	Path    string // path of the board's file, without links
	Tree    *Tree  // nil in a dry run
	Journal flow.Journal
	Folder  rundir.Dir
	RoleOf  func(task string) string // role that a task names
	// Given returns the tasks that the last turn has given to other roles: those whose header it has
	// changed, and those that it has added to the list of the board with the SHA-256 before.
	Given  func(before string) []string
	Notice func(text string)
	Used   []string // roles that the board needs as it stands
	Way    bool     // its checkpoints go to a remote
}

// Keeper looks at what decides around the turns of one board's run. A nil Keeper does nothing.
type Keeper struct {
	Turn
	open     *turn
	edition  int    // of the tree, at the last note
	role     string // role of the turn's task before the turn
	clone    string // top of the clone in which the board works; "": in the checkout
	boardSHA string // SHA-256 of the board before the turn; "": the turn is the Manager's, which gives tasks to roles
}

// NewKeeper returns the keeper of a run. In a dry run it is nil, because no agent is at work.
func NewKeeper(t Turn) *Keeper {
	if t.Tree == nil {
		return nil
	}
	return &Keeper{Turn: t, edition: -1}
}

// WatchClone has the board work in a clone, see [Tree.WatchClone].
func (k *Keeper) WatchClone(checkout, clone string) {
	if k != nil {
		k.clone = clone
		k.Tree.WatchClone(checkout, clone)
	}
}

// ForgetClone has the board's clone go, see [Tree.ForgetClone].
func (k *Keeper) ForgetClone() {
	if k != nil && k.clone != "" {
		k.Tree.ForgetClone(k.clone)
	}
}

// Open settles what the board's journal has open. Errors: those of the journal.
func (k *Keeper) Open() error {
	if k == nil {
		return nil
	}
	state := k.Journal.State()
	var events []event.Event
	var open []flow.Changed
	settled := event.FilesSettled{Board: k.Board}
	for _, c := range state.Changed {
		if c.By == event.TaskRole && c.Asks && board.SHA([]byte(k.RoleOf(c.File))) == c.SHA {
			continue
		}
		if c.Asks && c.By != event.TaskRole {
			open = append(open, c)
		} else {
			settled.Files = append(settled.Files, c.ChangedFile)
		}
	}
	for _, c := range k.Tree.reopen(open) {
		settled.Files = append(settled.Files, c.ChangedFile)
	}
	if settled.Files != nil {
		events = append(events, settled)
	}
	for _, text := range k.Tree.takeSaid(k.uses) {
		k.Notice(text)
	}
	return k.append(events)
}

// Resume asks a person about what gives more and differs from the note of a turn that a kill has cut short.
// A note that the intent does not name, and a copy of one, tell nothing.
func (k *Keeper) Resume(step *flow.Step, isCut bool, note rundir.Note) error {
	state := k.Journal.State()
	if k == nil || !isCut || step == nil || note.SHA != state.Note || note.IsCopy || state.Workdir != k.Tree.Dir {
		return nil
	}
	var n kept
	if json.Unmarshal(note.Parts[k.Name()], &n) != nil || n.Dir != k.Tree.Dir {
		return nil
	}
	return k.append(k.Tree.resume(&n, k.Board, step))
}

// resume decides about what differs from the note of a turn that a kill has cut short. Only what gives more
// than the role of that turn counts: the rest may be anybody's since.
func (t *Tree) resume(n *kept, board string, cut *flow.Step) []event.Event {
	t.mu.Lock()
	defer t.mu.Unlock()
	of := &turn{Turn: guard.Of(cut, board, ""), role: cut.Role}
	if p, err := t.Roster.Player(cut.CallRole(), t.Dir); err == nil {
		of.Reach = t.playerReach(p)
	}
	changes := slices.DeleteFunc(t.since(n), func(c change) bool {
		return asked.Has(t.waiting, c.ChangedFile) || t.weigh(&c, []event.Reach{of.Reach}) != isAsked
	})
	if len(changes) == 0 {
		return nil
	}
	events := t.record(changes, []*turn{of}, "since the run died while "+cut.Task+" was worked on")
	t.first, _ = asked.Read(t.Dir) // this run does not begin with them either
	return events
}

// reopen has what a journal has open wait again if the list of the work tree is lost. If it is there, it
// returns those that do not wait any more.
func (t *Tree) reopen(open []flow.Changed) (settled []flow.Changed) {
	t.mu.Lock()
	defer t.mu.Unlock()
	items, known := asked.Read(t.Dir)
	for _, c := range open {
		item := asked.Item{ChangedFile: c.ChangedFile, Words: c.Name() + " changed " + whileOf(c)}
		switch {
		case asked.Has(items, c.ChangedFile):
		case known || !item.Stands(t.top):
			settled = append(settled, c)
		default:
			items = append(items, item)
		}
	}
	if !known && items != nil {
		err := asked.Update(t.Dir, func([]asked.Item, bool) []asked.Item { return items })
		if err != nil && t.Notice != nil {
			t.Notice("what waits for a person is not kept: " + err.Error())
		}
		t.first, t.waiting = items, items
	}
	return settled
}

// takeSaid returns what is said once at the start of a board that uses it, and takes it off the list.
func (t *Tree) takeSaid(uses func(asked.Item) bool) (said []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	isDue := func(i asked.Item) bool { return !i.Asks && uses(i) }
	if !slices.ContainsFunc(t.first, isDue) {
		return nil
	}
	_ = asked.Update(t.Dir, func(items []asked.Item, _ bool) []asked.Item { return slices.DeleteFunc(items, isDue) }) // else it is said again
	for _, i := range t.first {
		if isDue(i) {
			said = append(said, i.Words)
		}
	}
	t.first = slices.DeleteFunc(t.first, isDue)
	t.waiting = slices.DeleteFunc(t.waiting, isDue)
	return said
}

// Name names what decides in the note of a turn.
func (k *Keeper) Name() string { return "decides" }

// Begin opens a turn. Programs that work for us get nothing. Errors: *ChangedError if the program of the
// call may not be started any more, those of the journal.
func (k *Keeper) Begin(t *guard.Turn) (any, error) {
	if k == nil {
		return nil, nil
	}
	if t.Reach = (event.Reach{Permission: roster.Unbound}); !t.IsOurs() {
		t.Reach = k.Tree.playerReach(t.Player)
	}
	k.Close() // of a turn whose agent was not started
	k.open = &turn{Turn: t.Turn, role: t.Ref.Player()}
	if k.boardSHA = t.Board.SHA; t.IsManager {
		k.boardSHA = ""
	}
	if t.IsOurs() {
		return nil, k.append(k.Tree.begin(k.open))
	}
	if err := k.append(k.Tree.begin(k.open)); err != nil {
		return nil, err
	}
	if err := k.refuse(t.Ref.Task, t.Player); err != nil {
		return nil, errors.Join(err, k.closeTurn())
	}
	k.role = k.RoleOf(t.Ref.Task)
	k.Tree.mu.Lock()
	defer k.Tree.mu.Unlock()
	if k.edition == k.Tree.edition {
		return nil, nil
	}
	k.edition = k.Tree.edition
	return k.Tree.keep(), nil
}

// End closes the turn, and journals what was changed in it, and which tasks it has given to a role with a
// secret. Errors: those of the journal.
func (k *Keeper) End(t *guard.Turn) error {
	if k == nil || k.open == nil {
		return nil
	}
	n := k.open
	err := k.closeTurn()
	if k.boardSHA == "" {
		return err
	}
	tasks := k.Given(k.boardSHA)
	if !t.IsOurs() && k.RoleOf(n.Task) != k.role && !slices.Contains(tasks, n.Task) {
		tasks = append(tasks, n.Task)
	}
	return errors.Join(err, k.giveTasks(n, t.Others, tasks))
}

func (k *Keeper) closeTurn() error {
	events := k.Tree.end(k.open)
	k.open = nil
	return k.append(events)
}

func (k *Keeper) append(events []event.Event) (err error) {
	for _, e := range events {
		err = errors.Join(err, k.Journal.Append(e))
	}
	return err
}

// Close closes the turn that is open, if any.
func (k *Keeper) Close() {
	if k != nil && k.open != nil {
		k.Tree.end(k.open)
		k.open = nil
	}
}

// giveTasks journals that a turn, which others overlapped, has given tasks to their roles. A Manager that is a model decides about
// other tasks in its own turn, so only the own one counts then.
func (k *Keeper) giveTasks(n *turn, others []turns.Turn, tasks []string) (err error) {
	manager, managed := k.Tree.Roster.Player(event.ManagerRole, k.Tree.Dir)
	walks := managed == nil && manager.Pretends
	for _, task := range tasks {
		if walks || task == n.Task {
			err = errors.Join(err, k.giveTask(task, n.role, append([]turns.Turn{n.Turn}, others...)))
		}
	}
	return err
}

// GiveBetween journals that a task has come to its role while turns of other boards were open, and none of
// its own. Errors: those of the journal.
func (k *Keeper) GiveBetween(task string, by []turns.Turn) error {
	if k == nil {
		return nil
	}
	return k.giveTask(task, "", by)
}

// giveTask has a task wait for a person if its role is handed a secret by env.pass, and those of the turns
// in which it came to the role get less.
func (k *Keeper) giveTask(task, by string, open []turns.Turn) error {
	role := k.RoleOf(task)
	if role == "" || slices.ContainsFunc(open, func(t turns.Turn) bool { return !k.isHanded(role, t.Reach) }) {
		return nil // it has no file yet, or cannot be read, or another turn's role gets as much
	}
	f := event.ChangedFile{By: event.TaskRole, File: task, Field: "role", Roles: []string{role}, SHA: board.SHA([]byte(role)), Asks: true}
	named := cmp.Or(event.List(turns.Tasks(k.Path, open), 3), by)
	return k.Journal.Append(event.FilesChanged{Board: k.Board, Task: named, Role: by, Reach: open[0].Reach,
		While: turns.While(k.Path, open), Files: []event.ChangedFile{f}})
}

// isHanded reports whether a role is handed a secret by env.pass that one of this reach does not get.
func (k *Keeper) isHanded(role string, reach event.Reach) bool {
	for _, p := range k.Tree.Roster.Loaded(k.Tree.Dir) {
		if strings.EqualFold(p.Role.Name, role) && len(p.Role.Env.Pass)+len(p.Role.Env.Only) > 0 &&
			len(unmatched(k.Tree.secretsOf(p), reach.Secrets)) > 0 {
			return true
		}
	}
	return false
}

// Refuse returns a *ChangedError if the program of a call may not be started before a person has accepted
// what was changed, and what it uses. Begin looks once more.
func (k *Keeper) Refuse(task string, p *roster.Player) error {
	if k == nil {
		return nil
	}
	return k.refuse(task, p)
}

func (k *Keeper) refuse(task string, p *roster.Player) error {
	if refused := k.Tree.refused(k.uses, p, k.clone); refused != nil {
		return &ChangedError{Items: refused}
	}
	for _, c := range k.Journal.State().Changed {
		if c.By == event.TaskRole && c.Asks && c.File == task && isOf(p, c.Roles) {
			return &ChangedError{Board: k.Board, Task: &c}
		}
	}
	if p.Reviews && p.Role.Review.AsksOfChange {
		if text := k.ReviewedBy(p.Role.Name); text != "" {
			return &ReviewError{text}
		}
	}
	return nil
}

// RefuseEnd is [Keeper.Refuse] for an end that starts nothing: a board with tasks undone is complete only
// by a setting.
func (k *Keeper) RefuseEnd(end flow.Finish) error {
	if k == nil || end.Outcome != event.Complete || end.By != event.ByUndone {
		return nil
	}
	if refused := k.Tree.refused(func(i asked.Item) bool { return i.By == event.SettingsFile }, nil, k.clone); refused != nil {
		return &ChangedError{Items: refused}
	}
	return nil
}

// RefuseInTurn is [Keeper.Refuse] for a judge that is started while an agent is at work.
func (k *Keeper) RefuseInTurn(p *roster.Player) error {
	if k == nil {
		return nil
	}
	if err := k.append(k.Tree.refresh()); err != nil {
		return err
	}
	return k.refuse("", p)
}

// refused returns what waits and is used by the program of a call. This command goes on with the bytes of
// its begin, but what waited already then is not used, and neither is a program that was changed since.
func (t *Tree) refused(uses func(asked.Item) bool, p *roster.Player, clone string) (items []asked.Item) {
	t.mu.Lock()
	defer t.mu.Unlock()
	waiting, known := asked.Read(t.Dir)
	if !known {
		waiting = t.waiting
	}
	for _, i := range waiting {
		if t.isElsewhere(i.ChangedFile, clone) {
			continue
		}
		isProgram := i.By == event.ProgramFile && isOf(p, i.Roles)
		if i.Asks && (isProgram || asked.Has(t.first, i.ChangedFile) && (uses(i) || isOf(p, i.Roles))) {
			items = append(items, i)
		}
	}
	return items
}

// uses reports whether the board uses an item, as it stood when the run began.
func (k *Keeper) uses(i asked.Item) bool {
	return i.By == event.SettingsFile || i.By == event.PromptFile || i.By == event.GitFile && k.Way || slices.ContainsFunc(i.Roles, func(r string) bool {
		return slices.ContainsFunc(k.Used, func(u string) bool { return strings.EqualFold(u, r) })
	})
}

func isOf(p *roster.Player, roles []string) bool {
	return p != nil && slices.ContainsFunc(roles, func(r string) bool { return strings.EqualFold(r, p.Role.Name) })
}

// ReviewedBy returns what was changed of the command that reviews a role's work, in this command, in words
// such as "check.sh changed while tasks/1.md was worked on"; "": nothing.
func (k *Keeper) ReviewedBy(role string) string {
	if k == nil {
		return ""
	}
	k.Tree.mu.Lock()
	defer k.Tree.mu.Unlock()
	var parts []string
	for _, f := range k.Tree.found {
		if f.weight == isReview && slices.Contains(f.Roles, role) && !k.Tree.isElsewhere(f.ChangedFile, k.clone) {
			parts = append(parts, f.Name()+" changed "+f.While)
		}
	}
	return event.List(parts, 3)
}
