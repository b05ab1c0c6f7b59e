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

// Tree is what the files of a work directory were at one time: what a
// supervisor changes is told from it.
type Tree struct {
	files map[string]string // what is known of a file or folder, by its path from the work directory
	own   map[string][]byte // of wisdom/ and artifacts/, by the path from the folder of the board's runs
	cut   bool              // there are more than [mostFiles]

	runs map[string]string // what is known of the journals of other boards' runs, and whether one is at work
}

// mostFiles bounds the files that are looked at: a look at so many takes about a second.
const mostFiles = 200_000

// Tree looks at all files of the work directory but those of git, of runs and of this program's
// own output, and at what the supervisor of the board may only add to.
func (w *Workspace) Tree() Tree {
	t := Tree{files: map[string]string{}, own: map[string][]byte{}, runs: map[string]string{}}
	dir, outputs := w.Place.Dir(), ownOutputs()
	_ = filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil // what cannot be read, the supervisor cannot either, or it is gone
		case d.IsDir() && d.Name() == ".git":
			return fs.SkipDir
		case d.IsDir() && d.Name() == "runs" && filepath.Base(filepath.Dir(p)) == ".kanban-run":
			t.noteRuns(p, w.Dir())
			return fs.SkipDir
		case p == dir:
			return nil
		case len(t.files) >= mostFiles:
			t.cut = true
			return fs.SkipAll
		}
		info, err := d.Info()
		isOutput := func(o os.FileInfo) bool { return err == nil && os.SameFile(o, info) }
		if rel, relErr := filepath.Rel(dir, p); relErr == nil && !slices.ContainsFunc(outputs, isOutput) {
			t.files[filepath.ToSlash(rel)] = known(info, err)
		}
		return nil
	})
	for above := filepath.Dir(dir); above != filepath.Dir(above); above = filepath.Dir(above) {
		t.noteRuns(filepath.Join(above, ".kanban-run", "runs"), w.Dir())
	}
	t.files[w.KanbanFile()] = w.SHA()
	for _, folder := range []string{"wisdom", "artifacts"} {
		for _, name := range rundir.MarkdownFiles(filepath.Join(w.Dir().Path, folder)) {
			data, _ := rundir.ReadFile(filepath.Join(w.Dir().Path, folder, name)) // unreadable is no text
			t.own[path.Join(folder, name)] = data
		}
	}
	return t
}

// ownOutputs are the files that this program's output goes to.
func ownOutputs() (files []os.FileInfo) {
	for _, f := range []*os.File{os.Stdout, os.Stderr} {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			files = append(files, info)
		}
	}
	return files
}

// known is what is known of a file. What a folder holds is told by its entries.
func known(info os.FileInfo, err error) string {
	switch {
	case err != nil:
		return "gone"
	case info.IsDir():
		return info.Mode().String()
	}
	return fmt.Sprint(info.Mode(), info.Size(), info.ModTime().UnixNano(), changeTime(info))
}

// Changes names the files of the work directory that differ from an earlier look, and
// those of the supervisor, as they stand below the board's folder, sorted. report is the
// one of these that it may write.
func (t Tree) Changes(before Tree, runs, report string) (files, own []string) {
	for name, now := range t.files {
		if was, ok := before.files[name]; now != was && (ok || !before.cut) {
			files = append(files, name)
		}
	}
	for name := range before.files {
		if _, ok := t.files[name]; !ok && !t.cut {
			files = append(files, name)
		}
	}
	for name, was := range before.own {
		if now, ok := t.own[name]; name != report && (!ok || !isKept(name, was, now)) {
			own = append(own, path.Join(runs, name))
		}
	}
	for name := range t.own {
		if _, ok := before.own[name]; !ok && name != report && strings.HasPrefix(name, "artifacts/") {
			own = append(own, path.Join(runs, name))
		}
	}
	slices.Sort(files)
	slices.Sort(own)
	return files, own
}

// isKept says whether a file has all that it had. To wisdom may be added.
func isKept(name string, was, now []byte) bool {
	if strings.HasPrefix(name, "wisdom/") {
		return bytes.HasPrefix(now, was)
	}
	return bytes.Equal(now, was)
}

// Written is what was written into a file of the supervisor's since an
// earlier look; "" for nothing.
func (t Tree) Written(before Tree, name string) string {
	if bytes.Equal(t.own[name], before.own[name]) {
		return ""
	}
	return string(t.own[name])
}

// noteRuns notes what the runs in a folder do, but for a board's own.
func (t Tree) noteRuns(folder string, own rundir.Dir) {
	for _, run := range rundir.Others(folder, own) {
		info, err := os.Lstat(run.Journal())
		t.runs[run.Path] = fmt.Sprint(known(info, err), run.IsOwned())
	}
}

// HasNeighbours says whether a run of another board, here or in a folder around this one, was at
// work, or has been since an earlier look: it may have changed files.
func (t Tree) HasNeighbours(before Tree) bool {
	for path, now := range t.runs {
		if now != before.runs[path] || strings.HasSuffix(now, "true") {
			return true
		}
	}
	return false
}
