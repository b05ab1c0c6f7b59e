package land

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/clone"
	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/git"
	"kanban-run/orchestrator/gitstore"
	"kanban-run/orchestrator/redact"
	"kanban-run/orchestrator/rundir"
)

// Options are the parameters of Board.
type Options struct {
	Board    string // as the user named it
	Path     string // of its file
	Folder   rundir.Dir
	Journal  flow.Journal
	Onto     string   // name of a branch; "": the one that is checked out
	Verify   string   // command that the merge has to pass; "": none
	Setup    string   // command that makes a clone ready; "": none
	Env      []string // of both
	Redactor *redact.Redactor
	Notice   func(text string)
	Says     func(text string) // what it waits for; nil: nobody
	Until    time.Time         // when it has come, nothing that has not moved anything goes on; zero: no limit
	Queue    chan struct{}     // of the boards of one command, which land in their order; nil: there is none
}

// says tells what the landing waits for.
func (o Options) says(text string) {
	if o.Says != nil {
		o.Says(text)
	}
}

// errUntil is the cause of the end of a landing at Options.Until.
var errUntil = errors.New("the time of the run is over")

// Board brings the work of a complete board into a branch, see [Lander.Land]. It does nothing if the board has no work that is not
// there. Errors: *failure.Invalid.
func Board(stop, kill context.Context, o Options) (err error) {
	s := o.Journal.State()
	if s.Clone == nil && s.Landing == nil || s.Landing.IsOut() {
		return nil
	}
	if o.Path, err = filepath.Abs(o.Path); err != nil {
		return err
	}
	repo, err := open(kill, o)
	if err != nil {
		return err
	}
	if !o.Until.IsZero() {
		ctx, cancel := context.WithDeadlineCause(stop, o.Until, errUntil)
		stop = ctx
		defer func() {
			if cancel(); errors.Is(err, errUntil) {
				err = nil // the run looks what limit it has reached
			}
		}()
	}
	if o.Queue != nil {
		select {
		case o.Queue <- struct{}{}:
			defer func() { <-o.Queue }()
		case <-stop.Done():
			return context.Cause(stop)
		}
	}
	lock, err := queue(stop, repo, o.says)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	works := gitstore.OpenWorks(gitstore.WorkOptions{Repo: repo, Runs: o.Folder.Path, HasSecret: noSecret, Notice: o.Notice})
	l := &Lander{Board: o.Board, Path: o.Path, Journal: o.Journal, Works: works, Scratch: filepath.Join(o.Folder.Path, "land"), Stop: stop, Notice: o.Notice}
	if s.Clone == nil {
		return l.lookAgain(kill, o.Onto)
	}
	return l.landClone(kill, o)
}

// lookAgain looks whether the branch still has work that has landed. Errors: *failure.Invalid.
func (l *Lander) lookAgain(kill context.Context, onto string) error {
	was := l.Journal.State().Landing
	if onto != "" && branchOf(onto) != was.Onto {
		return &failure.Invalid{Err: fmt.Errorf("land: the work has landed on %s", short(was.Onto)), Fix: "git merge " + was.Ref + " brings it into another branch"}
	}
	return errors.Join(l.look(kill, was), os.RemoveAll(l.Scratch))
}

// landClone lands the work of the board's clone. Errors: *failure.Invalid.
func (l *Lander) landClone(kill context.Context, o Options) error {
	s, repo := o.Journal.State(), l.Works.Repo()
	onto, err := target(repo, o.Onto)
	if err != nil && o.Queue != nil { // a run asks a person
		return o.Journal.Record(event.LandRefused{Board: o.Board, Tip: s.Clone.Tip, Onto: s.Clone.From, Why: event.LandWay, Text: "no branch is checked out",
			Fix: "git switch BRANCH, or kanban-run land --onto BRANCH " + failure.Quote(o.Board)})
	}
	if err == nil {
		l.Onto, err = l.Works.Behind(kill, onto)
	}
	if err != nil {
		return err
	}
	if l.Onto == s.Clone.Branch {
		return &failure.Invalid{Err: fmt.Errorf("land: %s is the branch of the work itself", short(l.Onto)), Fix: "git switch to the branch that is to have it, or --onto BRANCH"}
	}
	l.Clone, l.Command = s.Clone, o.Verify
	l.Place = &clone.Clone{Top: s.Clone.Dir, ID: s.Clone.ID, Home: repo.Top}
	l.InClone = gitstore.OpenWorks(gitstore.WorkOptions{Repo: repo, Tree: l.Place.Top, Runs: o.Folder.Path, HasSecret: noSecret, Notice: o.Notice})
	l.Verify = func(commit string) (red, fix string, err error) {
		red, err = verify(l.Stop, kill, repo, o, s, commit)
		if invalid := (*failure.Invalid)(nil); errors.As(err, &invalid) { // of the setup, or of the command: it is no fault of the board
			return "it cannot be verified: " + invalid.Error(), "mend that, and land again", nil
		}
		if red != "" {
			red = "the merge does not pass " + red
		}
		return red, "", err
	}
	return l.Land(kill)
}

// verifyTime bounds the command that verifies a merge.
const verifyTime = 30 * time.Minute

// verify looks whether a merge passes the command, in a clone in which no agent worked, and which is removed. The result red says
// why it does not. Errors: *failure.Invalid.
func verify(stop, kill context.Context, repo *git.Repo, o Options, s *flow.State, commit string) (red string, err error) {
	fresh := &clone.Clone{Top: s.Clone.Dir + ".verify", ID: agent.NewMark(), Home: repo.Top}
	if err := clone.RemoveAll(fresh.Top); err != nil { // a landing was killed
		return "", err
	}
	defer func() {
		if failed := clone.RemoveAll(fresh.Top); failed != nil {
			o.Notice("not tidied up: " + failed.Error())
		}
	}()
	if err := fresh.Make(kill, clone.Making{Repo: repo, Tip: commit}, func(string) error { return nil }); err != nil {
		return "", err
	}
	dir := func() (string, error) {
		rel, err := filepath.Rel(durable.RealPath(repo.Top), durable.RealPath(cmp.Or(s.Workdir, filepath.Dir(o.Path))))
		if err != nil || !filepath.IsLocal(rel) {
			rel = "." // the board works elsewhere
		}
		return filepath.Join(fresh.Top, rel), nil
	}
	setup := &clone.Setup{Repo: repo, Clone: fresh, Tip: commit, Command: o.Setup, Dir: dir, Env: o.Env, Redactor: o.Redactor, Notice: o.Notice, Stop: stop, Kill: kill}
	if _, err := setup.Prepare(); err != nil {
		return "", err
	}
	o.says("verifies: " + o.Verify)
	return setup.Run("land_verify", o.Verify, verifyTime)
}

// open opens the repository, and ends what a killed run has left of git. Errors: *failure.Invalid.
func open(kill context.Context, o Options) (*git.Repo, error) {
	home := filepath.Dir(durable.RealPath(o.Path))
	mark, err := git.EndLeftovers(o.Folder.Path)
	if err != nil {
		return nil, err
	}
	repo, err := git.Open(kill, home, mark)
	if no := gitstore.Unfit(home, err); no != nil {
		return nil, unfit(no)
	}
	if err != nil {
		return nil, err
	}
	return repo, unfit(gitstore.CheckMerges(kill, repo))
}

// unfit returns an error as a *failure.Invalid if it is about what git cannot do here.
func unfit(err error) error {
	if no := (*gitstore.UnfitError)(nil); errors.As(err, &no) {
		return &failure.Invalid{Err: errors.New("land: " + no.Text), Fix: no.Fix}
	}
	return err
}

// branchOf returns the reference of a branch.
func branchOf(name string) string { return "refs/heads/" + short(name) }

// target returns the branch that is to have the work. Errors: *failure.Invalid.
func target(repo *git.Repo, onto string) (string, error) {
	if onto != "" {
		return branchOf(onto), nil
	}
	if head := git.HeadOf(repo.Top); head.Branch != "" {
		return head.Branch, nil
	}
	return "", &failure.Invalid{Err: errors.New("land: no branch is checked out"), Fix: "--onto BRANCH names one, or git switch BRANCH"}
}

// queue takes the lock of the repository under which one board lands after the other.
func queue(stop context.Context, repo *git.Repo, notice func(string)) (*durable.Lock, error) {
	folder := filepath.Join(repo.Common, "kanban-run")
	if err := durable.MakePlainFolder(folder); err != nil {
		return nil, err
	}
	for told := false; ; {
		lock, err := durable.Acquire(filepath.Join(folder, "land.lock"))
		held := (*durable.HeldError)(nil)
		if !errors.As(err, &held) {
			return lock, err
		}
		if !told {
			told = true
			notice("waits for another board that lands: " + held.Info)
		}
		select {
		case <-stop.Done():
			return nil, context.Cause(stop)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// noSecret is for commits that are made already: what they hold was looked at.
func noSecret([]byte) bool { return false }
