// Package worktree tells whether the files of a project have changed, as git sees them: what it
// ignores counts for nothing.
package worktree

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
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
	Ignore func(name string) bool                // a file that counts for nothing, by its path from Dir
	Part   func(name string, text []byte) []byte // the part of a file that counts; nil: the whole
	Mark   proc.Mark                             // of the processes that it starts
	Calls  string                                // a folder that is made for calls of git, and removed; no file of it counts
}

// maxTime bounds the time that git may take. A repository in which it takes longer is not known.
const maxTime = 10 * time.Second

const (
	maxFiles  = 20_000   // that are read
	maxFile   = 16 << 20 // bytes of a file that is read; a longer one is told by its size and time
	maxOutput = 16 << 20 // bytes that git prints
)

// Hash identifies the contents of the files of the whole repository, in hex, whether or not they
// are committed. It is "" where that cannot be told: there is no git repository, all of it takes
// too long, or git does not look at a part of the files, such as another repository's.
func (t Tree) Hash(stop context.Context) string {
	program, err := git.Find(t.Dir)
	if err != nil {
		return ""
	}
	stop, cancel := context.WithTimeout(stop, maxTime)
	defer cancel()
	repo, err := git.Open(stop, program, t.Dir, t.Mark)
	if err != nil {
		return ""
	}
	defer os.RemoveAll(t.Calls)
	q := query{Tree: t, repo: repo, stop: stop}
	if q.index, err = repo.ReadIndex(); err != nil || q.isIgnored() {
		return ""
	}
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
		if strings.HasSuffix(name, "/") || stop.Err() != nil { // a repository within this one
			return ""
		}
		state, short := files[name], q.fromDir(name)
		if t.Ignore != nil && t.Ignore(short) {
			continue
		}
		if partial := t.Part != nil && strings.HasSuffix(name, ".md"); state == "" || partial && read < maxFiles {
			read++
			state = t.stateOf(filepath.Join(repo.Top, filepath.FromSlash(name)), short, q.digits)
		}
		if state != "" {
			fmt.Fprintf(h, "%q %s\n", short, state)
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// stateOf is what a file is, in the words of git's index: its mode, and the object name of the
// part of it that counts; "" where it is gone.
func (t Tree) stateOf(path, name string, digits int) string {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return ""
	case info.Mode()&os.ModeSymlink != 0:
		target, _ := os.Readlink(path) // one that is gone by now points nowhere
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

// query asks git, with the index of the user's and with none of the settings that an agent may have
// written.
type query struct {
	Tree
	repo   *git.Repo
	index  *git.Index
	stop   context.Context
	failed bool // a question was not answered
	digits int  // of an object name
}

// ask returns what git prints; known is false where it fails.
func (q *query) ask(args ...string) (out string, known bool) {
	out, err := q.repo.Own(q.stop, q.Calls, git.Call{Git: git.Git{MaxOutput: maxOutput}, Index: q.index}, nil, args...)
	return out, err == nil
}

// isIgnored says whether git ignores the folder.
func (q *query) isIgnored() bool {
	_, ignored := q.ask("check-ignore", "--quiet", "--", "./"+q.repo.Prefix)
	return ignored
}

// fromDir is a path from the folder.
func (q *query) fromDir(name string) string {
	if rest, ok := strings.CutPrefix(name, q.repo.Prefix); ok {
		return rest
	}
	return strings.Repeat("../", strings.Count(q.repo.Prefix, "/")) + name
}

// tracked are the files in git's index, with mode and object name. sees says whether git looks at
// all of them: at no other repository, and at none that it was told to leave alone.
func (q *query) tracked() (files map[string]string, sees bool) {
	files, q.digits = map[string]string{}, 2*sha1.Size
	for _, line := range q.list("ls-files", "-v", "--stage", "-z") { // "H 100644 NAME 0", a tab, and the path
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
	}
	return files, !q.failed
}

// changed are the files that may not be as the index has them.
func (q *query) changed() []string {
	return append(q.list("diff-files", "--name-only", "--ignore-submodules", "-z"), q.list("ls-files", "--others", "--exclude-standard", "-z")...)
}

// list asks for texts, each with a NUL behind it.
func (q *query) list(args ...string) []string {
	out, known := q.ask(args...)
	q.failed = q.failed || !known
	return strings.FieldsFunc(out, func(r rune) bool { return r == 0 })
}
