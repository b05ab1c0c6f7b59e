package worktree

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"kanban-run/orchestrator/git"
)

// Share is what the trees of one work directory have in common while a command runs, so that git is
// started once for all of them. Its zero value is ready for use.
type Share struct {
	mu    sync.Mutex
	repo  *git.Repo // nil: git was not asked yet
	stamp string    // of the folder .git and of its settings when git was asked

	asked   atomic.Uint64 // number of calls of changed so far
	asking  sync.Mutex    // guards the fields below
	served  uint64        // number of the last call that began before changes was made
	changes []string
}

// open returns the repository of a tree. It asks git only if the folder .git or its settings are not
// those of the call before.
func (s *Share) open(stop context.Context, t Tree, folder string) (*git.Repo, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if stamp := stampOf(folder); s.repo == nil || stamp != s.stamp {
		repo, err := git.Open(stop, t.Dir, t.Mark)
		if err != nil {
			return nil, err
		}
		s.repo, s.stamp = repo, stamp
	}
	return s.repo.Again(t.Mark), nil
}

// stampOf returns a text that changes with the place of a folder .git and with its files of settings.
func stampOf(folder string) string {
	stamp := folder
	for _, file := range []string{filepath.Join(git.CommonFolder(folder), "config"), filepath.Join(folder, "config.worktree")} {
		if info, err := os.Stat(file); err == nil {
			stamp += fmt.Sprint(" ", info.Size(), " ", info.ModTime().UnixNano())
		}
	}
	return stamp
}

// changed calls look, which lists changed files. Several calls at the same time are served by one call
// of look that begins after them.
func (s *Share) changed(look func() (names []string, known bool)) (names []string, known bool) {
	mine := s.asked.Add(1)
	s.asking.Lock()
	defer s.asking.Unlock()
	if s.served >= mine {
		return s.changes, true
	}
	all := s.asked.Load()
	if names, known = look(); known {
		s.changes, s.served = names, all
	}
	return names, known
}
