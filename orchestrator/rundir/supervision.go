package rundir

import (
	"os"
	"path/filepath"
	"strings"

	"kanban-run/orchestrator/plainfile"
)

// Artifacts returns the folder of the reports of the resident supervisor.
func (d Dir) Artifacts() string { return filepath.Join(d.Path, "artifacts") }

// Wisdom returns the folder of notes for later checkpoints.
func (d Dir) Wisdom() string { return filepath.Join(d.Path, "wisdom") }

// TeamSession returns the path of the file that describes the run to the resident supervisor.
func (d Dir) TeamSession() string { return filepath.Join(d.Path, "team-session.json") }

// RoleSpec returns the path of the copy of the supervisor's role file. There is a copy only if the
// role is built in.
func (d Dir) RoleSpec() string { return filepath.Join(d.Path, "role-spec.md") }

// MakeSupervision makes the folders of the resident supervisor.
func (d Dir) MakeSupervision() error {
	if err := makeFolder(d.Artifacts()); err != nil {
		return err
	}
	return makeFolder(d.Wisdom())
}

// maxFile bounds a file that ReadFile reads, in bytes.
const maxFile = 1 << 20

// ReadFile reads a regular file that an agent could have put into the folder.
func ReadFile(path string) ([]byte, error) { return plainfile.Read(path, maxFile) }

// MarkdownFiles returns the names of the files *.md in a folder, sorted. It does not follow a link
// in place of the folder.
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

// Others returns the folders of all boards in a folder of runs, except the caller's own folder.
func Others(folder string, own Dir) (all []Dir) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if d := (Dir{filepath.Join(folder, e.Name())}); e.IsDir() && d != own {
			all = append(all, d)
		}
	}
	return all
}
