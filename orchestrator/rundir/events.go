package rundir

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/plainfile"
)

// maxEvents bounds the events of a step, in bytes. The first line that exceeds this limit is still
// written, and is the last.
const maxEvents = 4 << 20

// Events is a file of the actions of a step's agents, one per line. The first Append opens the
// file. Events is safe for concurrent use.
type Events struct {
	path string

	mu   sync.Mutex
	file *os.File
	size int64
	err  error
}

// NewEvents returns the file of a step. New lines follow those of an earlier attempt.
func (d Dir) NewEvents(step int) *Events { return &Events{path: d.events(step)} }

func (d Dir) events(step int) string {
	return filepath.Join(d.Path, "events", stepName(step)+".jsonl")
}

// Append appends a line, unless the file is full. Close returns the errors of Append.
func (e *Events) Append(line []byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.file == nil && e.err == nil {
		e.err = e.open()
	}
	if e.err != nil || e.size > maxEvents {
		return
	}
	n, err := e.file.Write(append(line, '\n'))
	e.size += int64(n)
	e.err = err
}

func (e *Events) open() (err error) {
	if err := makeFolder(filepath.Dir(e.path)); err != nil {
		return err
	}
	if e.file, err = durable.OpenPlain(e.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600); err != nil {
		if e.file, err = createFile(e.path); err != nil {
			return err
		}
	}
	info, err := e.file.Stat()
	if err == nil {
		e.size = info.Size()
	}
	return err
}

// Close closes the file. Errors: those of closing it, and the first error of Append.
func (e *Events) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.file != nil {
		e.err = errors.Join(e.err, e.file.Close())
		e.file = nil
	}
	if e.err != nil {
		return fmt.Errorf("keep what the agent did: %w", e.err)
	}
	return nil
}

// ReadEvents returns the events of a step, without an unfinished last line. If the file does not
// exist, it returns no events and no error.
func (d Dir) ReadEvents(step int) ([][]byte, error) {
	data, err := plainfile.Read(d.events(step), 2*maxEvents)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	lines := bytes.Split(data, []byte("\n"))
	return lines[:len(lines)-1], err
}
