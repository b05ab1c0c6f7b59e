package workspace

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/git"
	"kanban-run/orchestrator/proc"
)

// Checkout is a position in the logs that git keeps of HEAD and of the stash. It is read without a
// call of git, which would take longer than most other work around an attempt.
type Checkout struct {
	dir         string // folder with the logs; "": there is no repository
	head, stash int64  // sizes of the two logs, in bytes
}

// MarkCheckout returns the present position in the logs of the checkout.
func (w *Workspace) MarkCheckout() Checkout {
	_, dir := git.Folder(w.WorkDir())
	if dir == "" {
		return Checkout{}
	}
	return Checkout{dir, size(headLog(dir)), size(stashLog(dir))}
}

func headLog(dir string) string  { return filepath.Join(dir, "logs", "HEAD") }
func stashLog(dir string) string { return filepath.Join(dir, "logs", "refs", "stash") }

// Moved returns the moves of the checkout since MarkCheckout, such as a change of the branch, a
// reset, a rebase or a stash. It quotes git's logs. It omits commits, since agents are expected to
// make them.
func (c Checkout) Moved() (all []string) {
	if c.dir == "" {
		return nil
	}
	for _, line := range newLines(headLog(c.dir), c.head) {
		if verb, _, _ := strings.Cut(line, ":"); slices.ContainsFunc([]string{"checkout", "reset", "rebase", "merge", "pull", "am"}, func(moves string) bool {
			return verb == moves || strings.HasPrefix(verb, moves+" ")
		}) {
			all = append(all, line)
		}
	}
	for _, line := range newLines(stashLog(c.dir), c.stash) {
		all = append(all, "stash: "+line)
	}
	if now := size(stashLog(c.dir)); now < c.stash {
		all = append(all, "stash: an entry was taken off")
	}
	return all
}

// mostLog bounds the part of a log that is read, in bytes.
const mostLog = 64 << 10

// newLines returns the messages of a log's lines from an offset on.
func newLines(path string, from int64) (messages []string) {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	if _, err := f.Seek(from, io.SeekStart); err != nil {
		return nil
	}
	data, err := io.ReadAll(io.LimitReader(f, mostLog))
	if err != nil {
		return nil
	}
	for line := range bytes.Lines(data) {
		if _, message, ok := bytes.Cut(bytes.TrimRight(line, "\n"), []byte{'\t'}); ok {
			messages = append(messages, string(message))
		}
	}
	return messages
}

// size returns the size of a file, or 0 if it is not known.
func size(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// IsInGit reports whether the work directory is in a git repository. It looks only at files,
// without a call of git.
func (w *Workspace) IsInGit() bool { return IsInGit(w.WorkDir()) }

// IsInGit is like [Workspace.IsInGit], but for a work directory without a run.
func IsInGit(workdir string) bool {
	_, folder := git.Folder(workdir)
	return folder != ""
}

// WarningOfGit returns a warning if git refuses the repository around the work directory, because it
// belongs to another user, and else "".
func (w *Workspace) WarningOfGit(stop context.Context) string {
	dir := w.WorkDir()
	if !git.IsForeign(dir) {
		return ""
	}
	if _, err := git.Open(stop, dir, proc.NewMark()); !errors.Is(err, git.ErrForeign) {
		return ""
	}
	return "git refuses the repository of another user, and work that goes round in circles is found late: " +
		"git config --global --add safe.directory " + failure.Quote(git.TopOf(dir))
}
