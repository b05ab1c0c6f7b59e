package board

import (
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/text/unicode/norm"

	"kanban-run/orchestrator/plainfile"
)

// maxLooked is the greatest number of names that findNear reads from a folder.
const maxLooked = 10_000

// findNear returns the existing file that a wrong name probably means, or "". The name of the file
// or of its folder may differ in case, in the form of accents or in outer blanks. The file's name
// may lack .md, or have an extra .md. If the name has no folder, the file may lie in a subfolder of
// the work directory.
func (p *Place) findNear(name string) string {
	folder, base := path.Split(path.Clean(filepath.ToSlash(name)))
	if !isLocal(path.Join(folder, base)) {
		return ""
	}
	wanted := foldName(base)
	for _, other := range listNames(filepath.Join(p.dir, filepath.FromSlash(folder))) {
		folded := foldName(other)
		if folded == wanted || folded == foldName(base+".md") || folded+".md" == wanted {
			if exists(filepath.Join(p.dir, filepath.FromSlash(folder), other)) {
				return path.Join(folder, other)
			}
		}
	}
	if folder != "" {
		above, own := path.Split(path.Clean(folder))
		for _, other := range listNames(filepath.Join(p.dir, filepath.FromSlash(above))) {
			near := path.Join(above, other, base)
			if other != own && foldName(other) == foldName(own) &&
				exists(filepath.Join(p.dir, filepath.FromSlash(near))) {
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

// apart returns the path b for a message. If the paths a and b look alike, the returned text has
// both of them, with escapes.
func apart(a, b string) string {
	if norm.NFC.String(strings.TrimSpace(a)) == norm.NFC.String(strings.TrimSpace(b)) {
		return fmt.Sprintf("%+q, and not %+q", b, a)
	}
	return b
}
