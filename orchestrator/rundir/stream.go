package rundir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// Stream writes what a program prints to a file, which it creates with the first byte. It is safe
// for concurrent use.
type Stream struct {
	dir  Dir
	name string // of the file in the run's folder

	mu   sync.Mutex
	file *os.File
	err  error
}

// The kinds of a program's streams.
const (
	Stdout = "stdout"
	Stderr = "stderr"
)

// NewStream is a stream of an attempt in a step.
func (d Dir) NewStream(step int, attempt, kind string) *Stream {
	return &Stream{dir: d, name: filepath.Join("steps", stepName(step), attempt+"."+kind)}
}

// Write never fails: a full disk must not look like a closed pipe to the program. Close returns the
// error.
func (s *Stream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil || len(p) == 0 {
		return len(p), nil
	}
	if s.file == nil {
		s.file, s.err = s.create()
	}
	if s.err == nil {
		_, s.err = s.file.Write(p)
	}
	return len(p), nil
}

// create creates the file inside the run's folder. A link that an agent put in the place of a
// folder is not followed out of it.
func (s *Stream) create() (*os.File, error) {
	if err := os.MkdirAll(s.dir.Path, 0o700); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(s.dir.Path)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if err := root.MkdirAll(filepath.Dir(s.name), 0o700); err != nil {
		return nil, err
	}
	if err := root.RemoveAll(s.name); err != nil {
		return nil, err
	}
	return root.OpenFile(s.name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
}

// Close ends the stream; its file stays. Errors: of this or of any write.
func (s *Stream) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file != nil {
		s.err = errors.Join(s.err, s.file.Close())
		s.file = nil
	}
	if s.err != nil {
		return fmt.Errorf("keep the agent's output: %w", s.err)
	}
	return nil
}

// RemoveStreams removes the streams of an attempt in a step, and the step's folder if that is empty
// then. A file that cannot be removed, or that its agent removed itself, harms nothing.
func (d Dir) RemoveStreams(step int, attempt string) {
	root, err := os.OpenRoot(d.Path)
	if err != nil {
		return
	}
	defer root.Close()
	folder := filepath.Join("steps", stepName(step))
	for _, kind := range []string{Stdout, Stderr} {
		_ = root.Remove(filepath.Join(folder, attempt+"."+kind))
	}
	_ = root.Remove(folder)
}
