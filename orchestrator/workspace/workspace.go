// Package workspace reads the board and the tasks of one run, reduces them to the input of package
// flow, keeps and restores the board's bytes, and writes a Manager's reply onto the board.
package workspace

import (
	"cmp"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/redact"
	"kanban-run/orchestrator/rundir"
	"kanban-run/orchestrator/worktree"
)

// Workspace is the board of one run and the folders around it: HomeDir and WorkDir. One goroutine uses it.
type Workspace struct {
	Name     string // the board's path as the user wrote it, also for messages
	Path     string // path of the board's file, without links; in a dry run, of the private copy
	Place    *board.Place
	Redactor *redact.Redactor

	dryRun   bool
	ignored  []string // other files that count as records of runs, see ProjectHash
	reader   *board.Reader
	fresh    *board.Board // the board as read since the last turn; nil: read it again
	task     *board.Task  // the task as read since the last turn; nil: read it again
	link     string       // target of the link Name; "": Name is no link
	kept     *board.Board // the board before the last turn of this run; nil: there was no turn
	counted  *board.Board // see Count
	accepted []string     // the last list of tasks that CheckTasks accepted
	work     string       // see WorkIn; "": the home is the work directory
	kanban   string       // path of the board in the clone; "": there is no clone
	share    *worktree.Share
}

// New returns the workspace of a board that was just read. The parameter path is the path of the
// board's file, without links.
func New(name, path string, place *board.Place, b *board.Board, r *redact.Redactor) *Workspace {
	w := &Workspace{Name: name, Path: path, Place: place, Redactor: r, reader: board.NewReader(path, name), share: &worktree.Share{}}
	w.link, _ = os.Readlink(name)
	w.reader.SetLast(b)
	return w
}

// HomeDir returns the folder in which the board, its tasks, the settings and the roles are believed. Journal,
// locks, claims and what waits for a person belong to it, and paths on the board start there.
func (w *Workspace) HomeDir() string { return w.Place.Dir() }

// WorkDir returns the folder in which agents, reviews, supervisors and their commands run, and whose files they
// change. It is the same as HomeDir, unless they work in a clone.
func (w *Workspace) WorkDir() string { return cmp.Or(w.work, w.HomeDir()) }

// WorkIn has the agents work in a clone from now on: at the place of HomeDir below its top. The parameter home is the top of
// the checkout, without links.
func (w *Workspace) WorkIn(clone, home string) error {
	dir, err := w.PlaceIn(clone, home)
	if err != nil {
		return err
	}
	kanban, err := filepath.Rel(home, w.Path)
	if err != nil {
		return err
	}
	w.work, w.kanban, w.share = dir, filepath.Join(clone, kanban), &worktree.Share{}
	return nil
}

// PlaceIn returns the place of HomeDir in a clone, and makes that folder.
func (w *Workspace) PlaceIn(clone, home string) (dir string, err error) {
	rel, err := filepath.Rel(durable.RealPath(home), durable.RealPath(w.HomeDir()))
	if err != nil {
		return "", err
	}
	dir = filepath.Join(clone, rel)
	return dir, os.MkdirAll(dir, 0o755)
}

// ShareWith makes the boards of one work directory share what git says of its files.
func (w *Workspace) ShareWith(other *Workspace) {
	if w.WorkDir() == other.WorkDir() {
		w.share = other.share
	}
}

// Ignore makes the given files count as records of runs, see [Workspace.ProjectHash].
func (w *Workspace) Ignore(files ...string) { w.ignored = append(w.ignored, files...) }

// Dir returns the folder of the board's runs.
func (w *Workspace) Dir() rundir.Dir { return rundir.Of(w.Path) }

// CopyAside makes a dry run work on a private copy of the board, with its own folder of runs, so
// that it changes no file of the project. The function remove removes the copy; it is never nil.
func (w *Workspace) CopyAside() (remove func() error, err error) {
	dir, err := os.MkdirTemp("", "kanban-run-dry-")
	if err != nil {
		return func() error { return nil }, err
	}
	remove = func() error { return os.RemoveAll(dir) }
	source, err := board.ReadFile(w.Path)
	if err != nil {
		return remove, err
	}
	w.Path, w.dryRun = filepath.Join(dir, filepath.Base(w.Path)), true
	w.reader = board.NewReader(w.Path, w.Name)
	return remove, os.WriteFile(w.Path, source, 0o600)
}

// KanbanFile returns the board's path as agents see it.
func (w *Workspace) KanbanFile() string {
	if w.dryRun {
		return w.Path
	}
	if seen := w.Place.KanbanFile(); w.kanban == "" || !filepath.IsAbs(seen) {
		return seen
	}
	return w.kanban
}

// Read returns the board on disk. It reads the file once, and again after each call of
// [Workspace.Forget]. A run calls Forget after each turn of an agent. Read first restores a board
// that the Manager of the open step left unreadable. The parameter "step" is nil if no step is
// open. Errors: *failure.Invalid.
func (w *Workspace) Read(step *flow.Step) (*board.Board, error) {
	b, err := w.Look()
	if err != nil && !durable.IsMachineFault(err) && step != nil && step.Before != nil && step.Reply == nil {
		if w.PutBack(step.Before.BoardSHA) == nil {
			b, err = w.Look()
		}
	}
	if err != nil {
		return nil, w.explain(step, err)
	}
	return b, nil
}

// explain adds a command to an error. The command restores the board as it was before the turn in
// which it became unreadable.
func (w *Workspace) explain(step *flow.Step, err error) error {
	invalid := &failure.Invalid{Err: err}
	if w.dryRun || durable.IsMachineFault(err) {
		return invalid
	}
	if step == nil || step.BoardSHA == "" {
		if w.kept != nil {
			invalid.Fix = fmt.Sprintf("its bytes from before the last turn: cp %s %s", failure.Quote(w.Dir().Before()), failure.Quote(w.Name))
		}
		return invalid
	}
	if _, lost := w.Before(step.BoardSHA); lost == nil {
		invalid.Fix = fmt.Sprintf("its bytes from before %s was at work on %s: cp %s %s",
			step.Role, step.Task, failure.Quote(w.Dir().Before()), failure.Quote(w.Name))
	}
	return invalid
}

// Look is like Read, but does not restore the board. The board must still be the same file as when
// the run was prepared, because otherwise agents and the runner would use different files, and the
// runner could write outside of the project.
func (w *Workspace) Look() (*board.Board, error) {
	if w.fresh != nil {
		return w.fresh, nil
	}
	if err := w.checkPath(); err != nil {
		return nil, err
	}
	b, err := w.reader.Read()
	w.fresh = b
	return b, err
}

// ReadText returns the text of a task's file, read afresh. Errors: those of [board.Place.ReadText].
func (w *Workspace) ReadText(task string) (string, error) { return w.Place.ReadText(task) }

// Task returns the header of a task, read once after every turn, like the board. Errors: those of
// [board.Place.ReadTask].
func (w *Workspace) Task(name string) (*board.Task, error) {
	if w.task != nil && w.task.Ref.Path == name {
		return w.task, nil
	}
	t, err := w.Place.ReadTask(name)
	w.task = t
	return t, err
}

// Scope returns the file of a task, and the patterns in its header, which name the files that the
// task changes. If the header cannot be read, it returns no patterns.
func (w *Workspace) Scope(name string) (file string, changes []string, err error) {
	if t, err := w.Task(name); err == nil {
		return t.Ref.Abs, t.Files, nil
	}
	ref, err := w.Place.Resolve(name)
	return ref.Abs, nil, err
}

// Forget makes the next Look and the next Task read their files: an agent or the runner may have
// changed them.
func (w *Workspace) Forget() { w.fresh, w.task = nil, nil }

// LookAgain is [Workspace.Look] at the file as it is now.
func (w *Workspace) LookAgain() (*board.Board, error) {
	w.Forget()
	return w.Look()
}

// Count notes that a board counts as it stands: it was looked at, or this run has written it.
func (w *Workspace) Count(b *board.Board) { w.counted = b }

// Counted returns the board that counts, or nil.
func (w *Workspace) Counted() *board.Board { return w.counted }

// SHA returns the SHA-256 of the board's bytes, even if the board is invalid. It returns "" if the
// file is missing or the name leads to another file.
func (w *Workspace) SHA() string {
	source, err := board.ReadFile(w.Path)
	if err != nil || w.checkPath() != nil {
		return ""
	}
	return board.SHA(source)
}

// Left returns the SHA-256 of the board as an attempt left it, so that a later change by a person
// can be distinguished from the agent's change. It first restores a board that a Manager left
// unreadable. Call Forget between the end of the attempt and Left.
func (w *Workspace) Left(step *flow.Step) string {
	if b, err := w.Read(step); err == nil {
		return b.SHA
	}
	return w.SHA() // Read reports the error when the board is needed
}

// checkPath returns an error if the board's name leads to another file by now. It resolves links
// only if the name is not itself the board's file.
func (w *Workspace) checkPath() error {
	if w.dryRun {
		return nil
	}
	if named, err := os.Lstat(w.Name); err == nil && named.Mode().IsRegular() {
		if known, err := os.Lstat(w.Path); err == nil && os.SameFile(named, known) {
			return nil
		}
	}
	real, err := filepath.EvalSymlinks(w.Name)
	if err == nil {
		real, err = filepath.Abs(real)
	}
	if err == nil && real != w.Path {
		return &board.FileError{
			Op:   "read board",
			File: w.Name,
			Err:  fmt.Errorf("it leads to %s now", real),
			Fix:  "put the file back in the link's place",
		}
	}
	return nil
}

// View returns the part of the board from which flow decides. Once an attempt of the Manager was
// started, or its reply was recorded, this part is only the board's SHA-256 and its end, because
// the Manager decides the next task. If the current task is being worked on and cannot be read, its
// path and role are those at the beginning of its step. roleOf returns a role's name as its role
// file spells it. Errors: *failure.Invalid.
func (w *Workspace) View(b *board.Board, s *flow.State, roleOf func(string) (string, error)) (flow.Board, error) {
	if err := CheckSecrets(w.Redactor, b.Current.Path); err != nil {
		return flow.Board{}, err
	}
	return View(b, s, w.Task, roleOf)
}

// Bare returns the view of a board without its roles and tasks.
func Bare(b *board.Board) flow.Board {
	return flow.Board{Terminal: b.Terminal(), Ended: b.EndedWith(), Taken: !b.CanWriteEnded(), SHA: b.SHA}
}

// View is like [Workspace.View], but for callers without a Workspace. It reads a task with the
// function read.
func View(
	b *board.Board, s *flow.State,
	read func(task string) (*board.Task, error), roleOf func(string) (string, error),
) (flow.Board, error) {
	v := Bare(b)
	if v.Terminal {
		v.Over, v.Rest = b.PhaseEnds(), s.Rest(ListOf(b, read))
		return v, nil
	}
	if s.Step != nil && (s.Step.Before != nil || s.Step.Reply != nil) {
		return v, nil
	}
	if !b.Current.Set {
		return v, &failure.Invalid{Err: b.MissingCurrent()}
	}
	task, err := read(b.Current.Path)
	if err != nil {
		err = b.CurrentProblem(err)
	} else if v.Role, err = roleOf(board.RoleFor(b, task)); err != nil {
		err = task.RoleProblem(err)
	} else {
		v.Task = task.Ref.Path
		return v, nil
	}
	if isWorkedOn(b, s.Step) {
		v.Task, v.Role = s.Step.Task, s.Step.Role
		return v, nil
	}
	return v, &failure.Invalid{Err: err}
}

// isWorkedOn reports whether the open step is about the board's current task. The header of that
// task was read when the step began. Since then the agent at work may have spoiled the header or
// moved the file.
func isWorkedOn(b *board.Board, step *flow.Step) bool {
	return step != nil && !step.Call.IsSupervision() &&
		(b.SHA == step.BoardSHA || path.Clean(b.Current.Path) == path.Clean(step.Task))
}

// ListOf returns the list of a board. It reads the header of a task with the function read. A task
// whose header cannot be read is done only if the board marks it.
func ListOf(b *board.Board, read func(task string) (*board.Task, error)) flow.List {
	return flow.List{
		Paths:  b.TaskPaths(),
		Find:   b.Finder(),
		Marked: func(i int) bool { return b.Entry(i).Done() },
		Done: func(i int) bool {
			t, err := read(b.Entry(i).Path)
			return err == nil && t.Done()
		},
	}
}

// ListAt is like [ListOf], but finds the files of the tasks itself. The parameter workdir is the
// work directory of the board's last run, or "" if no run has named one. If that directory is gone,
// a task is done only if the board marks it.
func ListAt(boardPath, workdir string, b *board.Board) flow.List {
	place, err := PlaceOf(boardPath, workdir, b)
	return ListIn(place, err, b)
}

// ListIn is like [ListOf], for a place, or for the error with which it could not be opened.
func ListIn(place *board.Place, err error, b *board.Board) flow.List {
	if err != nil {
		return ListOf(b, func(string) (*board.Task, error) { return nil, err })
	}
	return ListOf(b, place.ReadTask)
}

// PlaceOf opens the work directory of a board's last run. workdir is "" if no run has named one.
func PlaceOf(boardPath, workdir string, b *board.Board) (*board.Place, error) {
	here, err := filepath.Abs(".")
	if err == nil {
		workdir, err = board.ChooseWorkdir(workdir, boardPath, here, b)
	}
	if err != nil {
		return nil, err
	}
	return board.OpenPlace(workdir, boardPath)
}

// DoneBefore returns the tasks that were done before the first run of a journal: the tasks that the
// board marks as done. If the board marks no task, and the parameter inOrder is true, DoneBefore
// returns the tasks before the current task.
func DoneBefore(b *board.Board, inOrder bool) (done []string) {
	paths := b.TaskPaths()
	for i, p := range paths {
		if b.Entry(i).Done() {
			done = append(done, p)
		}
	}
	if len(done) == 0 && inOrder && !b.Terminal() && b.Current.Set {
		done = paths[:max(0, b.Finder()(b.Current.Path))]
	}
	return done
}

// CheckSecrets refuses paths that redaction would change, since they could not be journaled.
// Errors: *failure.Invalid.
func CheckSecrets(r *redact.Redactor, paths ...string) error {
	for _, p := range paths {
		if shown := r.String(p); shown != p {
			return failure.SecretName(shown)
		}
	}
	return nil
}

// Tasks returns the board's list as agents see it, with paths from the work directory. It does not
// change a path that leads to no file.
func (w *Workspace) Tasks(b *board.Board) []string {
	paths := b.TaskPaths()
	if w.Place.HoldsBoard() {
		return paths // agents see the board's own spelling, so no file need be read
	}
	for i, p := range paths {
		if ref, err := w.Place.Resolve(p); err == nil {
			paths[i] = ref.Path
		}
	}
	return paths
}

// CheckTasks is like [CheckSecrets], but for the board's list. It does not check the last accepted
// list again, because with 1,000 tasks the check takes a third of a step's time.
func (w *Workspace) CheckTasks(tasks []string) error {
	if slices.Equal(tasks, w.accepted) {
		return nil
	}
	if err := CheckSecrets(w.Redactor, tasks...); err != nil {
		return err
	}
	w.accepted = tasks
	return nil
}

// Seen returns a path in the spelling that agents see, which is relative to the work directory. If
// the path leads to no file, Seen only cleans it.
func (w *Workspace) Seen(p string) string { return Seen(w.Place, p) }

// Seen is like [Workspace.Seen], but for callers without a Workspace.
func Seen(place *board.Place, p string) string {
	if place.HoldsBoard() && filepath.IsLocal(p) && path.Clean(p) == p && filepath.ToSlash(p) == p {
		return p // agents see the board's own spelling, so no file need be read
	}
	ref, err := place.Resolve(p)
	if err != nil {
		return path.Clean(p)
	}
	return ref.Path
}

// Position returns the task's place in the board's list, from 1, and the list's length. The place
// is 0 if the task is not on the list.
func (w *Workspace) Position(b *board.Board, task string) (index, of int) {
	tasks := w.Tasks(b)
	i := slices.Index(tasks, task)
	if i < 0 {
		i = slices.IndexFunc(tasks, func(t string) bool { return path.Clean(t) == path.Clean(task) })
	}
	return i + 1, len(tasks)
}

// Listed returns a task as the board's list spells it, or "" if the list does not have it.
func (w *Workspace) Listed(task string) string {
	b, err := w.Look()
	if err != nil {
		return ""
	}
	if i := b.Finder()(task); i >= 0 {
		return b.TaskPaths()[i]
	}
	return ""
}

// RoleOf returns the role that a task is for: the one that it names, or that of the phase. It returns
// "" if the task cannot be read.
func (w *Workspace) RoleOf(task string) string {
	b, err := w.Look()
	if err != nil {
		return ""
	}
	t, err := w.Place.ReadTask(task)
	if err != nil {
		return ""
	}
	return board.RoleFor(b, t)
}

// IsOfBoard reports whether a file is a board or a task: by its content, or because this board or one of the given boards
// lists it. Runs and people change such files all the time.
func (w *Workspace) IsOfBoard(file string, boards []*board.Board) bool {
	if filepath.Ext(file) == ".yaml" || filepath.Ext(file) == ".yml" {
		return BoardAt(file) != nil
	}
	if rel, err := filepath.Rel(w.HomeDir(), file); err == nil {
		if t, err := w.Place.ReadTask(filepath.ToSlash(rel)); err == nil && t.Role != "" {
			return true
		}
	}
	if slices.Contains(w.Files()(), durable.RealPath(file)) {
		return true
	}
	for _, b := range boards {
		for _, task := range b.TaskPaths() {
			for _, from := range []string{w.HomeDir(), filepath.Dir(b.File)} {
				if durable.RealPath(filepath.Join(from, task)) == durable.RealPath(file) {
					return true
				}
			}
		}
	}
	return false
}

// BoardAt returns the board in a file, or nil if the file is none.
func BoardAt(file string) *board.Board {
	source, err := board.ReadFile(file)
	if err != nil {
		return nil
	}
	b, err := board.Parse(file, source)
	if err != nil || b.Len() == 0 {
		return nil
	}
	return b
}

// Files returns a function that finds the files of the board and of its tasks, as the board lists them
// now, without links. Other goroutines may call it.
func (w *Workspace) Files() func() []string {
	b, err := w.Look()
	w.Forget()
	return func() []string {
		files := []string{w.Path}
		if err != nil {
			return files
		}
		for _, task := range b.TaskPaths() {
			if file, err := w.Place.Resolve(task); err == nil {
				files = append(files, durable.RealPath(file.Abs))
			}
		}
		return files
	}
}
