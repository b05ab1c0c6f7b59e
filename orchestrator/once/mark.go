package once

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/rundir"
)

// filesDir returns the folder for the files of single calls, such as the supervisor log with
// rejected replies.
func filesDir(dir string) rundir.Dir { return rundir.Of(filepath.Join(dir, "once")) }

// callsDir returns the folder of the calls under way. Each call has a locked file in this folder. The
// mark of the call's agent follows from the place of the folder and the name of the file, so that a
// file that somebody else has put there, or a copy of the folder, leads to no agent of another run.
func callsDir(dir string) string { return filepath.Join(filesDir(dir).Path, "calls") }

// markOf returns the mark of the agent of a call. The folder of the calls exists.
func markOf(dir, name string) string {
	return agent.MarkOf(string(durable.PlaceOf(callsDir(dir))) + "\x00" + name)
}

// noteCall notes the mark of a call that is about to start its agent. If this process is killed
// together with its guardian, the next start can then end the agent. The returned function removes
// the note. name is the name of the call's file.
func noteCall(dir, name string) (done func(), err error) {
	if err := filesDir(dir).Ensure(); err != nil {
		return nil, err
	}
	if err := durable.MkdirAll(callsDir(dir), 0o700); err != nil {
		return nil, err
	}
	path := filepath.Join(callsDir(dir), name)
	lock, err := durable.Acquire(path)
	if err != nil {
		return nil, err
	}
	return func() {
		_ = os.Remove(path) // if this fails, the next start removes the file
		_ = lock.Release()
	}, nil
}

// EndLeftovers ends the agents that earlier calls in the work directory have left. A call leaves an
// agent if its process is killed together with the guardian.
func EndLeftovers(dir string) error {
	entries, err := os.ReadDir(callsDir(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		err = errors.Join(err, endLeftover(dir, e.Name()))
	}
	return err
}

func endLeftover(dir, name string) error {
	path := filepath.Join(callsDir(dir), name)
	lock, err := durable.Acquire(path)
	if held := (*durable.HeldError)(nil); errors.As(err, &held) {
		return nil // the call is under way
	}
	if err != nil {
		return err
	}
	here := durable.PlaceOf(callsDir(dir))
	err = agent.EndLeftovers(markOf(dir, name), here, here)
	if err == nil {
		err = os.Remove(path)
	}
	return errors.Join(err, lock.Release())
}
