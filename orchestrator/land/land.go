// Package land brings the work of a board, which is in commits, into a branch of its user: by a merge without files, and by
// putting the files that differ into the checkout, whole or not at all.
package land

import (
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
	Works   *gitstore.Works                             // with the files of the checkout
	InClone *gitstore.Works                             // with those of the clone
	Clone   *flow.Clone                                 // of the board
	Place   *clone.Clone                                // the same
	Onto    string                                      // branch, with refs/heads/
	Scratch string                                      // folder on the file system of the checkout, for files
	Verify  func(commit string) (red string, err error) // looks whether a merge passes; red says why it does not; nil: no command was named
	Command string                                      // of Verify; "": none
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

// work returns the commit that lands, and the one at which it began. What people have made of the work on its branch counts: commits
// behind it, or a branch that is rebased, which still has a change of each of its files.
func (l *Lander) work(stop context.Context, target string) (tip, base string, err error) {
	branch, err := l.Works.CommitOf(stop, l.Clone.Branch)
	if err != nil || branch == "" || branch == l.Clone.Tip {
		return l.Clone.Tip, l.Clone.Base, err
	}
	if follows, err := l.Works.Has(stop, branch, l.Clone.Tip); err != nil || follows {
		return branch, l.Clone.Base, err
	}
	fork, err := l.Works.Fork(stop, branch, target)
	if err != nil || fork == "" {
		return l.Clone.Tip, l.Clone.Base, err
	}
	want, err := l.Works.Changes(stop, l.Clone.Base, l.Clone.Tip)
	if err != nil {
		return "", "", err
	}
	have, err := l.Works.Changes(stop, fork, branch)
	lacks := func(c gitstore.Change) bool {
		return !slices.ContainsFunc(have, func(o gitstore.Change) bool { return o.Name == c.Name })
	}
	if err == nil && !slices.ContainsFunc(want, lacks) {
		return branch, fork, nil
	}
	return l.Clone.Tip, l.Clone.Base, err
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
	tip, base, err := l.work(stop, target)
	if err != nil {
		return err
	}
	n, err := l.Works.Count(stop, base, tip)
	if err != nil {
		return err
	}
	if was := l.Journal.State().Landing; l.isAnswered(tip, event.Accept) && was.State != event.LandProtected && was.State != event.LandLeftover {
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
		red, err := l.Verify(merged.Commit)
		if err != nil {
			return err
		}
		if red != "" {
			return l.refuse(tip, event.LandRed, nil, "the merge does not pass "+red, "git merge "+short(l.Clone.Branch)+" brings it here; mend it there, or on that branch, and land again")
		}
		failpoint.At("land-verified")
	}
	out, err := l.Works.OutAt(stop, l.Onto)
	switch {
	case err != nil:
		return err
	case out == "":
		err = l.move(stop, target, merged.Commit)
	case !sameFolder(out, l.Works.Repo().Top):
		return l.refuse(tip, event.LandWay, nil, short(l.Onto)+" is checked out in "+out, "kanban-run land "+failure.Quote(l.Board)+" there, or git merge "+short(l.Clone.Branch))
	default:
		err = l.put(stop, tip, target, merged.Commit, changes)
	}
	if way := (*wayError)(nil); errors.As(err, &way) {
		return l.refuse(tip, event.LandWay, way.files, way.text, way.fix)
	}
	if err != nil {
		return err
	}
	return l.end(stop, tip, target, merged.Commit, l.Command)
}

// askText begins the reason why a person is asked.
var askText = map[string]string{
	event.LandProtected: "it changes what decides: ",
	event.LandLeftover:  "not all of it would land: ",
}

func sameFolder(a, b string) bool { return durable.RealPath(a) == durable.RealPath(b) }

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
	for _, file := range []string{"MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply"} {
		if _, err := os.Lstat(filepath.Join(repo.Folder, file)); err == nil {
			return &wayError{nil, "a merge or rebase is under way in the checkout (" + file + ")", "end it, and land again"}
		}
	}
	s := &swap{top: repo.Top, scratch: l.Scratch, ignoresX: repo.Settings.GetOwn("core.filemode") == "false", note: swapNote{Onto: l.Onto, From: from, To: to}}
	if err := l.layOut(stop, s, changes, from, to); err != nil {
		return err
	}
	lock, err := l.lockIndex(stop, s, changes)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.release()) }()
	if err := l.Journal.Record(event.LandStarted{Board: l.Board, Tip: tip, Onto: l.Onto, From: from, To: to}); err != nil {
		return err
	}
	failpoint.At("land-started")
	if err := s.run(); err != nil {
		if changed := (*errChanged)(nil); errors.As(err, &changed) {
			return &wayError{[]string{changed.name}, changed.Error(), "look at it, and land again"}
		}
		return err
	}
	failpoint.At("land-files")
	if err := lock.commit(); err != nil {
		return err
	}
	failpoint.At("land-index")
	err = l.move(stop, from, to)
	failpoint.At("land-moved")
	return errors.Join(err, l.Works.Refresh(stop))
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
		if now != f.Was && now != f.Is && f.Was != "" && now != "" && strings.Fields(now)[0] == strings.Fields(f.Was)[0] {
			// git may take other bytes for the same file, such as other line ends
			if blob, err := l.Works.BlobOf(stop, c.Name); err != nil {
				return err
			} else if blob == c.Was {
				f.Was = now
			}
		}
		folder := now == "no file" && f.Was == "" // of files that go first
		if now != f.Was && now != f.Is && !folder {
			way = append(way, c.Name)
		}
		s.note.Files = append(s.note.Files, f)
	}
	if len(way) > 0 {
		return &wayError{way, "the checkout has changes of its own in " + event.List(way, mostNamed), "commit them, or git stash -u; then land again"}
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
	if err := errors.Join(l.Place.Remove(), os.RemoveAll(l.Scratch)); err != nil {
		return err
	}
	failpoint.At("land-removed")
	refs := []string{gitstore.HeldRefs + l.id(), l.Clone.Ref}
	if out, err := l.Works.OutAt(stop, l.Clone.Branch); err == nil && out == "" && slices.Contains([]string{tip, l.Clone.Tip}, at(l.Clone.Branch)) {
		refs = append(refs, l.Clone.Branch)
	}
	for _, ref := range refs {
		if was := at(ref); was != "" {
			if err := l.Works.Refer(stop, ref, was, "", ""); err != nil {
				return err
			}
		}
	}
	return l.Journal.Record(event.Landed{Board: l.Board, Tip: tip, Onto: l.Onto, From: from, To: to, Ref: landed, Verified: verified})
}

// look finds out whether a branch still has work that has landed, and journals if that is another state than before.
func (l *Lander) look(stop context.Context, was *flow.Landing) error {
	target, err := l.Works.CommitOf(stop, was.Onto)
	if err != nil {
		return err
	}
	isThere := false
	if target != "" {
		if isThere, err = l.Works.Has(stop, target, was.To); err == nil && !isThere { // rebased, squashed or picked, it may be there all the same
			var merged gitstore.Merged
			merged, err = l.Works.Merge(stop, gitstore.Merging{Tip: was.Tip, Onto: target, Message: "look", Scratch: filepath.Join(l.Scratch, "merge")})
			isThere = merged.IsThere || len(merged.Conflicts) > 0
		}
		if err != nil {
			return err
		}
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
	names := make([]string, len(s.note.Files))
	for i, f := range s.note.Files {
		names[i] = f.Name
	}
	staged, _, err := l.Works.StagedOf(stop, names)
	if err != nil {
		return err
	}
	isNew := func(f swapFile) bool { return strings.TrimSuffix(staged[f.Name], " 0") == f.IsGit }
	if !slices.ContainsFunc(s.note.Files, func(f swapFile) bool { return !isNew(f) }) {
		err = l.move(stop, s.note.From, s.note.To)
		if moved := (*movedError)(nil); errors.As(err, &moved) {
			err = nil // the user has committed what was put there
		}
		err = errors.Join(err, l.Works.Refresh(stop))
	} else {
		err = s.rollBack()
	}
	return errors.Join(err, os.RemoveAll(l.Scratch))
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
		if index.IsSplit() {
			return nil, &wayError{nil, "the index of the checkout is split (core.splitIndex)", "git update-index --no-split-index; then land again"}
		}
		before := slices.Clone(index.Bytes())
		text, err := l.Works.WithChanges(stop, index, changes)
		if err == nil {
			err = durable.WriteFile(lock.next, text, 0o644)
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
		case stop.Err() != nil:
			return nil, context.Cause(stop)
		}
	}
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
