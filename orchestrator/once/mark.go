package once

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/rundir"
)

// filesDir returns the folder for the files of single calls, such as the supervisor log with
// rejected replies.
func filesDir(dir string) rundir.Dir { return rundir.Of(filepath.Join(dir, "once")) }

// callsDir returns the folder of the calls under way. Each call has a locked folder in it, because an
// agent can replace all files. The mark of the call's agent follows from the place of callsDir and the
// name of the call's folder, so that a folder that somebody else has put there, or a copy, leads to no
// agent of another run.
func callsDir(dir string) string { return filepath.Join(filesDir(dir).Path, "calls") }

// markOf returns the mark of the agent of a call. The folder of the calls exists.
func markOf(dir, name string) string {
	return agent.MarkOf(string(durable.PlaceOf(callsDir(dir))) + "\x00" + name)
}

// noteCall notes the mark of a call that is about to start its agent, and returns it. If this process
// is killed together with its guardian, the next start can then end the agent. The returned function
// removes the note. name is the name of the call's folder.
func noteCall(dir, name string) (mark string, done func(), err error) {
	if err := filesDir(dir).Ensure(); err != nil {
		return "", nil, err
	}
	path := filepath.Join(callsDir(dir), name)
	for {
		if err := durable.MkdirAll(path, 0o700); err != nil {
			return "", nil, err
		}
		lock, err := durable.AcquireFolder(path)
		if err == nil && lock == nil {
			err = errors.New("the system locks no folders")
		}
		if err != nil {
			return "", nil, errors.Join(err, os.Remove(path))
		}
		if _, err := os.Lstat(path); err == nil {
			return markOf(dir, name), func() {
				_ = os.Remove(path) // if this fails, the next start removes the folder
				_ = lock.Release()
			}, nil
		}
		_ = lock.Release() // another start took it for that of a call that has ended, before it was locked
	}
}

// Bounds on a start: an agent can put any number of files into the folder. Each look at all processes
// is for the calls of one batch, whose files are open meanwhile.
const (
	batch     = 128
	mostNotes = 8 * batch
)

// EndLeftovers ends the agents that earlier calls in the work directory have left. A call leaves an
// agent if its process is killed together with the guardian. One start looks at mostNotes notes at
// most, and removes those of calls that have ended.
func EndLeftovers(dir string) error {
	folder, err := os.Open(callsDir(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer folder.Close()
	notes, err := folder.ReadDir(mostNotes)
	if err != nil && err != io.EOF {
		return err
	}
	notes = slices.DeleteFunc(notes, func(e fs.DirEntry) bool { return !e.IsDir() && !e.Type().IsRegular() })
	var errs []error
	for some := range slices.Chunk(notes, batch) {
		errs = append(errs, endLeftovers(dir, some))
	}
	return errors.Join(errs...)
}

// endLeftovers ends the agents of the calls that have ended, and removes the notes of these calls. It
// keeps them locked meanwhile, so that no other start takes an unfinished end for a finished one. A file
// is the note of an earlier version, whose mark is not known, and is only removed.
func endLeftovers(dir string, notes []fs.DirEntry) (err error) {
	var marks, ended []string
	for _, e := range notes {
		path := filepath.Join(callsDir(dir), e.Name())
		acquire := durable.AcquireFolder
		if !e.IsDir() {
			acquire = durable.Acquire
		}
		lock, failed := acquire(path)
		if held := (*durable.HeldError)(nil); errors.As(failed, &held) {
			continue // the call is under way
		}
		if failed != nil || lock == nil {
			err = errors.Join(err, failed)
			continue
		}
		defer func() { err = errors.Join(err, lock.Release()) }()
		marks, ended = append(marks, markOf(dir, e.Name())), append(ended, path)
	}
	here := durable.PlaceOf(callsDir(dir))
	if failed := agent.EndLeftovers(here, here, marks...); failed != nil {
		return errors.Join(err, failed)
	}
	for _, path := range ended {
		err = errors.Join(err, os.Remove(path))
	}
	return err
}
