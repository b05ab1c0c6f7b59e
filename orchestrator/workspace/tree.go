package workspace

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"kanban-run/orchestrator/rundir"
)

// Tree is what the files of a work directory were at one time: what a supervisor changes is told from it.
type Tree struct {
	files  map[string]string // what is known of a file, by its path from the work directory
	wisdom map[string][]byte // by its path from the folder of the board's runs
	cut    bool              // there are more than [mostFiles]
}

// mostFiles bounds the files that are looked at: a look at so many takes about a second.
const mostFiles = 200_000

// Tree looks at all files of the work directory but those of git and of runs, and at what the supervisor of the board may only add to.
func (w *Workspace) Tree() Tree {
	t := Tree{files: map[string]string{}, wisdom: map[string][]byte{}}
	dir := w.Place.Dir()
	_ = filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // what cannot be read, the supervisor cannot either, or it is gone
		}
		if d.IsDir() && (d.Name() == ".git" || d.Name() == "runs" && filepath.Base(filepath.Dir(p)) == ".kanban-run") {
			return fs.SkipDir
		}
		if d.IsDir() {
			return nil
		}
		if len(t.files) >= mostFiles {
			t.cut = true
			return fs.SkipAll
		}
		if rel, err := filepath.Rel(dir, p); err == nil {
			t.files[filepath.ToSlash(rel)] = known(d.Info())
		}
		return nil
	})
	t.files[w.KanbanFile()] = w.SHA()
	for _, folder := range []string{"wisdom", "artifacts"} {
		for _, name := range rundir.MarkdownFiles(filepath.Join(w.Dir().Path, folder)) {
			data, _ := rundir.ReadFile(filepath.Join(w.Dir().Path, folder, name)) // unreadable is no text
			t.wisdom[path.Join(folder, name)] = data
		}
	}
	return t
}

func known(info os.FileInfo, err error) string {
	if err != nil {
		return "gone"
	}
	return fmt.Sprint(info.Mode(), info.Size(), info.ModTime().UnixNano(), changeTime(info))
}

// Changes names the files that differ from an earlier look, sorted. own is the one that the supervisor may write.
func (t Tree) Changes(before Tree, own string) (names []string) {
	for name, now := range t.files {
		if was, ok := before.files[name]; now != was && (ok || !before.cut) {
			names = append(names, name)
		}
	}
	for name := range before.files {
		if _, ok := t.files[name]; !ok && !t.cut {
			names = append(names, name)
		}
	}
	for name, was := range before.wisdom {
		if now, ok := t.wisdom[name]; name != own && (!ok || !isKept(name, was, now)) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// isKept says whether a file has all that it had. To wisdom may be added.
func isKept(name string, was, now []byte) bool {
	if strings.HasPrefix(name, "wisdom/") {
		return bytes.HasPrefix(now, was)
	}
	return bytes.Equal(now, was)
}

// HasNeighbours says whether runs of other boards beside this one are at work: they may change the tree.
func (w *Workspace) HasNeighbours() bool { return w.Dir().HasNeighbours() }
