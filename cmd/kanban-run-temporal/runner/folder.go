package runner

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"kanban-run/cmd/kanban-run-temporal/fleet"
)

// Folder is where a worker keeps its clones: one for each board that is run, always at the same path, because agents find their sessions by
// it.
type Folder struct {
	Path string
	lock *os.File
}

// OpenFolder makes the folder. It belongs to one worker at a time.
func OpenFolder(path string) (Folder, error) {
	if err := os.MkdirAll(filepath.Join(path, "aside"), 0o700); err != nil {
		return Folder{}, err
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return Folder{}, err
	}
	lock, err := os.OpenFile(filepath.Join(path, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return Folder{}, err
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return Folder{}, errors.Join(fmt.Errorf("another worker keeps its clones in %s", path), lock.Close())
	}
	return Folder{path, lock}, nil
}

// of is the board's clone.
func (f Folder) of(job fleet.Job) string {
	id := job.ID()
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '-' {
			return r
		}
		return '_'
	}, path.Base(strings.TrimSuffix(id, "/"+job.Board))+"_"+job.Board)
	return filepath.Join(f.Path, fmt.Sprintf("%s-%.5x", tail(name, 80), sha256.Sum256([]byte(id))))
}

// clone makes the board's clone, unless one is there that a run has left with checkpoints of its own. In a new one the commit is checked out
// that the board began with: a board goes on with the files that it knows, also when its repository has new commits.
func (f Folder) clone(stop context.Context, job fleet.Job, dir string) error {
	if _, err := os.Stat(dir); err == nil {
		leads, err := f.leads(stop, job, dir)
		if err != nil || leads {
			return err
		}
		if err := f.setAside(dir); err != nil {
			return err
		}
	}
	part := dir + ".part"
	if err := os.RemoveAll(part); err != nil {
		return err
	}
	if _, err := git(stop, f.Path, "clone", "--quiet", "--", job.Repository, part); err != nil {
		return err
	}
	board := "refs/remotes/origin/board/" + job.Board
	if _, err := git(stop, part, "rev-parse", "--verify", "--quiet", board); err == nil {
		began, err := git(stop, part, "merge-base", "HEAD", board)
		if err != nil {
			return fmt.Errorf("the branch board/%s and the repository have no commit in common: %w", job.Board, err)
		}
		if _, err := git(stop, part, "checkout", "--quiet", "--detach", strings.TrimSpace(began)); err != nil {
			return err
		}
	}
	return os.Rename(part, dir)
}

// leads says whether no other clone has come further with the board.
func (f Folder) leads(stop context.Context, job fleet.Job, dir string) (bool, error) {
	branch := "refs/heads/board/" + job.Board
	out, err := git(stop, f.Path, "ls-remote", "--quiet", "--", job.Repository, branch)
	if err != nil || out == "" {
		return true, err
	}
	there, _, _ := strings.Cut(out, "\t")
	_, err = git(stop, dir, "merge-base", "--is-ancestor", there, branch)
	return err == nil, nil
}

// setAside keeps what a run has left, for a person to look at.
func (f Folder) setAside(dir string) error {
	return os.Rename(dir, filepath.Join(f.Path, "aside", filepath.Base(dir)+"-"+time.Now().UTC().Format("20060102T150405.000")))
}

// leave removes a clone that holds nothing that the remote does not have. One that another runner has left behind is set aside.
func (f Folder) leave(dir string, s summary) error {
	switch {
	case s.Outcome == fleet.Owned:
		return f.setAside(dir)
	case s.Outcome == fleet.Killed, s.Outcome == fleet.Failed, s.Unpushed != "", s.Unsaved:
		return nil
	default:
		return remove(dir)
	}
}

// remove removes a folder, also one in which agents have left folders that are not writable.
func remove(dir string) error {
	if os.RemoveAll(dir) == nil {
		return nil
	}
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() {
			return os.Chmod(path, 0o700)
		}
		return nil
	})
	return os.RemoveAll(dir)
}

// git runs git with the user's settings and keys, and asks nothing at a terminal.
func git(stop context.Context, dir string, args ...string) (string, error) {
	c := exec.CommandContext(stop, "git", append([]string{"-c", "core.hooksPath=/dev/null"}, args...)...)
	c.Dir, c.Env = dir, append(environ(), "GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1", "LC_ALL=C")
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	c.WaitDelay, c.SysProcAttr = endTime, ownGroup()
	var out, words bytes.Buffer
	c.Stdout, c.Stderr = &out, &limited{&words, 4 << 10}
	if err := c.Run(); err != nil {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, strings.Join(strings.Fields(words.String()), " "))
	}
	return out.String(), nil
}
