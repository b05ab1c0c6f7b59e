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

	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failpoint"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/git"
	"kanban-run/orchestrator/plainfile"
)

// Options are the parameters of Open.
type Options struct {
	Dir       string   // work directory of the run
	Board     string   // path of the board's file
	Runs      string   // the run's folder
	Kept      []string // names of the files and folders in Runs that a checkpoint holds
	Branch    string   // name; "": made of "board/" and the board's path in the repository
	Remote    string   // name or address; "none": the branch is not pushed
	Signed    bool     // checkpoints are signed, and a run continues only from a signed one
	Environ   []string // environment of kanban-run, for keys and for a remote on another machine
	AgentEnv  []string // environment of agents, for a remote in a folder, where git runs hooks
	HasSecret func([]byte) bool
	Allow     []string          // paths and names of objects in which secrets are ignored
	Notice    func(text string) // shows a person a text; the run goes on
}

// Store is the branch of the checkpoints of one board. Only the goroutine that holds the board's
// lock uses it.
type Store struct {
	Options
	repo     *git.Repo
	calls    string    // the folder for the calls of git; "" outside of inCalls
	converts bool      // files are added as the user's git would, and not byte for byte
	index    git.Index // git's index for the next checkpoint
	objects  string    // the folder of new objects; "": that of the repository
	inTree   string    // path of the run's folder from the top of the work tree, with slashes
	ref      string
	address  string    // address of the remote; "": checkpoints are not pushed
	folder   string    // the remote, if it is a folder of this machine; "": it is none
	killed   bool      // a call of git was killed, and may have left a lock at the remote
	tip      string    // the last checkpoint; "": no checkpoint
	looked   string    // the commit up to which this run has searched for secrets; "": no search yet
	follows  [2]string // the checked-out commit, and the checkpoint that was made to follow it

	heads []string // tips of the remote's branches; nil: the remote has not answered yet

	left     []string // what the index leaves out; see addFiles
	leftTold []string // what TakeLeftOut has returned last
	lost     []string // what the restored checkpoint has left out

	askAgain time.Time // the earliest time of the next push, after a failed call to the remote
	unsure   bool      // the remote did not answer the last call, or refused it
	told     string    // the last reason of a failed push
	failed   string    // told, if TakeFailure has not returned it yet
}

// Time limits for a call of git.
const (
	localTime = 2 * time.Minute
	askTime   = 30 * time.Second // for a question to the remote, or a signature
	moveTime  = 15 * time.Minute // for a push, a fetch or a search for secrets
)

// UnfitError is the error for a repository that can have no checkpoints, or for a checkpoint from
// which a run cannot continue.
type UnfitError struct{ Text, Fix string }

func (e *UnfitError) Error() string { return "checkpoint: " + e.Text }

// Hint returns Fix.
func (e *UnfitError) Hint() string { return e.Fix }

// Unfit returns the error for a folder whose repository cannot be opened, or nil if err is none or has to do with the machine.
func Unfit(dir string, err error) *UnfitError {
	inside := (*git.InsideError)(nil)
	in := fmt.Sprintf("%s is in %v", dir, err)
	switch {
	case errors.As(err, &inside):
		return &UnfitError{err.Error(), inside.Hint()}
	case errors.Is(err, git.ErrMissing):
		return &UnfitError{err.Error(), "install git"}
	case errors.Is(err, git.ErrNoRepository):
		return &UnfitError{in, "git init makes one"}
	case errors.Is(err, git.ErrForeign):
		return &UnfitError{in, "git config --global --add safe.directory " + failure.Quote(git.TopOf(dir))}
	case errors.Is(err, git.ErrNoWorkTree):
		return &UnfitError{in, "run it in a clone"}
	case git.IsRefusal(err) && !durable.IsMachineFault(err):
		return &UnfitError{fmt.Sprintf("git refuses %s: %v", dir, err), "git -C " + failure.Quote(dir) + " status shows it, too"}
	default:
		return nil
	}
}

// AheadError is the error for a board on which another runner has worked in the meantime.
type AheadError struct{ Text string }

func (e *AheadError) Error() string { return "checkpoint: " + e.Text }

// Hint names the two ways to continue.
func (*AheadError) Hint() string {
	return "let that runner go on; to go on here from where it stands, " +
		"keep what was done here under another name (git branch -m), and start in a fresh clone"
}

// SecretError is the error for a secret in an object that would be committed or pushed.
type SecretError struct {
	File   string // place of the secret in words: a path, or a part of a commit
	Object string // the name of the object in git
	Made   bool   // the object is committed already, by an agent or a person
	Clone  string // top of the clone of which the files are; "": they are those of the checkout
	Own    string // path of the object if it is a file of the run; otherwise ""
}

func (e *SecretError) Error() string {
	if e.Clone != "" {
		return fmt.Sprintf("%s in the clone %s holds a known secret, and would be committed", e.File, e.Clone)
	}
	if e.Made {
		return fmt.Sprintf("checkpoint: %s holds a known secret, and would be pushed", e.File)
	}
	return fmt.Sprintf("checkpoint: %s holds a known secret, and would be committed", e.File)
}

// Hint names the ways to remove or to allow the secret.
func (e *SecretError) Hint() string {
	if e.Own != "" { // nobody can edit a journal, and git has nothing to ignore there
		return "secrets_allow: ['" + strings.ReplaceAll(e.Own, "'", "''") + "'] in .kanban-run.yaml lets this file of the run pass as it is, " +
			"so the secret itself has to be replaced; or leave the setting checkpoint out"
	}
	if e.Made {
		return "take it out of the commits (git rebase -i), " +
			"or pass it with secrets_allow: [" + e.Object[:12] + "]"
	}
	return "take the secret out, or have git ignore the file"
}

// Open ends the processes of git that a killed run left, and then finds the repository, the branch
// and the remote. Errors: *UnfitError, *proc.LeftoverError.
func Open(stop context.Context, o Options) (*Store, error) {
	s := &Store{Options: o}
	if err := os.MkdirAll(o.Runs, 0o700); err != nil {
		return nil, err
	}
	mark, err := git.EndLeftovers(o.Runs)
	if err != nil {
		return nil, err
	}
	s.repo, err = git.Open(stop, o.Dir, mark)
	if unfit := Unfit(o.Dir, err); unfit != nil {
		unfit.Fix += "; or leave the setting checkpoint out"
		return nil, unfit
	}
	if err != nil {
		return nil, err
	}
	return s, s.inCalls(func() error {
		for _, step := range []func(context.Context) error{
			s.placeInTree, s.findBranch, s.readBranch, s.refuseUnfit, s.findRemote,
		} {
			if err := step(stop); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *Store) placeInTree(context.Context) error {
	for path, what := range map[string]string{
		s.Runs: "the folder of the board's runs",
		s.Dir:  "the work directory",
	} {
		if rel, err := filepath.Rel(s.repo.Top, path); err != nil || !filepath.IsLocal(rel) {
			return &UnfitError{fmt.Sprintf("%s, %s, is not in the repository %s", path, what, s.repo.Top),
				"put the board into the repository that its agents work in"}
		}
	}
	rel, err := filepath.Rel(s.repo.Top, s.Runs)
	s.inTree = filepath.ToSlash(rel)
	return err
}

// own executes git with the folder of inCalls as GIT_DIR. A failpoint lets a test kill the run
// before each call.
func (s *Store) own(stop context.Context, c git.Call, stdin []byte, args ...string) (string, error) {
	failpoint.At("git-call")
	c.Raw = c.Raw && !s.converts
	if c.Timeout == 0 {
		c.Timeout = localTime
	}
	if c.Objects == "" {
		c.Objects = s.objects
	}
	out, err := s.repo.Own(stop, s.calls, c, stdin, args...)
	return strings.TrimSuffix(out, "\n"), err
}

// inCalls removes the folders that killed runs left, and makes a folder with an unpredictable name,
// which git uses as GIT_DIR. Then it calls the function do, and removes the folder. If git was
// killed, an empty folder stays, so that the next run knows.
func (s *Store) inCalls(do func() error) error {
	if s.calls != "" {
		return do()
	}
	left, err := filepath.Glob(filepath.Join(s.Runs, "git-*"))
	s.killed = s.killed || len(left) > 0
	for _, folder := range left {
		err = errors.Join(err, os.RemoveAll(folder))
	}
	if err == nil {
		s.calls, err = os.MkdirTemp(s.Runs, "git-")
	}
	if err != nil {
		return fmt.Errorf("make the folder of the calls of git: %w", err)
	}
	defer func() { s.calls = "" }()
	err = errors.Join(do(), os.RemoveAll(s.calls))
	if s.killed {
		err = errors.Join(err, os.Mkdir(s.calls, 0o700))
	}
	return err
}

// raw calls git without conversion: git takes the files of the work tree byte for byte.
func (s *Store) raw(stop context.Context, stdin []byte, args ...string) (string, error) {
	return s.own(stop, git.Call{Index: &s.index, Raw: true}, stdin, args...)
}

// converted executes git with conversion: git converts line ends and encodings as the user's git
// does.
func (s *Store) converted(stop context.Context, stdin []byte, args ...string) (string, error) {
	return s.own(stop, git.Call{Index: &s.index}, stdin, args...)
}

// far calls git to reach the remote. If the remote is a folder of this machine, git gets only the
// environment that agents get, since git runs the hooks in that folder.
func (s *Store) far(stop context.Context, timeout time.Duration, args ...string) (string, error) {
	settings := s.repo.Settings.Kept()
	c := git.Call{Git: git.Git{Timeout: timeout, Env: settings.Environ(s.Environ)}, Raw: true, Remote: settings}
	if s.folder != "" {
		isGits := func(e string) bool { return strings.HasPrefix(e, "GIT_") }
		c.Env, c.Remote = slices.DeleteFunc(slices.Clone(s.AgentEnv), isGits), s.repo.Settings.Way()
	}
	return s.own(stop, c, nil, args...)
}

// refuseUnfit returns an *UnfitError for a repository that a checkpoint could not hold completely.
func (s *Store) refuseUnfit(stop context.Context) error {
	users, err := s.withUsersIndex()
	if err != nil {
		return err
	}
	if ignored, err := s.own(stop, users, nil, "check-ignore", "--", filepath.Dir(s.Board), s.Board); err == nil {
		name, _, _ := strings.Cut(ignored, "\n")
		return &UnfitError{name + " is ignored by git",
			"put the board where git looks, or leave the setting checkpoint out"}
	}
	return s.refusePartial(stop, users, s.tip == "")
}

// withUsersIndex returns a call with the index of the user's own git. Errors: *UnfitError.
func (s *Store) withUsersIndex() (git.Call, error) {
	index, err := s.repo.ReadIndex()
	if err != nil {
		return git.Call{}, &UnfitError{"the index of the repository cannot be read: " + err.Error(),
			"git status says what is wrong with it"}
	}
	return git.Call{Index: index}, nil
}

// refusePartial returns an *UnfitError for a repository of which git has only a part here. Of submodules it asks
// only where isNew is set: without .gitmodules it is no submodule, but what a task has left, and commits
// leave it out.
func (s *Store) refusePartial(stop context.Context, users git.Call, isNew bool) error {
	if partial := s.repo.Settings.Find(partialClone); len(partial) > 0 {
		return &UnfitError{
			"the repository is a partial clone, " +
				"of which git may have to fetch a part (" + strings.Join(partial, ", ") + ")",
			"use a whole clone; a shallow one will do",
		}
	}
	files, err := s.own(stop, users, nil, "ls-files", "-t", "--stage", "-z")
	if err != nil {
		return err
	}
	var names []string
	inner := "" // a repository within the repository
	for entry := range strings.SplitSeq(files, "\x00") {
		about, name, _ := strings.Cut(entry, "\t")
		switch tag := strings.Fields(about); {
		case len(tag) < 4:
			continue
		case tag[0] == "S":
			return &UnfitError{"the checkout is sparse: " + name + " is not in the work tree",
				"git sparse-checkout disable"}
		case tag[1] == "160000":
			inner = name
			continue
		}
		names = append(names, name)
	}
	if inner != "" && isNew && slices.Contains(names, ".gitmodules") {
		return &UnfitError{inner + " is a submodule, whose files would be in no commit",
			"leave the setting checkpoint out"}
	}
	return s.refuseFilters(stop, users, names)
}

// refuseFilters returns an *UnfitError if a program of the user converts one of the files.
func (s *Store) refuseFilters(stop context.Context, users git.Call, names []string) error {
	out, err := s.own(stop, users, []byte(strings.Join(names, "\x00")), "check-attr", "--stdin", "-z", "filter")
	if err != nil {
		return err
	}
	fields := strings.Split(out, "\x00")
	for i := 0; i+2 < len(fields); i += 3 {
		if value := fields[i+2]; value != "unspecified" && value != "unset" {
			return &UnfitError{
				fmt.Sprintf("%s has the filter %s: commits made without it would hold whole files", fields[i], value),
				"leave the setting checkpoint out",
			}
		}
	}
	return nil
}

// findBranch chooses the branch, checks its name, and removes a stale lock of the branch.
func (s *Store) findBranch(stop context.Context) error {
	if s.Branch == "" {
		rel, err := filepath.Rel(s.repo.Top, s.Board)
		if err != nil || !filepath.IsLocal(rel) {
			return &UnfitError{s.Board + " is not in the repository " + s.repo.Top,
				"put the board into the repository that its agents work in"}
		}
		s.Branch = "board/" + BranchName(filepath.ToSlash(rel))
	}
	s.Branch = strings.TrimPrefix(s.Branch, "refs/heads/")
	s.ref = "refs/heads/" + s.Branch
	_, err := s.own(stop, git.Call{}, nil, "check-ref-format", s.ref)
	if git.IsRefusal(err) {
		return &UnfitError{s.Branch + " can be no branch", "checkpoint: git, or the name of a branch"}
	}
	if err != nil {
		return err
	}
	for above := path.Dir(s.Branch); above != "."; above = path.Dir(above) {
		if _, err := s.repo.User(stop, "rev-parse", "--verify", "--quiet", "refs/heads/"+above); err == nil {
			return &UnfitError{
				fmt.Sprintf("there is a branch %s, beside which git can have no branch %s", above, s.Branch),
				"name another branch: checkpoint: BRANCH",
			}
		}
	}
	return s.unlockRef()
}

// readBranch sets tip to the last checkpoint in this repository. Errors: *UnfitError if the branch
// cannot be used for checkpoints.
func (s *Store) readBranch(stop context.Context) error {
	about, err := s.repo.User(stop, "for-each-ref", "--format=%(objectname) %(symref) %(worktreepath)", s.ref)
	if err != nil {
		return err
	}
	names, about, _ := strings.Cut(about, " ")
	to, where, _ := strings.Cut(about, " ")
	if to != "" {
		return &UnfitError{fmt.Sprintf("%s leads to %s, which would be moved with it", s.Branch, to),
			"git symbolic-ref --delete " + s.ref + "; then the same command goes on"}
	}
	// The branch can be checked out even if it has no commit yet. for-each-ref does not list such a
	// branch, so read HEAD.
	head, _ := plainfile.Read(filepath.Join(s.repo.Folder, "HEAD"), 1<<10)
	if where != "" || strings.TrimSpace(string(head)) == "ref: "+s.ref {
		return &UnfitError{s.Branch + " is checked out, and the checkpoints of the board are to be its commits",
			"name another branch, or check another one out"}
	}
	if names == "" {
		return nil
	}
	if s.tip, err = s.commitOf(stop, s.ref); err == nil && s.tip == "" {
		return &UnfitError{
			fmt.Sprintf("the branch %s names %.12s, which is no commit that is here", s.Branch, names),
			"git update-ref -d " + s.ref + " takes it away; " +
				"then the same command goes on, from the remote if that has it",
		}
	}
	return err
}

// head returns the commit that is checked out, or "" before the first commit.
func (s *Store) head(stop context.Context) (string, error) { return s.commitOf(stop, "HEAD") }

// commitOf returns the commit that a reference names, or "" if it names no commit.
func (s *Store) commitOf(stop context.Context, ref string) (string, error) {
	commit, err := s.repo.User(stop, "rev-parse", "--verify", "--quiet", ref+"^{commit}")
	if git.IsRefusal(err) {
		return "", nil
	}
	return commit, err
}

// isAncestor reports whether the commit a is an ancestor of the commit b, or the same commit.
func (s *Store) isAncestor(stop context.Context, a, b string) (bool, error) {
	if s.follows == [2]string{a, b} {
		return true, nil
	}
	_, err := s.own(stop, git.Call{}, nil, "merge-base", "--is-ancestor", a, b)
	if failed := (*git.Error)(nil); errors.As(err, &failed) && failed.Exit.Code == 1 {
		return false, nil
	}
	return err == nil, err
}

// unlockRef removes the branch's lock, which a killed git may have left.
func (s *Store) unlockRef() error {
	return removeIfThere(filepath.Join(s.repo.Common, filepath.FromSlash(s.ref)+".lock"))
}

// unlockFar removes the branch's lock in a remote on this machine, if a killed git may have left it
// there. All processes of that git are gone. Any other lock is that of a push from another clone.
func (s *Store) unlockFar() error {
	if s.killed && s.folder != "" {
		for _, dir := range []string{".git", ""} { // as git looks for it
			if err := removeIfThere(filepath.Join(s.folder, dir, filepath.FromSlash(s.ref)+".lock")); err != nil {
				return err
			}
		}
	}
	s.killed = false
	return nil
}

func removeIfThere(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

func oneLine(err error) string { return event.OneLine(err.Error()) }
