package git

import (
	"cmp"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
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

// Head is what is checked out.
type Head struct {
	Commit string // "": none
	Branch string // with refs/heads/; "": HEAD is detached
}

// ReadHead returns what HEAD names in a folder .git, without a call of git: read returns the text of a file of
// that folder, or "".
func ReadHead(read func(name string) string) Head {
	head := strings.TrimSpace(read("HEAD"))
	ref, isRef := strings.CutPrefix(head, "ref: ")
	switch {
	case !isRef:
		return Head{Commit: objectName(head)}
	case !strings.HasPrefix(ref, "refs/heads/") || path.Clean(ref) != ref:
		return Head{}
	}
	if commit := objectName(strings.TrimSpace(read(ref))); commit != "" {
		return Head{commit, ref}
	}
	for line := range strings.Lines(read("packed-refs")) {
		if id, name, ok := strings.Cut(strings.TrimSpace(line), " "); ok && name == ref {
			return Head{objectName(id), ref}
		}
	}
	return Head{Branch: ref}
}

// HeadOf returns what is checked out in the repository around a folder.
func HeadOf(dir string) Head {
	_, folder := Folder(dir)
	if folder == "" {
		return Head{}
	}
	return ReadHead(func(name string) string {
		if text := textOf(filepath.Join(folder, name)); text != "" {
			return text
		}
		return textOf(filepath.Join(CommonFolder(folder), name))
	})
}

// objectName returns a text if it is the name of an object, and else "".
func objectName(text string) string {
	if raw, err := hex.DecodeString(text); err != nil || len(raw) != sha1.Size && len(raw) != sha256.Size {
		return ""
	}
	return text
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

// RefsIn returns the branches, tags and the stash of a folder .git, by name, without a call of git. No link is followed.
func RefsIn(folder string) (refs map[string]string, err error) {
	refs = map[string]string{}
	for line := range strings.Lines(textOf(filepath.Join(folder, "packed-refs"))) {
		if id, name, ok := strings.Cut(strings.TrimSpace(line), " "); ok && objectName(id) != "" {
			refs[name] = id
		}
	}
	for _, below := range []string{"refs/heads", "refs/tags"} {
		err = errors.Join(err, filepath.WalkDir(filepath.Join(folder, filepath.FromSlash(below)), func(path string, e fs.DirEntry, err error) error {
			if err == nil && e.Type().IsRegular() {
				rel, _ := filepath.Rel(folder, path)
				refs[filepath.ToSlash(rel)] = objectName(strings.TrimSpace(textOf(path)))
			}
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			return err
		}))
	}
	if id := objectName(strings.TrimSpace(textOf(filepath.Join(folder, "refs", "stash")))); id != "" {
		refs["refs/stash"] = id
	}
	maps.DeleteFunc(refs, func(name, id string) bool { return id == "" || strings.HasPrefix(name, "refs/remotes/") })
	return refs, err
}
