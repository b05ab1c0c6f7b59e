package worktree

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"kanban-run/orchestrator/git"
)

// File is a file as work has left it.
type File struct {
	Name  string // relative to Dir, with slashes
	State string // mode and object name
}

// Left lists files that differ from the last commit, at most the given number. It is evidence of
// work: see [Tree.AreGone]. It returns nil if git does not tell.
func (t Tree) Left(stop context.Context, most int) (left []File) {
	t.look(stop, func(q *query) {
		for _, name := range q.changed() {
			short := q.fromDir(name)
			if len(left) == most || q.failed || isFolder(q.path(name)) || t.Ignore != nil && t.Ignore(short) {
				continue // a folder is a repository of its own
			}
			if state := q.stateOf(q.path(name), short, q.digits); state != "" {
				left = append(left, File{short, state})
			}
		}
	})
	return left
}

// AreGone reports whether none of the files is as it was left, and none differs from the last commit
// in another way: as in a fresh checkout, also of a later commit. A file on which somebody went on
// is not gone, and neither is one that was committed.
func (t Tree) AreGone(stop context.Context, left []File) (gone bool) {
	t.look(stop, func(q *query) {
		for _, f := range left {
			if q.stateOf(filepath.Join(t.Dir, filepath.FromSlash(f.Name)), f.Name, q.digits) == f.State {
				return
			}
		}
		changed := append(q.differing(), q.changed()...)
		gone = !q.failed && !slices.ContainsFunc(left, func(f File) bool {
			return slices.ContainsFunc(changed, func(name string) bool { return q.fromDir(name) == f.Name })
		})
	})
	return gone && len(left) > 0
}

// differing lists the tracked files that differ from the last commit as far as git's index tells: a checkout
// leaves the times that are in the index, and who writes the same bytes does not.
func (q *query) differing() []string {
	return q.list("diff-files", "--name-only", "--ignore-submodules", "-z")
}

// IsCommitted reports whether git tracks a file, and it does not differ from the last commit, as in a
// checkout. The name is relative to Dir.
func (t Tree) IsCommitted(stop context.Context, name string) (committed bool) {
	t.look(stop, func(q *query) {
		files, sees := q.tracked()
		isIt := func(full string) bool { return q.fromDir(full) == name }
		tracked := slices.ContainsFunc(slices.Collect(maps.Keys(files)), isIt)
		committed = sees && tracked && !slices.ContainsFunc(q.differing(), isIt) && !q.failed
	})
	return committed
}

// Unignored returns those of some files that git does not ignore. It returns all of them if git does not
// tell.
func (t Tree) Unignored(stop context.Context, names []string) []string {
	var ignored []string
	t.look(stop, func(q *query) {
		var all strings.Builder
		for _, name := range names {
			all.WriteString(q.repo.Prefix + name + "\x00")
		}
		call := git.Call{Git: git.Git{MaxOutput: maxOutput}, Index: q.index}
		out, _ := q.repo.Own(q.stop, q.Calls, call, []byte(all.String()), "check-ignore", "--stdin", "-z") // exit status 1: none is
		for name := range strings.SplitSeq(out, "\x00") {
			ignored = append(ignored, q.fromDir(name))
		}
	})
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(ignored, name) })
}

// isFolder reports whether a path is that of a folder.
func isFolder(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}

// path returns the path of a file that git named.
func (q *query) path(name string) string {
	return filepath.Join(q.repo.Top, filepath.FromSlash(name))
}

// Ignored returns those of the files that git does not track, and ignores. The paths are absolute.
func (t Tree) Ignored(stop context.Context, paths []string) (ignored []string) {
	t.look(stop, func(q *query) {
		for _, path := range paths {
			if _, is := q.ask("check-ignore", "--quiet", "--", path); is {
				ignored = append(ignored, path)
			}
		}
	})
	return ignored
}
