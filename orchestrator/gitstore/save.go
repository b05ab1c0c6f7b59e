package gitstore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"kanban-run/orchestrator/git"
)

// Point is what a checkpoint is of.
type Point struct {
	Subject string // in a line, for git log
	Step    int
	Base    string // SHA-256 of the board
	Reply   string // status of the last accepted reply; ""
	Last    bool   // the run ends with it: a remote that did not answer lately is asked all the same
}

func (p Point) message() []byte {
	text := fmt.Sprintf("%s\n\nKanban-Step: %d\nKanban-Base: %s\n", strings.Join(strings.Fields(p.Subject), " "), p.Step, p.Base)
	if p.Reply != "" {
		text += "Kanban-Reply: " + p.Reply + "\n"
	}
	return []byte(text)
}

// Save makes a checkpoint of what is there, and pushes it. A remote that cannot be reached, or
// refuses, gets it with a later one; that is told. Errors: *AheadError, *SecretError, *UnfitError.
func (s *Store) Save(stop context.Context, p Point) error {
	tree, err := s.writeTree(stop)
	if err != nil {
		return err
	}
	if err := s.findSecret(stop, tree); err != nil {
		return err
	}
	commit, err := s.commit(stop, tree, p)
	if err != nil {
		return err
	}
	if err := s.refer(stop, commit); err != nil {
		return err
	}
	if !p.Last && time.Now().Before(s.askAgain) {
		return nil
	}
	return s.push(stop)
}

// refer has the branch name a commit.
func (s *Store) refer(stop context.Context, commit string) error {
	before := s.tip
	if before == "" {
		before = strings.Repeat("0", len(commit))
	}
	if _, err := s.asked(stop, s.user, nil, "update-ref", "-m", "kanban-run", s.ref, commit, before); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	s.tip = commit
	return nil
}

// writeTree brings the index up to date with the work tree and the run's folder.
func (s *Store) writeTree(stop context.Context) (tree string, err error) {
	if _, err := os.Stat(filepath.Join(s.folder, "index")); err != nil {
		if err := s.beginIndex(stop); err != nil {
			return "", fmt.Errorf("checkpoint: %w", err)
		}
	}
	if err := s.addAll(stop); err != nil {
		return "", fmt.Errorf("checkpoint: %w", err)
	}
	if err := s.refuseRepositories(stop); err != nil {
		return "", err
	}
	var kept []string
	for _, name := range s.Kept {
		if _, err := os.Lstat(filepath.Join(s.Runs, name)); err == nil {
			kept = append(kept, s.inTree+"/"+name)
		}
	}
	// What is gone of it, or is in git by a wish of its author's, is taken out first.
	if _, err := s.at(stop, nil, "rm", "-r", "--cached", "--quiet", "--ignore-unmatch", "--", s.inTree); err != nil {
		return "", fmt.Errorf("checkpoint: %w", err)
	}
	if _, err := s.at(stop, nil, append([]string{"add", "--all", "--force", "--"}, kept...)...); err != nil {
		return "", fmt.Errorf("checkpoint: %w", err)
	}
	return s.at(stop, nil, "write-tree")
}

// addAll brings the index up to date with the work tree. A file that another board's agent writes
// at the moment is looked at again.
func (s *Store) addAll(stop context.Context) (err error) {
	for range 3 {
		if _, err = s.at(stop, nil, "add", "--all", "--", "."); err == nil || stop.Err() != nil {
			return err
		}
		time.Sleep(addPause)
	}
	return err
}

// addPause is the time between two looks at a file that changes.
const addPause = 200 * time.Millisecond

// beginIndex begins with what the last checkpoint, or else the commit that is checked out, has.
func (s *Store) beginIndex(stop context.Context) error {
	from := s.tip
	if from == "" {
		head, err := s.head(stop)
		if err != nil || head == "" {
			return err
		}
		from = head
	}
	_, err := s.at(stop, nil, "read-tree", from)
	return err
}

// refuseRepositories refuses a repository within this one, of which a checkpoint would hold
// the name of a commit only.
func (s *Store) refuseRepositories(stop context.Context) error {
	out, err := s.own.Run(stop, nil, "ls-files", "--stage", "-z")
	if err != nil {
		return err
	}
	for entry := range strings.SplitSeq(out, "\x00") {
		if about, name, _ := strings.Cut(entry, "\t"); strings.HasPrefix(about, "160000 ") {
			return errors.Join(&UnfitError{name + " is a repository of its own, whose files would be in no checkpoint", "have git ignore it, or leave the setting checkpoint out"},
				removeIfThere(filepath.Join(s.folder, "index")))
		}
	}
	return nil
}

// commit makes a commit of a tree. Its parents are the last checkpoint and the commit that is
// checked out, unless that is older.
func (s *Store) commit(stop context.Context, tree string, p Point) (string, error) {
	args := []string{"commit-tree", tree}
	if s.tip != "" {
		args = append(args, "-p", s.tip)
	}
	head, err := s.head(stop)
	if err != nil {
		return "", err
	}
	known := head == ""
	if !known && s.tip != "" {
		if known, err = s.isAncestor(stop, head, s.tip); err != nil {
			return "", err
		}
	}
	if !known {
		args = append(args, "-p", head)
	}
	committer := s.own
	if s.Signed { // with the user's key
		committer, args = s.far(askTime), append(args, "-S")
	}
	committer.Env = append(slices.Clip(committer.Env), s.identity(stop)...)
	commit, err := s.asked(stop, committer, p.message(), args...)
	if err != nil {
		return "", fmt.Errorf("checkpoint: %w", err)
	}
	return commit, nil
}

// identity is the user's, as git knows it.
func (s *Store) identity(stop context.Context) []string {
	name, email := "kanban-run", "kanban-run@localhost"
	if n, err := s.line(stop, "config", "--get", "user.name"); err == nil && n != "" {
		name = n
	}
	if e, err := s.line(stop, "config", "--get", "user.email"); err == nil && e != "" {
		email = e
	}
	return []string{"GIT_AUTHOR_NAME=" + name, "GIT_AUTHOR_EMAIL=" + email, "GIT_COMMITTER_NAME=" + name, "GIT_COMMITTER_EMAIL=" + email}
}

// push brings the branch to the remote. Errors: *AheadError.
func (s *Store) push(stop context.Context) error {
	if s.address == "" {
		return nil
	}
	began := time.Now()
	err := error(nil)
	if s.unsure {
		_, err = s.asked(stop, s.far(askTime), nil, "ls-remote", "--quiet", s.address, s.ref)
	}
	if err == nil {
		_, err = s.asked(stop, s.far(moveTime), nil, "push", "--quiet", "--no-verify", s.address, s.tip+":"+s.ref)
	}
	if err == nil {
		s.told, s.unsure = "", false
		return nil
	}
	if stop.Err() != nil {
		return err
	}
	if failed := (*git.Error)(nil); errors.As(err, &failed) && !failed.Exit.TimedOut {
		there, fetched := s.fetch(stop)
		if fetched == nil && there != "" {
			if behind, err := s.isAncestor(stop, there, s.tip); err == nil && !behind {
				return s.ahead(there)
			}
		}
	}
	s.rest(began)
	if text := fmt.Sprintf("the checkpoint waits here, in the branch %s: %v", s.Branch, oneLine(err)); text != s.told {
		s.told = text
		s.Notice(text)
	}
	return nil
}

// rest leaves a remote alone that has not answered since a time.
func (s *Store) rest(since time.Time) {
	s.unsure, s.askAgain = true, time.Now().Add(restFactor*time.Since(since))
}

// Waits says whether the remote may lack checkpoints: it did not answer, or
// refused, when it was asked last.
func (s *Store) Waits() bool { return s.unsure }

// restFactor is for how many times as long as it was waited for a remote is left alone.
const restFactor = 10

func (s *Store) ahead(there string) error {
	return &AheadError{fmt.Sprintf("another runner has gone on with the board: %s has %.12s on %s, which does not follow %.12s here; nothing is lost: the branch %s has what was done here",
		s.address, there, s.Branch, s.tip, s.Branch)}
}

// far is git for calls that reach the remote: with the user's own settings and keys,
// and those of no repository.
func (s *Store) far(timeout time.Duration) git.Git {
	g := s.own
	g.Timeout = timeout
	g.Env = environ()
	for _, e := range s.own.Env {
		if !strings.HasPrefix(e, "GIT_CONFIG") {
			g.Env = append(g.Env, e)
		}
	}
	return g
}

// fetch is the tip of the branch at the remote; "": it is not there.
func (s *Store) fetch(stop context.Context) (string, error) {
	out, err := s.asked(stop, s.far(askTime), nil, "ls-remote", "--quiet", s.address, s.ref)
	if err != nil || out == "" {
		return "", err
	}
	there, _, _ := strings.Cut(out, "\t")
	_, err = s.asked(stop, s.far(moveTime), nil, "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", s.address, s.ref)
	return there, err
}

func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }
