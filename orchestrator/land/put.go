package land

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failpoint"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/git"
	"kanban-run/orchestrator/gitstore"
)

// underWay returns a *refusal while a merge or a rebase is under way in the checkout.
func (l *Lander) underWay() error {
	for _, file := range []string{"MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply"} {
		if _, err := os.Lstat(filepath.Join(l.Works.Repo().Folder, file)); err == nil {
			return inTheWay(nil, "a merge or rebase is under way in the checkout ("+file+")", "end it, and land again")
		}
	}
	return nil
}

// put puts the files of a commit into the checkout, and moves its branch and index.
func (l *Lander) put(stop context.Context, tip, from, to string, changes []gitstore.Change) (err error) {
	s := l.swap(swapNote{Onto: l.Onto, From: from, To: to})
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
			return inTheWay([]string{changed.name}, changed.Error()+", or something is in its way", "look at it, and land again")
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

func (l *Lander) swap(note swapNote) *swap {
	repo := l.Works.Repo()
	return &swap{top: repo.Top, scratch: l.Scratch, ignoresX: repo.Settings.GetOwn("core.filemode") == "false", note: note}
}

// switched returns the error for a checkout whose branch is not the target any more.
func (l *Lander) switched() error {
	return inTheWay(nil, "another branch was checked out meanwhile", "git switch "+failure.Quote(short(l.Onto))+"; then land again")
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
// is to be done. Errors: *refusal.
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
			return inTheWay([]string{c.Name}, c.Name+" is a submodule", "git merge "+short(l.Clone.Branch))
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
		return inTheWay(way, "the checkout has changes of its own in "+event.List(way, mostNamed), "commit them, or git stash push -u -- FILES; then land again")
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

// goOn ends what a killed landing has begun: one that has the index in place moves the branch, any other is rolled back.
func (l *Lander) goOn(stop context.Context) error {
	repo := l.Works.Repo()
	s := l.swap(swapNote{})
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
