package marks

import (
	"encoding/json"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/durable"
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
	Redact       func(string) string // hides secrets in the copies of tasks; nil: there are none
	// Elsewhere returns what the journal of another board says of a task, by the paths of their files:
	// whether its work on the task replied ok, and whether it is at work on it now.
	Elsewhere func(board, task string) (done, atWork bool)
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
	task     string   // file of the task of the turn that is open
	reroled  []string // tasks that the last turn has given to another role
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
		k.seen = seen{at: was.Turns, open: len(was.Open) > 0, turns: was.Open}
	}
	e, err := k.catchUp(b.TaskPaths())
	if state := k.Journal.State(); err == nil && !state.Running { // the last run ended, and a person may have marked its task
		for _, p := range k.reader.marks.Changed(k.before) {
			if k.isTask(p, state.Step) {
				k.count(k.before.with(p, k.reader.marks.of[p]))
			}
		}
	}
	return e, err
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
	k.open, k.task = k.turns.open(file.Abs), file.Abs
}

// End closes the turn of an agent. What the agent has marked in the headers of other tasks than its
// own is put back, unless the agent was the Manager. Errors: those of the journal.
func (k *Keeper) End(step *flow.Step) error {
	if k.before == nil || step == nil || k.managers { // catchUp takes the Manager's marks, or Leave does
		return nil
	}
	defer k.closeTurn()
	now, err := k.look(k.before.list)
	if durable.IsMachineFault(err) {
		return err // the next run looks again
	}
	if err != nil {
		return k.Journal.Record(k.unread(err))
	}
	if err := k.holdHeaders(step); err != nil {
		return err
	}
	changed := slices.DeleteFunc(now.Changed(k.before), func(p string) bool { return k.isTask(p, step) })
	if changed, _ = k.leaveToOthers(now, changed); len(changed) == 0 {
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
		k.turns.close(k.open, k.task)
	}
	k.open = nil
}

// look looks at the log of turns, and then reads the marks. What an agent marks whose turn begins
// after the look at the log is for the next look. A turn that was open at the last look stays known.
func (k *Keeper) look(list []string) (*Marks, error) {
	k.seen = k.turns.since(k.seen, k.open)
	return k.reader.read(list)
}

// leaveToOthers takes the tasks out on which another board works or has worked, because the journal
// of that board decides about their marks. A mark that it bears out counts here, too. The result
// open has the tasks about which it has not decided yet.
func (k *Keeper) leaveToOthers(now *Marks, changed []string) (rest, open []string) {
	if len(changed) == 0 {
		return nil, nil
	}
	others := k.otherTurns()
	for _, p := range changed {
		done, atWork := k.elsewhere(p, others)
		switch {
		case done:
			k.count(k.before.with(p, now.of[p]))
		case atWork:
			open = append(open, p)
		default:
			rest = append(rest, p)
		}
	}
	return rest, open
}

// otherTurns returns the turns of other boards that the log has for this turn.
func (k *Keeper) otherTurns() []span {
	return append(k.turns.since(k.seen, k.open).turns, k.seen.turns...)
}

// elsewhere returns what the journals of the boards with these turns say of a task: whether the work
// replied ok, and whether it is at work. Any process can write the log, which therefore proves nothing.
func (k *Keeper) elsewhere(task string, turns []span) (done, atWork bool) {
	file := k.reader.file(task)
	for _, t := range turns {
		if t.Task == file {
			d, w := k.Elsewhere(t.Board, file)
			done, atWork = done || d, atWork || w
		}
	}
	return done, atWork
}

// byOthers reports whether a task's file was changed while an agent of another board was at work.
func (k *Keeper) byOthers(p string) bool {
	at := k.reader.changedAt(p)
	return k.seen.unknown || slices.ContainsFunc(k.seen.turns, func(t span) bool { return t.has(at) })
}

// catchUp reads the marks as they are between two turns, and takes those that count: all that the
// Manager or a person has set. It puts back what an agent of another board has marked, and what a
// Manager has marked whose reply does not count, and returns the event about that, or nil. A task on
// which another board works, and one that is done here, stay as they are.
func (k *Keeper) catchUp(list []string) (event.Event, error) {
	managers := k.managers
	now, err := k.look(list)
	if err != nil {
		return nil, err
	}
	k.managers = false
	if k.before == nil {
		k.adopt(now)
		return nil, nil
	}
	step := k.Journal.State().Step
	changed := slices.DeleteFunc(now.Changed(k.before), func(p string) bool { return k.isTask(p, step) || k.isDone(p) })
	who := "an agent of another board"
	switch {
	case managers && step != nil && isManagers(step) && step.Reply == nil:
		who = "the Manager, whose reply does not count,"
	case managers:
		e := k.managersMarks(now, changed)
		k.adopt(now)
		return e, nil
	default:
		changed = slices.DeleteFunc(changed, func(p string) bool { return !k.byOthers(p) })
	}
	changed, open := k.leaveToOthers(now, changed)
	if len(changed) == 0 {
		k.adopt(now, open...)
		return nil, nil
	}
	e := k.divergence(changed, who)
	if e.Policy != event.PolicyRestore {
		return e, nil // the Lead may have the marks put back
	}
	if now, err = k.reader.read(list); err == nil {
		k.adopt(now, open...)
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

// adopt makes marks count, but for those of the given tasks. The mark of the open step's task stays as
// it was before the step, too, until the work on it is accepted as ok.
func (k *Keeper) adopt(now *Marks, but ...string) {
	for _, p := range but {
		now = now.with(p, k.before.of[p])
	}
	step := k.Journal.State().Step
	if k.before != nil && step != nil && step.Started > 0 && step.TaskStatus != flow.StatusOK {
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
	now := &kept{List: k.before.list, Marks: k.before.of, Turns: k.seen.at, Open: k.seen.stillOpen()}
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
	e.Text = fmt.Sprintf("%s marked %s %s; a mark in a header is for the task's own work, "+
		"for the Manager or for a person", who, event.List(tasks, mostNamed), gained(tasks, k.before.of))
	if k.OnDivergence == event.PolicyFreeze {
		_ = k.keep(true) // an agent may have removed the file; ack reports the error
		e.Policy, e.Text = event.PolicyFreeze, e.Text+"; the board is frozen"
		return e
	}
	where, err := putBack(k.Place, k.Folder, tasks, k.before, k.redact)
	if err != nil {
		_ = k.keep(true)
		e.Policy, e.Text = event.PolicyAsk, fmt.Sprintf("%s; %v", e.Text, err)
		return e
	}
	e.Text += ", so that is put back (" + where + ")"
	return e
}

// unread returns the event that has a person asked, because the marks cannot be read.
func (k *Keeper) unread(err error) event.StateDiverged {
	e := k.event(event.PolicyAsk)
	e.Text = fmt.Sprintf("it cannot be told whether an agent has marked tasks: %v", err)
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
