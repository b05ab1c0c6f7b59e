package marks

import (
	"bytes"
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
	reader reader
	turns  *turns
	before Marks    // the marks that count, as of the last turn; nil: not known
	seen   seen     // the log of turns, as of the last turn
	kept   []byte   // the file of the marks as this run wrote it last
	open   *os.File // the log, while an agent of this board is at work; nil: none is, or the log cannot be written
}

// NewKeeper returns the keeper of a run.
func NewKeeper(t Turn) *Keeper {
	return &Keeper{Turn: t, reader: reader{t.Place, map[string]header{}}, turns: newTurns(t.Place.Dir(), t.Path)}
}

// Restart takes up the marks that an earlier run kept. It puts back what an agent of another board
// has marked since, and returns the event about that, or nil.
func (k *Keeper) Restart(b *board.Board) (event.Event, error) {
	was, known := load(k.Folder, k.Journal.State().Marks)
	if k.DryRun || !known {
		return nil, nil
	}
	k.before, k.seen = was.Marks, seen{at: was.Turns, open: was.Open}
	return k.catchUp(b)
}

// Begin takes the marks as they are before a turn. It first puts back what an agent of another board
// has marked since the last turn. It returns the SHA-256 of the marks, which is to be journaled with
// the attempt.
func (k *Keeper) Begin(b *board.Board, task string) (sha string, err error) {
	if k.DryRun {
		return "", nil
	}
	e, err := k.catchUp(b)
	if err == nil && e != nil {
		err = k.Journal.Record(e)
	}
	if err != nil {
		return "", err
	}
	sha, err = k.keep()
	file, _ := k.Place.Resolve(task)
	k.open = k.turns.open(file.Abs)
	return sha, err
}

// End closes the turn of an agent. What the agent has marked in the headers of other tasks than its
// own is put back, unless the agent was the Manager. Errors: those of the journal.
func (k *Keeper) End(step *flow.Step) error {
	if k.before == nil {
		return nil
	}
	defer k.closeTurn()
	now, err := k.reader.read(pathsOf(k.before))
	if err != nil {
		return k.Journal.Record(k.unread(err))
	}
	k.look()
	if step == nil || isManagers(step) {
		return k.endManagers(step, now)
	}
	changed := slices.DeleteFunc(now.Changed(k.before), func(p string) bool { return k.isTask(p, step) || k.isOthers(p) })
	if len(changed) == 0 {
		return nil
	}
	return k.Journal.Record(k.divergence(changed, fmt.Sprintf("%s, at work on %s,", step.Player(), step.Task)))
}

// endManagers takes the marks as the Manager's turn left them. Marks of tasks that are not done are
// journaled, because the Manager has settled these tasks so.
func (k *Keeper) endManagers(step *flow.Step, now Marks) error {
	settled := slices.DeleteFunc(now.Changed(k.before), func(p string) bool {
		return !now[p].Done || k.isTask(p, step) || k.isOthers(p) || k.Journal.State().IsDone(p)
	})
	k.before = now
	if len(settled) == 0 {
		return nil
	}
	e := k.event(event.PolicyAccept)
	e.Text = fmt.Sprintf("the Manager marked %s as done without work here", event.List(settled, mostNamed))
	return k.Journal.Record(e)
}

// EndWork puts back the mark of the open step's own task, unless the work on it replied ok. Errors:
// those of the journal.
func (k *Keeper) EndWork(step *flow.Step) error {
	if k.before == nil || step == nil || step.Checkpoint != nil || step.MayMark() || isManagers(step) {
		return nil
	}
	own := slices.DeleteFunc(pathsOf(k.before), func(p string) bool { return !k.isTask(p, step) })
	now, err := k.reader.read(own)
	if err != nil {
		return err
	}
	if own = now.Changed(k.before); len(own) == 0 {
		return nil
	}
	return k.Journal.Record(k.divergence(own, step.Role+", whose work is not accepted as ok,"))
}

// Leave takes the marks as they are at the end of the run, and returns their SHA-256. It leaves them
// as of the last turn if the board is frozen, because the Lead may have them put back.
func (k *Keeper) Leave() string {
	if k.before == nil || k.DryRun || k.Journal.State().Frozen != nil {
		return ""
	}
	now, err := k.reader.read(pathsOf(k.before))
	if err != nil {
		return ""
	}
	k.adopt(now)
	sha, _ := k.keep() // without the file the next run takes the marks as they are
	return sha
}

// Close closes the turn that is open, if any.
func (k *Keeper) Close() { k.closeTurn() }

func (k *Keeper) closeTurn() {
	if k.open != nil {
		_ = k.open.Close() // every line was written by one call
	}
	k.open = nil
	k.look()
	k.seen.any = false
}

// look looks at the log of turns. The tasks of other boards' turns stay known while such a turn is
// open.
func (k *Keeper) look() {
	was := k.seen
	k.seen = k.turns.since(was.at)
	k.seen.any = k.seen.any || was.any
	if was.open {
		k.seen.tasks = append(k.seen.tasks, was.tasks...)
		slices.Sort(k.seen.tasks)
		k.seen.tasks = slices.Compact(k.seen.tasks)
	}
}

// isOthers reports whether an agent of another board has worked on a task since the last turn. The
// journal of that board decides about the mark.
func (k *Keeper) isOthers(p string) bool { return slices.Contains(k.seen.tasks, k.reader.last[p].file) }

// catchUp reads the marks. If an agent of another board was at work since the last turn of this
// board, catchUp puts back the marks that have changed meanwhile, and returns the event about them.
// The exceptions are tasks on which another board has worked, because that board's journal decides
// about them, and tasks that are done here.
func (k *Keeper) catchUp(b *board.Board) (event.Event, error) {
	now, err := k.reader.read(b.TaskPaths())
	if err != nil {
		return nil, err
	}
	wasOpen, state := k.seen.open, k.Journal.State()
	k.look()
	var changed []string
	if k.before != nil && (wasOpen || k.seen.open || k.seen.any) {
		changed = slices.DeleteFunc(now.Changed(k.before), func(p string) bool {
			return k.isOthers(p) || k.isTask(p, state.Step) || state.IsDone(p)
		})
	}
	k.seen.any = false
	if len(changed) == 0 {
		k.adopt(now)
		return nil, nil
	}
	e := k.divergence(changed, "an agent of another board")
	if now, err = k.reader.read(b.TaskPaths()); err == nil {
		k.adopt(now)
	}
	return e, err
}

// adopt makes marks count. The mark of the open step's task stays as it was before the step, until
// the work on it has replied ok.
func (k *Keeper) adopt(now Marks) {
	step := k.Journal.State().Step
	for p, was := range k.before {
		if _, listed := now[p]; listed && step != nil && step.Started > 0 && !step.MayMark() && k.isTask(p, step) {
			now[p] = was
		}
	}
	k.before = now
}

// isManagers reports whether the last turn of a step was the Manager's.
func isManagers(step *flow.Step) bool { return step.Before != nil }

// isTask reports whether a path on the board leads to the task of a step.
func (k *Keeper) isTask(p string, step *flow.Step) bool {
	if step == nil || step.Checkpoint != nil {
		return false
	}
	if path.Clean(p) == path.Clean(step.Task) {
		return true
	}
	file := k.reader.last[p].file
	ref, err := k.Place.Resolve(step.Task)
	return err == nil && file == ref.Abs
}

// keep writes the marks that count into the run's folder, unsynced, since they are not needed after
// a power cut.
func (k *Keeper) keep() (sha string, err error) {
	data, err := json.Marshal(kept{Marks: k.before, Turns: k.seen.at, Open: k.seen.open})
	if err == nil && !bytes.Equal(data, k.kept) {
		err = rundir.OverwriteFile(k.Folder.Marks(), data)
	}
	if err != nil {
		return "", fmt.Errorf("keep the marks of the tasks: %w", err)
	}
	k.kept = data
	return k.before.SHA(), nil
}

// divergence puts the marks of tasks back, and returns the event about that. With the setting
// "on_divergence: freeze" it puts nothing back, and the board is frozen. If the marks cannot be put
// back, a person is asked.
func (k *Keeper) divergence(tasks []string, who string) event.StateDiverged {
	e := k.event(event.PolicyRestore)
	e.Text = fmt.Sprintf("STATE_DIVERGENCE: %s marked %s %s; a mark in a header is for the task's own work, "+
		"for the Manager or for a person", who, event.List(tasks, mostNamed), gained(tasks, k.before))
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
func gained(tasks []string, before Marks) string {
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
