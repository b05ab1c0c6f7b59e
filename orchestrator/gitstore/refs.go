package gitstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"kanban-run/orchestrator/git"
)

// CommitOf returns the commit of a reference, or "".
func (w *Works) CommitOf(stop context.Context, ref string) (string, error) {
	return w.ask(stop, ref, "%(objectname)")
}

// OutAt returns the work tree in which a branch is checked out, or "".
func (w *Works) OutAt(stop context.Context, branch string) (string, error) {
	return w.ask(stop, branch, "%(worktreepath)")
}

// Behind returns the branch that a branch stands for, which is another one if it is symbolic.
func (w *Works) Behind(stop context.Context, branch string) (string, error) {
	other, err := w.ask(stop, branch, "%(symref)")
	return cmp.Or(other, branch), err
}

// ask returns what git knows of exactly one reference, or "" if there is none of this name.
func (w *Works) ask(stop context.Context, ref, format string) (string, error) {
	out, err := w.store.repo.User(stop, "for-each-ref", "--format=%(refname)%00"+format, ref)
	for line := range strings.Lines(out) {
		if name, text, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\x00"); ok && name == ref {
			return text, err
		}
	}
	return "", err
}

// Refer moves a reference to a commit, durably. The parameter was is "" for none; git refuses if it is not at was.
func (w *Works) Refer(stop context.Context, ref, was, is, message string) error {
	switch {
	case is == "":
		return fmt.Errorf("%s is to be moved nowhere", ref)
	case was == is:
		return nil
	case was == "":
		was = strings.Repeat("0", len(is))
	}
	if err := w.Unlock(ref); err != nil {
		return err
	}
	if _, err := w.store.repo.User(stop, "update-ref", "--no-deref", "-m", "kanban-run: "+message, ref, is, was); err != nil {
		return err
	}
	w.store.ref = ref
	return w.store.syncRef()
}

// Drop removes a reference of ours, or a branch whose work is elsewhere. Git refuses if it is not at was.
func (w *Works) Drop(stop context.Context, ref, was string) error {
	if err := w.Unlock(ref); err != nil {
		return err
	}
	_, err := w.store.repo.User(stop, "update-ref", "--no-deref", "-d", ref, was)
	return err
}

// Count returns the number of commits that a commit has, and base does not.
func (w *Works) Count(stop context.Context, base, commit string) (n int, err error) {
	out, err := w.store.repo.User(stop, "rev-list", "--count", base+".."+commit)
	if err == nil {
		n, err = strconv.Atoi(strings.TrimSpace(out))
	}
	return n, err
}

// Fork returns the last commit that two commits have in common, or "".
func (w *Works) Fork(stop context.Context, a, b string) (fork string, err error) {
	err = w.store.inCalls(func() error {
		fork, err = w.store.own(stop, git.Call{Raw: true}, nil, "merge-base", a, b)
		if failed := (*git.Error)(nil); errors.As(err, &failed) && failed.Exit.Code == 1 {
			fork, err = "", nil
		}
		return err
	})
	return fork, explain(err)
}

// Has reports whether commit a has commit b.
func (w *Works) Has(stop context.Context, a, b string) (has bool, err error) {
	err = w.store.inCalls(func() error {
		has, err = w.store.isAncestor(stop, b, a)
		return err
	})
	return has, explain(err)
}

// Repo returns the repository.
func (w *Works) Repo() *git.Repo { return w.store.repo }
