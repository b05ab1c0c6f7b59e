package gitstore

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"kanban-run/orchestrator/git"
)

// Outcome is how the work on a task ended, as its commit says.
type Outcome struct{ Task, Outcome string }

// Outcomes returns what the commits behind base say, the first one first.
func (w *Works) Outcomes(stop context.Context, base, tip string) (all []Outcome, err error) {
	out, err := w.store.repo.User(stop, "log", "--reverse", "--format=%(trailers:key=Kanban-Task,valueonly,separator=%x00)%x01%(trailers:key=Kanban-Outcome,valueonly,separator=%x00)%x02", base+".."+tip)
	for entry := range strings.SplitSeq(out, "\x02") {
		if task, outcome, ok := strings.Cut(strings.TrimSpace(entry), "\x01"); ok {
			all = append(all, Outcome{task, outcome})
		}
	}
	return all, err
}

// Left is what a clone has that its work does not.
type Left struct {
	Files []string // that differ from the work, and repositories within
	Refs  []string // with commits that neither the work nor the repository has
}

// Left returns what the clone has besides the work Work.Tip.
func (w *Works) Left(stop context.Context, k Work) (left Left, err error) {
	s := w.store
	err = s.inCalls(func() error {
		s.looked = ""
		err := s.apart(func() error {
			if err := s.addAll(stop, k.Tip); err != nil {
				return err
			}
			if err := errors.Join(w.addTracked(stop, k), w.except(stop, k)); err != nil {
				return err
			}
			tree, err := s.raw(stop, nil, "write-tree")
			if err != nil {
				return err
			}
			left.Files, err = s.differing(stop, git.Call{}, k.Tip, tree)
			return err
		})
		left.Files = append(left.Files, s.TakeLeftOut()...)
		if err != nil {
			return err
		}
		left.Refs, err = w.strayRefs(stop, k)
		return err
	})
	return left, explain(err)
}

// strayRefs returns references of the clone with commits that neither the work nor the repository has. They are read as files: git
// is not started in the clone.
func (w *Works) strayRefs(stop context.Context, k Work) (names []string, err error) {
	s := w.store
	refs, err := git.RefsIn(filepath.Dir(k.Objects))
	if err != nil {
		return nil, err
	}
	own, err := s.repo.User(stop, "for-each-ref", "--format=%(objectname)")
	if err != nil {
		return nil, err
	}
	known := append(strings.Fields(own), k.Tip)
	if k.Head != "" {
		known = append(known, k.Head) // its files are those of the clone
	}
	for _, name := range slices.Sorted(maps.Keys(refs)) {
		commit := refs[name]
		if slices.Contains(known, commit) {
			continue
		}
		var list strings.Builder
		list.WriteString(commit + "\n")
		for _, have := range known {
			list.WriteString("^" + have + "\n")
		}
		out, err := s.own(stop, git.Call{Raw: true, Further: k.Objects}, []byte(list.String()), "rev-list", "--max-count=1", "--stdin")
		if git.IsRefusal(err) {
			continue // it is no commit
		}
		if err != nil {
			return nil, err
		}
		if out == "" {
			continue
		}
		isThere := false
		if name != "refs/stash" { // whose untracked files are in a commit of their own
			isThere, err = w.hasFilesOf(stop, k, commit)
		}
		if err != nil {
			return nil, err
		}
		if !isThere {
			names = append(names, name)
		}
	}
	return names, nil
}

// hasFilesOf reports whether the work has all files as a commit of the clone has changed them, such as by a squash.
func (w *Works) hasFilesOf(stop context.Context, k Work, commit string) (bool, error) {
	call := git.Call{Raw: true, Further: k.Objects}
	base, err := w.store.own(stop, call, nil, "merge-base", commit, k.Tip)
	if git.IsRefusal(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	names, err := w.store.differing(stop, call, base, commit)
	if err != nil || len(names) == 0 || len(names) > mostCompared {
		return len(names) == 0, err
	}
	others, err := w.store.differing(stop, call, commit, k.Tip, names...)
	return len(others) == 0 && err == nil, err
}

// mostCompared bounds the files of a branch that are compared with the work.
const mostCompared = 500
