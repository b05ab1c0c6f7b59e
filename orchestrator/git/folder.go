package git

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"kanban-run/orchestrator/plainfile"
)

// Folder finds the git work tree around dir by its files, without a call of git. It returns the top
// of the work tree and the folder .git. For a linked work tree that folder is the work tree's own,
// below .git. Both are "" if there is no work tree.
func Folder(dir string) (top, folder string) {
	for ; ; dir = filepath.Dir(dir) {
		at := filepath.Join(dir, ".git")
		if text, err := plainfile.Read(at, maxText); err == nil { // a linked work tree, or a submodule
			if named, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: "); ok {
				if !filepath.IsAbs(named) {
					named = filepath.Join(dir, named)
				}
				return dir, named
			}
		}
		if _, err := os.Stat(filepath.Join(at, "HEAD")); err == nil {
			return dir, at
		}
		if dir == filepath.Dir(dir) {
			return "", ""
		}
	}
}

// CommonFolder returns the folder .git that all work trees of a repository share. folder is that of one of
// them, as Folder returns it.
func CommonFolder(folder string) string {
	named := strings.TrimSpace(textOf(filepath.Join(folder, "commondir")))
	if named == "" || filepath.IsAbs(named) {
		return cmp.Or(named, folder)
	}
	return filepath.Join(folder, named)
}

// TopOf returns the top of the work tree around dir, or dir itself if there is none.
func TopOf(dir string) string {
	if top, _ := Folder(dir); top != "" {
		return top
	}
	return dir
}

// IsForeign reports whether the work tree around dir belongs to another user, so that git may refuse
// it.
func IsForeign(dir string) bool {
	info, err := os.Stat(TopOf(dir))
	if err != nil {
		return false
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(owner.Uid) != os.Geteuid()
}

// LockFile returns the path of a file in the folder .git, for a lock on what is at path. git clean
// does not remove such a file. kind is a word that tells locks on the same path apart. The name of
// the file depends only on the path from the top of the work tree, so a work tree that is mounted
// in two places has one lock. LockFile returns "" if the path is in no work tree.
func LockFile(kind, path string) string {
	top, folder := Folder(filepath.Dir(path))
	rel, err := filepath.Rel(top, path)
	if folder == "" || err != nil {
		return ""
	}
	return filepath.Join(folder, "kanban-run", fmt.Sprintf("%s-%.8x", kind, sha256.Sum256([]byte(filepath.ToSlash(rel)))))
}
