package gitstore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"kanban-run/orchestrator/git"
)

// References of work that is on its way, or that is there.
const (
	HeldRefs   = "refs/kanban-run/landing/" // the result of a merge, until the target has it
	LandedRefs = "refs/kanban-run/landed/"  // work that the target has, or had
)

// Merging is a merge of a board's work that is to be made.
type Merging struct {
	Base    string // commit at which the board began; "": it does not matter
	Tip     string // its work
	Onto    string // commit of the target
	Message string
	Scratch string // folder for files, which is made and removed
}

// Merged is the result of a merge. At most one of the fields Commit, IsThere, IsRewritten and Conflicts is set.
type Merged struct {
	Commit      string   // has the work and the target; it is Tip where that follows the target
	IsThere     bool     // the target has the work already
	IsRewritten bool     // the target does not have Base any more, so a merge would bring back what was taken away
	Conflicts   []string // paths that both sides have changed, and that nobody has merged
}

// Merge merges work onto a target, in the repository alone: no file and no reference changes. Of attributes only those of
// the target count, as git would merge in a checkout of it. Errors: *UnfitError.
func (w *Works) Merge(stop context.Context, m Merging) (merged Merged, err error) {
	s := w.store.in(m.Scratch)
	err = s.inCalls(func() error {
		if err := errors.Join(os.RemoveAll(m.Scratch), os.MkdirAll(m.Scratch, 0o700)); err != nil {
			return err
		}
		defer os.RemoveAll(m.Scratch)
		has := func(a, b string) bool {
			is, failed := s.isAncestor(stop, a, b)
			err = errors.Join(err, failed)
			return is
		}
		merged.IsThere = has(m.Tip, m.Onto)
		merged.IsRewritten = !merged.IsThere && m.Base != "" && !has(m.Base, m.Onto)
		if err == nil && merged.IsRewritten {
			merged.IsRewritten, err = s.lacksTreeOf(stop, m.Base, m.Onto)
		}
		if err != nil || merged.IsThere || merged.IsRewritten {
			return err
		}
		if has(m.Onto, m.Tip) && err == nil {
			merged.Commit = m.Tip
			return nil
		}
		if err == nil {
			merged, err = s.mergeTrees(stop, m)
		}
		return err
	})
	return merged, explain(err)
}

// mergeTrees merges two commits of which neither has the other.
func (s *Store) mergeTrees(stop context.Context, m Merging) (merged Merged, err error) {
	if err := s.layAttributes(stop, m.Onto); err != nil {
		return merged, err
	}
	raw := git.Call{Raw: true}
	err = s.apart(func() error {
		out, err := s.own(stop, raw, nil, "merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", m.Onto, m.Tip)
		tree, names, _ := strings.Cut(out, "\x00")
		failed := (*git.Error)(nil)
		if errors.As(err, &failed) && failed.Exit.Code == 1 && tree != "" {
			if merged.Conflicts = strings.FieldsFunc(names, isNUL); len(merged.Conflicts) == 0 { // git names none of a folder that was split
				merged.Conflicts = []string{"a folder that was renamed"}
			}
			return nil
		}
		if err != nil {
			return fmt.Errorf("merge: %w", err)
		}
		was, err := s.own(stop, raw, nil, "rev-parse", "--verify", m.Onto+"^{tree}")
		if err != nil || tree == was {
			merged.IsThere = err == nil
			return err
		}
		if merged.Conflicts, err = s.driven(stop, m); err != nil || len(merged.Conflicts) > 0 {
			return err
		}
		call := raw
		call.Env = s.identity()
		if merged.Commit, err = s.own(stop, call, []byte(m.Message), "commit-tree", tree, "-p", m.Onto, "-p", m.Tip); err != nil {
			return fmt.Errorf("merge: %w", err)
		}
		return s.takeIn()
	})
	return merged, err
}

// layAttributes lays out the files .gitattributes of a commit, the only files of the work tree that a merge looks at.
func (s *Store) layAttributes(stop context.Context, commit string) error {
	var index git.Index
	call := git.Call{Index: &index, Raw: true}
	if _, err := s.own(stop, call, nil, "read-tree", commit); err != nil {
		return err
	}
	names, err := s.own(stop, call, nil, "ls-files", "-z", "--cached", "--", ":(top,glob)**/.gitattributes")
	if err != nil || names == "" {
		return err
	}
	_, err = s.own(stop, call, []byte(names), "checkout-index", "-z", "--stdin")
	return err
}

// driven returns the paths that both sides have changed and whose merge is left to a program: the user's git would start it.
func (s *Store) driven(stop context.Context, m Merging) (names []string, err error) {
	raw := git.Call{Raw: true}
	base, err := s.own(stop, raw, nil, "merge-base", m.Onto, m.Tip)
	if err != nil {
		return nil, fmt.Errorf("merge: %w", err)
	}
	changed := func(commit string) []string {
		names, failed := s.differing(stop, raw, base, commit)
		err = errors.Join(err, failed)
		return names
	}
	ours, theirs := changed(m.Onto), changed(m.Tip)
	both := slices.DeleteFunc(ours, func(name string) bool { return !slices.Contains(theirs, name) })
	if err != nil || len(both) == 0 {
		return nil, err
	}
	out, err := s.own(stop, raw, []byte(strings.Join(both, "\x00")), "check-attr", "--stdin", "-z", "merge")
	fields := strings.Split(out, "\x00")
	for i := 0; i+2 < len(fields); i += 3 {
		if !slices.Contains([]string{"unspecified", "set", "unset", "text", "binary", "union"}, fields[i+2]) {
			names = append(names, fields[i])
		}
	}
	return names, err
}

// CheckMerges returns an *UnfitError if no merge can be made for the user of a repository.
func CheckMerges(stop context.Context, repo *git.Repo) error {
	out, err := repo.User(stop, "version")
	if err == nil && !isOld(out) {
		return CheckSigning(stop, repo)
	}
	switch {
	case err != nil:
		return err
	default:
		return &UnfitError{strings.TrimSpace(out) + " merges no trees", "git 2.38 or newer; or git merge"}
	}
}

// CheckSigning returns an *UnfitError if the user of a repository signs commits.
func CheckSigning(stop context.Context, repo *git.Repo) error {
	out, err := repo.User(stop, "config", "--type=bool", "--default=false", "--get", "commit.gpgsign")
	if err == nil && strings.TrimSpace(out) == "true" {
		err = &UnfitError{"commits are to be signed (commit.gpgsign), and land signs none", "git merge makes the commit, and land finds it"}
	}
	return err
}

// isOld reports whether a version of git cannot merge trees, as in "git version 2.37.1".
func isOld(version string) bool {
	fields := strings.Fields(version)
	if len(fields) < 3 {
		return false
	}
	parts := strings.SplitN(fields[2]+".0.0", ".", 3)
	major, err := strconv.Atoi(parts[0])
	minor, failed := strconv.Atoi(parts[1])
	return err == nil && failed == nil && (major < 2 || major == 2 && minor < 38)
}

// lacksTreeOf reports whether no commit of a target that base does not have has the files of base, as one does that was amended in its
// message alone.
func (s *Store) lacksTreeOf(stop context.Context, base, target string) (bool, error) {
	raw := git.Call{Raw: true}
	tree, err := s.own(stop, raw, nil, "rev-parse", "--verify", base+"^{tree}")
	if err != nil {
		return false, err
	}
	if _, err := s.own(stop, raw, nil, "merge-base", base, target); git.IsRefusal(err) { // git does not merge what has nothing in common
		return true, nil
	}
	trees, err := s.own(stop, raw, nil, "log", "--format=%T", base+".."+target)
	return !slices.Contains(strings.Fields(trees), tree), err
}
