package gitstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/git"
)

// Point is the description of a checkpoint.
type Point struct {
	Subject string // first line of the commit's message
	Step    int
	Base    string // SHA-256 of the board
	Reply   string // status or verdict of the last accepted reply; "": no reply
	Last    bool   // the run ends, so Save pushes even if the remote has just failed to answer
}

// message returns the message of the commit. The parameter left lists what the commit leaves out.
func (p Point) message(left []string) []byte {
	text := fmt.Sprintf("%s\n\nKanban-Step: %d\nKanban-Base: %s\n", event.OneLine(p.Subject), p.Step, p.Base)
	if p.Reply != "" {
		text += "Kanban-Reply: " + p.Reply + "\n"
	}
	for _, entry := range left[:min(len(left), mostLeft)] {
		text += leftTrailer + ": " + event.OneLine(entry) + "\n"
	}
	return []byte(text)
}

// Save makes a checkpoint of the present files, and pushes it. If the remote cannot be reached or
// refuses, TakeFailure has the reason, and a later Save pushes the checkpoint. Errors: *AheadError,
// *SecretError, *UnfitError.
func (s *Store) Save(stop context.Context, p Point) error {
	return s.inCalls(func() error { return s.save(stop, p) })
}

func (s *Store) save(stop context.Context, p Point) error {
	commit := ""
	err := s.apart(func() (err error) {
		if commit, err = s.makeTrue(func() (string, error) { return s.make(stop, p) }); err == nil {
			err = s.takeIn()
		}
		return err
	})
	if err != nil {
		return err
	}
	if err := s.refer(stop, commit); err != nil {
		return err
	}
	if !p.Last && time.Now().Before(s.askAgain) {
		return nil
	}
	return s.push(stop)
}

// maxRounds bounds the rounds of makeTrue. A round may find forged trees, and the next one what the
// true trees have in their place.
const maxRounds = 16

// makeTrue makes a commit, by the function make, whose objects all have the contents that their names stand for. An agent
// can put an object with other contents under the name of a file that it is about to write, and git
// would believe it. makeTrue removes such an object, and has git write the true one.
func (s *Store) makeTrue(make func() (string, error)) (commit string, err error) {
	for range maxRounds {
		commit, err = make()
		forged := (*forgedError)(nil)
		if !errors.As(err, &forged) {
			return commit, err
		}
		if err := s.removeForged(forged); err != nil {
			return "", err
		}
		s.index = git.Index{} // with the old one git would not look at the files again
	}
	return "", err
}

// make makes a commit of the present files, and searches it for forged objects and for secrets.
// Errors: *forgedError, *SecretError, *UnfitError.
func (s *Store) make(stop context.Context, p Point) (string, error) {
	head, err := s.head(stop)
	if err != nil {
		return "", err
	}
	base := cmp.Or(s.tip, head)
	tree, err := s.writeTree(stop, base)
	if err != nil {
		return "", err
	}
	commit, err := s.commit(stop, tree, head, p)
	if err != nil {
		return "", err
	}
	if err := s.findSecret(stop, commit, base); err != nil {
		return "", err
	}
	s.looked = commit
	return commit, nil
}

// refer moves the branch from the last checkpoint to a commit. Errors: *UnfitError if another
// program has moved the branch.
func (s *Store) refer(stop context.Context, commit string) error {
	before := s.tip
	if before == "" {
		before = strings.Repeat("0", len(commit))
	}
	_, err := s.repo.User(stop, "update-ref", "--no-deref", "-m", "kanban-run", s.ref, commit, before)
	if git.IsRefusal(err) {
		now, failed := s.repo.User(stop, "for-each-ref", "--format=%(objectname)", s.ref)
		if failed == nil && now != s.tip {
			return movedError(s.Branch, s.tip, now)
		}
	}
	if err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	s.tip = commit
	return s.syncRef()
}

// movedError returns the error for a branch that is not at the last checkpoint.
func movedError(branch, was, now string) error {
	where := "is gone"
	if now != "" {
		where = fmt.Sprintf("was moved to %.12s", now)
	}
	fix := "the next run begins it anew"
	if was != "" {
		fix = fmt.Sprintf("git branch -f %s %.12s brings it back; then the same command goes on", branch, was)
	}
	return &UnfitError{fmt.Sprintf("the branch %s %s while the run was at work, and its checkpoints are the run's",
		branch, where), fix}
}

// writeTree updates the index from the work tree and the run's folder, and returns the name of the
// tree that it writes from the index. The parameter base is the last checkpoint. If there is none, it
// is the checked-out commit, or "" before the first commit.
func (s *Store) writeTree(stop context.Context, base string) (tree string, err error) {
	if err := s.addAll(stop, base); err != nil {
		return "", err
	}
	if _, err := s.raw(stop, nil, append([]string{"add", "--all", "--force", "--"}, s.listKept()...)...); err != nil {
		return "", fmt.Errorf("commit: %w", err)
	}
	return s.raw(stop, nil, "write-tree")
}

// listKept returns the paths of what a checkpoint holds of the run's folder, and what is there.
func (s *Store) listKept() (kept []string) {
	for _, name := range s.Kept {
		if _, err := os.Lstat(filepath.Join(s.Runs, name)); err == nil {
			kept = append(kept, s.inTree+"/"+name)
		}
	}
	return kept
}

// addAll updates the index from the work tree, and sets s.left to what it leaves out. A file that
// changed only in line ends or encoding keeps its blob of the last checkpoint. Of the run's folder only
// what a checkpoint holds stays in the index: other files may be gone, or a person may have added them.
func (s *Store) addAll(stop context.Context, base string) error {
	if s.index.IsEmpty() && base != "" {
		if _, err := s.raw(stop, nil, "read-tree", base); err != nil {
			return fmt.Errorf("commit: %w", err)
		}
	}
	left, err := s.addFiles(stop)
	if err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	inner, converts, err := s.dropForeign(stop)
	if err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	left = append(left, inner...)
	slices.Sort(left)
	s.left = slices.Compact(left)
	if converts && base != "" && !s.converts {
		err = s.keepUnchanged(stop, base)
	}
	return err
}

// keepUnchanged looks for files that differ from the base commit only in line ends or encoding. Git
// would convert such a file to the blob that the file has in the base commit. The function puts
// this blob back into the index.
func (s *Store) keepUnchanged(stop context.Context, base string) error {
	out, err := s.raw(stop, nil, "diff-index", "--cached", "--raw", "-z", "--no-renames", "--diff-filter=M", base)
	if err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	var names, modes, blobs []string
	fields := strings.Split(out, "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		about, name := strings.Fields(fields[i]), fields[i+1] // about is ":MODE MODE BLOB BLOB M"
		if len(about) == 5 && strings.HasPrefix(about[1], "100") && !strings.Contains(name, "\n") && !strings.HasPrefix(name, s.inTree+"/") {
			names, modes, blobs = append(names, name), append(modes, about[1]), append(blobs, about[2])
		}
	}
	if len(names) == 0 {
		return nil
	}
	out, err = s.converted(stop, []byte(strings.Join(names, "\n")+"\n"), "hash-object", "--stdin-paths")
	if git.IsRefusal(err) {
		return nil // a file is gone by now, or cannot be converted: all files count as changed
	}
	var same strings.Builder
	for i, converted := range strings.Fields(out) {
		if i < len(blobs) && converted == blobs[i] {
			fmt.Fprintf(&same, "%s %s 0\t%s\x00", modes[i], blobs[i], names[i])
		}
	}
	if err != nil || same.Len() == 0 {
		return err
	}
	if _, err := s.raw(stop, []byte(same.String()), "update-index", "-z", "--index-info"); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	// After a refresh, the next checkpoint need not convert these files again.
	_, err = s.converted(stop, nil, "update-index", "-q", "--refresh")
	if git.IsRefusal(err) {
		return nil
	}
	return err
}

// commit makes a commit of a tree. Its parents are the last checkpoint and the checked-out commit.
// If the last checkpoint follows the checked-out commit, or is the same commit, the last checkpoint
// is the only parent.
func (s *Store) commit(stop context.Context, tree, head string, p Point) (commit string, err error) {
	args := []string{"commit-tree", tree}
	if s.tip != "" {
		args = append(args, "-p", s.tip)
	}
	known := head == ""
	if !known && s.tip != "" {
		if known, err = s.isAncestor(stop, head, s.tip); err != nil {
			return "", err
		}
	}
	if !known {
		args = append(args, "-p", head)
	}
	call := git.Call{Raw: true}
	if s.Signed {
		call, args = s.withKeys(), append(args, "-S")
	}
	call.Env = append(call.Env, s.identity()...)
	if commit, err = s.own(stop, call, p.message(s.left), args...); err != nil {
		return "", fmt.Errorf("commit: %w", err)
	}
	s.follows = [2]string{head, commit}
	return commit, nil
}

// withKeys returns a call in which git has the user's keys, to make or to verify a signature.
func (s *Store) withKeys() git.Call {
	settings := s.repo.Settings.Kept()
	return git.Call{Git: git.Git{Timeout: askTime, Env: settings.Environ(s.Environ)}, Raw: true, Remote: settings}
}

// identity returns environment variables with the name and the e-mail address for a commit, from
// git's settings. Where a setting is missing, it uses the name or the address of kanban-run.
func (s *Store) identity() []string {
	name, email := s.repo.Settings.GetOwn("user.name"), s.repo.Settings.GetOwn("user.email")
	if name == "" {
		name = "kanban-run"
	}
	if email == "" {
		email = "kanban-run@localhost"
	}
	return []string{
		"GIT_AUTHOR_NAME=" + name, "GIT_AUTHOR_EMAIL=" + email,
		"GIT_COMMITTER_NAME=" + name, "GIT_COMMITTER_EMAIL=" + email,
	}
}
