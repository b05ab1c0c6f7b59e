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
	"slices"
	"strings"
	"syscall"
	"time"

	"kanban-run/cmd/kanban-run-temporal/fleet"
)

// Folder is the folder of a worker's clones. It has one clone for each board at work. A board's
// clone always has the same path, because agents find their sessions by the path.
type Folder struct {
	Path string
	lock *os.File
}

// OpenFolder creates the folder and locks it. It returns an error if another worker has the lock.
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

// of returns the path of a job's clone.
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

// clone prepares the board's clone in dir. An earlier run's clone stays if it contains the board's
// last checkpoint; otherwise it is set aside. In a new clone, the function checks out the commit at
// which the board began. So the board goes on with the files that it knows, even if the repository
// has newer commits.
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
	if _, err := git(stop, moveTime, "/", "clone", "--quiet", "--", job.Repository, part); err != nil {
		return err
	}
	board := "refs/remotes/origin/" + job.Branch()
	if _, err := git(stop, askTime, part, "rev-parse", "--verify", "--quiet", board); err == nil {
		began, err := git(stop, askTime, part, "merge-base", "HEAD", board)
		if err != nil {
			return fmt.Errorf("the branch board/%s and the repository have no commit in common: %w", job.Board, err)
		}
		if _, err := git(stop, moveTime, part, "checkout", "--quiet", "--detach",
			strings.TrimSpace(began)); err != nil {
			return err
		}
	}
	return os.Rename(part, dir)
}

// leads reports whether the clone in dir contains the board's last checkpoint in the repository. It
// returns true if the repository has no checkpoint of the board.
func (f Folder) leads(stop context.Context, job fleet.Job, dir string) (bool, error) {
	there, err := remoteTip(stop, job)
	if err != nil || there == "" {
		return true, err
	}
	_, err = git(stop, askTime, dir, "merge-base", "--is-ancestor", there, "refs/heads/"+job.Branch())
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.Exited() {
		// The commit is no ancestor, or this clone does not have it.
		return false, nil
	}
	return err == nil, err
}

// remoteTip returns the commit of the board's last checkpoint in the repository, or "" if the
// repository has no checkpoint of the board.
func remoteTip(stop context.Context, job fleet.Job) (string, error) {
	out, err := git(stop, askTime, "/", "ls-remote", "--quiet", "--", job.Repository, "refs/heads/"+job.Branch())
	tip, _, _ := strings.Cut(out, "\t")
	return tip, err
}

// setAside moves a clone into the folder "aside", so that a person can examine it.
func (f Folder) setAside(dir string) error {
	return os.Rename(dir, filepath.Join(f.Path, "aside", filepath.Base(dir)+"-"+
		time.Now().UTC().Format("20060102T150405.000")))
}

// tidy removes a clone if the repository has all checkpoints of the clone. If this is uncertain,
// the clone stays for the board's next run on this worker.
func (f Folder) tidy(stop context.Context, job fleet.Job, dir string, s summary) error {
	switch s.Outcome {
	case fleet.Killed, fleet.Failed, fleet.Owned:
		return nil
	}
	here, err := git(stop, askTime, dir, "for-each-ref", "--format=%(objectname)", "refs/heads/"+job.Branch())
	if err != nil || s.Unsaved {
		return nil
	}
	if tip := strings.TrimSpace(here); tip != "" { // "" if no run has begun in this clone
		if there, err := remoteTip(stop, job); err != nil || there != tip {
			return nil
		}
	}
	return remove(dir)
}

// remove removes a folder, even if agents have left read-only folders in it.
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

// The time limits of a call of git.
const (
	askTime  = 30 * time.Second
	moveTime = 15 * time.Minute // for a clone or a checkout, which can be large
)

// git runs git with the user's settings and keys, and without questions at a terminal.
func git(stop context.Context, most time.Duration, dir string, args ...string) (string, error) {
	within, cancel := context.WithTimeout(stop, most)
	defer cancel()
	c := exec.CommandContext(within, "git", append([]string{"-c", "core.hooksPath=/dev/null", "-c",
		"core.fsmonitor=false"}, args...)...)
	c.Dir, c.Env = dir, append(gitEnviron(), "GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1", "LC_ALL=C")
	// SIGTERM to the group ends git, ssh and their children.
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGTERM) }
	c.WaitDelay, c.SysProcAttr = endTime, ownSession()
	var out bytes.Buffer
	var words lastWords
	c.Stdout, c.Stderr = &out, &words
	switch err := c.Run(); {
	case err == nil:
		return out.String(), nil
	case stop.Err() != nil:
		return "", stop.Err()
	case within.Err() != nil:
		return "", fmt.Errorf("git %s took longer than %v: %s", args[0], most, words)
	default:
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, words)
	}
}

// gitEnviron returns the environment. Of git's own variables it keeps only those that git needs to
// connect, because the others could lead git to another repository.
func gitEnviron() []string {
	return slices.DeleteFunc(environ(), func(e string) bool {
		name, _, _ := strings.Cut(e, "=")
		return strings.HasPrefix(name, "GIT_") && !slices.Contains([]string{"GIT_SSH", "GIT_SSH_COMMAND",
			"GIT_ASKPASS", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "GIT_PROXY_COMMAND"}, name)
	})
}
