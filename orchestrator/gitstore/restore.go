package gitstore

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"kanban-run/orchestrator/git"
	"kanban-run/orchestrator/plainfile"
	"kanban-run/orchestrator/rundir"
)

// Start restores the files of the last checkpoint if that checkpoint is newer than the local
// journal. The last checkpoint may be in this repository or at the remote. The caller opens the
// journal only after Start. Start returns the restored checkpoint, or "" if the local journal was
// up to date. A git that is ended from outside, such as a fetch, is tried once more. Errors:
// *AheadError, *UnfitError.
func (s *Store) Start(stop context.Context) (restored string, err error) {
	restored, err = s.startOnce(stop)
	if wasSignaled(err) && stop.Err() == nil {
		if err = s.unlockRef(); err == nil {
			restored, err = s.startOnce(stop)
		}
	}
	return restored, err
}

func (s *Store) startOnce(stop context.Context) (restored string, err error) {
	err = s.inCalls(func() error {
		return s.apart(func() (err error) {
			restored, err = s.start(stop)
			return err
		})
	})
	s.index = git.Index{} // the old index names objects that are removed by now
	return restored, err
}

func (s *Store) start(stop context.Context) (restored string, err error) {
	half, failed := plainfile.Read(s.half(), maxHalf)
	if failed == nil { // a run was killed while it restored files
		restored, err = s.resume(stop, string(half))
	} else {
		err = s.clearHalf(failed)
	}
	if err != nil {
		return "", err
	}
	further, err := s.goOn(stop) // another runner may have made newer checkpoints
	return cmp.Or(further, restored), err
}

// goOn restores the newest checkpoint, if it is newer than the local journal.
func (s *Store) goOn(stop context.Context) (restored string, err error) {
	tip, err := s.newest(stop)
	if err != nil || tip == "" {
		return "", err
	}
	behind, err := s.isJournalBehind(stop, tip)
	if err != nil {
		return "", err
	}
	// A checkpoint that is already in this repository is checked only if it must be signed: an agent
	// can imitate everything but the signature.
	if tip != s.tip || s.Signed {
		if err := s.trust(stop, tip); err != nil {
			return "", err
		}
	}
	if !behind {
		return "", s.adopt(stop, tip)
	}
	base, err := s.checkClean(stop, tip)
	if err != nil {
		return "", err
	}
	return s.bring(stop, base, tip)
}

// newest returns the last checkpoint, in this repository or at the remote, or "" if there is none.
// If the remote does not answer, the function shows a notice and returns the last checkpoint in
// this repository. Errors: *AheadError if neither checkpoint follows the other.
func (s *Store) newest(stop context.Context) (string, error) {
	if s.address == "" {
		return s.tip, nil
	}
	began := time.Now()
	there, err := s.fetched(stop)
	failed := (*git.Error)(nil)
	switch {
	case errors.As(err, &failed) && !wasSignaled(err):
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

// fetched calls fetch with the repository's own folder of objects instead of the separate one (see
// apart). The objects can hold no new secret, since the remote has them already.
func (s *Store) fetched(stop context.Context) (string, error) {
	apart := s.objects
	s.objects = ""
	defer func() { s.objects = apart }()
	return s.fetch(stop)
}

// maxJournal bounds each journal that isJournalBehind reads, in bytes.
const maxJournal = 1 << 30

// isJournalBehind reports whether the checkpoint's journal has all records of the local journal,
// and more. Errors: *AheadError if neither journal continues the other, *UnfitError if one of them
// cannot be read.
func (s *Store) isJournalBehind(stop context.Context, tip string) (bool, error) {
	call := git.Call{Git: git.Git{Timeout: localTime, MaxOutput: maxJournal}, Raw: true}
	there, err := s.repo.Own(stop, s.calls, call, nil, "cat-file", "blob", tip+":"+s.inTree+"/journal.jsonl")
	if git.IsRefusal(err) {
		return false, &UnfitError{
			fmt.Sprintf("%.12s on %s is no checkpoint of this board: it has no %s/journal.jsonl",
				tip, s.Branch, s.inTree),
			"name another branch with checkpoint:, or rename that one (git branch -m)",
		}
	}
	if err != nil {
		return false, err
	}
	here, err := plainfile.Read(filepath.Join(s.Runs, "journal.jsonl"), maxJournal)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, &UnfitError{"the journal cannot be read: " + err.Error(),
			"move away what is in its place; then the same command goes on from the last checkpoint"}
	}
	here = here[:bytes.LastIndexByte(here, '\n')+1] // without a torn record at the end
	switch {
	case bytes.HasPrefix(here, []byte(there)):
		return false, nil
	case strings.HasPrefix(there, string(here)):
		return true, nil
	default:
		return false, &AheadError{fmt.Sprintf("another runner has gone on with the board: "+
			"the journal here, and that of %.12s on %s, have parted", tip, s.Branch)}
	}
}

// trust returns an *UnfitError for a commit that does not look like a checkpoint, or that lacks a
// signature although one is required.
func (s *Store) trust(stop context.Context, tip string) error {
	text, err := s.own(stop, git.Call{Raw: true}, nil,
		"show", "--no-patch", "--format=%(trailers:key=Kanban-Step)%(trailers:key=Kanban-Base)", tip)
	if err != nil {
		return err
	}
	if !strings.Contains(text, "Kanban-Step: ") || !strings.Contains(text, "Kanban-Base: ") {
		return &UnfitError{fmt.Sprintf("%.12s on %s was not made by kanban-run: it names no step", tip, s.Branch),
			"look at it with git show; take it off the branch if it does not belong there"}
	}
	files, err := s.own(stop, git.Call{Raw: true}, nil, "ls-tree", "-r", "--name-only", "-z", tip, "--", s.inTree)
	if err != nil {
		return err
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(files, "\x00"), "\x00") {
		top, _, _ := strings.Cut(strings.TrimPrefix(name, s.inTree+"/"), "/")
		if !slices.Contains(s.Kept, top) {
			return &UnfitError{fmt.Sprintf("%.12s on %s was not made by kanban-run: it has %s", tip, s.Branch, name),
				"look at it with git show; take it off the branch if it does not belong there"}
		}
	}
	if !s.Signed {
		return nil
	}
	if _, err := s.own(stop, s.withKeys(), nil, "verify-commit", tip); err != nil && !git.IsRefusal(err) {
		return err
	} else if err != nil {
		return &UnfitError{fmt.Sprintf("%.12s on %s has no signature that git trusts", tip, s.Branch),
			"git verify-commit says why; checkpoint_signed: false does without"}
	}
	return nil
}

// checkClean returns an *UnfitError if there are files that are in no checkpoint and in no commit, or
// if HEAD has commits that the checkpoint does not have.
// Otherwise it returns the checkpoint or the commit whose files equal the present files, or "" if
// there are no files and no commit. checkClean makes the index equal to the work tree.
func (s *Store) checkClean(stop context.Context, tip string) (base string, err error) {
	if base = s.tip; base == "" {
		if base, err = s.head(stop); err != nil {
			return "", err
		}
	}
	if s.tip == "" && base != "" {
		older, err := s.isAncestor(stop, base, tip)
		if err != nil {
			return "", err
		}
		if !older {
			return "", &UnfitError{
				fmt.Sprintf("HEAD has commits that the checkpoint %.12s does not know", tip),
				"check out the commit that the board began with, " +
					"or bring the checkpoints' files to HEAD by git merge " + s.Branch,
			}
		}
	}
	if err := s.addAll(stop, base); err != nil {
		return "", err
	}
	if base == "" {
		return "", s.refuseFiles(stop)
	}
	out, err := s.raw(stop, nil, "diff-index", "--cached", "--raw", "--no-renames", "-z", base,
		"--", ".", ":(exclude,top,literal)"+s.inTree)
	if err != nil {
		return "", err
	}
	var changed []string
	fields := strings.Split(out, "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		if !strings.HasPrefix(fields[i], ":160000 ") { // the index leaves out what is a repository within
			changed = append(changed, fields[i+1])
		}
	}
	return base, furtherElsewhere(changed)
}

func isNUL(r rune) bool { return r == 0 }

// refuseFiles returns an *UnfitError if a clone without a commit has files.
func (s *Store) refuseFiles(stop context.Context) error {
	out, err := s.raw(stop, nil, "ls-files", "-z")
	isRuns := func(name string) bool { return strings.HasPrefix(name, s.inTree+"/") }
	names := slices.DeleteFunc(strings.FieldsFunc(out, isNUL), isRuns)
	return errors.Join(err, furtherElsewhere(names))
}

func furtherElsewhere(names []string) error {
	if len(names) == 0 {
		return nil
	}
	return &UnfitError{
		fmt.Sprintf("the board has come further elsewhere, and %s here is in no checkpoint",
			strings.Join(names[:min(3, len(names))], ", ")),
		"commit it to a branch of your own, or git stash; then the same command goes on",
	}
}

// half returns the path of a note that exists only while files are restored. The note names the new
// checkpoint and the old commit.
func (s *Store) half() string { return filepath.Join(s.Runs, "restoring") }

// maxHalf bounds the note (see half), in bytes.
const maxHalf = 1 << 10

// clearHalf removes a link or a folder in the place of the note (see half). err is the error of
// reading the note.
func (s *Store) clearHalf(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return rundir.RemoveForeign(s.half())
}

// resume completes the restoring that a killed run began. The parameter half is the text of that
// run's note (see the method half). Errors: *UnfitError if the note names no checkpoint of the
// board, or if the contents of a file are neither the old nor the new ones. Such a file was written
// after that run died, and is kept.
func (s *Store) resume(stop context.Context, half string) (string, error) {
	tip, base, _ := strings.Cut(strings.TrimSpace(half), " ")
	newest, err := s.newest(stop)
	if err != nil {
		return "", err
	}
	known := isObjectName(tip) && (base == "" || isObjectName(base)) && newest != ""
	if known {
		known, err = s.isAncestor(stop, tip, newest)
	}
	if git.IsRefusal(err) || err == nil && !known {
		return "", &UnfitError{
			fmt.Sprintf("%s names %q, which is no checkpoint on %s", s.half(), half[:min(len(half), 80)], s.Branch),
			"move that file away; then the same command goes on",
		}
	}
	if err != nil {
		return "", err
	}
	if err := s.trust(stop, tip); err != nil {
		return "", err
	}
	return s.bring(stop, base, tip)
}

// bring replaces the files of the commit base with those of the checkpoint tip. If it would
// overwrite a file that is in neither of the two, it changes nothing and returns an *UnfitError.
// Such a file may be one that git ignores, or one that was written after a killed run began to
// restore.
func (s *Store) bring(stop context.Context, base, tip string) (string, error) {
	changes, err := s.changes(stop, base, tip)
	if err != nil {
		return "", err
	}
	if err := s.refuseOverwriting(stop, changes); err != nil {
		return "", err
	}
	if err := rundir.ReplaceFile(s.half(), []byte(strings.TrimSpace(tip+" "+base)+"\n")); err != nil {
		return "", err
	}
	if err := s.write(stop, changes, tip); err != nil {
		return "", fmt.Errorf("checkpoint: bring the files to %.12s: %w", tip, err)
	}
	if err := s.adopt(stop, tip); err != nil {
		return "", err
	}
	if s.lost, err = s.leftOutOf(stop, tip); err != nil {
		return "", err
	}
	return tip, removeIfThere(s.half())
}

// write writes the changed files of a checkpoint, and removes the files that the checkpoint lacks.
func (s *Store) write(stop context.Context, changes []change, tip string) error {
	s.index = git.Index{}
	// read-tree refuses names that lead out of the work tree, or into .git.
	if _, err := s.raw(stop, nil, "read-tree", tip); err != nil {
		return err
	}
	root, err := os.OpenRoot(s.repo.Top)
	if err != nil {
		return err
	}
	defer root.Close()
	var names strings.Builder
	for _, c := range changes {
		if !c.isRemoved() {
			names.WriteString(c.name + "\x00")
			continue
		}
		if err := root.Remove(c.name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for above := path.Dir(c.name); above != "."; above = path.Dir(above) {
			if root.Remove(above) != nil {
				break // the folder is not empty
			}
		}
	}
	_, err = s.raw(stop, []byte(names.String()), "checkout-index", "--force", "-z", "--stdin")
	return err
}

// emptyTree returns git's object name of the empty tree. Its hash function, SHA-1 or SHA-256, is
// that of the given object name.
func emptyTree(like string) string {
	if len(like) == 64 {
		return "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"
	}
	return "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
}

// adopt moves the branch in this repository to the checkpoint.
func (s *Store) adopt(stop context.Context, tip string) error {
	if tip == s.tip {
		return nil
	}
	return s.refer(stop, tip)
}

// restoreJournal restores the last checkpoint in this repository if the journal is gone. An agent
// may have removed the journal, and with it the record of the route to the remote.
func (s *Store) restoreJournal(stop context.Context) error {
	_, err := os.Lstat(filepath.Join(s.Runs, "journal.jsonl"))
	if !errors.Is(err, fs.ErrNotExist) || s.tip == "" {
		return nil
	}
	address := s.address
	s.address = ""
	_, err = s.Start(stop)
	s.address = address
	return err
}
