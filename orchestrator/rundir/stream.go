package rundir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"kanban-run/orchestrator/plainfile"
)

// Stream is a writer of a program's output to a file. It opens the file before the first byte, and
// is safe for concurrent use.
type Stream struct {
	path string

	mu   sync.Mutex
	file *os.File
	err  error
}

// The kinds of a program's streams.
const (
	Stdout = "stdout"
	Stderr = "stderr"
)

// NewStream returns a stream for the output of the current attempt of the named call. The attempts
// of a call share one file, because a new file costs more than the rest of a short step. So the
// caller must first move or empty the file of an earlier attempt.
func (d Dir) NewStream(call, kind string) *Stream { return &Stream{path: d.stream(call, kind)} }

func (d Dir) stream(call, kind string) string { return filepath.Join(d.output(), call+"."+kind) }

// Write never fails, because a full disk must not look like a closed pipe to the program. Close
// returns the error.
func (s *Stream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil || len(p) == 0 {
		return len(p), nil
	}
	if s.file == nil {
		if s.err = makeFolder(filepath.Dir(s.path)); s.err == nil {
			s.file, s.err = openPrivate(s.path)
		}
	}
	if s.err == nil {
		_, s.err = s.file.Write(p)
	}
	return len(p), nil
}

// Close closes the file. Errors: those of closing it, and the first error of Write.
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

// KeepStreams moves the output of the last attempt of a call to the folder of its step. It follows
// no link out of the run's folder, since an agent could have made one.
func (d Dir) KeepStreams(step int, call string, attempt int) error {
	root, err := plainfile.OpenRoot(d.Path)
	if err != nil {
		return fmt.Errorf("keep the agent's output: %w", err)
	}
	defer root.Close()
	folder := filepath.Join("steps", stepName(step))
	for _, kind := range []string{Stdout, Stderr} {
		from := filepath.Join("output", call+"."+kind)
		if info, err := root.Lstat(from); err != nil || info.Size() == 0 || !info.Mode().IsRegular() {
			continue
		}
		err := root.MkdirAll(folder, 0o700)
		if err == nil {
			err = root.Rename(from, filepath.Join(folder, fmt.Sprintf("%s-%d.%s", call, attempt, kind)))
		}
		if err != nil {
			return fmt.Errorf("keep the agent's output: %w", err)
		}
	}
	return nil
}

// EmptyStreams deletes the output of the last attempt of a call. A file that cannot be emptied, or
// that an agent has removed, does no harm.
func (d Dir) EmptyStreams(call string) {
	if !isFolder(d.output()) {
		return
	}
	for _, kind := range []string{Stdout, Stderr} {
		path := d.stream(call, kind)
		if info, err := os.Lstat(path); err == nil && info.Size() > 0 {
			_ = OverwriteFile(path, nil)
		}
	}
}
