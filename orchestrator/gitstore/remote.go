package gitstore

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/git"
)

// partialClone matches the settings of a clone that leaves some objects at its remote.
var partialClone = regexp.MustCompile(`^(extensions\.partialclone|remote\..*\.promisor)$`)

// findRemote sets the address to which checkpoints are pushed. The address stays "" if checkpoints
// are not pushed.
func (s *Store) findRemote(stop context.Context) error {
	if s.Remote == "none" {
		return nil
	}
	s.address = s.Remote
	// If Remote has a colon or is an absolute path, it is an address, even if an agent has added a
	// remote of that name.
	if !strings.Contains(s.Remote, ":") && !filepath.IsAbs(s.Remote) {
		named := s.repo.Settings.GetOwn("remote." + s.Remote + ".pushurl")
		if named == "" {
			named = s.repo.Settings.GetOwn("remote." + s.Remote + ".url")
		}
		switch {
		case named != "":
			s.address = named
		case strings.Contains(s.Remote, "/"):
		case s.Remote == "origin":
			s.address = ""
			s.Notice("the repository has no remote origin: checkpoints stay in this clone")
			return nil
		default:
			return &UnfitError{"there is no remote " + s.Remote, "git remote lists them; none keeps the branch here"}
		}
	}
	if err := git.CheckAddress(s.address); err != nil {
		return &UnfitError{"the address of the remote cannot be used: " + err.Error(),
			"git remote set-url " + s.Remote + " ADDRESS; none keeps the branch here"}
	}
	settings := s.repo.Settings.Kept()
	// Because of the setting url.*.insteadOf, git might use another address.
	led, err := s.own(stop, git.Call{Remote: settings}, nil, "ls-remote", "--get-url", "--", s.address)
	if err == nil {
		err = git.CheckAddress(led)
	}
	if git.IsRefusal(err) {
		return &UnfitError{"the address of the remote cannot be used: " + oneLine(err),
			"git remote get-url " + s.Remote + " shows it"}
	}
	s.folder = git.LocalFolder(s.repo.Top, led)
	return err
}

// Way returns the route of the checkpoints to the remote: the address of the remote, and digests of
// the settings with which git reaches it.
func (s *Store) Way() *event.GitWay {
	if s.address == "" {
		return &event.GitWay{Board: s.boardInTree(), Branch: s.Branch, Guarded: true}
	}
	return &event.GitWay{
		Board:    s.boardInTree(),
		Branch:   s.Branch,
		Guarded:  true,
		Address:  git.ShowAddress(s.address),
		Settings: s.repo.Settings.Kept().Digests(),
	}
}

// boardInTree returns the path of the board in the repository.
func (s *Store) boardInTree() string {
	rel, err := filepath.Rel(s.repo.Top, s.Board)
	if err != nil {
		return s.Board
	}
	return filepath.ToSlash(rel)
}

// push pushes the branch to the remote. If the remote does not answer, or refuses, push notes the
// reason in s.failed and returns nil. Errors: *AheadError, *SecretError.
func (s *Store) push(stop context.Context) error {
	began := time.Now()
	err := s.unlockFar()
	if s.address == "" {
		return nil
	}
	if err == nil && (s.unsure || s.heads == nil) {
		first := s.heads == nil
		_, err = s.ask(stop)
		if err == nil && first { // the last search used references that an agent can write
			s.looked = ""
			if err := s.findSecret(stop, s.tip, s.tip); err != nil {
				return err
			}
			s.looked = s.tip
		}
	}
	if err == nil {
		err = s.send(stop)
		if wasSignaled(err) && stop.Err() == nil {
			err = s.send(stop)
		}
	}
	if err == nil {
		s.told, s.failed, s.unsure = "", "", false
		return nil
	}
	if stop.Err() != nil {
		return err
	}
	if git.IsRefusal(err) {
		there, fetched := s.fetch(stop)
		if fetched == nil && there != "" {
			if behind, err := s.isAncestor(stop, there, s.tip); err == nil && !behind {
				return s.ahead(there)
			}
		}
	}
	s.rest(began)
	// Each checkpoint has another name, and the same refusal is told once.
	if reason := strings.ReplaceAll(oneLine(err), s.tip, "checkpoint"); reason != s.told {
		s.told, s.failed = reason, reason
	}
	return nil
}

// send makes one call to push the branch.
func (s *Store) send(stop context.Context) error {
	if err := s.unlockFar(); err != nil {
		return err
	}
	_, err := s.far(stop, moveTime, "push", "--quiet", "--no-verify", "--", s.address, s.tip+":"+s.ref)
	s.killed = wasKilled(err)
	return err
}

// wasSignaled reports whether git was ended from outside, for example for want of memory.
func wasSignaled(err error) bool {
	failed := (*git.Error)(nil)
	return errors.As(err, &failed) && !failed.Exit.TimedOut && failed.Exit.Signal != ""
}

// wasKilled reports whether a call of git did not end by itself.
func wasKilled(err error) bool {
	return err != nil && !git.IsRefusal(err)
}

// TakeFailure returns the reason why the last push failed, once. It returns "" if that push
// succeeded, or if an earlier one failed for the same reason.
func (s *Store) TakeFailure() (reason string) {
	reason, s.failed = s.failed, ""
	return reason
}

// rest postpones the next push after a failed call to the remote. The parameter since is the time
// when that call began.
func (s *Store) rest(since time.Time) {
	s.unsure, s.askAgain = true, time.Now().Add(restFactor*time.Since(since))
}

// Waits reports whether the remote may lack checkpoints, because it did not answer the last call or
// refused it.
func (s *Store) Waits() bool { return s.unsure }

// restFactor is the pause before the next push, as a multiple of the duration of the failed call.
const restFactor = 10

func (s *Store) ahead(there string) error {
	return &AheadError{fmt.Sprintf("another runner has gone on with the board: "+
		"%s has %.12s on %s, which does not follow %.12s here; "+
		"nothing is lost: the branch %s has what was done here",
		git.ShowAddress(s.address), there, s.Branch, s.tip, s.Branch)}
}

// ask reads the tips of the remote's branches into s.heads. It returns the tip of the board's
// branch, or "" if the remote does not have that branch.
func (s *Store) ask(stop context.Context) (tip string, err error) {
	out, err := s.far(stop, askTime, "ls-remote", "--quiet", "--heads", "--", s.address)
	if err != nil {
		return "", err
	}
	s.heads = []string{}
	for line := range strings.Lines(out) {
		id, ref, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !isObjectName(id) {
			return "", &UnfitError{fmt.Sprintf("the remote names %q as the tip of a branch, which is no commit", id),
				"git ls-remote " + git.ShowAddress(s.address) + " shows it"}
		}
		if s.heads = append(s.heads, id); ref == s.ref {
			tip = id
		}
	}
	return tip, nil
}

// fetch fetches the branch and returns its tip at the remote, or "" if the remote lacks the branch.
func (s *Store) fetch(stop context.Context) (string, error) {
	there, err := s.ask(stop)
	if err != nil || there == "" {
		return "", err
	}
	_, err = s.far(stop, moveTime, "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance",
		"--", s.address, s.ref)
	if packs := filepath.Join(s.repo.Objects, "pack"); err == nil && isFolder(packs) {
		err = durable.SyncDir(packs)
	}
	return there, err
}

var objectName = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

func isObjectName(name string) bool { return objectName.MatchString(name) }
