package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"kanban-run/orchestrator/durable"
)

// commandFiles are the environment variables that name the files by which a step gives commands to
// the runner of the job. Agents do not get the variables, but they can find the files.
var commandFiles = []string{"GITHUB_OUTPUT", "GITHUB_ENV", "GITHUB_PATH", "GITHUB_STATE", "GITHUB_STEP_SUMMARY"}

// jobFile is a file that one of commandFiles names, with its contents before the agents started.
type jobFile struct {
	variable, path string
	text           []byte
}

// rememberFiles keeps the contents of the job's files before an agent starts. It skips a file that
// is missing or unreadable, and restoreFiles then leaves that file alone.
func (j *job) rememberFiles(environ []string) {
	if j == nil {
		return
	}
	for _, name := range commandFiles {
		path := lookup(environ, name)
		if text, err := readJobFile(path); path != "" && err == nil {
			j.files = append(j.files, jobFile{name, path, text})
		}
	}
}

// restoreFiles restores the contents of the job's files, and warns of each changed file. It runs
// after the agents have ended and before this program writes to the files. Otherwise agents could
// set outputs, or the environment variables and the search path of later steps.
func (j *job) restoreFiles() error {
	if j == nil {
		return nil
	}
	var errs []error
	for _, f := range j.files {
		if now, err := readJobFile(f.path); err == nil && bytes.Equal(now, f.text) {
			continue
		}
		_ = j.out.Command("warning", fmt.Sprintf(
			"something wrote to the file of %s while agents were at work; it is put back", f.variable))
		errs = append(errs, f.putBack())
	}
	j.files = nil
	return errors.Join(errs...)
}

func (f jobFile) putBack() error {
	err := os.RemoveAll(f.path) // the path may be a link, a folder or read-only now
	if err == nil {
		err = os.WriteFile(f.path, f.text, 0o644)
	}
	if err != nil {
		return fmt.Errorf("put back the file of %s: %w", f.variable, err)
	}
	return nil
}

// maxJobFile is the size of the largest job file that is read, in bytes. It is bounded because an
// agent may have filled the file.
const maxJobFile = 64 << 20

func readJobFile(path string) ([]byte, error) {
	text, err := durable.ReadPlain(path, maxJobFile+1)
	if err == nil && len(text) > maxJobFile {
		err = fs.ErrInvalid
	}
	return text, err
}
