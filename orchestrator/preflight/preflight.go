// Package preflight checks all of a run that can be checked without an agent. It does so before the
// run starts, locks or writes anything.
package preflight

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
	"unicode/utf8"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/config"
	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/git"
	"kanban-run/orchestrator/inspect"
	"kanban-run/orchestrator/ledger"
	"kanban-run/orchestrator/plainfile"
	"kanban-run/orchestrator/redact"
	"kanban-run/orchestrator/roster"
	"kanban-run/orchestrator/rundir"
	"kanban-run/orchestrator/workspace"
	"kanban-run/roles"
)

// Job is the request to run one board.
type Job struct {
	Board     string   // path as the user wrote it; messages name the board by it
	StartDir  string   // the current folder
	Workdir   string   // the folder given with -C; "": inspect.Workdir chooses one
	Version   string   // version of kanban-run
	Flags     []string // flags of settings, each with its value
	GivenIn   string   // folder in which the command was given, before -C
	DryRun    bool
	Observer  ledger.Observer
	Now       func() time.Time
	Configure func(workdir string) (*Setup, error) // called as soon as the work directory is known

	// Drain waits until the programs have ended that hear of the end of the board. It is nil if there are
	// none.
	Drain func(stop context.Context)

	// HoldLock makes another process hold the board's lock, too, until the function release is
	// called. If this process dies before that, the other process holds the lock until the agents
	// of this process have ended. If HoldLock is nil, the lock ends with this process.
	HoldLock func(lock *os.File) (release func() error, err error)
}

// Setup holds the settings and roles that a run in a work directory needs.
type Setup struct {
	Run         config.Run
	Limits      event.Limits
	Checkpoints *event.Supervision // checkpoints for a board that declares none; nil: no checkpoints
	Roster      *roster.Roster
	Redactor    *redact.Redactor

	uncosted []string // roles of which is said that they hold no limit of cost
}

// Prepared is a job with a checked board, tasks, roles and commands.
type Prepared struct {
	*Job
	*Setup
	Workspace   *workspace.Workspace
	Supervision *event.Supervision // nil: no checkpoints
	Warnings    []string           // oddities that do not prevent a run

	Head git.Head // what is checked out as the command begins, if the board may get a clone

	file    fs.FileInfo          // the board's file
	checked map[duty]error       // the results for the roles checked so far
	stepsOf map[string]stepState // the state of each task's step; nil until the journal is read
	needs   board.Needs          // the tasks that each open task needs
	byNeeds bool                 // a task of the board, even a done one, needs another task

	unwritable nameList // open tasks whose files may not be written
	oddities   nameList // warnings about assignees and states of open tasks
}

// checkRepository returns an error if the settings ask for commits where there is no repository.
func (p *Prepared) checkRepository() error {
	if !p.Run.Git.On || workspace.IsInGit(p.Workspace.HomeDir()) {
		return nil
	}
	return p.Roster.Settings.Fault("checkpoint", &failure.Invalid{
		Err: fmt.Errorf("checkpoint: %s is in no git repository", p.Workspace.HomeDir()),
		Fix: "git init makes one; or leave the setting checkpoint out",
	})
}

// SupervisorRole returns the role of the board's resident supervisor, or "" if it has none.
func (p *Prepared) SupervisorRole() string {
	if p.Supervision == nil {
		return ""
	}
	return p.Supervision.Role
}

// KeepsGoing reports whether the run sets a failed task aside and goes on. Without a setting, it
// does so if a task of the board needs another task, because the board then tells which tasks
// depend on the failed one.
func (p *Prepared) KeepsGoing() bool {
	if p.Run.KeepGoing != nil {
		return *p.Run.KeepGoing
	}
	return p.HasNeeds()
}

// HasNeeds reports whether a task of the board needs another task. On such a board, the order of
// the list does not tell which task depends on which.
func (p *Prepared) HasNeeds() bool { return p.byNeeds }

// Refused is a board that cannot be run.
type Refused struct {
	Board string
	At    int // index of its job
	Err   error
}

// PrepareAll prepares every job. It also returns the jobs that are invalid, and those of boards that were
// named before.
func PrepareAll(jobs []Job) (prepared []*Prepared, refused []Refused) {
	for i, job := range jobs {
		p, err := Prepare(job)
		for _, other := range prepared {
			if err == nil {
				p.Workspace.ShareWith(other.Workspace)
			}
			if err == nil && os.SameFile(p.file, other.file) {
				err = &failure.Invalid{
					Err: fmt.Errorf("%s: the board is named twice (also as %s)", p.Board, other.Board),
					Fix: "name each board once",
				}
			}
		}
		if err != nil {
			refused = append(refused, Refused{job.Board, i, err})
			continue
		}
		prepared = append(prepared, p)
	}
	return prepared, refused
}

// Prepare checks the board, the work directory, the current task, the roles of the tasks, and the
// command of every role that the board needs. Errors: *failure.Invalid.
func Prepare(job Job) (*Prepared, error) {
	p, err := prepare(&job)
	if err != nil {
		return nil, &failure.Invalid{Err: err}
	}
	return p, nil
}

func prepare(job *Job) (*Prepared, error) {
	b, path, err := inspect.ReadBoard(job.Board, !job.DryRun, job.notice)
	if err != nil {
		return nil, err
	}
	if err := checkNames(job, path); err != nil {
		return nil, err
	}
	lost, err := checkWritable(job, path)
	if err != nil {
		return nil, err
	}
	dir, err := inspect.Workdir(job.Workdir, job.Board, job.StartDir, b)
	if err != nil {
		return nil, err
	}
	if err := checkEncoding(job, path, dir); err != nil {
		return nil, err
	}
	setup, err := job.Configure(dir)
	if err == nil {
		err = setup.Roster.CheckSettings()
	}
	if err != nil {
		return nil, err
	}
	place, err := board.OpenPlace(dir, job.Board)
	if err != nil {
		return nil, err
	}
	place.Lookup = func(role string) error {
		_, err := setup.Roster.Roles.Lookup(role)
		return err
	}
	p := &Prepared{
		Job:         job,
		Setup:       setup,
		Workspace:   workspace.New(job.Board, path, place, b, setup.Redactor),
		checked:     map[duty]error{},
		Supervision: supervision(b, setup),
	}
	if p.Run.Clones {
		p.Head = git.HeadOf(dir)
	}
	if p.file, err = os.Stat(path); err == nil {
		err = cmp.Or(p.checkDecisions(), p.checkRepository(), p.check(b))
	}
	if err != nil {
		return nil, err
	}
	if lost != "" {
		p.Warnings = append(p.Warnings, LossText(lost)) // a run itself gives a notice
	}
	return p, nil
}

func (j *Job) notice(text string) { j.Observer.Notice(j.Board, text) }

// checkEncoding returns an error for paths that no record can hold.
func checkEncoding(job *Job, path, dir string) error {
	for _, name := range []string{path, dir} {
		if !utf8.ValidString(name) {
			return &board.FileError{Op: "use board", File: job.Board, Err: fmt.Errorf("the name %q is not UTF-8, as records and agents need it", name),
				Fix: "rename it"}
		}
	}
	return nil
}

// checkNames returns an error for a board with several hard links, because two runs could use the
// board at the same time under two names.
func checkNames(job *Job, path string) error {
	if job.DryRun {
		return nil
	}
	f, err := plainfile.Open(path)
	if err != nil {
		return &board.FileError{Op: "read board", File: job.Board, Err: err}
	}
	names, err := durable.CountNames(f)
	if err == nil && names > 1 {
		err = &board.FileError{
			Op:   "use board",
			File: job.Board,
			Err: fmt.Errorf("the file has %d names (hard links), "+
				"and a run under another name would not see this one", names),
			Fix: fmt.Sprintf("give it a file of its own: cp %[1]s %[1]s.copy && mv %[1]s.copy %[1]s", failure.Quote(job.Board)),
		}
	}
	return errors.Join(err, f.Close())
}

// Size returns the size of the board's file, in bytes.
func (p *Prepared) Size() int64 { return p.file.Size() }

// Player returns the program that plays a role in the work directory.
func (p *Prepared) Player(role string) (*roster.Player, error) {
	return p.Roster.Player(role, p.Workspace.WorkDir())
}

// ReadOnlyPlayer returns the program that plays the resident supervisor or a judge.
func (p *Prepared) ReadOnlyPlayer(role string) (*roster.Player, error) {
	return p.Roster.ReadOnlyPlayer(role, p.Workspace.WorkDir())
}

// Substitute returns the program that takes over a role's work; see [roster.Roster.Substitute].
func (p *Prepared) Substitute(role, to string) (*roster.Player, error) {
	return p.Roster.Substitute(role, to, p.Workspace.WorkDir())
}

// check checks all that a run of the board needs: its tasks, supervision and substitutes, and the
// Manager. The role of every open task must be known, and the role's command must exist.
func (p *Prepared) check(b *board.Board) error {
	for _, w := range b.Warnings {
		p.notice(w.Error())
	}
	if err := workspace.CheckSecrets(p.Redactor, filepath.Base(p.Workspace.Path), b.Current.Path); err != nil {
		return err
	}
	if err := p.Workspace.CheckTasks(p.Workspace.Tasks(b)); err != nil {
		return err
	}
	if b.Terminal() {
		p.checkEnding(b)
		return nil
	}
	if !b.Current.Set {
		return b.MissingCurrent()
	}
	if err := p.checkCurrent(b); err != nil {
		return err
	}
	if err := p.checkTasks(b); err != nil {
		return err
	}
	if err := p.checkSupervision(b); err != nil {
		return err
	}
	if err := p.checkSubstitutes(); err != nil {
		return err
	}
	err := p.checkRole(event.ManagerRole)
	p.warnOfCost()
	return err
}

// checkCurrent checks the current task's header and role. If the task's step is open, a wrong
// header or an unknown role causes only a notice.
func (p *Prepared) checkCurrent(b *board.Board) error {
	task, err := p.Workspace.Place.ReadTask(b.Current.Path)
	if err != nil {
		return p.forgive(b.CurrentProblem(err), p.isOpen(b.Current.Path))
	}
	err = p.checkRoleOf(b, task)
	return p.forgive(err, errors.As(err, new(*roles.UnknownError)) && p.isOpen(b.Current.Path))
}

// checkSubstitutes checks the agents that are allowed to take over work.
func (p *Prepared) checkSubstitutes() error {
	for _, r := range p.Run.Reassign {
		for _, to := range r.Agents {
			if _, err := p.Substitute(r.Role, to); err != nil {
				return p.Roster.Settings.Fault("reassign."+r.Role+"."+to, fmt.Errorf("reassign: %s: %w", r.Role, err))
			}
		}
	}
	return nil
}

// checkEnding warns of a board that is over but has no journal, because some of its tasks may have
// failed.
func (p *Prepared) checkEnding(b *board.Board) {
	if !p.wasRun() && b.Len() > 0 && b.EndedWith() == "" {
		p.notice("the board is over, and no journal of a run is here to tell how it ended")
	}
}

// IsInCheckout reports whether the agents of the board work in the checkout of a git repository, as far as that is known
// before the run: a board that has a clone works there without the flag, too.
func (p *Prepared) IsInCheckout() bool {
	return !p.Run.Clones && !p.wasRun() && workspace.IsInGit(p.Workspace.HomeDir())
}

// wasRun reports whether the board has a journal.
func (p *Prepared) wasRun() bool {
	_, err := os.Lstat(rundir.Of(p.Workspace.Path).Journal())
	return !errors.Is(err, fs.ErrNotExist)
}
