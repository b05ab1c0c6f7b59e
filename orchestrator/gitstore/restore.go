package gitstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"kanban-run/orchestrator/git"
	"kanban-run/orchestrator/rundir"
)

// Start brings this folder to where the board stands, before its journal is opened: where the
// branch, here or at the remote, has come further than this folder's journal, the files become
// those of its last checkpoint. restored is the commit; "": this folder was not behind. Errors:
// *AheadError, *UnfitError.
func (s *Store) Start(stop context.Context) (restored string, err error) {
	if half, err := os.ReadFile(s.mark()); err == nil { // a run that was killed here
		return s.finish(stop, strings.TrimSpace(string(half)))
	}
	tip, err := s.newest(stop)
	if err != nil || tip == "" {
		return "", err
	}
	behind, err := s.isBehind(stop, tip)
	if err != nil {
		return "", err
	}
	if tip != s.tip {
		if err := s.trust(stop, tip); err != nil {
			return "", err
		}
	}
	if !behind {
		return "", s.adopt(stop, tip)
	}
	if err := s.checkClean(stop, tip); err != nil {
		return "", err
	}
	return s.finish(stop, tip)
}

// newest is the last checkpoint, here or at the remote; "": there is none.
func (s *Store) newest(stop context.Context) (string, error) {
	if s.address == "" {
		return s.tip, nil
	}
	began := time.Now()
	there, err := s.fetch(stop)
	failed := (*git.Error)(nil)
	switch {
	case errors.As(err, &failed):
		s.Notice(fmt.Sprintf("the remote cannot be asked, and the run goes on with what is here: %s", oneLine(err)))
		s.rest(began)
		return s.tip, nil
	case err != nil || there == "" || there == s.tip:
		return s.tip, err
	case s.tip == "":
		return there, nil
	}
	if older, err := s.isAncestor(stop, s.tip, there); err != nil || older {
		return there, err
	}
	if newer, err := s.isAncestor(stop, there, s.tip); err != nil || newer {
		return s.tip, err
	}
	return "", s.ahead(there)
}

// isBehind says whether a checkpoint has come further than this folder. Errors:
// *AheadError where neither has.
func (s *Store) isBehind(stop context.Context, tip string) (bool, error) {
	there, err := s.own.Run(stop, nil, "cat-file", "blob", tip+":"+s.inTree+"/journal.jsonl")
	if failed := (*git.Error)(nil); errors.As(err, &failed) {
		return false, &UnfitError{fmt.Sprintf("%.12s on %s is no checkpoint of this board: it has no %s/journal.jsonl", tip, s.Branch, s.inTree), "name another branch with checkpoint:, or remove that one"}
	}
	if err != nil {
		return false, err
	}
	here, err := os.ReadFile(filepath.Join(s.Runs, "journal.jsonl"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	here = here[:bytes.LastIndexByte(here, '\n')+1] // a torn record is none
	switch {
	case bytes.HasPrefix(here, []byte(there)):
		return false, nil
	case strings.HasPrefix(there, string(here)):
		return true, nil
	default:
		return false, &AheadError{fmt.Sprintf("another runner has gone on with the board: the journal here, and that of %.12s on %s, have parted", tip, s.Branch)}
	}
}

// trust refuses a commit from elsewhere that does not look like a checkpoint, or that is not
// signed where that is asked.
func (s *Store) trust(stop context.Context, tip string) error {
	text, err := s.own.Run(stop, nil, "show", "--no-patch", "--format=%(trailers:key=Kanban-Step)%(trailers:key=Kanban-Base)", tip)
	if err != nil {
		return err
	}
	if !strings.Contains(text, "Kanban-Step: ") || !strings.Contains(text, "Kanban-Base: ") {
		return &UnfitError{fmt.Sprintf("%.12s on %s was not made by kanban-run: it names no step", tip, s.Branch), "look at it with git show; take it off the branch if it does not belong there"}
	}
	files, err := s.own.Run(stop, nil, "ls-tree", "-r", "--name-only", "-z", tip, "--", s.inTree)
	if err != nil {
		return err
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(files, "\x00"), "\x00") {
		top, _, _ := strings.Cut(strings.TrimPrefix(name, s.inTree+"/"), "/")
		if !slices.Contains(s.Kept, top) {
			return &UnfitError{fmt.Sprintf("%.12s on %s was not made by kanban-run: it has %s", tip, s.Branch, name), "look at it with git show; take it off the branch if it does not belong there"}
		}
	}
	if !s.Signed {
		return nil
	}
	if _, err := s.asked(stop, s.far(askTime), nil, "verify-commit", tip); err != nil {
		return &UnfitError{fmt.Sprintf("%.12s on %s has no signature that git trusts", tip, s.Branch), "git verify-commit says why; checkpoint_signed: false does without"}
	}
	return nil
}

// checkClean refuses to replace files that are in no checkpoint and in no commit. It leaves the
// index as the work tree is, so that git knows which files to remove.
func (s *Store) checkClean(stop context.Context, tip string) error {
	var changed string
	var err error
	if s.tip == "" {
		changed, err = s.changedSinceHead(stop, tip)
	} else {
		changed, err = s.changedSince(stop, s.tip)
	}
	if err != nil {
		return err
	}
	if names := strings.FieldsFunc(changed, func(r rune) bool { return r == 0 }); len(names) > 0 {
		return &UnfitError{fmt.Sprintf("the board has come further elsewhere, and %s here is in no checkpoint", strings.Join(names[:min(3, len(names))], ", ")),
			"commit it to a branch of your own, or git stash; then the same command goes on"}
	}
	return nil
}

// changedSince are the files that are not as a checkpoint has them, with a NUL behind each.
func (s *Store) changedSince(stop context.Context, tip string) (string, error) {
	if _, err := s.at(stop, nil, "read-tree", tip); err != nil {
		return "", err
	}
	if _, err := s.at(stop, nil, "add", "--all", "--", "."); err != nil {
		return "", err
	}
	return s.own.Run(stop, nil, "diff-index", "--cached", "--name-only", "-z", tip, "--", ".", ":(exclude,top,literal)"+s.inTree)
}

// changedSinceHead are the files of a clone without a checkpoint that are not as they were checked
// out, as the user's git sees it: that may have converted line ends.
func (s *Store) changedSinceHead(stop context.Context, tip string) (string, error) {
	head, err := s.head(stop)
	if err != nil {
		return "", err
	}
	if head != "" {
		if older, err := s.isAncestor(stop, head, tip); err != nil || !older {
			return "", errors.Join(err, &UnfitError{fmt.Sprintf("HEAD has commits that the checkpoint %.12s does not know", tip),
				"check out the commit that the board began with, or bring the checkpoints' files to HEAD by git merge " + s.Branch})
		}
	}
	changed, err := s.user.Run(stop, nil, "status", "--porcelain", "--untracked-files=all", "-z", "--", s.top, ":(exclude,top,literal)"+s.inTree)
	if err != nil || changed != "" {
		return nameOf(changed), err
	}
	if head != "" {
		if _, err := s.at(stop, nil, "read-tree", head); err != nil {
			return "", err
		}
	}
	_, err = s.at(stop, nil, "add", "--all", "--", ".")
	return "", err
}

// nameOf takes the states off the names that git status prints.
func nameOf(status string) string {
	var names []string
	for entry := range strings.SplitSeq(status, "\x00") {
		if len(entry) > 3 {
			names = append(names, entry[3:])
		}
	}
	return strings.Join(names, "\x00")
}

// mark names the file that says to which checkpoint the files are being brought.
func (s *Store) mark() string { return filepath.Join(s.folder, "restoring") }

// finish brings the files to a checkpoint.
func (s *Store) finish(stop context.Context, tip string) (string, error) {
	if err := rundir.ReplaceFile(s.mark(), []byte(tip+"\n")); err != nil {
		return "", err
	}
	if _, err := s.at(stop, nil, "read-tree", "--reset", "-u", tip); err != nil {
		return "", fmt.Errorf("checkpoint: bring the files to %.12s: %w", tip, err)
	}
	if err := s.adopt(stop, tip); err != nil {
		return "", err
	}
	return tip, removeIfThere(s.mark())
}

// adopt has the branch here name the checkpoint.
func (s *Store) adopt(stop context.Context, tip string) error {
	if tip == s.tip {
		return nil
	}
	return s.refer(stop, tip)
}
