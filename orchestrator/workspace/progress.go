package workspace

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/proc"
	"kanban-run/orchestrator/redact"
	"kanban-run/orchestrator/rundir"
	"kanban-run/orchestrator/worktree"
)

// ProjectHash returns a hash of the project's files. It omits the records of runs, which are the
// board, the files of runs and the work logs of tasks. It returns "" if there is no hash (see
// [worktree.Tree.Hash]). The processes of git bear the given mark.
func (w *Workspace) ProjectHash(stop context.Context, mark proc.Mark) string {
	if w.dryRun {
		return "" // its agents change nothing
	}
	t := w.tree(mark)
	t.Part = func(name string, text []byte) []byte {
		// Omit the work log, which a task of any board may have.
		if at := workLog.FindIndex(text); at != nil && strings.HasSuffix(name, ".md") {
			return text[:at[0]]
		}
		return text
	}
	return t.Hash(stop)
}

// mostLeft bounds the files of FilesLeft. A few are evidence enough.
const mostLeft = 20

// FilesLeft lists some of the project's files that the last commit lacks. It returns nil if git does
// not tell. The processes of git bear the given mark.
func (w *Workspace) FilesLeft(stop context.Context, mark proc.Mark) (left []event.LeftFile) {
	if w.dryRun {
		return nil
	}
	for _, f := range w.tree(mark).Left(stop, mostLeft) {
		left = append(left, event.LeftFile{Name: f.Name, State: f.State})
	}
	return left
}

// Uncommitted lists some of the project's files that the last commit lacks, without boards of other runs and without those
// whose names hold a secret. It returns nil if git does not tell.
func (w *Workspace) Uncommitted(stop context.Context, r *redact.Redactor) (names []string) {
	for _, f := range w.FilesLeft(stop, proc.NewMark()) {
		if !w.IsOfRuns(f.Name) && r.String(f.Name) == f.Name {
			names = append(names, f.Name)
		}
	}
	return names
}

// Unignored returns those of some files of the work directory that git does not ignore. Without git it
// returns all of them.
func (w *Workspace) Unignored(stop context.Context, names []string) []string {
	if len(names) == 0 {
		return nil
	}
	return w.tree(proc.NewMark()).Unignored(stop, names)
}

// AreGone reports whether files that an attempt left are gone, see [worktree.Tree.AreGone].
func (w *Workspace) AreGone(stop context.Context, left []event.LeftFile) bool {
	files := make([]worktree.File, len(left))
	for i, f := range left {
		files[i] = worktree.File{Name: f.Name, State: f.State}
	}
	return w.tree(proc.NewMark()).AreGone(stop, files)
}

// IsCommitted reports whether the board is as the last commit has it.
func (w *Workspace) IsCommitted(stop context.Context) bool {
	return w.tree(proc.NewMark()).IsCommitted(stop, filepath.ToSlash(w.KanbanFile()))
}

// tree returns the project's files without the records of runs.
func (w *Workspace) tree(mark proc.Mark) worktree.Tree {
	kanban, outputs := w.KanbanFile(), sync.OnceValue(ownOutputs)
	ignored := sync.OnceValue(func() []string {
		files := slices.Clone(w.ignored)
		// Omit the boards beside this one, because their own runs change them.
		for _, other := range rundir.Others(filepath.Dir(w.Dir().Path), w.Dir()) {
			files = append(files, filepath.Join(filepath.Dir(w.Path), other.BoardFile()))
		}
		return files
	})
	return worktree.Tree{
		Dir:   w.WorkDir(),
		Mark:  mark,
		Calls: filepath.Join(w.Dir().Path, "git"),
		Share: w.share,
		Ignore: func(name string) bool {
			return name == kanban ||
				strings.Contains("/"+name, "/.kanban-run/runs/") ||
				strings.Contains("/"+name, "/.kanban-run/claims/") ||
				slices.Contains(ignored(), filepath.Join(w.HomeDir(), name)) || isOneOf(filepath.Join(w.WorkDir(), name), outputs())
		},
	}
}

// IsOfRuns reports whether a file of the work directory is a board with a folder of runs, or was a
// temporary file of such a board: its own runs change it. Runs make the folder .kanban-run, too.
func (w *Workspace) IsOfRuns(name string) bool {
	if filepath.Base(name) == ".kanban-run" {
		return true
	}
	path := durable.TargetOf(filepath.Join(w.HomeDir(), filepath.FromSlash(name)))
	info, err := os.Stat(rundir.Of(path).Path)
	return err == nil && info.IsDir()
}

// isOneOf reports whether a path leads to one of the files.
func isOneOf(path string, files []os.FileInfo) bool {
	if len(files) == 0 {
		return false
	}
	info, err := os.Stat(path)
	return err == nil && slices.ContainsFunc(files, func(f os.FileInfo) bool { return os.SameFile(f, info) })
}

// workLog matches the beginning of the heading of a task's work log.
var workLog = regexp.MustCompile(`(?mi)^#{1,6}[ \t]+work[ \t-]*log\b`)

// LastEntry returns the last entry of a task's work log, or "" if the task has no log.
func (w *Workspace) LastEntry(task string) string {
	text, err := w.Place.ReadText(task)
	at := workLog.FindStringIndex(text)
	if err != nil || at == nil {
		return ""
	}
	log := []byte(text[at[1]:])
	return strings.TrimSpace(string(log[max(0, bytes.LastIndex(log, []byte("\n#"))):]))
}

// TaskSHA returns the SHA-256 of a task's file, or "" if the file cannot be read.
func (w *Workspace) TaskSHA(task string) string { return TaskSHA(w.Place, task) }

// TaskSHA returns the SHA-256 of a task's file, or "" if the file cannot be read.
func TaskSHA(place *board.Place, task string) string {
	text, err := place.ReadText(task)
	if err != nil {
		return ""
	}
	return board.SHA([]byte(text))
}
