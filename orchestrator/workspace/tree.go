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

// Tree is a snapshot of the files of a work directory. The trees from before and after a
// supervisor's turn show its changes.
type Tree struct {
	files map[string]string // state of a file or folder, by its path from the work directory
	own   map[string][]byte // text of files in wisdom/ and artifacts/, by path in the run's folder
	cut   bool              // there are more files than [mostFiles]
}

// mostFiles bounds the files of a Tree. A snapshot of that many files takes about a second.
const mostFiles = 200_000

// Tree takes a snapshot of the files of the work directory, and of the supervisor's files in
// wisdom/ and artifacts/. It omits the files of runs, the files that receive this program's output,
// and the files below .git that git itself changes.
func (w *Workspace) Tree() Tree {
	t := Tree{files: map[string]string{}, own: map[string][]byte{}}
	dir, outputs := w.WorkDir(), ownOutputs()
	_ = filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil // the file is gone, or the supervisor cannot read it either
		case d.IsDir() && d.Name() == ".git":
			t.noteGit(dir, p)
			return fs.SkipDir
		case d.IsDir() && d.Name() == "runs" && filepath.Base(filepath.Dir(p)) == ".kanban-run":
			return fs.SkipDir
		case d.IsDir() && d.Name() == "claims" && filepath.Base(filepath.Dir(p)) == ".kanban-run":
			return fs.SkipDir // runs write there while the supervisor looks in
		case p == dir:
			return nil
		case len(t.files) >= mostFiles:
			t.cut = true
			return fs.SkipAll
		}
		info, err := d.Info()
		isOutput := func(o os.FileInfo) bool { return err == nil && os.SameFile(o, info) }
		if rel, relErr := filepath.Rel(dir, p); relErr == nil && !slices.ContainsFunc(outputs, isOutput) {
			t.files[filepath.ToSlash(rel)] = stateOf(info, err)
		}
		return nil
	})
	t.files[w.KanbanFile()] = w.SHA()
	for _, folder := range []string{"wisdom", "artifacts"} {
		for _, name := range rundir.MarkdownFiles(filepath.Join(w.Dir().Path, folder)) {
			// The data are nil if the file cannot be read.
			data, _ := rundir.ReadFile(filepath.Join(w.Dir().Path, folder, name))
			t.own[path.Join(folder, name)] = data
		}
	}
	return t
}

// noteGit notes the settings file and the hooks of a repository. Both can make git run programs.
func (t *Tree) noteGit(dir, repository string) {
	names := []string{"config"}
	hooks, _ := os.ReadDir(filepath.Join(repository, "hooks")) // an error means no hooks
	for _, h := range hooks {
		names = append(names, filepath.Join("hooks", h.Name()))
	}
	for _, name := range names {
		p := filepath.Join(repository, name)
		info, err := os.Lstat(p)
		if rel, relErr := filepath.Rel(dir, p); err == nil && relErr == nil {
			t.files[filepath.ToSlash(rel)] = stateOf(info, nil)
		}
	}
}

// ownOutputs returns the files that receive this program's output, also through a pipe.
func ownOutputs() (files []os.FileInfo) {
	for _, f := range []*os.File{os.Stdout, os.Stderr} {
		info, err := f.Stat()
		switch {
		case err != nil:
		case info.Mode().IsRegular():
			files = append(files, info)
		case info.Mode()&fs.ModeNamedPipe != 0:
			files = append(files, readers.files(info)...)
		}
	}
	return files
}

// stateOf returns the state of a file in words. The state of a folder omits its size and times,
// since its entries show a change.
func stateOf(info os.FileInfo, err error) string {
	switch {
	case err != nil:
		return "gone"
	case info.IsDir():
		return info.Mode().String()
	}
	return fmt.Sprint(info.Mode(), info.Size(), info.ModTime().UnixNano(), changeTime(info))
}

// Changes compares the tree with an earlier snapshot, and returns two sorted lists. The first list
// has the files of the work directory that differ. The second list has the supervisor's files, as
// paths in the run's folder, with a change that is not allowed. The supervisor is allowed to write its
// report (the parameter report), to add files to wisdom/, and to add text to the end of files in
// wisdom/.
func (t Tree) Changes(before Tree, report string) (files, own []string) {
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
			own = append(own, name)
		}
	}
	for name := range t.own {
		if _, ok := before.own[name]; !ok && name != report && strings.HasPrefix(name, "artifacts/") {
			own = append(own, name)
		}
	}
	slices.Sort(files)
	slices.Sort(own)
	return files, own
}

// isKept reports whether a file is unchanged, or, in wisdom/, still begins with its old text.
func isKept(name string, was, now []byte) bool {
	if strings.HasPrefix(name, "wisdom/") {
		return bytes.HasPrefix(now, was)
	}
	return bytes.Equal(now, was)
}

// Written returns the text of a supervisor's file if it differs from an earlier snapshot, and "" if
// it does not.
func (t Tree) Written(before Tree, name string) string {
	if bytes.Equal(t.own[name], before.own[name]) {
		return ""
	}
	return string(t.own[name])
}

// WithFiles returns the tree with the files of the work directory of a later one.
func (t Tree) WithFiles(now Tree) Tree {
	t.files, t.cut = now.files, now.cut
	return t
}

// PutBackOwn gives the supervisor's files with these names their earlier bytes, or removes them. It keeps
// the present bytes in the run's folder, and returns the place in words.
func (w *Workspace) PutBackOwn(now, before Tree, names []string, redact func(string) string) (where string) {
	where = "as they were left: " + w.Dir().TasksAfter()
	for _, name := range names {
		file := filepath.Join(w.Dir().Path, filepath.FromSlash(name))
		if left, ok := now.own[name]; ok && w.Dir().KeepTask(name, []byte(redact(string(left)))) != nil {
			where = "not all could be kept as they were left"
		}
		var err error
		if was, ok := before.own[name]; ok && was == nil {
			continue // it could not be read
		} else if ok {
			err = rundir.OverwriteFile(file, was)
		} else {
			err = os.Remove(file)
		}
		if err != nil {
			where = "not all could be put back: " + err.Error()
		}
	}
	return where
}
