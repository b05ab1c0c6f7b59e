package land

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failpoint"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/git"
	"kanban-run/orchestrator/gitstore"
)

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
	return len(lacking(work, differ)) > 0, err
}
