package board

import (
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/text/unicode/norm"

	"kanban-run/orchestrator/plainfile"
)

// maxLooked is how many names of a folder are looked at for a file that was probably meant.
const maxLooked = 10_000

// findNear is a file that was probably meant by the name of one that is not there: one that
// differs in case, in how an accent is composed, by a blank at its end, or by .md, or that is in a
// folder beside; "" for none.
func (p *Place) findNear(name string) string {
	folder, base := path.Split(path.Clean(filepath.ToSlash(name)))
	if !isLocal(path.Join(folder, base)) {
		return ""
	}
	for _, other := range listNames(filepath.Join(p.dir, filepath.FromSlash(folder))) {
		if folded := foldName(other); folded == foldName(base) || folded == foldName(base+".md") || folded+".md" == foldName(base) {
			if exists(filepath.Join(p.dir, filepath.FromSlash(folder), other)) {
				return path.Join(folder, other)
			}
		}
	}
	if folder != "" {
		above, own := path.Split(path.Clean(folder))
		for _, other := range listNames(filepath.Join(p.dir, filepath.FromSlash(above))) {
			if near := path.Join(above, other, base); other != own && foldName(other) == foldName(own) && exists(filepath.Join(p.dir, filepath.FromSlash(near))) {
				return near
			}
		}
	}
	for _, other := range listNames(p.dir) {
		if !strings.HasPrefix(other, ".") && exists(filepath.Join(p.dir, other, base)) && folder == "" {
			return path.Join(other, base)
		}
	}
	return ""
}

func foldName(name string) string { return strings.ToLower(norm.NFC.String(strings.TrimSpace(name))) }

func listNames(dir string) []string {
	f, err := plainfile.OpenFolder(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	names, _ := f.Readdirnames(maxLooked)
	return names
}

// apart shows two names so that they can be told apart: with escapes where they look the same.
func apart(a, b string) string {
	if norm.NFC.String(strings.TrimSpace(a)) == norm.NFC.String(strings.TrimSpace(b)) {
		return fmt.Sprintf("%+q, and not %+q", b, a)
	}
	return b
}
