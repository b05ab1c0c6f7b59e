// Package land brings the work of a board, which is in commits, into a branch of its user: by a merge without files, and by
// putting the files that differ into the checkout, whole or not at all.
package land

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"kanban-run/orchestrator/clone"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failpoint"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/git"
	"kanban-run/orchestrator/gitstore"
)

// Lander brings the work of one board into a branch.
type Lander struct {
	Board   string // as the user named it
	Path    string // of its file
	Journal flow.Journal
	Works   *gitstore.Works // with the files of the checkout
	InClone *gitstore.Works // with those of the clone
	Clone   *flow.Clone     // of the board
	Place   *clone.Clone    // the same
	Onto    string          // branch, with refs/heads/
	Notice  func(text string)
	Scratch string                                           // folder on the file system of the checkout, for files
	Stop    context.Context                                  // when it is done, nothing is waited for any more
	Verify  func(commit string) (red, fix string, err error) // looks whether a merge passes; red says why it does not; nil: no command was named
	Command string                                           // of Verify; "": none
}

// tries bounds how often a landing begins anew because others have moved the target.
const tries = 3

// Land brings the work in, and journals that, or why not. Errors: *failure.Invalid, and those of git and of the file system.
func (l *Lander) Land(stop context.Context) error {
	if err := l.goOn(stop); err != nil {
		return err
	}
	w := work{tip: l.Clone.Tip}
	err := error(nil)
	for range tries {
		var target string
		target, err = l.Works.CommitOf(stop, l.Onto)
		if err == nil && target == "" {
			err = &failure.Invalid{Err: fmt.Errorf("land: there is no branch %s", short(l.Onto)), Fix: "--onto BRANCH names another"}
		}
		if err == nil {
			w, err = l.work(stop, target)
		}
		if err == nil {
			err = l.try(stop, w, target)
		}
		if !errors.As(err, new(*movedError)) {
			break
		}
		err = inTheWay(nil, "the branch moves all the time", "")
	}
	if no := (*refusal)(nil); errors.As(err, &no) {
		e := event.LandRefused{Board: l.Board, Tip: w.tip, Onto: l.Onto, Why: no.why, Files: no.files, Text: no.text, Fix: no.fix}
		return errors.Join(l.Journal.Record(e), os.RemoveAll(l.Scratch))
	}
	return err
}

// work is what lands: the commits behind base up to tip.
type work struct{ tip, base string }

// work returns what lands: what people have made of the branch counts. Errors: *refusal for files of the work that are not on the branch
// any more.
func (l *Lander) work(stop context.Context, target string) (work, error) {
	w := work{l.Clone.Tip, l.Clone.Base}
	branch, err := l.Works.CommitOf(stop, l.Clone.Branch)
	if err != nil || branch == "" || branch == w.tip || l.Clone.Unmoved {
		return w, err
	}
	own := w.tip
	w.tip = branch
	if follows, err := l.Works.Has(stop, branch, own); err != nil || follows {
		return w, err
	}
	has, err := l.Works.Has(stop, branch, w.base)
	if err == nil && !has {
		w.base, err = l.Works.Fork(stop, branch, target)
	}
	if err != nil {
		return w, err
	}
	want, err := l.Works.Changes(stop, l.Clone.Base, own)
	if err != nil {
		return w, err
	}
	have, err := l.Works.Changes(stop, cmp.Or(w.base, branch), branch)
	if moved := lacking(want, have); err == nil && len(moved) > 0 && !l.isGranted(event.LandMoved, branch, moved) {
		err = &refusal{event.LandMoved, moved, short(l.Clone.Branch) + " was moved, and has no change any more of " + event.List(moved, mostNamed), ""}
	}
	return w, err
}

// lacking returns the names of changes for which others has none.
func lacking(changes, others []gitstore.Change) (names []string) {
	for _, c := range changes {
		if !slices.ContainsFunc(others, func(o gitstore.Change) bool { return o.Name == c.Name }) {
			names = append(names, c.Name)
		}
	}
	return names
}

// refusal is the error for work that does not land, with the reason for a person.
type refusal struct {
	why       string   // a value of event.LandRefused.Why
	files     []string // paths it is about
	text, fix string
}

func (e *refusal) Error() string { return e.text }

// inTheWay returns the refusal for something that keeps files or a branch from being moved.
func inTheWay(files []string, text, fix string) *refusal {
	return &refusal{event.LandWay, files, text, fix}
}

// movedError is the error for a target that others have moved meanwhile.
type movedError struct{ err error }

func (e *movedError) Error() string { return e.err.Error() }

// try lands the work on the target as it is now. Errors: *refusal, *movedError.
func (l *Lander) try(stop context.Context, w work, target string) error {
	if l.isByHand(w.tip) {
		return l.end(stop, w.tip, target, target, "")
	}
	commit, err := l.merge(stop, w, target)
	if err != nil {
		return err
	}
	if commit == "" {
		return l.end(stop, w.tip, target, target, "")
	}
	changes, err := l.Works.Changes(stop, target, commit)
	if err == nil {
		err = l.check(stop, w, changes)
	}
	if err == nil {
		err = l.hold(stop, commit)
	}
	if err == nil {
		err = l.verify(commit)
	}
	if err == nil {
		err = l.bring(stop, w.tip, target, commit, changes)
	}
	if err != nil {
		return err
	}
	return l.end(stop, w.tip, target, commit, l.Command)
}

// merge returns the commit that has the work and the target; "": the target has the work already. Errors: *refusal, *failure.Invalid.
func (l *Lander) merge(stop context.Context, w work, target string) (string, error) {
	n, err := l.Works.Count(stop, w.base, w.tip)
	if err != nil {
		return "", err
	}
	merged, err := l.Works.Merge(stop, gitstore.Merging{Base: w.base, Tip: w.tip, Onto: target, Message: l.message(n), Scratch: filepath.Join(l.Scratch, "merge")})
	switch {
	case err != nil || merged.IsThere:
		return "", err
	case merged.IsRewritten:
		fix := fmt.Sprintf("git worktree add ../%[1]s.mend %[2]s && git -C ../%[1]s.mend rebase --onto %[3]s %.12[4]s && git worktree remove ../%[1]s.mend",
			l.name(), short(l.Clone.Branch), short(l.Onto), w.base)
		return "", &refusal{event.LandRebased, nil, fmt.Sprintf("%s does not have the commit %.12s any more, at which the work began", short(l.Onto), w.base), fix}
	case len(merged.Conflicts) > 0:
		return "", &refusal{event.LandConflict, merged.Conflicts, "both sides have changed " + event.List(merged.Conflicts, mostNamed), "git merge " + short(l.Clone.Branch)}
	case merged.Commit == w.tip:
		return w.tip, nil
	}
	return merged.Commit, unfit(gitstore.CheckSigning(stop, l.Works.Repo()))
}

// hold keeps a merge from git's cleaning up until the target has it.
func (l *Lander) hold(stop context.Context, commit string) error {
	held := gitstore.HeldRefs + l.id()
	was, err := l.Works.CommitOf(stop, held)
	if err == nil {
		err = l.Works.Refer(stop, held, was, commit, "land "+l.name())
	}
	failpoint.At("land-merged")
	return err
}

// verify returns the refusal of a merge that does not pass.
func (l *Lander) verify(commit string) error {
	if l.Command == "" {
		return nil
	}
	red, fix, err := l.Verify(commit)
	if err == nil && red != "" {
		fix = cmp.Or(fix, "git merge "+short(l.Clone.Branch)+" brings it here; mend it there, or on that branch, and land again")
		err = &refusal{event.LandRed, nil, event.Brief(red), fix}
	}
	failpoint.At("land-verified")
	return err
}

// isOut reports whether the target is checked out here.
func (l *Lander) isOut() bool { return git.HeadOf(l.Works.Repo().Top).Branch == l.Onto }

// bring moves the target, with the checkout that it is checked out in. Errors: *refusal, *movedError.
func (l *Lander) bring(stop context.Context, tip, from, to string, changes []gitstore.Change) error {
	err := l.underWay()
	switch {
	case err != nil:
	case l.isOut():
		err = l.put(stop, tip, from, to, changes)
	default:
		err = l.moveApart(stop, from, to)
	}
	if now, failed := l.Works.CommitOf(stop, l.Onto); errors.As(err, new(*refusal)) && failed == nil && now != from {
		return &movedError{err} // it is judged by what the branch has now
	}
	return err
}

// moveApart moves a target that is not checked out here, and may be nowhere else. Errors: as of bring.
func (l *Lander) moveApart(stop context.Context, from, to string) error {
	out, err := l.Works.OutAt(stop, l.Onto)
	if err != nil {
		return err
	}
	if out != "" {
		return inTheWay(nil, short(l.Onto)+" is checked out in "+out, "git -C "+failure.Quote(out)+" merge "+failure.Quote(short(l.Clone.Branch))+"; git worktree prune if that is gone")
	}
	return l.move(stop, from, to)
}

const mostNamed = 5

func short(ref string) string { return strings.TrimPrefix(ref, "refs/heads/") }

// id names the work among those of all boards.
func (l *Lander) id() string { return strings.TrimPrefix(l.Clone.Ref, gitstore.HiddenRefs) }

func (l *Lander) name() string { return strings.TrimPrefix(short(l.Clone.Branch), "kanban/") }

// message returns the message of a merge of n commits.
func (l *Lander) message(n int) string {
	return fmt.Sprintf("Land %s: %s\n\nKanban-Board: %s\n", l.name(), event.Count(n, "task"), event.OneLine(l.Board))
}

// move moves a branch that is checked out nowhere.
func (l *Lander) move(stop context.Context, from, to string) error {
	err := l.Works.Refer(stop, l.Onto, from, to, "land "+l.name())
	if now, failed := l.Works.CommitOf(stop, l.Onto); git.IsRefusal(err) && failed == nil && now != from {
		return &movedError{err}
	}
	return err
}
