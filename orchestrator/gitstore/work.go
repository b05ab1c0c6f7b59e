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
	"kanban-run/orchestrator/plainfile"
)

// HiddenRefs is where the work of boards is held, out of reach of whoever removes branches.
const HiddenRefs = "refs/kanban-run/work/"

// Works are the commits of what the agents of one board did in a clone of its repository. They are made
// from the files of the clone, by a git that reads nothing of the clone's own folder .git, and belong to the
// repository.
type Works struct {
	store *Store
	began time.Time // a lock of a reference that is older was left by a git that was killed
}

// WorkOptions are the parameters of OpenWorks.
type WorkOptions struct {
	Repo      *git.Repo // repository of the board
	Tree      string    // top of the clone
	Runs      string    // the run's folder
	HasSecret func([]byte) bool
	Allow     []string // paths and names of objects in which secrets are ignored
	Notice    func(text string)
}

// OpenWorks returns the commits of a board's work. The clone may be made later.
func OpenWorks(o WorkOptions) *Works {
	repo := *o.Repo
	repo.Tree = o.Tree
	s := &Store{Options: Options{Runs: o.Runs, HasSecret: o.HasSecret, Allow: o.Allow, Notice: o.Notice}, repo: &repo, converts: true}
	if rel, err := filepath.Rel(repo.Top, o.Runs); err == nil {
		s.inTree = filepath.ToSlash(rel)
	}
	return &Works{s, time.Now()}
}

// Refuse returns an *UnfitError for a repository of which a clone would not be a whole one.
func (w *Works) Refuse(stop context.Context) error {
	at, home := *w.store, *w.store.repo // the clone is not made yet
	s := &at
	s.repo, home.Tree = &home, ""
	return s.inCalls(func() error {
		users, err := s.withUsersIndex()
		if err != nil {
			return err
		}
		return s.refusePartial(stop, users, true)
	})
}

// Unlock removes the lock of a reference that a killed git has left.
func (w *Works) Unlock(ref string) error {
	lock := filepath.Join(w.store.repo.Common, filepath.FromSlash(ref)+".lock")
	if info, err := os.Lstat(lock); err != nil || info.ModTime().After(w.began) {
		return nil
	}
	return removeIfThere(lock)
}

// Work is a commit that is to be made.
type Work struct {
	Tip      string   // commit with the work so far
	Base     string   // commit at which the board began
	Again    bool     // a new commit is made also if no file is new, for it says something else
	Replaced string   // parent of Tip, if the new commit takes the place of Tip unless another reference holds that; "": it follows Tip
	Except   []string // paths from the top, which stay as Tip has them
	Message  string
	Head     string // commit that is checked out in the clone
	Objects  string // the clone's folder of objects
	Ref      string // holds the commit, below HiddenRefs
	Branch   string // follows it for people, below refs/heads
}

// Kept is a commit of work.
type Kept struct {
	Commit   string
	Parent   string            // of Commit
	Index    []byte            // git's index of the clone for this commit
	Pack     map[string][]byte // by its file name: what the clone lacks of the commit
	LeftOut  []string          // what git could not take, each with its reason
	Branched bool              // the branch is at the commit; false: a person has moved it or has it checked out
}

// Keep makes a commit of the files of the clone, and moves its references. Paths below an entry of
// Work.Except stay as Work.Tip has them. If nothing is new, it returns Work.Tip. Errors: *SecretError,
// *UnfitError.
func (w *Works) Keep(stop context.Context, k Work) (kept Kept, err error) {
	s := w.store
	err = s.inCalls(func() error {
		s.looked, kept.Parent = "", k.Tip
		if k.Replaced != "" {
			held, err := s.repo.User(stop, "for-each-ref", "--format=%(refname)", "--contains", k.Tip)
			if err != nil {
				return fmt.Errorf("commit: %w", err)
			}
			ours := func(ref string) bool { return ref == k.Ref || ref == k.Branch }
			if !slices.ContainsFunc(strings.Fields(held), func(ref string) bool { return !ours(ref) }) {
				kept.Parent = k.Replaced
			}
		}
		err := s.apart(func() (err error) {
			kept.Commit, err = s.makeTrue(func() (string, error) { return w.make(stop, k, kept.Parent) })
			if err == nil {
				kept.Pack, err = w.pack(stop, k, kept.Commit)
			}
			if err == nil {
				err = s.takeIn()
			}
			return err
		})
		if err != nil {
			return err
		}
		kept.Index, kept.LeftOut = slices.Clone(s.index.Bytes()), s.TakeLeftOut()
		kept.Branched, err = w.refer(stop, k, kept.Commit)
		return err
	})
	if secret := (*SecretError)(nil); errors.As(err, &secret) {
		secret.Clone = w.store.repo.Tree
	}
	return kept, explain(err)
}

// make makes the commit in the separate folder of objects. Errors: *forgedError, *SecretError.
func (w *Works) make(stop context.Context, k Work, parent string) (string, error) {
	s := w.store
	if err := s.addAll(stop, k.Tip); err != nil {
		return "", err
	}
	if err := w.addTracked(stop, k); err != nil {
		return "", err
	}
	if err := w.except(stop, k); err != nil {
		return "", err
	}
	tree, err := s.raw(stop, nil, "write-tree")
	if err != nil {
		return "", fmt.Errorf("commit: %w", err)
	}
	was, err := s.own(stop, git.Call{Raw: true}, nil, "rev-parse", "--verify", k.Tip+"^{tree}")
	if again := k.Again && parent != k.Tip; err != nil || tree == was && !again {
		return k.Tip, err
	}
	call := git.Call{Raw: true}
	call.Env = s.identity()
	commit, err := s.own(stop, call, []byte(k.Message), "commit-tree", tree, "-p", parent)
	if err != nil {
		return "", fmt.Errorf("commit: %w", err)
	}
	return commit, s.findSecret(stop, commit, k.Tip)
}

// addTracked adds the files that git ignores, and that the agent's own git tracks all the same: it added them by force.
func (w *Works) addTracked(stop context.Context, k Work) error {
	s := w.store
	theirs, err := git.ReadIndexIn(filepath.Dir(k.Objects))
	if err != nil || theirs.IsEmpty() {
		return nil // it is the agent's
	}
	tracked, err := s.own(stop, git.Call{Index: theirs, Raw: true}, nil, "ls-files", "-z", "--cached")
	if err != nil {
		return nil
	}
	have, err := s.raw(stop, nil, "ls-files", "-z", "--cached")
	if err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	known := map[string]bool{}
	for name := range strings.SplitSeq(have, "\x00") {
		known[name] = true
	}
	var add []string
	for name := range strings.SplitSeq(tracked, "\x00") {
		isExcept := func(e string) bool { return name == e || strings.HasPrefix(name, e+"/") }
		if info, err := os.Lstat(s.path(name)); name != "" && !known[name] && err == nil && !info.IsDir() && !slices.ContainsFunc(k.Except, isExcept) {
			add = append(add, name)
		}
	}
	if len(add) == 0 {
		return nil
	}
	_, err = w.literal(stop, []byte(strings.Join(add, "\x00")), "add", "--force", "--ignore-errors", "--pathspec-from-file=-", "--pathspec-file-nul")
	return err
}

// except gives the paths of Work.Except back in the index what the tip has there.
func (w *Works) except(stop context.Context, k Work) error {
	if len(k.Except) == 0 {
		return nil
	}
	now, err := w.literal(stop, nil, append([]string{"ls-files", "-z", "--"}, k.Except...)...)
	if err != nil {
		return err
	}
	was, err := w.literal(stop, nil, append([]string{"ls-tree", "-r", "-z", k.Tip, "--"}, k.Except...)...)
	if err != nil {
		return err
	}
	var info strings.Builder
	for name := range strings.SplitSeq(now, "\x00") {
		if name != "" {
			info.WriteString("0 " + strings.Repeat("0", len(k.Tip)) + "\t" + name + "\x00")
		}
	}
	for entry := range strings.SplitSeq(was, "\x00") {
		if about, name, ok := strings.Cut(entry, "\t"); ok {
			fields := strings.Fields(about) // MODE TYPE OBJECT
			info.WriteString(fields[0] + " " + fields[2] + "\t" + name + "\x00")
		}
	}
	if info.Len() > 0 {
		_, err = w.literal(stop, []byte(info.String()), "update-index", "-z", "--index-info")
	}
	return err
}

// pack returns the files of a pack with all objects of a commit that the clone may lack: those of its HEAD it has, while its
// agent may have had git collect the last tip.
func (w *Works) pack(stop context.Context, k Work, commit string) (map[string][]byte, error) {
	if commit == k.Tip {
		return nil, nil
	}
	s := w.store
	folder := filepath.Join(s.objects, "pack-for-clone")
	if err := os.Mkdir(folder, 0o700); err != nil {
		return nil, fmt.Errorf("commit: %w", err)
	}
	defer os.RemoveAll(folder)
	want := commit + "\n"
	if k.Head != "" {
		want += "^" + k.Head + "\n"
	}
	if _, err := s.own(stop, git.Call{Raw: true, Further: k.Objects}, []byte(want), "pack-objects", "--quiet", "--revs", filepath.Join(folder, "pack")); err != nil {
		return nil, fmt.Errorf("commit: %w", err)
	}
	files, err := os.ReadDir(folder)
	pack := map[string][]byte{}
	for _, f := range files {
		if strings.HasSuffix(f.Name(), ".pack") || strings.HasSuffix(f.Name(), ".idx") {
			text, failed := plainfile.Read(filepath.Join(folder, f.Name()), maxPack)
			pack[f.Name()], err = text, errors.Join(err, failed)
		}
	}
	return pack, err
}

// maxPack bounds a file of a pack, in bytes.
const maxPack = 1 << 30

// refer moves the references to a commit. The hidden one is the runner's alone. The branch stays where a
// person has put it, and where it is checked out.
func (w *Works) refer(stop context.Context, k Work, commit string) (branched bool, err error) {
	s := w.store
	out, err := s.repo.User(stop, "for-each-ref", "--format=%(objectname) %(refname) %(worktreepath)", k.Ref, k.Branch)
	if err != nil {
		return false, fmt.Errorf("commit: %w", err)
	}
	hidden, branch, isOut := "", "", false
	for line := range strings.Lines(out) {
		fields := strings.Fields(line)
		switch {
		case len(fields) < 2:
		case fields[1] == k.Ref:
			hidden = fields[0]
		case fields[1] == k.Branch:
			branch, isOut = fields[0], len(fields) > 2
		}
	}
	move := func(ref, was string) error {
		if err := w.Refer(stop, ref, was, commit, "commit"); err != nil {
			return fmt.Errorf("commit: %w", err)
		}
		return nil
	}
	if err := move(k.Ref, hidden); err != nil || isOut {
		return false, err
	}
	if branch != "" && branch != k.Tip && branch != hidden && branch != commit {
		line, err := s.repo.User(stop, "rev-list", k.Base+".."+k.Tip)
		if err != nil {
			return false, fmt.Errorf("commit: %w", err)
		}
		if !slices.Contains(strings.Fields(line), branch) { // else it was checked out for a while
			return false, nil
		}
	}
	err = move(k.Branch, branch)
	return err == nil, err
}

// Follows reports whether the commit head of the clone follows the tip, or a commit that an agent has made in its place: one
// with the parents of the tip that has changed each file that the tip has. The parameter objects is the clone's
// folder of objects.
func (w *Works) Follows(stop context.Context, objects, head, tip string) (follows bool, err error) {
	s := w.store
	call := func(args ...string) (string, error) {
		return s.own(stop, git.Call{Raw: true, Further: objects}, nil, args...)
	}
	err = s.inCalls(func() error {
		out, err := call("rev-list", "--parents", "--max-count=1", tip)
		if err != nil {
			return fmt.Errorf("commit: %w", err)
		}
		_, list, _ := strings.Cut(out, " ")
		args, parents := []string{"rev-list", "--parents", head}, strings.Fields(list)
		for _, p := range parents {
			args = append(args, "^"+p)
		}
		out, err = call(args...)
		if git.IsRefusal(err) {
			return nil // the clone does not have that commit
		}
		var instead []string
		for line := range strings.SplitSeq(out, "\n") {
			commit, its, _ := strings.Cut(line, " ")
			switch {
			case commit == tip:
				follows = true
			case commit != "" && its == list:
				instead = append(instead, commit)
			}
		}
		if follows || err != nil || len(parents) == 0 {
			follows = follows || len(instead) > 0
			return err
		}
		changes := func(commit string) ([]string, error) {
			return s.differing(stop, git.Call{Further: objects}, parents[0], commit)
		}
		want, err := changes(tip)
		for _, commit := range instead {
			have, failed := changes(commit)
			lacks := func(name string) bool { return !slices.Contains(have, name) }
			follows = follows || failed == nil && !slices.ContainsFunc(want, lacks)
			err = errors.Join(err, failed)
		}
		return err
	})
	return follows, err
}

// BlobsAt returns the names of the blobs that a commit has at some paths from the top of the repository.
func (w *Works) BlobsAt(stop context.Context, commit string, paths []string) (blobs map[string][]string, err error) {
	s := w.store
	err = s.inCalls(func() error {
		out, err := w.literal(stop, nil, append([]string{"ls-tree", "-z", commit, "--"}, paths...)...)
		blobs = map[string][]string{}
		for entry := range strings.SplitSeq(out, "\x00") {
			if about, name, ok := strings.Cut(entry, "\t"); ok {
				blobs[name] = append(blobs[name], strings.Fields(about)[2])
			}
		}
		return err
	})
	return blobs, err
}

// literal calls git with the index of the next commit, and takes paths as they are.
func (w *Works) literal(stop context.Context, stdin []byte, args ...string) (string, error) {
	c := git.Call{Index: &w.store.index, Raw: true}
	c.Env = []string{"GIT_LITERAL_PATHSPECS=1"}
	out, err := w.store.own(stop, c, stdin, args...)
	if err != nil {
		return "", fmt.Errorf("commit: %w", err)
	}
	return out, nil
}
