// Package worktree tells whether the files of a project have changed, as git sees them: what it ignores counts for
// nothing.
package worktree

import (
	"bytes"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"kanban-run/orchestrator/plainfile"
	"kanban-run/orchestrator/proc"
)

// Tree is the work directory of a run in a git repository.
type Tree struct {
	Dir    string
	Ignore func(name string) bool                // a file that counts for nothing, by its path from Dir
	Part   func(name string, text []byte) []byte // the part of a file that counts; nil: the whole
	Mark   proc.Mark                             // of the processes that it starts
}

// maxTime bounds the time that git may take. A repository in which it takes longer is not known.
const maxTime = 10 * time.Second

const (
	maxFiles  = 20_000   // that differ from HEAD
	maxFile   = 16 << 20 // bytes of a file that is read; a longer one is told by its size and time
	maxOutput = 16 << 20 // bytes that git prints
)

// Hash identifies HEAD and the contents of the files that differ from it, in hex, of the whole repository. It is "" where that cannot be told:
// there is no git repository, all of it takes too long, or git does not look at a part of the files, such as another repository's.
func (t Tree) Hash(stop context.Context) string {
	git, err := proc.LookPath("git", t.Dir)
	if err != nil {
		return ""
	}
	stop, cancel := context.WithTimeout(stop, maxTime)
	defer cancel()
	q := query{Tree: t, git: git, stop: stop, top: t.Dir}
	if !q.findTop() || !q.seesAll() {
		return ""
	}
	head, changed := q.changed()
	if q.failed || len(changed) > maxFiles {
		return ""
	}
	h := sha256.New()
	fmt.Fprintf(h, "%s\n", head)
	for _, f := range changed {
		if strings.HasSuffix(f.name, "/") {
			return "" // a repository within this one
		}
		if stop.Err() != nil {
			return ""
		}
		f.path = filepath.Join(q.top, filepath.FromSlash(f.name))
		f.name = q.fromDir(f.name)
		if t.Ignore == nil || !t.Ignore(f.name) {
			t.addFile(h, f)
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// file is one that git says may differ from HEAD.
type file struct {
	name string // path from the top of the repository; from the folder, once it is looked at
	path string
	blob string // object name of its contents in HEAD, if its mode is the same; else ""
}

// addFile adds what a file is to a hash. One that was only touched is as it was.
func (t Tree) addFile(h hash.Hash, f file) {
	path := f.path
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		fmt.Fprintf(h, "%q gone\n", f.name)
	case info.Mode()&os.ModeSymlink != 0:
		target, _ := os.Readlink(path) // one that is gone by now points nowhere
		fmt.Fprintf(h, "%q link %q\n", f.name, target)
	case !info.Mode().IsRegular() || info.Size() > maxFile:
		fmt.Fprintf(h, "%q %v %d %d\n", f.name, info.Mode(), info.Size(), info.ModTime().UnixNano())
	default:
		text, err := plainfile.Read(path, maxFile)
		if err == nil && f.blob != "" && f.blob == blobName(text, len(f.blob)) {
			return
		}
		if err == nil && t.Part != nil {
			text = t.Part(f.name, text)
		}
		fmt.Fprintf(h, "%q %v %x\n", f.name, info.Mode(), sha256.Sum256(text))
	}
}

// blobName is the object name that git gives contents, in so many hex digits.
func blobName(text []byte, digits int) string {
	h := sha1.New()
	if digits == 2*sha256.Size {
		h = sha256.New()
	}
	fmt.Fprintf(h, "blob %d\x00", len(text))
	h.Write(text)
	return hex.EncodeToString(h.Sum(nil))
}

// query asks git. An agent may have written the settings of the repository. Of the programs that they name only a filter
// may start, which git needs to compare a file that was just written; it gets no variable but these few, and is gone with git.
type query struct {
	Tree
	git    string
	stop   context.Context
	top    string // of the repository
	prefix string // of the folder in it, with a slash behind; ""
	failed bool   // a question was not answered
}

// ask returns what git prints; known is false where it fails.
func (q *query) ask(args ...string) (out string, known bool) {
	argv := append([]string{q.git, "-c", "core.fsmonitor=false", "-c", "core.untrackedCache=false", "-c", "protocol.allow=never"}, args...)
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1"}
	var stdout bytes.Buffer
	exit, err := proc.Run(q.stop, q.stop, &proc.Spec{Argv: argv, Dir: q.top, Env: env, Stdout: &limited{&stdout}, Mark: q.Mark})
	return stdout.String(), err == nil && exit.Succeeded() && stdout.Len() <= maxOutput
}

// findTop finds the top of the repository. The folder must not be one that git ignores.
func (q *query) findTop() bool {
	inside, known := q.ask("rev-parse", "--is-inside-work-tree")
	if _, ignored := q.ask("check-ignore", "--quiet", "."); !known || inside != "true\n" || ignored {
		return false
	}
	up, known := q.ask("rev-parse", "--show-cdup")
	prefix, also := q.ask("rev-parse", "--show-prefix")
	q.top, q.prefix = filepath.Join(q.Dir, strings.TrimSuffix(up, "\n")), strings.TrimSuffix(prefix, "\n")
	return known && also
}

// fromDir is a path from the folder.
func (q *query) fromDir(name string) string {
	if rest, ok := strings.CutPrefix(name, q.prefix); ok {
		return rest
	}
	return strings.Repeat("../", strings.Count(q.prefix, "/")) + name
}

// seesAll says whether git looks at all files that it tracks: at no other repository, and at none that it was told to leave alone.
func (q *query) seesAll() bool {
	for _, line := range q.list("ls-files", "-v", "--stage", "-z") { // "H 100644 NAME 0", and the path
		tag, rest, _ := strings.Cut(line, " ")
		if tag != strings.ToUpper(tag) || strings.HasPrefix(rest, "160000 ") {
			return false
		}
	}
	return !q.failed
}

// changed is HEAD, "" before the first commit, and the files that may differ from it, by name.
func (q *query) changed() (head string, files []file) {
	head, known := q.ask("rev-parse", "--verify", "--quiet", "HEAD")
	if !known {
		for _, name := range q.list("ls-files", "--cached", "--others", "--exclude-standard", "-z") {
			files = append(files, file{name: name})
		}
	} else {
		// ":100644 100644 OLD NEW M", and the name
		for pair := range slices.Chunk(q.list("diff-index", "--raw", "--no-abbrev", "--no-renames", "--ignore-submodules", "-z", "HEAD"), 2) {
			about := strings.Fields(pair[0])
			if len(pair) < 2 || len(about) < 5 {
				q.failed = true
				return "", nil
			}
			f := file{name: pair[1]}
			if about[0] == ":"+about[1] {
				f.blob = about[2]
			}
			files = append(files, f)
		}
		for _, name := range q.list("ls-files", "--others", "--exclude-standard", "-z") {
			files = append(files, file{name: name})
		}
	}
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) })
	return strings.TrimSpace(head), files
}

// list asks for texts, each with a NUL behind it.
func (q *query) list(args ...string) []string {
	out, known := q.ask(args...)
	q.failed = q.failed || !known
	return strings.FieldsFunc(out, func(r rune) bool { return r == 0 })
}

// limited drops what is beyond [maxOutput].
type limited struct{ *bytes.Buffer }

func (l *limited) Write(p []byte) (int, error) {
	l.Buffer.Write(p[:min(len(p), maxOutput+1-l.Len())])
	return len(p), nil
}
