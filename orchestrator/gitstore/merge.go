package gitstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
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
	at, home := *w.store, *w.store.repo
	home.Tree = m.Scratch
	at.repo = &home
	s := &at
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
		out, failed := s.own(stop, raw, nil, "diff-tree", "-r", "-z", "--no-renames", "--name-only", base, commit)
		err = errors.Join(err, failed)
		return strings.FieldsFunc(out, isNUL)
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

// Change is a file that differs between two commits.
type Change struct {
	Name            string // path from the top
	WasMode, IsMode string // as in a tree, such as 100644; "000000": there is none
	Was, Is         string // names of the blobs
}

// Changes lists the files that differ between two commits.
func (w *Works) Changes(stop context.Context, from, to string) (all []Change, err error) {
	s := w.store
	err = s.inCalls(func() error {
		out, err := s.own(stop, git.Call{Raw: true}, nil, "diff-tree", "-r", "-z", "--raw", "--no-renames", from, to)
		fields := strings.Split(out, "\x00")
		for i := 0; i+1 < len(fields); i += 2 { // ":WASMODE ISMODE WAS IS STATUS", NAME
			about := strings.Fields(strings.TrimPrefix(fields[i], ":"))
			all = append(all, Change{fields[i+1], about[0], about[1], about[2], about[3]})
		}
		return err
	})
	return all, explain(err)
}

// LayOut writes files of a commit below a folder, as a checkout would write them.
func (w *Works) LayOut(stop context.Context, commit string, names []string, folder string) error {
	at, home := *w.store, *w.store.repo
	home.Tree = folder // in which git finds no .gitattributes but those of the commit
	at.repo = &home
	s := &at
	if len(names) == 0 {
		return nil
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	return explain(s.inCalls(func() error {
		var index git.Index
		call := git.Call{Index: &index}
		if _, err := s.own(stop, call, nil, "read-tree", commit); err != nil { // which refuses names that lead out
			return err
		}
		_, err := s.own(stop, call, []byte(strings.Join(names, "\x00")), "checkout-index", "-z", "--stdin", "--prefix="+filepath.Clean(folder)+"/")
		return err
	}))
}

// IsSplit reports whether the user's index is in several files, which only git itself may change.
func (w *Works) IsSplit(stop context.Context) (bool, error) {
	out, err := w.store.repo.User(stop, "rev-parse", "--shared-index-path")
	return strings.TrimSpace(out) != "", err
}

// BlobOf returns the name of the blob that git would make of a file of the work tree.
func (w *Works) BlobOf(stop context.Context, name string) (blob string, err error) {
	s := w.store
	err = s.inCalls(func() error {
		blob, err = s.own(stop, git.Call{}, nil, "hash-object", "--", name)
		return err
	})
	return blob, explain(err)
}

// StagedOf returns what the user's index has at some paths, as "MODE BLOB STAGE" each. It returns the index, too.
func (w *Works) StagedOf(stop context.Context, names []string) (staged map[string]string, index *git.Index, err error) {
	s := w.store
	err = s.inCalls(func() error {
		if index, err = s.repo.ReadIndex(); err != nil {
			return err
		}
		out, err := s.own(stop, git.Call{Index: index, Raw: true}, nil, "ls-files", "-z", "--stage")
		staged = map[string]string{}
		for entry := range strings.SplitSeq(out, "\x00") {
			if about, name, ok := strings.Cut(entry, "\t"); ok && slices.Contains(names, name) {
				staged[name] = about
			}
		}
		return err
	})
	return staged, index, explain(err)
}

// WithChanges returns a user's index in which exactly the changed files are as a commit has them.
func (w *Works) WithChanges(stop context.Context, index *git.Index, changes []Change) (text []byte, err error) {
	s := w.store
	err = s.inCalls(func() error {
		var info strings.Builder
		for _, c := range changes {
			if c.IsMode == "000000" {
				info.WriteString("0 " + strings.Repeat("0", len(c.Is)) + "\t" + c.Name + "\x00")
			}
		}
		for _, c := range changes { // behind the removals: a folder may give way to a file
			if c.IsMode != "000000" {
				info.WriteString(c.IsMode + " " + c.Is + "\t" + c.Name + "\x00")
			}
		}
		_, err := s.own(stop, git.Call{Index: index, Raw: true}, []byte(info.String()), "update-index", "-z", "--index-info")
		return err
	})
	return index.Bytes(), explain(err)
}

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

// Refresh has the user's index know the times of the files that were put into the checkout, so that git need not look into them.
// What differs, differs.
func (w *Works) Refresh(stop context.Context) error {
	_, err := w.store.repo.User(stop, "update-index", "-q", "--refresh")
	if git.IsRefusal(err) {
		return nil
	}
	return err
}

// Text returns the bytes of a blob.
func (w *Works) Text(stop context.Context, blob string) (text string, err error) {
	err = w.store.inCalls(func() error {
		text, err = w.store.own(stop, git.Call{Raw: true}, nil, "cat-file", "blob", blob)
		return err
	})
	return text, explain(err)
}

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
			out, err := s.own(stop, git.Call{Raw: true}, nil, "diff-tree", "-r", "-z", "--no-renames", "--name-only", k.Tip, tree)
			left.Files = strings.FieldsFunc(out, isNUL)
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
	call.Env = []string{"GIT_LITERAL_PATHSPECS=1"}
	base, err := w.store.own(stop, call, nil, "merge-base", commit, k.Tip)
	if git.IsRefusal(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	out, err := w.store.own(stop, call, nil, "diff-tree", "-r", "-z", "--no-renames", "--name-only", base, commit)
	names := strings.FieldsFunc(out, isNUL)
	if err != nil || len(names) == 0 || len(names) > mostCompared {
		return len(names) == 0, err
	}
	out, err = w.store.own(stop, call, nil, append([]string{"diff-tree", "-r", "-z", "--no-renames", "--name-only", commit, k.Tip, "--"}, names...)...)
	return out == "" && err == nil, err
}

// mostCompared bounds the files of a branch that are compared with the work.
const mostCompared = 500

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

// SizeOf returns the size of what changes bring, in bytes.
func (w *Works) SizeOf(stop context.Context, changes []Change) (size int64, err error) {
	var blobs strings.Builder
	for _, c := range changes {
		if strings.Trim(c.Is, "0") != "" {
			blobs.WriteString(c.Is + "\n")
		}
	}
	err = w.store.inCalls(func() error {
		out, err := w.store.own(stop, git.Call{Raw: true}, []byte(blobs.String()), "cat-file", "--batch-check=%(objectsize)")
		for line := range strings.Lines(out) {
			if n, failed := strconv.ParseInt(strings.TrimSpace(line), 10, 64); failed == nil { // else it is no object of this repository
				size += n
			}
		}
		return err
	})
	return size, explain(err)
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
