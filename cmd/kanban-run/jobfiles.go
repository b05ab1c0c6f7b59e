package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"kanban-run/orchestrator/durable"
)

// commandFiles are the variables that name the files by which a step tells the runner of the job
// something. Agents do not get the variables, but they can find the files.
var commandFiles = []string{"GITHUB_OUTPUT", "GITHUB_ENV", "GITHUB_PATH", "GITHUB_STATE", "GITHUB_STEP_SUMMARY"}

// jobFile is such a file as it was before the agents.
type jobFile struct {
	variable, path string
	text           []byte
}

// rememberFiles keeps the contents of the files of commands before an agent starts. A file that is
// missing or unreadable is left alone.
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

// restoreFiles puts the files back, once the agents have ended and before this program writes to
// them: an agent could have set the outputs, or a variable or a program of later steps.
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
	err := os.RemoveAll(f.path) // it may be a link, a folder or read-only by now
	if err == nil {
		err = os.WriteFile(f.path, f.text, 0o644)
	}
	if err != nil {
		return fmt.Errorf("put back the file of %s: %w", f.variable, err)
	}
	return nil
}

// maxJobFile bounds the reading of a file that an agent may have filled.
const maxJobFile = 64 << 20

func readJobFile(path string) ([]byte, error) {
	text, err := durable.ReadPlain(path, maxJobFile+1)
	if err == nil && len(text) > maxJobFile {
		err = fs.ErrInvalid
	}
	return text, err
}
