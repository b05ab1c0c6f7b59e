package rundir

import (
	"os"
	"path/filepath"
	"strings"

	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/plainfile"
)

// Artifacts is the folder of the reports of the resident supervisor.
func (d Dir) Artifacts() string { return filepath.Join(d.Path, "artifacts") }

// Wisdom is the folder of what is to be known at later checkpoints.
func (d Dir) Wisdom() string { return filepath.Join(d.Path, "wisdom") }

// TeamSession is the file that tells the resident supervisor how its board is worked on.
func (d Dir) TeamSession() string { return filepath.Join(d.Path, "team-session.json") }

// MakeSupervision makes the folders of the resident supervisor.
func (d Dir) MakeSupervision() error {
	if err := makeFolder(d.Artifacts()); err != nil {
		return err
	}
	return makeFolder(d.Wisdom())
}

// maxFile bounds a file of a supervisor that is read, in bytes.
const maxFile = 1 << 20

// ReadFile reads a file of the folder that an agent could have put there.
func ReadFile(path string) ([]byte, error) { return plainfile.Read(path, maxFile) }

// MarkdownFiles are the names of the files *.md in a folder, sorted. A link in its place has none.
func MarkdownFiles(dir string) (names []string) {
	entries, err := os.ReadDir(dir)
	if err != nil || !isFolder(dir) {
		return nil
	}
	for _, e := range entries {
		if e.Type().IsRegular() && strings.HasSuffix(e.Name(), ".md") {
			names = append(names, e.Name())
		}
	}
	return names
}

// HasNeighbours says whether another board in the same folder has a run at work.
func (d Dir) HasNeighbours() bool {
	entries, err := os.ReadDir(filepath.Dir(d.Path))
	if err != nil {
		return false
	}
	for _, e := range entries {
		if !e.IsDir() || e.Name() == filepath.Base(d.Path) {
			continue
		}
		if held, err := durable.IsHeld((Dir{filepath.Join(filepath.Dir(d.Path), e.Name())}).Lock()); err == nil && held {
			return true
		}
	}
	return false
}
