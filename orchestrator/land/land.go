// Package land brings the work of a board, which is in commits, into a branch of its user: by a merge without files, and by
// putting the files that differ into the checkout, whole or not at all.
package land

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"kanban-run/orchestrator/clone"
	"kanban-run/orchestrator/durable"
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
	for range tries {
		err := l.try(stop)
		if moved := (*movedError)(nil); !errors.As(err, &moved) {
			return err
		}
	}
	return l.refuse(l.Clone.Tip, event.LandWay, nil, "the branch moves all the time", "")
}

// work returns the commit that lands, and the one at which it began: what people have made of the branch counts. The result moved has
// the files of the work that are not on it any more, about which a person is asked.
func (l *Lander) work(stop context.Context, target string) (tip, base string, moved []string, err error) {
	tip, base = l.Clone.Tip, l.Clone.Base
	branch, err := l.Works.CommitOf(stop, l.Clone.Branch)
	if err != nil || branch == "" || branch == tip || l.Clone.Unmoved {
		return tip, base, nil, err
	}
	if follows, err := l.Works.Has(stop, branch, tip); err != nil || follows {
		return branch, base, nil, err
	}
	has, err := l.Works.Has(stop, branch, base)
	if err == nil && !has {
		base, err = l.Works.Fork(stop, branch, target)
	}
	if err != nil {
		return "", "", nil, err
	}
	want, err := l.Works.Changes(stop, l.Clone.Base, tip)
	if err != nil {
		return "", "", nil, err
	}
	have, err := l.Works.Changes(stop, cmp.Or(base, branch), branch)
	for _, c := range want {
		if !slices.ContainsFunc(have, func(o gitstore.Change) bool { return o.Name == c.Name }) {
			moved = append(moved, c.Name)
		}
	}
	return branch, base, moved, err
}

// movedError is the error for a target that others have moved meanwhile.
type movedError struct{ err error }

func (e *movedError) Error() string { return e.err.Error() }

func (l *Lander) try(stop context.Context) error {
	target, err := l.Works.CommitOf(stop, l.Onto)
	if err != nil {
		return err
	}
	if target == "" {
		return &failure.Invalid{Err: fmt.Errorf("land: there is no branch %s", short(l.Onto)), Fix: "--onto BRANCH names another"}
	}
	tip, base, moved, err := l.work(stop, target)
	if err != nil {
		return err
	}
	if len(moved) > 0 && !l.isGranted(event.LandMoved, tip, moved) {
		return l.refuse(tip, event.LandMoved, moved, short(l.Clone.Branch)+" was moved, and has no change any more of "+event.List(moved, mostNamed), "")
	}
	n, err := l.Works.Count(stop, base, tip)
	if err != nil {
		return err
	}
	if l.isByHand(tip) {
		return l.end(stop, tip, target, target, "") // a person has brought it in by hand
	}
	merged, err := l.Works.Merge(stop, gitstore.Merging{Base: base, Tip: tip, Onto: target, Message: l.message(n), Scratch: filepath.Join(l.Scratch, "merge")})
	switch {
	case err != nil:
		return err
	case merged.IsThere:
		return l.end(stop, tip, target, target, "")
	case merged.IsRewritten:
		name := l.name()
		fix := fmt.Sprintf("git worktree add ../%[1]s.mend %[2]s && git -C ../%[1]s.mend rebase --onto %[3]s %.12[4]s && git worktree remove ../%[1]s.mend",
			name, short(l.Clone.Branch), short(l.Onto), base)
		return l.refuse(tip, event.LandRebased, nil, fmt.Sprintf("%s does not have the commit %.12s any more, at which the work began", short(l.Onto), base), fix)
	case len(merged.Conflicts) > 0:
		return l.refuse(tip, event.LandConflict, merged.Conflicts, "both sides have changed "+event.List(merged.Conflicts, mostNamed), "git merge "+short(l.Clone.Branch))
	}
	if unfit := (*gitstore.UnfitError)(nil); merged.Commit != tip {
		if err := gitstore.CheckSigning(stop, l.Works.Repo()); errors.As(err, &unfit) {
			return &failure.Invalid{Err: errors.New("land: " + unfit.Text), Fix: unfit.Fix}
		} else if err != nil {
			return err
		}
	}
	changes, err := l.Works.Changes(stop, target, merged.Commit)
	if err != nil {
		return err
	}
	if why, names, err := l.check(stop, base, tip, changes); err != nil || why != "" {
		if err != nil {
			return err
		}
		return l.refuse(tip, why, names, askText[why]+event.List(names, mostNamed), "")
	}
	held := gitstore.HeldRefs + l.id()
	was, err := l.Works.CommitOf(stop, held)
	if err == nil {
		err = l.Works.Refer(stop, held, was, merged.Commit, "land "+l.name())
	}
	if err != nil {
		return err
	}
	failpoint.At("land-merged")
	if l.Command != "" {
		red, fix, err := l.Verify(merged.Commit)
		if err != nil {
			return err
		}
		if red != "" {
			fix = cmp.Or(fix, "git merge "+short(l.Clone.Branch)+" brings it here; mend it there, or on that branch, and land again")
			return l.refuse(tip, event.LandRed, nil, event.Brief(red), fix)
		}
		failpoint.At("land-verified")
	}
	if err = l.underWay(); err == nil {
		err = l.bring(stop, tip, target, merged.Commit, changes)
	}
	if now, failed := l.Works.CommitOf(stop, l.Onto); errors.As(err, new(*wayError)) && failed == nil && now != target {
		return &movedError{err} // it is judged by what the branch has now
	}
	if way := (*wayError)(nil); errors.As(err, &way) {
		return l.refuse(tip, event.LandWay, way.files, way.text, way.fix)
	}
	if err != nil {
		return err
	}
	return l.end(stop, tip, target, merged.Commit, l.Command)
}

// isOut reports whether the target is checked out here.
func (l *Lander) isOut() bool { return git.HeadOf(l.Works.Repo().Top).Branch == l.Onto }

// bring moves the target, with the checkout that it is checked out in. Errors: *wayError, *movedError.
func (l *Lander) bring(stop context.Context, tip, from, to string, changes []gitstore.Change) error {
	if l.isOut() {
		return l.put(stop, tip, from, to, changes)
	}
	out, err := l.Works.OutAt(stop, l.Onto)
	if err != nil {
		return err
	}
	if out != "" {
		return &wayError{nil, short(l.Onto) + " is checked out in " + out, "git -C " + failure.Quote(out) + " merge " + failure.Quote(short(l.Clone.Branch)) + "; git worktree prune if that is gone"}
	}
	return l.move(stop, from, to)
}

// underWay returns a *wayError while a merge or a rebase is under way in the checkout.
func (l *Lander) underWay() error {
	for _, file := range []string{"MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply"} {
		if _, err := os.Lstat(filepath.Join(l.Works.Repo().Folder, file)); err == nil {
			return &wayError{nil, "a merge or rebase is under way in the checkout (" + file + ")", "end it, and land again"}
		}
	}
	return nil
}

// askText begins the reason why a person is asked.
var askText = map[string]string{
	event.LandProtected: "it changes what decides: ",
	event.LandLeftover:  "not all of it would land: ",
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

// refuse journals that the work does not land, and why.
func (l *Lander) refuse(tip, why string, files []string, text, fix string) error {
	e := event.LandRefused{Board: l.Board, Tip: tip, Onto: l.Onto, Why: why, Files: files, Text: text, Fix: fix}
	return errors.Join(l.Journal.Record(e), os.RemoveAll(l.Scratch))
}

// move moves a branch that is checked out nowhere.
func (l *Lander) move(stop context.Context, from, to string) error {
	err := l.Works.Refer(stop, l.Onto, from, to, "land "+l.name())
	if now, failed := l.Works.CommitOf(stop, l.Onto); git.IsRefusal(err) && failed == nil && now != from {
		return &movedError{err}
	}
	return err
}

// wayError is the error for something in the way of the files.
type wayError struct {
	files     []string
	text, fix string
}

func (e *wayError) Error() string { return e.text }

// put puts the files of a commit into the checkout, and moves its branch and index.
func (l *Lander) put(stop context.Context, tip, from, to string, changes []gitstore.Change) (err error) {
	repo := l.Works.Repo()
	s := &swap{top: repo.Top, scratch: l.Scratch, ignoresX: repo.Settings.GetOwn("core.filemode") == "false", note: swapNote{Onto: l.Onto, From: from, To: to}}
	if err := l.layOut(stop, s, changes, from, to); err != nil {
		return err
	}
	lock, err := l.lockIndex(stop, s, changes)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.release()) }()
	if !l.isOut() {
		return l.switched()
	}
	if err := l.Journal.Record(event.LandStarted{Board: l.Board, Tip: tip, Onto: l.Onto, From: from, To: to}); err != nil {
		return err
	}
	failpoint.At("land-started")
	if err := s.run(); err != nil {
		if changed := (*errChanged)(nil); errors.As(err, &changed) {
			return &wayError{[]string{changed.name}, changed.Error() + ", or something is in its way", "look at it, and land again"}
		}
		return err
	}
	failpoint.At("land-files")
	if !l.isOut() { // git switch -c needs no lock
		return errors.Join(s.rollBack(), l.switched())
	}
	if err := lock.commit(); err != nil {
		return err
	}
	failpoint.At("land-index")
	err = l.move(stop, from, to)
	failpoint.At("land-moved")
	if moved := (*movedError)(nil); errors.As(err, &moved) {
		return errors.Join(err, l.unput(stop, s, changes))
	}
	return errors.Join(err, l.Works.Refresh(stop))
}

// switched returns the error for a checkout whose branch is not the target any more.
func (l *Lander) switched() error {
	return &wayError{nil, "another branch was checked out meanwhile", "git switch " + failure.Quote(short(l.Onto)) + "; then land again"}
}

// unput gives the checkout its index and its files back, because somebody has moved the branch meanwhile.
func (l *Lander) unput(stop context.Context, s *swap, changes []gitstore.Change) error {
	now, err := l.Works.CommitOf(stop, l.Onto)
	if err != nil {
		return err
	}
	theirs, err := l.Works.Changes(stop, s.note.From, now)
	if err != nil {
		return err
	}
	isTheirs := func(name string) bool { // which they have committed, with what was put there
		return slices.ContainsFunc(theirs, func(c gitstore.Change) bool { return c.Name == name })
	}
	var back []gitstore.Change
	for _, c := range changes {
		if !isTheirs(c.Name) {
			back = append(back, gitstore.Change{Name: c.Name, WasMode: c.IsMode, IsMode: c.WasMode, Was: c.Is, Is: c.Was})
		}
	}
	s.note.Files = slices.DeleteFunc(s.note.Files, func(f swapFile) bool { return isTheirs(f.Name) })
	lock, err := l.lockIndex(stop, s, back)
	if err != nil {
		return err
	}
	return errors.Join(s.rollBack(), lock.commit(), lock.release(), l.Works.Refresh(stop))
}

// layOut lays out the files that differ, looks whether the checkout has them as they were or as they are to be, and notes what
// is to be done. Errors: *wayError.
func (l *Lander) layOut(stop context.Context, s *swap, changes []gitstore.Change, from, to string) error {
	if err := errors.Join(os.RemoveAll(l.Scratch), os.MkdirAll(filepath.Join(l.Scratch, "new"), 0o700)); err != nil {
		return err
	}
	var was, is []string
	for _, c := range changes {
		if c.WasMode != none {
			was = append(was, c.Name)
		}
		if c.IsMode != none {
			is = append(is, c.Name)
		}
		if c.WasMode == gitlink || c.IsMode == gitlink {
			return &wayError{[]string{c.Name}, c.Name + " is a submodule", "git merge " + short(l.Clone.Branch)}
		}
	}
	if err := errors.Join(l.Works.LayOut(stop, from, was, filepath.Join(l.Scratch, "old")), l.Works.LayOut(stop, to, is, filepath.Join(l.Scratch, "new"))); err != nil {
		return err
	}
	var way []string
	gone := map[string]bool{}
	for _, c := range changes {
		gone[c.Name] = c.IsMode == none
	}
	for _, c := range changes {
		f := swapFile{Name: c.Name, WasGit: inGit(c.WasMode, c.Was), IsGit: inGit(c.IsMode, c.Is)}
		now, err := s.digest(filepath.Join(s.top, filepath.FromSlash(c.Name)))
		if err == nil && c.WasMode != none {
			f.Was, err = s.digest(s.in("old", c.Name))
		}
		if err == nil && c.IsMode != none {
			f.Is, err = s.digest(s.in("new", c.Name))
		}
		if err != nil {
			return err
		}
		if now != f.Was && now != f.Is && strings.HasPrefix(now, "file ") && strings.HasPrefix(f.Was, "file ") {
			// git may take other bytes for the same file, such as other line ends
			if blob, err := l.Works.BlobOf(stop, c.Name); err != nil {
				return err
			} else if blob == c.Was {
				f.Was = now
			}
		}
		folder := now == "no file" && f.Was == "" // of files that go first, or an empty one
		if in := s.inTheWay(c.Name, gone); in != "" {
			way = append(way, in)
		} else if now != f.Was && now != f.Is && !folder {
			way = append(way, c.Name)
		}
		s.note.Files = append(s.note.Files, f)
	}
	if len(way) > 0 {
		return &wayError{way, "the checkout has changes of its own in " + event.List(way, mostNamed), "commit them, or git stash push -u -- FILES; then land again"}
	}
	return s.save()
}

const (
	none    = "000000" // mode of a file that is not there
	gitlink = "160000"
)

func inGit(mode, blob string) string {
	if mode == none {
		return ""
	}
	return mode + " " + blob
}

// end takes away what the work no longer needs, and journals that it is in the target.
func (l *Lander) end(stop context.Context, tip, from, to, verified string) error {
	at := func(ref string) string {
		commit, _ := l.Works.CommitOf(stop, ref)
		return commit
	}
	landed, held := gitstore.LandedRefs+l.id(), to // which has the tip
	if from == to {
		held = tip // the target may have the work in other commits
	}
	if err := l.Works.Refer(stop, landed, at(landed), held, "land "+l.name()); err != nil {
		return err
	}
	if err := l.Place.Remove(); err != nil {
		l.Notice("it has landed, and its clone stays: " + err.Error())
	}
	if err := os.RemoveAll(l.Scratch); err != nil {
		return err
	}
	failpoint.At("land-removed")
	refs := []string{gitstore.HeldRefs + l.id()}
	if has, err := l.Works.Has(stop, held, l.Clone.Tip); err != nil {
		return err
	} else if has { // else a person has made something else of the work
		refs = append(refs, l.Clone.Ref)
	}
	if out, err := l.Works.OutAt(stop, l.Clone.Branch); err == nil && out == "" && slices.Contains([]string{tip, l.Clone.Tip}, at(l.Clone.Branch)) {
		refs = append(refs, l.Clone.Branch)
	}
	for _, ref := range refs {
		if was := at(ref); was != "" {
			if err := l.Works.Drop(stop, ref, was); err != nil {
				return err
			}
		}
	}
	return l.Journal.Record(event.Landed{Board: l.Board, Tip: tip, Onto: l.Onto, From: from, To: to, Ref: landed, Verified: verified})
}

// look finds out whether a branch still has work that has landed, and journals if that is another state than before.
func (l *Lander) look(stop context.Context, was *flow.Landing) error {
	isThere, err := l.isIn(stop, was, was.Onto)
	if head := git.HeadOf(l.Works.Repo().Top).Branch; err == nil && !isThere && head != "" && head != was.Onto {
		isThere, err = l.isIn(stop, was, head) // the other branch was renamed, or merged into this one
	}
	if err != nil {
		return err
	}
	switch {
	case isThere && was.State != flow.Landed:
		return l.Journal.Record(event.Landed{Board: l.Board, Tip: was.Tip, Onto: was.Onto, From: was.To, To: was.To, Ref: was.Ref, Verified: was.Verified})
	case !isThere && was.State == flow.Landed:
		return l.Journal.Record(event.LandRefused{Board: l.Board, Tip: was.Tip, Onto: was.Onto, Why: event.LandTakenBack, Text: "it has landed on " + short(was.Onto) + ", and was taken back",
			Fix: "git merge " + was.Ref + " brings it in again"})
	}
	return nil
}

// isIn reports whether a branch has work that has landed. Of work that git does not have any more it is taken for granted.
func (l *Lander) isIn(stop context.Context, was *flow.Landing, branch string) (bool, error) {
	target, err := l.Works.CommitOf(stop, branch)
	if err != nil || target == "" {
		return false, err
	}
	has, err := l.Works.Has(stop, target, was.To)
	if err == nil && !has { // rebased, squashed or picked, it may be there all the same
		var merged gitstore.Merged
		merged, err = l.Works.Merge(stop, gitstore.Merging{Tip: was.Tip, Onto: target, Message: "look", Scratch: filepath.Join(l.Scratch, "merge")})
		has = merged.IsThere || len(merged.Conflicts) > 0
	}
	if err == nil && !has {
		has, err = l.hasSome(stop, was.Tip, target)
	}
	if git.IsRefusal(err) {
		return true, nil
	}
	return has, err
}

// hasSome reports whether a commit has a file as the work has changed it: who left a part of it out has not taken it back.
func (l *Lander) hasSome(stop context.Context, tip, target string) (bool, error) {
	fork, err := l.Works.Fork(stop, tip, target)
	if err != nil || fork == "" || fork == tip {
		return false, err
	}
	work, err := l.Works.Changes(stop, fork, tip)
	if err != nil {
		return false, err
	}
	differ, err := l.Works.Changes(stop, target, tip)
	return slices.ContainsFunc(work, func(c gitstore.Change) bool {
		return !slices.ContainsFunc(differ, func(d gitstore.Change) bool { return d.Name == c.Name })
	}), err
}

// goOn ends what a killed landing has begun: one that has the index in place moves the branch, any other is rolled back.
func (l *Lander) goOn(stop context.Context) error {
	repo := l.Works.Repo()
	s := &swap{top: repo.Top, scratch: l.Scratch, ignoresX: repo.Settings.GetOwn("core.filemode") == "false"}
	began, err := s.load()
	if err != nil {
		return err
	}
	if err := dropLock(s, repo.Folder); err != nil || !began {
		return err
	}
	at, err := l.Works.CommitOf(stop, s.note.Onto)
	switch {
	case err != nil:
		return err
	case at != s.note.From: // it has moved, or the user has committed since: what is in the checkout is the user's by now
		return errors.Join(l.Works.Refresh(stop), os.RemoveAll(l.Scratch))
	case git.HeadOf(repo.Top).Branch != s.note.Onto:
		return &failure.Invalid{Err: fmt.Errorf("land: a landing on %s was killed, and another branch is checked out", short(s.note.Onto)),
			Fix: "git switch " + failure.Quote(short(s.note.Onto)) + "; then land again"}
	}
	names := make([]string, len(s.note.Files))
	for i, f := range s.note.Files {
		names[i] = f.Name
	}
	staged, _, err := l.Works.StagedOf(stop, names)
	if err != nil {
		return err
	}
	isNew := func(f swapFile) bool { return strings.TrimSuffix(staged[f.Name], " 0") == f.IsGit }
	if slices.ContainsFunc(s.note.Files, func(f swapFile) bool { return !isNew(f) }) {
		err = s.rollBack()
	} else {
		err = l.Works.Refer(stop, s.note.Onto, s.note.From, s.note.To, "land "+l.name())
	}
	if err != nil {
		return err
	}
	return errors.Join(l.Works.Refresh(stop), os.RemoveAll(l.Scratch))
}

// indexLock is git's lock of the index of a checkout, with the index that is to take the place of the present one.
type indexLock struct{ path, index, next string }

// lockTime bounds the wait for a git that is at work in the checkout.
const lockTime = 30 * time.Second

// lockIndex takes git's lock of the index, filled with the index in which exactly the changed files are new. Errors: *wayError.
func (l *Lander) lockIndex(stop context.Context, s *swap, changes []gitstore.Change) (*indexLock, error) {
	folder := l.Works.Repo().Folder
	lock := &indexLock{filepath.Join(folder, "index.lock"), filepath.Join(folder, "index"), filepath.Join(l.Scratch, "index")}
	names := make([]string, len(changes))
	for i, c := range changes {
		names[i] = c.Name
	}
	for begun := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		staged, index, err := l.Works.StagedOf(stop, names)
		if err != nil {
			return nil, err
		}
		var way []string
		for _, f := range s.note.Files {
			if now := strings.TrimSuffix(staged[f.Name], " 0"); now != f.WasGit && now != f.IsGit {
				way = append(way, f.Name)
			}
		}
		if len(way) > 0 {
			return nil, &wayError{way, "other contents are staged of " + event.List(way, mostNamed), "commit them, or git restore --staged; then land again"}
		}
		if isSplit, err := l.Works.IsSplit(stop); err != nil {
			return nil, err
		} else if isSplit {
			return nil, &wayError{nil, "the index of the checkout is split (core.splitIndex)", "git update-index --no-split-index; then land again"}
		}
		before := slices.Clone(index.Bytes())
		text, err := l.Works.WithChanges(stop, index, changes)
		if err == nil {
			err = durable.WriteFile(lock.next, text, lock.mode())
		}
		if err != nil {
			return nil, err
		}
		err = os.Link(lock.next, lock.path)
		if err == nil {
			if now, err := l.Works.Repo().ReadIndex(); err == nil && slices.Equal(now.Bytes(), before) {
				return lock, nil
			}
			err = lock.release() // the index was changed in between
		}
		switch {
		case err != nil && !errors.Is(err, fs.ErrExist):
			return nil, err
		case time.Since(begun) > lockTime:
			return nil, &wayError{nil, "another git is at work in the checkout (" + lock.path + ")", "end it, or remove that file if none is; then land again"}
		case l.Stop.Err() != nil:
			return nil, context.Cause(l.Stop)
		}
	}
}

// mode returns the mode of the present index.
func (k *indexLock) mode() os.FileMode {
	if info, err := os.Stat(k.index); err == nil {
		return info.Mode().Perm()
	}
	return 0o644
}

// commit gives the checkout the new index, and ends the lock.
func (k *indexLock) commit() error {
	if err := os.Rename(k.path, k.index); err != nil {
		return err
	}
	return durable.SyncDir(filepath.Dir(k.index))
}

// release ends the lock, if it is there still.
func (k *indexLock) release() error {
	ours, err := os.Lstat(k.next)
	there, failed := os.Lstat(k.path)
	if err != nil || failed != nil || !os.SameFile(ours, there) {
		return nil
	}
	return os.Remove(k.path)
}

// dropLock ends the lock of a killed landing.
func dropLock(s *swap, folder string) error {
	return (&indexLock{path: filepath.Join(folder, "index.lock"), next: filepath.Join(s.scratch, "index")}).release()
}
