package marks

import (
	"encoding/json"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/rundir"
)

// Turn has the parts of a run that a [Keeper] uses.
type Turn struct {
	Board        string // the board as the user named it
	Path         string // path of the board's file, without links
	Journal      Journal
	Place        *board.Place
	Folder       rundir.Dir
	OnDivergence string
	DryRun       bool
}

// Journal is the journal of the board.
type Journal interface {
	State() *flow.State
	Record(event.Event) error
}

// Keeper keeps the marks of one board's run. A mark counts if it was there when its task joined the
// list, or if it was set between two turns of agents in the work tree, in the Manager's turn, or by
// the work on the task itself if that work replied ok.
type Keeper struct {
	Turn
	reader   reader
	turns    *turns
	before   *Marks   // the marks that count, as of the last turn; nil: not known
	managers bool     // the last turn was the Manager's, and its marks are not taken yet
	seen     seen     // the log of turns, as of the last turn
	kept     *kept    // the file of the marks, as it was written last; nil: not known
	inFile   *Marks   // the marks in that file
	sha      string   // SHA-256 of before
	open     *os.File // the log, while an agent of this board is at work; nil: none is, or the log cannot be written
}

// NewKeeper returns the keeper of a run.
func NewKeeper(t Turn) *Keeper {
	return &Keeper{Turn: t, reader: reader{place: t.Place}, turns: newTurns(t.Place.Dir(), t.Path)}
}

// Restart takes up the marks that an earlier run kept. It puts back what an agent of another board
// has marked since, and returns the event about that, or nil. If no marks were kept, those count that
// are there.
func (k *Keeper) Restart(b *board.Board) (event.Event, error) {
	if k.DryRun {
		return nil, nil
	}
	if before, was, known := load(k.Folder, k.Journal.State().Marks); known {
		k.before, k.inFile, k.kept = before, before, &was
		k.seen = seen{at: was.Turns, open: was.Open, tasks: was.Tasks}
	}
	return k.catchUp(b.TaskPaths())
}

// Begin takes the marks as they are before a turn. It first puts back what an agent of another board
// has marked since the last turn. It returns the SHA-256 of the marks, which is to be journaled with
// the attempt.
func (k *Keeper) Begin(b *board.Board, task string) (sha string, err error) {
	if k.DryRun {
		return "", nil
	}
	e, err := k.catchUp(b.TaskPaths())
	if err == nil && e != nil {
		err = k.Journal.Record(e)
	}
	if err == nil {
		err = k.keep(false)
	}
	if err != nil {
		return "", err
	}
	k.openTurn(task)
	return k.sha, nil
}

// BeginManagers begins the Manager's turn, whose marks count.
func (k *Keeper) BeginManagers() {
	k.managers = !k.DryRun && k.before != nil
}

func (k *Keeper) openTurn(task string) {
	file, _ := k.Place.Resolve(task)
	k.open = k.turns.open(file.Abs)
}

// End closes the turn of an agent. What the agent has marked in the headers of other tasks than its
// own is put back, unless the agent was the Manager. Errors: those of the journal.
func (k *Keeper) End(step *flow.Step) error {
	if k.before == nil || step == nil || k.managers { // catchUp takes the Manager's marks, or Leave does
		return nil
	}
	defer k.closeTurn()
	now, err := k.look(k.before.list)
	if err != nil {
		return k.Journal.Record(k.unread(err))
	}
	k.seen.any = false
	changed := slices.DeleteFunc(now.Changed(k.before), func(p string) bool { return k.isTask(p, step) })
	theirs, changed := k.ofOthers(changed)
	for _, p := range theirs {
		k.count(k.before.with(p, now.of[p]))
	}
	if len(changed) == 0 {
		return nil
	}
	return k.Journal.Record(k.divergence(changed, fmt.Sprintf("%s, at work on %s,", step.Player(), step.Task)))
}

// EndWork decides about the mark of the open step's own task, as the last look found it. It counts
// once the work on the task is accepted as ok. While that work is reviewed the mark stays as it is,
// and otherwise it is put back. Errors: those of the journal.
func (k *Keeper) EndWork(step *flow.Step) error {
	now := k.reader.marks
	if k.before == nil || now == nil || step == nil || step.Checkpoint != nil || isManagers(step) {
		return nil
	}
	own := slices.DeleteFunc(now.Changed(k.before), func(p string) bool { return !k.isTask(p, step) })
	switch {
	case len(own) == 0, step.MayMark() && step.TaskStatus == "":
		return nil
	case !step.MayMark():
		return k.Journal.Record(k.divergence(own, step.Role+", whose work is not accepted as ok,"))
	}
	for _, p := range own {
		k.count(k.before.with(p, now.of[p]))
	}
	return nil
}

// Leave takes the marks as they are at the end of the run, and returns their SHA-256. It leaves them
// as of the last turn if the board is frozen, because the Lead may have them put back.
func (k *Keeper) Leave() string {
	if k.before == nil || k.DryRun || k.Journal.State().Frozen != nil {
		return ""
	}
	e, err := k.catchUp(k.before.list)
	if err != nil {
		return ""
	}
	if e != nil {
		_ = k.Journal.Record(e) // the record of the run's end reports the error
	}
	if k.Journal.State().Frozen != nil {
		return ""
	}
	_ = k.keep(true) // without the file the next run takes the marks as they are
	return k.sha
}

// Close closes the turn that is open, if any.
func (k *Keeper) Close() { k.closeTurn() }

func (k *Keeper) closeTurn() {
	if k.open != nil {
		_ = k.open.Close() // every line was written by one call
	}
	k.open = nil
}

// look looks at the log of turns, and then reads the marks. What an agent marks whose turn begins
// after the look at the log is for the next look. The tasks of other boards' turns stay known while
// such a turn is open.
func (k *Keeper) look(list []string) (*Marks, error) {
	was := k.seen
	k.seen = k.turns.since(was.at, k.open)
	k.seen.any = k.seen.any || was.any
	if was.open {
		k.seen.tasks = append(k.seen.tasks, was.tasks...)
		slices.Sort(k.seen.tasks)
		k.seen.tasks = slices.Compact(k.seen.tasks)
	}
	return k.reader.read(list)
}

// ofOthers parts tasks whose marks have changed since the last look: first those on which an agent of
// another board has worked, because the journal of that board decides about their marks.
func (k *Keeper) ofOthers(changed []string) (theirs, rest []string) {
	if len(changed) == 0 {
		return nil, nil
	}
	tasks := append(k.turns.since(k.seen.at, k.open).tasks, k.seen.tasks...)
	for _, p := range changed {
		if slices.Contains(tasks, k.reader.file(p)) {
			theirs = append(theirs, p)
		} else {
			rest = append(rest, p)
		}
	}
	return theirs, rest
}

// catchUp reads the marks. If the last turn was the Manager's, they count, and those of tasks that
// are not done are said. If an agent of another board was at work since the last turn of this board,
// catchUp puts back the marks that have changed meanwhile, and returns the event about them. The
// exceptions are tasks on which another board has worked, because that board's journal decides about
// them, and tasks that are done here.
func (k *Keeper) catchUp(list []string) (event.Event, error) {
	wasOpen, managers := k.seen.open, k.managers
	now, err := k.look(list)
	if err != nil {
		return nil, err
	}
	others := wasOpen || k.seen.open || k.seen.any
	k.seen.any, k.managers = false, false
	if k.before == nil || !managers && !others {
		k.adopt(now)
		return nil, nil
	}
	state := k.Journal.State()
	_, changed := k.ofOthers(slices.DeleteFunc(now.Changed(k.before), func(p string) bool {
		return k.isTask(p, state.Step) || k.isDone(p)
	}))
	if len(changed) == 0 || managers {
		e := k.managersMarks(now, changed)
		k.adopt(now)
		return e, nil
	}
	e := k.divergence(changed, "an agent of another board")
	if e.Policy != event.PolicyRestore {
		return e, nil // the Lead may have the marks put back
	}
	if now, err = k.reader.read(list); err == nil {
		k.adopt(now)
	}
	return e, err
}

// managersMarks returns the event about tasks that the Manager has marked as done in their headers
// without work here, or nil.
func (k *Keeper) managersMarks(now *Marks, changed []string) event.Event {
	settled := slices.DeleteFunc(slices.Clone(changed), func(p string) bool { return !now.of[p].Done })
	if len(settled) == 0 {
		return nil
	}
	e := k.event(event.PolicyAccept)
	e.Text = fmt.Sprintf("the Manager marked %s as done without work here", event.List(settled, mostNamed))
	return e
}

// adopt makes marks count. The mark of the open step's task stays as it was before the step, until
// the work on it has replied ok.
func (k *Keeper) adopt(now *Marks) {
	step := k.Journal.State().Step
	if k.before != nil && step != nil && step.Started > 0 && !step.MayMark() {
		for _, p := range now.Changed(k.before) {
			if k.isTask(p, step) {
				now = now.with(p, k.before.of[p])
			}
		}
	}
	k.count(now)
}

// count makes marks the ones that count.
func (k *Keeper) count(m *Marks) {
	if m != k.before {
		k.before, k.sha = m, m.SHA()
	}
}

// isDone reports whether a task is done by its last reply here, or by a person.
func (k *Keeper) isDone(p string) bool {
	state := k.Journal.State()
	return state.IsDone(p) || slices.ContainsFunc(state.Statuses, func(t flow.TaskStatus) bool {
		return t.IsDone() && k.Place.SameTask(t.Task, p)
	})
}

// isManagers reports whether the Manager is at work in the step.
func isManagers(step *flow.Step) bool { return step.Before != nil }

// isTask reports whether a path on the board leads to the task of a step.
func (k *Keeper) isTask(p string, step *flow.Step) bool {
	if step == nil || step.Checkpoint != nil {
		return false
	}
	if path.Clean(p) == path.Clean(step.Task) {
		return true
	}
	file := k.reader.file(p)
	ref, err := k.Place.Resolve(step.Task)
	return file != "" && err == nil && file == ref.Abs
}

// keep writes the marks that count into the run's folder if they have changed, or if the parameter
// always is true. It does not sync, since they are not needed after a power cut.
func (k *Keeper) keep(always bool) error {
	if k.before == k.inFile && !always {
		return nil
	}
	now := &kept{List: k.before.list, Marks: k.before.of, Turns: k.seen.at, Open: k.seen.open, Tasks: k.seen.tasks}
	switch {
	case k.kept == nil:
	case k.before == k.inFile:
		now.Last = k.kept.Last
	default:
		last := *k.kept
		last.Last, now.Last = nil, &last
	}
	data, err := json.Marshal(now)
	if err == nil {
		err = rundir.OverwriteFile(k.Folder.Marks(), data)
	}
	if err != nil {
		return fmt.Errorf("keep the marks of the tasks: %w", err)
	}
	k.kept, k.inFile = now, k.before
	return nil
}

// divergence puts the marks of tasks back, and returns the event about that. With the setting
// "on_divergence: freeze" it puts nothing back, and the board is frozen. If the marks cannot be put
// back, a person is asked.
func (k *Keeper) divergence(tasks []string, who string) event.StateDiverged {
	e := k.event(event.PolicyRestore)
	e.Text = fmt.Sprintf("STATE_DIVERGENCE: %s marked %s %s; a mark in a header is for the task's own work, "+
		"for the Manager or for a person", who, event.List(tasks, mostNamed), gained(tasks, k.before.of))
	if k.OnDivergence == event.PolicyFreeze {
		e.Policy, e.Text = event.PolicyFreeze, e.Text+"; the board is frozen"
		return e
	}
	where, err := putBack(k.Place, k.Folder, tasks, k.before)
	if err != nil {
		e.Policy, e.Text = event.PolicyAsk, fmt.Sprintf("%s; %v", e.Text, err)
		return e
	}
	e.Text += ", so that is put back (" + where + ")"
	return e
}

// unread returns the event that has a person asked, because the marks cannot be read.
func (k *Keeper) unread(err error) event.StateDiverged {
	e := k.event(event.PolicyAsk)
	e.Text = fmt.Sprintf("STATE_DIVERGENCE: it cannot be told whether an agent has marked tasks: %v", err)
	return e
}

// event returns an event about the marks, without its text.
func (k *Keeper) event(policy string) event.StateDiverged {
	e := event.StateDiverged{Source: event.SourceTasks, Task: k.Board, Policy: policy}
	if step := k.Journal.State().Step; step != nil {
		e.Step, e.Task, e.Before, e.After = step.Number, step.Task, step.BoardSHA, step.BoardSHA
	}
	return e
}

// mostNamed is the number of tasks that a text names.
const mostNamed = 5

// gained returns in words how the marks of tasks have changed.
func gained(tasks []string, before map[string]board.Mark) string {
	lost := slices.ContainsFunc(tasks, func(t string) bool { return before[t].Done })
	set := slices.ContainsFunc(tasks, func(t string) bool { return !before[t].Done })
	var words []string
	if set {
		words = append(words, "as done")
	}
	if lost {
		words = append(words, "as not done")
	}
	return strings.Join(words, " or ")
}
