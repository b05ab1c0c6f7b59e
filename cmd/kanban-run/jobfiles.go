package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/roster"
)

// commandFiles are the environment variables that name the files by which a step gives commands to
// the runner of the job. Agents do not get the variables, but they can find the files.
var commandFiles = []string{"GITHUB_OUTPUT", "GITHUB_ENV", "GITHUB_PATH", "GITHUB_STATE", "GITHUB_STEP_SUMMARY"}

// jobFile is a file of the job as it was before the agents started.
type jobFile struct {
	name    string // the variable that names it, or its own name
	path    string
	text    []byte
	missing bool // it was not there
	unknown bool // it could not be read, so it is left alone
}

// runnerFolder is the name of the folder in which the runner keeps the files of all steps. A
// composite action has two sets of files: those of its inner step, which the variables name, and its
// own, which the runner reads after the action.
const runnerFolder = "_runner_file_commands"

// commandPrefixes are the beginnings of the names of files in the runner's folder.
var commandPrefixes = []string{"set_output_", "set_env_", "add_path_", "save_state_", "step_summary_"}

// rememberFiles keeps the contents of the job's files before an agent starts, and which of them are
// missing. It skips a file that is unreadable, and restoreFiles then leaves that file alone.
func (j *job) rememberFiles(environ []string) {
	if j == nil {
		return
	}
	for _, name := range commandFiles {
		path := roster.Variable(environ, name)
		if path == "" {
			continue
		}
		j.remember(name, path)
		if folder := filepath.Dir(path); filepath.Base(folder) == runnerFolder && !slices.Contains(j.folders, folder) {
			j.folders = append(j.folders, folder)
		}
	}
	for _, path := range j.filesOfSteps() {
		j.remember(filepath.Base(path), path)
	}
}

// remember keeps the content of one file. name is the name by which people know the file.
func (j *job) remember(name, path string) {
	if !j.remembers(path) {
		text, err := readJobFile(path)
		missing := errors.Is(err, fs.ErrNotExist)
		j.files = append(j.files, jobFile{name, path, text, missing, err != nil && !missing})
	}
}

func (j *job) remembers(path string) bool {
	return slices.ContainsFunc(j.files, func(f jobFile) bool { return f.path == path })
}

// filesOfSteps returns the files of all steps in the runner's folders.
func (j *job) filesOfSteps() (all []string) {
	for _, folder := range j.folders {
		entries, _ := os.ReadDir(folder) // an agent may have removed it
		for _, e := range entries {
			isOne := func(prefix string) bool { return strings.HasPrefix(e.Name(), prefix) }
			if slices.ContainsFunc(commandPrefixes, isOne) {
				all = append(all, filepath.Join(folder, e.Name()))
			}
		}
	}
	return all
}

// mostChanged bounds the files that the warning of restoreFiles names.
const mostChanged = 10

// restoreFiles restores the contents of the job's files, and warns of those that were changed. It runs
// after the agents have ended and before this program writes to the files. Otherwise agents could
// set outputs, or the environment variables and the search path of later steps.
func (j *job) restoreFiles() error {
	if j == nil {
		return nil
	}
	var errs []error
	var changed []string
	for _, folder := range j.folders {
		if info, err := os.Lstat(folder); err == nil && !info.IsDir() {
			errs = append(errs, os.Remove(folder)) // a link would lead to files that are not the job's
		}
	}
	for _, path := range j.filesOfSteps() { // a file that is not kept yet was missing
		if !j.remembers(path) {
			j.files = append(j.files, jobFile{name: filepath.Base(path), path: path, missing: true})
		}
	}
	for _, f := range j.files {
		now, err := readJobFile(f.path)
		if f.unknown || f.missing && errors.Is(err, fs.ErrNotExist) || !f.missing && err == nil && bytes.Equal(now, f.text) {
			continue
		}
		changed = append(changed, f.name)
		errs = append(errs, f.putBack())
	}
	if len(changed) > 0 {
		_ = j.out.Command("warning", fmt.Sprintf("something wrote to the job's files (%s) while agents were at work; they are put back",
			event.List(changed, mostChanged)))
	}
	j.files, j.folders = nil, nil
	return errors.Join(errs...)
}

func (f jobFile) putBack() error {
	err := os.RemoveAll(f.path) // the path may be a link, a folder or read-only now
	if err == nil && !f.missing {
		err = os.MkdirAll(filepath.Dir(f.path), 0o755)
	}
	if err == nil && !f.missing {
		err = os.WriteFile(f.path, f.text, 0o644)
	}
	if err != nil {
		return fmt.Errorf("put back the file of %s: %w", f.name, err)
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
