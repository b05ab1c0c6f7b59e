package clone

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/config"
	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failpoint"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/git"
	"kanban-run/orchestrator/gitstore"
	"kanban-run/orchestrator/guard"
	"kanban-run/orchestrator/redact"
	"kanban-run/orchestrator/roster"
	"kanban-run/orchestrator/rundir"
	"kanban-run/orchestrator/workspace"
)

// Turn has the parts of a run that a [Keeper] uses.
type Turn struct {
	Board     string // path of the board as the user wrote it
	Run       config.Run
	Journal   flow.Journal
	Workspace *workspace.Workspace
	Folder    rundir.Dir
	Head      git.Head // of the checkout, when the command began
	Roster    *roster.Roster
	Redactor  *redact.Redactor
	Notice    func(text string)
	Watch     func(checkout, clone string) // looks at the programs of the checkout in the clone
	Check     func(isNew bool) error       // looks whether the clone has what the roles need
	Stop      context.Context              // when it is done, the setup is asked to end
	Kill      context.Context              // when it is done, git is killed
}

// Keeper keeps the clone of one run's board. It is a [guard.Guard].
type Keeper struct {
	Turn
	works *gitstore.Works
	both  *both // nil: the board has no clone
	isNew bool  // this run has made the clone, and no agent has worked in it
}

// NewKeeper returns the keeper of a run.
func NewKeeper(t Turn) *Keeper { return &Keeper{Turn: t} }

// Enter has the agents of the board work in its clone, if it has one or is to get one. It makes the clone, or makes
// it anew if it is gone. Errors: *failure.Invalid.
func (k *Keeper) Enter() error {
	s := k.Journal.State()
	switch {
	case k.Run.Land && !k.Run.Clones && s.Clone == nil && s.Landing == nil && !k.Run.DryRun:
		return &failure.Invalid{Err: errors.New("land: the agents work in the checkout, so that nothing is to land"), Fix: "--clones --land, or leave out --land"}
	case k.Run.DryRun, s.Clone == nil && !k.Run.Clones:
		return nil
	case s.Clone == nil && s.Step == nil && k.isOver():
		return nil
	case s.Clone == nil && s.Landing == nil && (s.WorkedIn != "" || s.Finished > 0):
		k.Notice("the board was begun in the checkout, and goes on there without a clone")
		return nil
	case k.Run.Git.On:
		return &failure.Invalid{Err: errors.New("clones: a board has a clone or checkpoints, not both"), Fix: "leave out --clones, or the setting checkpoint"}
	}
	repo, err := k.open()
	if err != nil {
		return err
	}
	if of := homeOf(repo.Top); of != "" {
		return &failure.Invalid{Err: fmt.Errorf("clones: %s is the clone of a board of %s", repo.Top, of), Fix: "run it there: cd " + failure.Quote(of)}
	}
	name, err := k.nameIn(repo.Top)
	if err != nil {
		return err
	}
	c := &Clone{Top: Place(repo.Top, k.Run.ClonesDir, Name(name)), Home: repo.Top}
	if rel, err := filepath.Rel(repo.Top, durable.RealPath(filepath.Dir(c.Top))); err == nil && filepath.IsLocal(rel) {
		return &failure.Invalid{Err: fmt.Errorf("clones: %s is in the checkout", c.Top), Fix: "--clones-dir DIR names a folder outside of it"}
	}
	if s.Clone != nil {
		if was := (&Clone{s.Clone.Dir, s.Clone.ID, repo.Top}); was.Is() {
			c = was
		}
	}
	k.works = gitstore.OpenWorks(gitstore.WorkOptions{Repo: repo, Tree: c.Top, Runs: k.Folder.Path,
		HasSecret: k.Redactor.ForFiles().ChangesBytes, Allow: k.Run.Git.Allow, Notice: k.Notice})
	anew := s.Clone.IsAnswered(event.CloneStray, event.Retry) || s.Clone.IsAnswered(event.CloneSpoiled, event.Retry)
	if s.Clone == nil || !c.Is() || !s.Clone.Ready || anew {
		err = k.make(repo, c, name)
	} else {
		err = learnSecrets(k.Redactor, c, s.Clone.Out)
	}
	if err != nil {
		return err
	}
	top := durable.RealPath(repo.Top)
	k.both = &both{top: top, clone: c, agreed: map[string]Digest{}, keep: k.keepAside}
	if err := k.Workspace.WorkIn(c.Top, top); err != nil {
		return err
	}
	k.Roster.WorkIn(k.Workspace.WorkDir(), roster.Clone{Home: k.Workspace.HomeDir(), From: repo.Top, To: c.Top})
	if err := k.Check(k.isNew); err != nil {
		return err
	}
	k.Watch(repo.Top, c.Top)
	return nil
}

// isOver reports whether the board has nothing to do, so that it needs no clone.
func (k *Keeper) isOver() bool {
	b, err := k.Workspace.LookAgain()
	k.Workspace.Forget()
	return err == nil && b.Terminal()
}

// open opens the repository of the board, and ends what a killed run has left of git and of a setup. Errors:
// *failure.Invalid for one of which no clone can be made.
func (k *Keeper) open() (repo *git.Repo, err error) {
	mark, err := git.EndLeftovers(k.Folder.Path)
	if err != nil {
		return nil, err
	}
	repo, err = git.Open(k.Kill, k.Workspace.HomeDir(), mark)
	if unfit := gitstore.Unfit(k.Workspace.HomeDir(), err); unfit != nil {
		return nil, &failure.Invalid{Err: errors.New("clones: " + unfit.Text), Fix: unfit.Fix + "; or " + withoutClones}
	}
	return repo, err
}

// withoutClones is the way for a repository that can have none.
const withoutClones = "without --clones, and with -j 1, the agents work in the checkout"

// refuse returns the error for a repository that can have no clones.
func refuse(text string) error {
	return &failure.Invalid{Err: errors.New("clones: " + text), Fix: withoutClones}
}

// nameIn returns the name of the board's clone.
func (k *Keeper) nameIn(top string) (string, error) {
	rel, err := filepath.Rel(durable.RealPath(top), durable.RealPath(k.Workspace.Path))
	if err != nil || !filepath.IsLocal(rel) {
		return "", refuse(fmt.Sprintf("the board is not in the repository %s", top))
	}
	return gitstore.BranchName(filepath.ToSlash(rel)), nil
}

// make makes the clone, and journals it before the folder has its name.
func (k *Keeper) make(repo *git.Repo, c *Clone, name string) error {
	c.ID = agent.NewMark()
	s, made := k.Journal.State().Clone, event.CloneMade{Board: k.Board, Dir: c.Top, ID: c.ID}
	if k.Head.Commit == "" {
		k.Head = git.HeadOf(k.Workspace.HomeDir())
	}
	switch {
	case s == nil:
		if err := k.refuseRepo(repo); err != nil {
			return err
		}
		made.From, made.Tip = k.Head.Branch, k.Head.Commit
		made.Ref = gitstore.HiddenRefs + name + "-" + c.ID
		made.Branch = "refs/heads/kanban/" + name
		var err error
		if made.Without, err = k.uncommitted(repo); err != nil {
			return err
		}
	case s.Task == "" && s.Due == nil: // nothing was accepted, so it begins anew
		made.From, made.Tip, made.Ref, made.Branch = k.Head.Branch, k.Head.Commit, s.Ref, s.Branch
	default:
		made.From, made.Tip, made.Ref, made.Branch = s.From, s.Tip, s.Ref, s.Branch
		if s.Due != nil {
			made.Lost = slices.Max(s.Due.Steps)
		}
	}
	if s != nil && !s.Ready {
		if half := (&Clone{s.Dir, s.ID, repo.Top}); half.Is() { // a run was killed in its setup, and no agent has seen it
			if err := os.RemoveAll(half.Top); err != nil {
				return fmt.Errorf("make the clone anew: %w", err)
			}
		}
	}
	err := c.Make(k.Kill, Making{Repo: repo, Tip: made.Tip, Branch: made.From}, func(aside string) error {
		made.Aside = aside
		return k.Journal.Record(made)
	})
	if err != nil {
		return err
	}
	k.isNew = true
	if s != nil && s.Dir != c.Top && !(&Clone{Top: s.Dir}).isGone() {
		k.Notice("the checkout was moved or copied: its clone of before stays where it is, " + s.Dir)
	}
	if err := k.prepare(repo, c, made.Tip); err != nil || !k.Run.Discarded {
		return err
	}
	branch := strings.TrimPrefix(k.Journal.State().Clone.Branch, "refs/heads/")
	if k.Run.Land {
		branch = strings.TrimPrefix(k.Head.Branch, "refs/heads/")
	}
	k.Notice("this machine goes with its CI job, and so do its commits: git push origin " + branch + " in a later step keeps them")
	return nil
}

// reserve makes the references of the work, so that no other board takes them, and returns the branch. One that exists is left
// alone, unless this board has made it: then its hidden reference is there, too.
func (k *Keeper) reserve(repo *git.Repo, s *flow.Clone) (string, error) {
	out, err := repo.User(k.Kill, "for-each-ref", "--format=%(refname)", s.Ref, "refs/heads/kanban")
	if err != nil {
		return "", err
	}
	taken := strings.Fields(out)
	if slices.Contains(taken, "refs/heads/kanban") {
		return "", refuse("there is a branch kanban, beside which git can have no branch " + strings.TrimPrefix(s.Branch, "refs/heads/"))
	}
	isOurs := slices.Contains(taken, s.Ref)
	create := func(ref string) error {
		if err := k.works.Unlock(ref); err != nil {
			return err
		}
		_, err := repo.User(k.Kill, "update-ref", "--no-deref", "-m", "kanban-run", ref, s.Tip, strings.Repeat("0", len(s.Tip)))
		return err
	}
	if !isOurs {
		if err := create(s.Ref); err != nil {
			return "", notMade(err)
		}
	}
	branch := s.Branch
	for n := 2; ; n++ {
		switch exists := slices.Contains(taken, branch); {
		case exists && isOurs:
			return branch, nil
		case !exists:
			err = create(branch)
			if err == nil {
				return branch, nil
			}
			if out, failed := repo.User(k.Kill, "for-each-ref", "--format=%(refname)", branch); failed != nil || !slices.Contains(strings.Fields(out), branch) {
				return "", notMade(err)
			}
		}
		branch = fmt.Sprintf("%s-%d", s.Branch, n)
	}
}

// notMade returns the error for a reference that git refuses.
func notMade(err error) error {
	if !git.IsRefusal(err) {
		return err
	}
	return refuse("git cannot have a branch of this name: " + event.OneLine(err.Error()))
}

// refuseRepo returns an error for a checkout from which no clone is to be made.
func (k *Keeper) refuseRepo(repo *git.Repo) error {
	switch {
	case k.Head.Commit == "":
		return refuse("the repository has no commit yet")
	case repo.Settings.GetOwn("user.name") == "" || repo.Settings.GetOwn("user.email") == "":
		return &failure.Invalid{Err: errors.New("clones: git has no name and address for commits"), Fix: "git config user.name NAME && git config user.email ADDRESS"}
	}
	if k.Run.Land && k.Head.Branch == "" {
		return &failure.Invalid{Err: errors.New("land: no branch is checked out"), Fix: "git switch BRANCH; or leave out --land, and land --onto BRANCH"}
	}
	err := k.works.Refuse(k.Kill)
	if err == nil && k.Run.Land {
		err = gitstore.CheckMerges(k.Kill, repo)
	}
	if err != nil {
		var unfit *gitstore.UnfitError
		if errors.As(err, &unfit) {
			return refuse(unfit.Text)
		}
		return err
	}
	return nil
}

// uncommitted returns the tracked files that differ from the commit of which the clone is made, so that its agents do not see
// that. Boards and tasks come into the clone anyhow, and settings and roles are believed at home.
func (k *Keeper) uncommitted(repo *git.Repo) ([]string, error) {
	out, err := repo.User(k.Kill, "diff", "--name-only", "--no-renames", "--diff-filter=d", "-z", "--end-of-options", k.Head.Commit, "--")
	if err != nil {
		return nil, err
	}
	changed := split(out)
	var boards []*board.Board
	for _, name := range changed {
		if b := workspace.BoardAt(filepath.Join(repo.Top, filepath.FromSlash(name))); b != nil {
			boards = append(boards, b)
		}
	}
	return slices.DeleteFunc(changed, func(name string) bool {
		isSetting := filepath.Base(name) == config.FileName || strings.Contains("/"+name, "/.kanban-run/") || filepath.Base(name) == "DECISIONS.md"
		return isSetting || k.Workspace.IsOfBoard(filepath.Join(repo.Top, filepath.FromSlash(name)), boards)
	}), nil
}

// paths returns the board and its tasks as paths from the top: those at home, and those that the board in the clone lists.
func (k *Keeper) paths() (kanban string, tasks []string) {
	x := k.both
	kanban = x.pathOf(k.Workspace.Path)
	b, err := k.Workspace.LookAgain()
	if err == nil {
		for _, task := range b.TaskPaths() {
			if ref, _ := k.Workspace.Place.Resolve(task); ref.Abs != "" {
				tasks = append(tasks, x.pathOf(ref.Abs))
			}
		}
	}
	k.Workspace.Forget()
	tasks = slices.DeleteFunc(tasks, func(p string) bool { return p == "" })
	return kanban, tasks
}

// Name names the guard.
func (*Keeper) Name() string { return "clone" }

// Begin hands out the board and its tasks. What it returns tells behind a kill what was handed out.
func (k *Keeper) Begin(t *guard.Turn) (any, error) {
	if k.both == nil || t.IsOurs() {
		return nil, nil
	}
	if !k.both.clone.Is() {
		return nil, spoiled(k.both.clone)
	}
	if step := k.Journal.State().Step; step != nil && step.IsWork() && step.Started == 0 { // before its work is paid
		if _, err := k.checkHead(); err != nil {
			return nil, err
		}
	}
	t.Apart = true
	kanban, tasks := k.paths()
	if err := k.both.handOut(append(tasks, kanban)); err != nil {
		return nil, err
	}
	return k.both.agreed, nil
}

// End brings the board and its tasks home. The guards behind it find them as in a checkout.
func (k *Keeper) End(t *guard.Turn) error {
	if k.both == nil || t.IsOurs() {
		return nil
	}
	return k.bringHome(t.Named)
}

// Resume brings home what the agent of a killed run has left.
func (k *Keeper) Resume(step *flow.Step, isCut bool, note rundir.Note) error {
	if k.both == nil || step == nil || k.isNew || !isCut { // else End has brought it home
		return nil
	}
	if json.Unmarshal(note.Parts[k.Name()], &k.both.agreed) != nil {
		k.both.agreed = map[string]Digest{} // nothing is known, so what differs is kept aside
	}
	return k.bringHome(nil)
}

// bringHome brings home the board, the tasks that it lists at home or in the clone, and those that a reply names.
func (k *Keeper) bringHome(named []string) error {
	kanban, tasks := k.paths()
	tasks = append(k.both.newTasks(named, kanban, path.Dir(k.both.pathOf(filepath.Join(k.Workspace.HomeDir(), "x")))), tasks...)
	slices.Sort(tasks)
	tasks = slices.Compact(tasks)
	of, names := k.Journal.State().Clone, append(slices.Clone(tasks), kanban)
	blobs := map[moment]func() (map[string][]string, error){ // git is asked only if a file differs
		atBase: sync.OnceValues(func() (map[string][]string, error) { return k.works.BlobsAt(k.Kill, of.Base, names) }),
		atTip:  sync.OnceValues(func() (map[string][]string, error) { return k.works.BlobsAt(k.Kill, of.Tip, names) }),
	}
	var failed error
	k.both.isGits = func(commit moment, name string, text []byte) bool {
		all, err := blobs[commit]()
		failed = errors.Join(failed, err)
		return isBlob(text, all[name])
	}
	stay, err := k.both.bringHome(kanban, tasks)
	k.Workspace.Forget()
	if err = errors.Join(err, failed); err != nil || len(stay) == 0 {
		return err
	}
	step := 0
	if s := k.Journal.State().Step; s != nil {
		step = s.Number
	}
	return k.Journal.Append(event.KeptHome{Board: k.Board, Step: step, Files: stay})
}

// keepAside keeps the bytes of a file that does not come home.
func (k *Keeper) keepAside(name string, text []byte) string {
	if err := k.Folder.KeepTask(name, []byte(k.Redactor.String(string(text)))); err != nil {
		return "nowhere: " + err.Error()
	}
	return k.Folder.TasksAfter()
}

// StrayError is the error for a clone whose HEAD does not follow the work so far.
type StrayError struct{ Top, Branch, Head, Tip string }

// AsksOfClone says that a person may decide.
func (e *StrayError) AsksOfClone() event.CloneAsks {
	return event.CloneAsks{Why: event.CloneStray, Head: e.Head}
}

func (e *StrayError) Error() string {
	at := "another commit"
	if e.Branch != "" {
		at = strings.TrimPrefix(e.Branch, "refs/heads/")
	}
	return fmt.Sprintf("the clone %s was left at %s, which does not follow the work so far (%.12s)", e.Top, at, e.Tip)
}

// Hint says what a person can do.
func (e *StrayError) Hint() string {
	return fmt.Sprintf("git -C %s diff %.12s shows what would be undone; bring what counts onto that commit (git stash -u, git checkout, git stash pop)",
		failure.Quote(e.Top), e.Tip)
}

// checkHead returns the HEAD of the clone. Errors: *StrayError if it does not follow the work so far.
func (k *Keeper) checkHead() (git.Head, error) {
	s, c := k.Journal.State().Clone, k.both.clone
	head := c.Head()
	follows := head.Commit == s.Tip || s.IsAnswered(event.CloneStray, event.Accept) && s.Asks.Head == head.Commit
	if head.Commit != "" && !follows {
		var err error
		if follows, err = k.works.Follows(k.Kill, c.Objects(), head.Commit, s.Tip); err != nil {
			return head, err
		}
	}
	if !follows {
		return head, &StrayError{c.Top, head.Branch, head.Commit, s.Tip}
	}
	return head, nil
}

// Keep makes a commit of accepted work, has the clone follow it, and journals that. Errors: *StrayError,
// *gitstore.SecretError.
func (k *Keeper) Keep(due flow.DueWork) error {
	if k.both == nil {
		return nil
	}
	s := k.Journal.State().Clone
	c := k.both.clone
	if !c.Is() {
		return spoiled(c)
	}
	head, err := k.checkHead()
	if err != nil {
		return err
	}
	kanban, tasks := k.paths()
	tasks = append(tasks, slices.Collect(maps.Keys(k.both.agreed))...) // also those that are off the list by now
	slices.Sort(tasks)
	listed := slices.DeleteFunc(slices.Compact(tasks), func(p string) bool { return p == kanban || slices.Contains(s.Tasks, p) })
	tasks = slices.Concat(s.Tasks, listed)
	work := gitstore.Work{Tip: s.Tip, Base: s.Base, Message: k.message(due), Head: head.Commit, Objects: c.Objects(), Ref: s.Ref, Branch: s.Branch,
		Except: slices.Concat([]string{kanban}, tasks, s.Out, []string{k.both.pathOf(filepath.Dir(k.Folder.Path)), k.both.pathOf(filepath.Join(filepath.Dir(k.Workspace.Path), "DECISIONS.md"))})}
	if s.Task == due.Task {
		work.Replaced = s.Parent
		work.Again = s.Was != nil && s.Was.Outcome != due.Outcome
	}
	kept, err := k.works.Keep(k.Kill, work)
	if err != nil {
		return err
	}
	failpoint.At("work-committed")
	done := event.WorkKept{Board: k.Board, Step: slices.Max(due.Steps), Task: due.Task, Tip: kept.Commit, Parent: kept.Parent,
		Tasks: listed, LeftOut: kept.LeftOut, Unmoved: !kept.Branched, Unchanged: kept.Commit == s.Tip}
	if !done.Unchanged {
		if err := c.Follow(kept.Commit, kept.Pack, kept.Index); err != nil {
			return err
		}
	}
	failpoint.At("work-followed")
	return k.Journal.Record(done)
}
