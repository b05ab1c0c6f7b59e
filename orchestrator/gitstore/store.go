package gitstore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"kanban-run/orchestrator/failpoint"
	"kanban-run/orchestrator/git"
)

// Options say of what checkpoints are, and where they go.
type Options struct {
	Dir       string   // work directory of the run
	Board     string   // path of the board's file
	Runs      string   // the run's folder
	Kept      []string // what is kept of it, by names in it
	Branch    string   // "": board/ and the board's path in the repository
	Remote    string   // name or address of the repository that gets the branch; none: it stays here
	Signed    bool     // a checkpoint that is gone on from has to be signed, as git verify-commit sees it
	HasSecret func([]byte) bool
	Notice    func(text string) // tells a person what ends nothing
}

// Store keeps the checkpoints of one board. One goroutine uses it, which holds the board's lock.
type Store struct {
	Options
	user    git.Git // in the user's repository
	own     git.Git // in the store's own folder, with the objects of the user's
	top     string  // of the work tree
	inTree  string  // the run's folder, from top
	ref     string
	folder  string // the store's own
	address string // of the remote; "": none
	tip     string // the last checkpoint; ""

	askAgain time.Time // until then a remote that did not answer is left alone
	unsure   bool      // it did not answer when it was asked last
	told     string    // last, of the remote
}

// Times that a call of git may take.
const (
	localTime = 2 * time.Minute
	askTime   = 30 * time.Second // of a question to the remote
	moveTime  = 15 * time.Minute // of a push or a fetch: the first may be long
)

// UnfitError says why a repository can have no checkpoints, or why a run cannot go on from one.
type UnfitError struct{ Text, Fix string }

func (e *UnfitError) Error() string { return "checkpoint: " + e.Text }

// Hint says what to do.
func (e *UnfitError) Hint() string { return e.Fix }

// AheadError says that another runner has gone on with the board.
type AheadError struct{ Text string }

func (e *AheadError) Error() string { return "checkpoint: " + e.Text }

// Hint says what to do.
func (*AheadError) Hint() string {
	return "let that runner go on; to go on here from where it stands, keep what was done here under another name (git branch -m), and start in a fresh clone"
}

// SecretError says that a file that would be committed holds a secret.
type SecretError struct{ File string }

func (e *SecretError) Error() string {
	return fmt.Sprintf("checkpoint: %s holds a known secret, and would be committed", e.File)
}

// Hint says what to do.
func (e *SecretError) Hint() string {
	return "take the secret out, or have git ignore the file; then the same command goes on"
}

// Open finds the repository. Errors: *UnfitError.
func Open(stop context.Context, o Options) (*Store, error) {
	program, err := git.Find(o.Dir)
	if err != nil {
		return nil, &UnfitError{"git cannot be started", "install git, or leave the setting checkpoint out"}
	}
	s := &Store{Options: o, user: git.Git{Program: program, Dir: o.Dir, Timeout: localTime}}
	for _, step := range []func(context.Context) error{s.findTree, s.refuseUnfit, s.findBranch, s.findRemote, s.makeOwn, s.readTip} {
		if err := step(stop); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *Store) findTree(stop context.Context) error {
	inside, err := s.user.Run(stop, nil, "rev-parse", "--is-inside-work-tree")
	if failed := (*git.Error)(nil); errors.As(err, &failed) {
		return &UnfitError{s.Dir + " is in no git repository: " + strings.TrimSpace(failed.Stderr), "git init makes one; or leave the setting checkpoint out"}
	}
	if err != nil {
		return err
	}
	if inside != "true\n" {
		return &UnfitError{s.Dir + " is in a git repository without a work tree", "run it in a clone"}
	}
	if s.top, err = s.line(stop, "rev-parse", "--show-toplevel"); err != nil {
		return err
	}
	for path, what := range map[string]string{s.Runs: "the folder of the board's runs", s.Dir: "the work directory"} {
		if rel, err := filepath.Rel(s.top, path); err != nil || !filepath.IsLocal(rel) {
			return &UnfitError{fmt.Sprintf("%s, %s, is not in the repository %s", path, what, s.top), "put the board into the repository that its agents work in"}
		}
	}
	rel, err := filepath.Rel(s.top, s.Runs)
	s.inTree = filepath.ToSlash(rel)
	return err
}

// line asks the user's repository for one line.
func (s *Store) line(stop context.Context, args ...string) (string, error) {
	out, err := s.user.Run(stop, nil, args...)
	return strings.TrimSuffix(out, "\n"), err
}

// refuseUnfit refuses a repository of which a checkpoint would not hold all.
func (s *Store) refuseUnfit(stop context.Context) error {
	if _, err := s.user.Run(stop, nil, "check-ignore", "--quiet", filepath.Dir(s.Board)); err == nil {
		return &UnfitError{filepath.Dir(s.Board) + " is ignored by git", "put the board where git looks, or leave the setting checkpoint out"}
	}
	if out, err := s.user.Run(stop, nil, "config", "--get-regexp", `^(extensions\.partialclone|remote\..*\.promisor)$`); err == nil {
		return &UnfitError{"the repository is a partial clone, of which git may have to fetch a part (" + strings.TrimSpace(out) + ")", "use a whole clone; a shallow one will do"}
	}
	files, err := s.user.Run(stop, nil, "ls-files", "-t", "--stage", "-z")
	if err != nil {
		return err
	}
	var names []string
	for entry := range strings.SplitSeq(files, "\x00") {
		about, name, _ := strings.Cut(entry, "\t")
		switch tag := strings.Fields(about); {
		case len(tag) < 4:
			continue
		case tag[0] == "S":
			return &UnfitError{"the checkout is sparse: " + name + " is not in the work tree", "git sparse-checkout disable"}
		case tag[1] == "160000":
			return &UnfitError{name + " is a submodule, whose files would be in no checkpoint", "leave the setting checkpoint out"}
		}
		names = append(names, name)
	}
	return s.refuseFilters(stop, names)
}

// refuseFilters refuses files that are other bytes in the repository than in the work tree.
func (s *Store) refuseFilters(stop context.Context, names []string) error {
	inTop := s.user
	inTop.Dir = s.top
	out, err := inTop.Run(stop, []byte(strings.Join(names, "\x00")), "check-attr", "--stdin", "-z", "filter")
	if err != nil {
		return err
	}
	fields := strings.Split(out, "\x00")
	for i := 0; i+2 < len(fields); i += 3 {
		if value := fields[i+2]; value != "unspecified" && value != "unset" {
			return &UnfitError{fmt.Sprintf("%s has the filter %s: its checkpoints would hold whole files", fields[i], value), "leave the setting checkpoint out"}
		}
	}
	return nil
}

// findBranch names the branch.
func (s *Store) findBranch(stop context.Context) error {
	if s.Branch == "" {
		rel, err := filepath.Rel(s.top, s.Board)
		if err != nil || !filepath.IsLocal(rel) {
			return &UnfitError{s.Board + " is not in the repository " + s.top, "put the board into the repository that its agents work in"}
		}
		s.Branch = "board/" + branchName(filepath.ToSlash(rel))
	}
	s.Branch = strings.TrimPrefix(s.Branch, "refs/heads/")
	s.ref = "refs/heads/" + s.Branch
	if _, err := s.user.Run(stop, nil, "check-ref-format", s.ref); err != nil {
		return &UnfitError{s.Branch + " can be no branch", "checkpoint: git, or the name of a branch"}
	}
	for above := path.Dir(s.Branch); above != "."; above = path.Dir(above) {
		if _, err := s.user.Run(stop, nil, "rev-parse", "--verify", "--quiet", "refs/heads/"+above); err == nil {
			return &UnfitError{fmt.Sprintf("there is a branch %s, beside which git can have no branch %s", above, s.Branch), "name another branch: checkpoint: BRANCH"}
		}
	}
	trees, err := s.user.Run(stop, nil, "worktree", "list", "--porcelain")
	if err == nil && slices.Contains(strings.Split(trees, "\n"), "branch "+s.ref) {
		return &UnfitError{s.Branch + " is checked out, and the checkpoints of the board are to be its commits", "name another branch, or check another one out"}
	}
	return err
}

// findRemote finds out where checkpoints are pushed to.
func (s *Store) findRemote(stop context.Context) error {
	if s.Remote == "none" {
		return nil
	}
	if strings.Contains(s.Remote, ":") || filepath.IsAbs(s.Remote) { // an address, also where an agent has named a remote so
		s.address = s.Remote
		return nil
	}
	address, err := s.line(stop, "remote", "get-url", "--push", s.Remote)
	failed := (*git.Error)(nil)
	switch {
	case err == nil:
		s.address = address
	case !errors.As(err, &failed):
		return err
	case strings.ContainsAny(s.Remote, "/:"): // an address
		s.address = s.Remote
	case s.Remote == "origin":
		s.Notice("the repository has no remote origin: checkpoints stay in this clone")
	default:
		return &UnfitError{"there is no remote " + s.Remote, "git remote lists them; none keeps the branch here"}
	}
	return nil
}

// readTip reads the last checkpoint that this repository has.
func (s *Store) readTip(stop context.Context) error {
	tip, err := s.line(stop, "rev-parse", "--verify", "--quiet", s.ref+"^{commit}")
	if failed := (*git.Error)(nil); err != nil && !errors.As(err, &failed) {
		return err
	}
	s.tip = tip
	return nil
}

// at asks git in the store's own folder. A test kills the run before each call.
func (s *Store) at(stop context.Context, stdin []byte, args ...string) (string, error) {
	return s.asked(stop, s.own, stdin, args...)
}

func (s *Store) asked(stop context.Context, g git.Git, stdin []byte, args ...string) (string, error) {
	failpoint.At("git-call")
	out, err := g.Run(stop, stdin, args...)
	return strings.TrimSuffix(out, "\n"), err
}

// isAncestor says whether a commit is another, or comes before it.
func (s *Store) isAncestor(stop context.Context, a, b string) (bool, error) {
	_, err := s.own.Run(stop, nil, "merge-base", "--is-ancestor", a, b)
	if failed := (*git.Error)(nil); errors.As(err, &failed) && failed.Exit.Code == 1 {
		return false, nil
	}
	return err == nil, err
}

// head is the commit that is checked out; "": there is none yet.
func (s *Store) head(stop context.Context) (string, error) {
	head, err := s.line(stop, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
	if failed := (*git.Error)(nil); errors.As(err, &failed) {
		return "", nil
	}
	return head, err
}

// environ is the environment for a call that reaches the remote: the user's, with its keys, but
// without what leads git elsewhere.
func environ() []string {
	return slices.DeleteFunc(os.Environ(), func(e string) bool {
		name, _, _ := strings.Cut(e, "=")
		return strings.HasPrefix(name, "GIT_") && !slices.Contains([]string{"GIT_SSH", "GIT_SSH_COMMAND", "GIT_ASKPASS", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "GIT_PROXY_COMMAND"}, name)
	})
}
