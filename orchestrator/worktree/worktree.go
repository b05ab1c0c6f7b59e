// Package worktree detects changes of a project's files. It does not look at files that git
// ignores.
package worktree

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"kanban-run/orchestrator/git"
	"kanban-run/orchestrator/plainfile"
	"kanban-run/orchestrator/proc"
)

// Tree is the work directory of a run in a git repository.
type Tree struct {
	Dir    string
	Ignore func(name string) bool                // reports whether to omit a path relative to Dir
	Part   func(name string, text []byte) []byte // returns the part of a file to hash; nil: all
	Mark   proc.Mark                             // mark of the processes of git
	Calls  string                                // folder for the calls of git, which is removed; "": one of its own
	Share  *Share                                // of the trees of Dir; nil: this tree shares nothing
}

// maxTime bounds all calls of git for one hash. A repository that needs longer has no hash.
const maxTime = 10 * time.Second

const (
	maxFiles  = 20_000   // greatest number of changed files, and of tracked .md files that are read
	maxFile   = 16 << 20 // limit of a file, in bytes; a larger file is hashed by its mode, size and time
	maxOutput = 16 << 20 // limit of git's output, in bytes
)

// Hash returns, in hex, a hash of the files of the whole repository, committed or not. It returns
// "" if it cannot make the hash: there is no git repository, git takes too long, or git does not
// look at some of the files, such as those of a nested repository.
func (t Tree) Hash(stop context.Context) (hash string) {
	t.look(stop, func(q *query) { hash = q.hash() })
	return hash
}

// look calls f with a query of the repository, if there is one, and git tracks Dir.
func (t Tree) look(stop context.Context, f func(*query)) {
	_, folder := git.Folder(t.Dir)
	if folder == "" {
		return // without a call of git
	}
	if t.Share == nil {
		t.Share = &Share{}
	}
	stop, cancel := context.WithTimeout(stop, maxTime)
	defer cancel()
	if t.Calls == "" {
		calls, err := os.MkdirTemp("", "kanban-run-git-")
		if err != nil {
			return
		}
		t.Calls = calls
	}
	defer os.RemoveAll(t.Calls)
	repo, err := t.Share.open(stop, t, folder)
	if err != nil {
		return
	}
	q := &query{Tree: t, repo: repo, stop: stop, digits: 2 * sha1.Size}
	if q.index, err = repo.ReadIndex(); err == nil && !q.isIgnored() {
		f(q)
	}
}

func (q *query) hash() string {
	files, sees := q.tracked()
	changed := q.changed()
	if !sees || q.failed || len(changed) > maxFiles {
		return ""
	}
	for _, name := range changed {
		files[name] = ""
	}
	h, read := sha256.New(), 0
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if strings.HasSuffix(name, "/") || q.stop.Err() != nil { // a listed folder is a repository
			return ""
		}
		state, short := files[name], q.fromDir(name)
		if q.Ignore != nil && q.Ignore(short) {
			continue
		}
		if partial := q.Part != nil && strings.HasSuffix(name, ".md"); state == "" || partial && read < maxFiles {
			read++
			state = q.stateOf(q.path(name), short, q.digits)
		}
		if state != "" {
			fmt.Fprintf(h, "%q %s\n", short, state)
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// stateOf returns the mode of a file and the object name of its hashed part, as in git's index. It
// returns "" if the file is gone.
func (t Tree) stateOf(path, name string, digits int) string {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return ""
	case info.Mode()&os.ModeSymlink != 0:
		target, _ := os.Readlink(path) // a link that is gone by now has no target
		return "120000 " + git.BlobName([]byte(target), digits)
	case !info.Mode().IsRegular() || info.Size() > maxFile:
		return fmt.Sprintf("%v %d %d", info.Mode(), info.Size(), info.ModTime().UnixNano())
	}
	text, err := plainfile.Read(path, maxFile)
	if err != nil {
		return "it cannot be read"
	}
	if t.Part != nil {
		text = t.Part(name, text)
	}
	mode := "100644 "
	if info.Mode()&0o100 != 0 {
		mode = "100755 "
	}
	return mode + git.BlobName(text, digits)
}

// query makes the calls of git for one hash. The calls use the user's index, but not the settings
// that an agent may have written.
type query struct {
	Tree
	repo   *git.Repo
	index  *git.Index
	stop   context.Context
	failed bool // a call of git failed
	digits int  // number of hex digits of an object name
}

// ask returns the output of git, and true. If the call of git fails, ask returns false.
func (q *query) ask(args ...string) (out string, known bool) {
	call := git.Call{Git: git.Git{MaxOutput: maxOutput}, Index: q.index}
	out, err := q.repo.Own(q.stop, q.Calls, call, nil, args...)
	return out, err == nil
}

// isIgnored reports whether git ignores Dir. It never ignores the top of a work tree.
func (q *query) isIgnored() bool {
	if q.repo.Prefix == "" {
		return false
	}
	_, ignored := q.ask("check-ignore", "--quiet", "--", "./"+q.repo.Prefix)
	return ignored
}

// fromDir turns a path relative to the top of the repository into a path relative to Dir.
func (q *query) fromDir(name string) string {
	if rest, ok := strings.CutPrefix(name, q.repo.Prefix); ok {
		return rest
	}
	return strings.Repeat("../", strings.Count(q.repo.Prefix, "/")) + name
}

// tracked returns the mode and object name of each file in git's index. The second result is true
// if the call succeeded and git looks at every file. Git does not look at submodules, nor at files
// that are marked assume-unchanged.
func (q *query) tracked() (files map[string]string, sees bool) {
	files = map[string]string{}
	// A line is "H 100644 NAME 0", a tab, and the path.
	for _, line := range q.list("ls-files", "-v", "--stage", "-z") {
		about, name, _ := strings.Cut(line, "\t")
		tag := strings.Fields(about)
		if len(tag) != 4 {
			q.failed = true
			return nil, false
		}
		if tag[0] != strings.ToUpper(tag[0]) || tag[1] == "160000" {
			return nil, false
		}
		q.digits = len(tag[2])
		files[name] = tag[1] + " " + tag[2]
		if tag[0] == "S" { // marked skip-worktree, so diff-files does not report it
			files[name] = ""
		}
	}
	return files, !q.failed
}

// changed lists the files that differ from the index, and then the untracked ones.
func (q *query) changed() []string {
	names, known := q.Share.changed(func() ([]string, bool) {
		var differing, untracked []string
		for _, line := range q.list("ls-files", "-t", "--modified", "--others", "--exclude-standard", "-z") {
			if name, isNew := strings.CutPrefix(line, "? "); isNew {
				untracked = append(untracked, name)
			} else if _, name, _ := strings.Cut(line, " "); len(differing) == 0 || differing[len(differing)-1] != name { // a conflict has lines for one file
				differing = append(differing, name)
			}
		}
		return append(differing, untracked...), !q.failed
	})
	q.failed = q.failed || !known
	return names
}

// list splits the output of git at its NUL bytes.
func (q *query) list(args ...string) []string {
	out, known := q.ask(args...)
	q.failed = q.failed || !known
	return strings.FieldsFunc(out, func(r rune) bool { return r == 0 })
}
