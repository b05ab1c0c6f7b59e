package orchestrator

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/redact"
	"kanban-run/roles"
)

// Job is one board's run as it was asked for.
type Job struct {
	Board     string // the board's path as the user wrote it; also its name in messages
	StartDir  string // the current folder
	Workdir   string // -C; "" chooses (see board.ChooseWorkdir)
	Version   string
	DryRun    bool
	Observer  Observer
	Now       func() time.Time
	Configure func(workdir string) (*Setup, error) // called once, when the work directory is known

	// HoldLock has somebody else hold the board's lock too, until the returned function is called or, when this process dies,
	// until its agents are gone. nil: nobody does.
	HoldLock func(lock *os.File) (letGo func() error, err error)
}

// Setup is what the settings and roles of a work directory say about a run there.
type Setup struct {
	Limits       flow.Limits
	OnDivergence string // "accept" or "freeze"
	KeepOutput   bool
	MaxOutput    int64 // of an attempt, in bytes; 0 is no bound
	Cast         *Cast
	Redactor     *redact.Redactor
}

// Prepared is a job whose board, tasks, roles and commands were checked. Nothing was started, locked or written.
type Prepared struct {
	job   *Job
	setup *Setup
	place *board.Place
	path  string // the board's real path: its links are resolved, so that one board has one state
	file  fs.FileInfo
	board *board.Board // as it was checked, with
	list  *list        // its tasks; the run forgets both
	desk  desk

	players map[string]error // roles that were looked at
}

// InvalidError is wrapped around what makes a run impossible: the input or the set-up is wrong.
type InvalidError struct {
	Err error
	Fix string // "" leaves it to Err
}

func (e *InvalidError) Error() string { return e.Err.Error() }
func (e *InvalidError) Unwrap() error { return e.Err }

// Hint is what to do about it.
func (e *InvalidError) Hint() string {
	var h interface{ Hint() string }
	if e.Fix == "" && errors.As(e.Err, &h) {
		return h.Hint()
	}
	return e.Fix
}

// Prepare checks all that can be checked without an agent: the board, the work directory, the current task, the roles of the
// tasks and the command of every role that the board will need. Every error is an *InvalidError.
func Prepare(job Job) (*Prepared, error) {
	p, err := prepare(job)
	if err != nil {
		return nil, &InvalidError{Err: err}
	}
	return p, nil
}

func prepare(job Job) (*Prepared, error) {
	b, path, err := openBoard(job)
	if err != nil {
		return nil, err
	}
	if err := writable(job, path); err != nil {
		return nil, err
	}
	dir, err := board.ChooseWorkdir(job.Workdir, job.Board, job.StartDir, b)
	if err != nil {
		return nil, err
	}
	setup, err := job.Configure(dir)
	if err != nil {
		return nil, err
	}
	place, err := board.OpenPlace(dir, job.Board)
	if err != nil {
		return nil, err
	}
	p := &Prepared{job: &job, setup: setup, place: place, path: path, board: b, players: map[string]error{}}
	if p.file, err = os.Stat(path); err == nil {
		err = p.check(b)
	}
	if err != nil {
		return nil, errors.Join(err, place.Close())
	}
	return p, nil
}

// openBoard reads a board and resolves its links. One that cannot be read while a Manager's turn is open is what a Manager left
// that died as it wrote: then the bytes from before its turn count, which the run puts back as soon as it owns the board.
func openBoard(job Job) (*board.Board, string, error) {
	path, err := filepath.EvalSymlinks(job.Board)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		_, err := board.ReadFile(job.Board) // which explains it
		return nil, "", err
	}
	source, err := board.ReadFile(job.Board)
	if err != nil {
		return nil, path, err
	}
	b, err := board.Parse(job.Board, source)
	if err == nil || job.DryRun {
		return b, path, err
	}
	before := beforeManager(filesOf(path))
	if before == nil {
		return nil, path, err
	}
	job.Observer.Notice(job.Board, fmt.Sprintf("%v; this is how the Manager left it: the bytes from before its turn are put back", err))
	b, err = board.Parse(job.Board, before)
	return b, path, err
}

// beforeManager returns the board's bytes from before the Manager's turn that is open, nil when none is.
func beforeManager(f files) []byte {
	h, _, err := fold(f.journal(), nil)
	step := h.State.Step
	if err != nil || step == nil || step.Before == nil || step.Reply != nil {
		return nil
	}
	source, err := f.kept(step.Before.BoardSHA)
	if err != nil {
		return nil
	}
	return source
}

// writable finds out before any agent has worked that the board could not be written afterwards.
func writable(job Job, path string) error {
	if job.DryRun || job.Observer == (Silent{}) {
		return nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return &board.FileError{Op: "write board", File: job.Board, Err: errors.Unwrap(err), Fix: "make the file writable, or try the board with --dry-run"}
	}
	return f.Close()
}

// Close releases the work directory of a job that is not run.
func (p *Prepared) Close() error { return p.place.Close() }

// Dir is the work directory.
func (p *Prepared) Dir() string { return p.place.Dir() }

// check looks at every task that has a file: its role must be known and the role's command must exist. A task that is marked
// done is nobody's work any more.
func (p *Prepared) check(b *board.Board) error {
	for _, w := range b.Warnings {
		p.job.Observer.Notice(p.job.Board, w.Error())
	}
	p.list = newList(b.TaskPaths())
	secret := p.list.vet(p.setup.Redactor)
	if err := p.setup.noSecretIn(filepath.Base(p.path), b.Current.Path, secret); err != nil {
		return err
	}
	if b.Terminal() {
		return p.over(b)
	}
	if !b.Current.Set {
		return b.MissingCurrent()
	}
	current, err := p.place.ReadTask(b.Current.Path)
	if err != nil {
		return b.CurrentProblem(err)
	}
	if err := p.ready(b, current); err != nil {
		return err
	}
	if err := p.checkList(b); err != nil {
		return err
	}
	return p.player(flow.ManagerRole)
}

// over warns of a board that is over without a trace of how: one that ended with blocked looks like one that is complete.
func (p *Prepared) over(b *board.Board) error {
	if _, err := os.Lstat(filesOf(p.path).journal()); errors.Is(err, fs.ErrNotExist) && b.Len() > 0 {
		p.job.Observer.Notice(p.job.Board, "the board is over, and no journal of a run is here to tell how it ended")
	}
	return nil
}

// noSecretIn refuses paths that cannot be journaled as they are.
func (s *Setup) noSecretIn(paths ...string) error {
	for _, p := range paths {
		if shown := s.Redactor.String(p); shown != p {
			return &InvalidError{Err: fmt.Errorf("a path holds a secret: %s", shown),
				Fix: "rename the file; a word that is no secret must not be the value of a variable whose name looks secret, nor stand under redact: in the settings"}
		}
	}
	return nil
}

// checkList looks at the listed tasks that are not done. One without a file is a task that is yet to be written.
func (p *Prepared) checkList(b *board.Board) error {
	var missing few
	for from := 0; from < b.Len(); from += atOnce {
		if err := p.checkPart(b, from, min(from+atOnce, b.Len()), &missing); err != nil {
			return err
		}
	}
	if missing.count > 0 {
		p.job.Observer.Notice(p.job.Board, "listed tasks without a file: "+missing.String())
	}
	return nil
}

// atOnce is how many tasks are read at once: enough for all processors, and few enough for the memory.
const atOnce = 512

// checkPart looks at the tasks of a part of the list, and speaks in its order.
func (p *Prepared) checkPart(b *board.Board, from, to int, missing *few) error {
	var open []board.Entry
	var names []string
	for i := from; i < to; i++ {
		if e := b.Entry(i); !e.Done() {
			open, names = append(open, e), append(names, e.Path)
		}
	}
	for i, read := range p.place.ReadTasks(names) {
		if err := p.checkTask(b, open[i], read, missing); err != nil {
			return err
		}
	}
	return nil
}

func (p *Prepared) checkTask(b *board.Board, entry board.Entry, read board.TaskRead, missing *few) error {
	switch {
	case errors.Is(read.Err, fs.ErrNotExist):
		missing.add(entry.Path)
		return nil
	case read.Err != nil:
		return b.EntryProblem(entry, read.Err)
	case read.Task.Done():
		return nil
	}
	if w := b.IgnoredAssignee(entry, read.Task); w != nil {
		p.job.Observer.Notice(p.job.Board, w.Error())
	}
	return p.ready(b, read.Task)
}

// few names the first few of many.
type few struct {
	names []string
	count int
}

func (f *few) add(name string) {
	if f.count++; f.count <= 5 {
		f.names = append(f.names, name)
	}
}

func (f *few) String() string {
	if f.count == len(f.names) {
		return strings.Join(f.names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(f.names, ", "), f.count-len(f.names))
}

func (p *Prepared) ready(b *board.Board, t *board.Task) error {
	if err := p.player(board.RoleFor(b, t)); err != nil {
		return t.RoleProblem(err)
	}
	return nil
}

// player looks once whether there is somebody for a role whom the journal may name, and whether everybody could read a secret in
// the command.
func (p *Prepared) player(role string) error {
	err, known := p.players[role]
	if known {
		return err
	}
	player, err := p.setup.Cast.Player(role, p.place.Dir())
	if err == nil && !roles.Embedded(player.Role.Name) {
		err = p.setup.noSecretIn(player.Role.Name)
	}
	if err == nil && p.setup.Redactor.Changes(player.Shown) {
		p.job.Observer.Notice(p.job.Board, fmt.Sprintf("the command of role %s holds a secret, which every user of this machine can see there: %s (env.pass in .kanban-run.yaml or in a role passes a variable)",
			player.Role.Name, p.setup.Redactor.String(player.Shown)))
	}
	if err == nil {
		p.tellIgnored(player)
	}
	if err == nil && player.refusal != nil {
		p.job.Observer.Notice(p.job.Board, fmt.Sprintf("a run would refuse role %s: %v", player.Role.Name, player.refusal))
	}
	p.players[role] = err
	return err
}

// tellIgnored says which options of a role its agent does not know: a list of tools that restricts nothing must not look like one that does.
func (p *Prepared) tellIgnored(player *Player) {
	role := player.Role
	if role.IsBuiltIn() || p.job.DryRun {
		return
	}
	ignores := player.Adapter.Tool().Ignores
	tools, model := slices.Contains(ignores, "tools") && role.Tools != nil, slices.Contains(ignores, "model") && role.Model != ""
	tell := func(format string) {
		p.job.Observer.Notice(p.job.Board, fmt.Sprintf(format, player.Adapter.Name(), role.Name))
	}
	switch {
	case tools && model:
		tell("%s knows neither tools nor models: those of role %s restrict and choose nothing")
	case tools:
		tell("%s knows no list of tools: that of role %s restricts nothing")
	case model:
		tell("%s knows no model: that of role %s chooses nothing")
	}
}

// Same says whether two prepared jobs are about one board.
func (p *Prepared) Same(other *Prepared) bool { return os.SameFile(p.file, other.file) }
