// Package divergence keeps the board and the headers of its tasks as the Manager or a person left them.
// Only these may end a board (seed 004, "Communication Model"), and an agent marks no task but its own.
// What an agent, the supervisor or a program that hears of the end changes is journaled. It is put back,
// it stands, or a person decides about it, see the setting "on_divergence".
package divergence

import (
	"os"
	"slices"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/config"
	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/guard"
	"kanban-run/orchestrator/ledger"
	"kanban-run/orchestrator/marks"
	"kanban-run/orchestrator/rundir"
	"kanban-run/orchestrator/turns"
)

// Turn has the parts of a run that a [Keeper] uses.
type Turn struct {
	Board     string // path of the board as the user wrote it
	Path      string // path of the board's file, without links
	Journal   flow.Journal
	Workspace Workspace
	Place     *board.Place
	Folder    rundir.Dir
	Run       config.Run
	Redact    func(string) string // hides secrets in the copies of tasks
	Begun     *Begun              // the board as the command found it; nil: it is its only board
	Turns     *turns.Registry     // the turns of the command
	Kept      *guard.Note         // the note of the board's turns
	Others    Others
	// Give is called with a task that came to its role while turns of other boards were open.
	Give func(task string, by []turns.Turn) error
}

// Workspace is the board of the run.
type Workspace interface {
	Look() (*board.Board, error)
	Forget()     // after this, the next look at the board reads the board's file
	SHA() string // SHA-256 of the board's bytes
	Save(*board.Board) error
	KeepBefore(*board.Board) error
	Before(sha string) (*board.Board, error)
	Count(*board.Board)    // makes the board the one that counts
	Counted() *board.Board // the board that counts, as it was looked at or written last; nil: not known
	RestoreEnd(now, before *board.Board, own ...string) (sha, done string, err error)
	PutBack(sha string) error
	PutBackSpoiled(sha string) (done string, err error)
}

// Others knows the work of the other boards of the command.
type Others interface {
	Claimed() []string           // files of the tasks that they have now
	IsDone(taskFile string) bool // their work on a task replied ok
}

// Keeper keeps the board of one run. A mark in the header of a task counts if it came while no turn of
// an agent of this command was open, in the Manager's turn, or by the work on the task itself if that
// work replied ok.
type Keeper struct {
	Turn
	reader   *marks.Reader
	before   *marks.Marks // the marks that count; nil: not known
	earlier  *marks.Marks // those of the last turn of an earlier run; nil: not known
	sha      string       // SHA-256 of before
	look     turns.Look   // the last look
	claimed  []string     // files of the tasks that other boards had at that look
	managers bool         // the last turn was the Manager's, and its marks are not taken yet
	reroled  []string     // tasks that the last turn has given to another role
	unticked *board.Board // the board before the entry of a step's own task was marked in it; nil: it was not, or the work is accepted
	tickedIn int          // the step of unticked
	noted    *marks.Marks // those in the note of the turn
	spoiled  bool         // see OrAsFound
	isCut    bool         // an earlier run has died in the last turn, and none has begun since
	boardSHA string       // SHA-256 of the board before the turn that is open; "": nothing is put back behind it
}

// NewKeeper returns the keeper of a run.
func NewKeeper(t Turn) *Keeper {
	k := &Keeper{Turn: t, reader: marks.NewReader(t.Place)}
	if t.Begun != nil {
		k.reader, k.look = t.Begun.reader, t.Begun.look
		k.count(t.Begun.reader.Last())
		k.Workspace.Count(t.Begun.Board)
	}
	return k
}

// Begun is a board of a command as the command found it.
type Begun struct {
	Board  *board.Board
	place  *board.Place
	reader *marks.Reader
	look   turns.Look
}

// Note looks at a board when its command begins. It returns nil if the board cannot be read: the run
// reports the error.
func Note(w Workspace, place *board.Place, all *turns.Registry) *Begun {
	_, look := all.Since(turns.Look{}, "")
	b, err := w.Look()
	if err != nil {
		return nil
	}
	n := &Begun{b, place, marks.NewReader(place), look}
	if _, err := n.reader.Read(b.TaskPaths()); err != nil {
		return nil
	}
	return n
}

// HasChanged reports whether the board or a mark of its tasks is another one than when the command began, so
// that a person may have to be asked although the board is not run any more.
func (n *Begun) HasChanged(w Workspace) bool {
	if n == nil {
		return false
	}
	w.Forget()
	b, err := w.Look()
	if err != nil || b.SHA != n.Board.SHA {
		return err == nil
	}
	now, err := marks.NewReader(n.place).Read(b.TaskPaths())
	return err == nil && len(now.Changed(n.reader.Last())) > 0
}

// others returns the turns of other boards since the last look in which this board may have been changed, and the present look. An
// agent in a clone has none of its files.
func (k *Keeper) others() (open []turns.Turn, now turns.Look) {
	open, now = k.Turns.Since(k.look, k.Path)
	return slices.DeleteFunc(open, func(t turns.Turn) bool { return t.Apart }), now
}

// OrAsFound returns the board and the error with which it was read. If it cannot be read any more, and turns of
// other boards of the command were open since, it returns the board as the command found it, and Restart
// asks a person.
func (k *Keeper) OrAsFound(b *board.Board, err error) (*board.Board, error) {
	open, _ := k.others()
	if k.Begun == nil || err == nil || durable.IsMachineFault(err) || len(open) == 0 {
		return b, err
	}
	k.spoiled = true
	return k.Begun.Board, nil
}

// Restart takes the board and the marks as they are when the run begins: what stands there is a
// person's. Behind a kill a mark of the open step's task does not count before its work is accepted. It
// returns the event that asks a person about what came since the command began, or behind the end of a run
// that was killed then, or nil.
func (k *Keeper) Restart(b *board.Board) (event.Event, error) {
	state := k.Journal.State()
	before := marks.In(k.Folder.ReadNote(), state.Marks)
	k.earlier = before
	open, look := k.others()
	e, err := k.lookBetween(b, open, look)
	if err != nil || e != nil {
		return e, err
	}
	if e := ledger.UnknownBehind(k.Folder, k.Board, b, state); e != nil {
		return *e, nil
	}
	if step := state.Step; state.Running && before != nil && step != nil && step.Started > 0 && step.TaskStatus != flow.StatusOK {
		for _, p := range k.before.Changed(before) {
			if k.isTask(p, step) {
				k.count(k.before.With(p, before.Of(p)))
			}
		}
	}
	return nil, nil
}

// MarkedNext returns the task that the Manager has named next, as the list spells it, if a person has
// marked it in its header since the last run; else nil. No agent works on it.
func (k *Keeper) MarkedNext(b *board.Board) []string {
	state := k.Journal.State()
	task := b.Spelled(b.Current.Path)
	if state.Step != nil || task == "" || k.earlier == nil || k.before == nil || b.Spelled(state.Last.Next) != task {
		return nil
	}
	if !slices.Contains(k.earlier.List(), task) || k.earlier.Of(task).Done || !k.before.Of(task).Done {
		return nil
	}
	return []string{task}
}

// Look takes what a person has changed of the board and of the marks since the last turn of this board.
// What came while agents of other boards of the command were at work freezes the board until a person
// has decided.
func (k *Keeper) Look(b *board.Board) error {
	if k.before == nil || k.Journal.State().Frozen != nil {
		return nil
	}
	open, look := k.others()
	if len(open) == 0 {
		return nil // the next turn looks
	}
	return k.record(k.lookBetween(b, open, look))
}

// Name names the marks in the note of a turn.
func (k *Keeper) Name() string { return marks.Name }

// Begin takes the board and the marks as they are before a turn. After the first attempt of the Manager
// in a step, those of the marks count that the Manager has set since. What came in turns of other boards
// freezes the board; behind the end of the run, where programs work for us, it is taken.
func (k *Keeper) Begin(t *guard.Turn) (kept any, err error) {
	k.boardSHA, k.isCut = "", false
	if t.IsOurs() && k.Journal.State().Frozen != nil {
		return nil, nil // a person decides about the board first
	}
	if t.IsOurs() {
		k.Leave(t.Board)
		k.boardSHA = t.Board.SHA
		return nil, k.Workspace.KeepBefore(t.Board)
	}
	if !t.IsManager || !k.managers {
		open, look := k.others()
		if err := k.record(k.lookBetween(t.Board, open, look)); err != nil || k.Journal.State().Frozen != nil {
			return nil, err
		}
	}
	if k.managers = t.IsManager; t.IsManager {
		return nil, nil
	}
	if k.boardSHA = t.Board.SHA; k.noted == k.before {
		return nil, nil
	}
	k.noted = k.before
	return k.before, nil
}

// Marks returns the SHA-256 of the marks that the note has, for the intent; "": they are not known.
func (k *Keeper) Marks() string {
	if k.managers || k.before == nil {
		return ""
	}
	return k.sha
}

// End puts back the end of the board and the marks of other tasks, unless the turn was the Manager's.
// Errors: those of the journal, and of writing the board.
func (k *Keeper) End(t *guard.Turn) error {
	k.reroled = nil
	if k.boardSHA == "" || k.Journal.State().Frozen != nil {
		return nil
	}
	others, look := k.others()
	while := turns.While(k.Path, append([]turns.Turn{t.Turn}, others...))
	step := k.Journal.State().Step
	if t.IsOurs() {
		step = nil // what they change is not the work on its task
	}
	if err := k.endMarks(step, while); err != nil || k.Journal.State().Frozen != nil {
		return err
	}
	if err := k.endBoard(step, while); err != nil {
		return err
	}
	k.look, k.claimed = look, k.Others.Claimed()
	return k.noteAdded()
}

// noteAdded reads the tasks that came onto the board in a turn: the next look does not find them as new.
func (k *Keeper) noteAdded() error {
	b := k.Workspace.Counted()
	if k.before == nil || b == nil || b.SHA == k.boardSHA {
		return nil
	}
	list := slices.Clone(k.before.List())
	for _, p := range b.TaskPaths() {
		if !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	_, err := k.reader.Read(list)
	return err
}

// Leave takes the marks as they are at the end of the run, where no agent is at work on the board any
// more. Those of a frozen board stay, because the Lead may have them put back. An error shows again at the
// record of the end.
func (k *Keeper) Leave(b *board.Board) {
	if k.before != nil && k.Journal.State().Frozen == nil {
		_ = k.record(k.lookBetween(b, nil, k.look))
	}
}

// record journals an event, unless it is nil or there is an error.
func (k *Keeper) record(e event.Event, err error) error {
	if e == nil || err != nil {
		return err
	}
	return k.Journal.Append(e)
}

// isFile reports whether one of some files is that of a task.
func (k *Keeper) isFile(task string, files []string) bool {
	file := k.reader.File(task)
	return file != "" && slices.ContainsFunc(files, func(f string) bool { return f == file || sameFile(f, file) })
}

func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	y, lost := os.Stat(b)
	return err == nil && lost == nil && os.SameFile(x, y)
}
