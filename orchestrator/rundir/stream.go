package rundir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"kanban-run/orchestrator/plainfile"
)

// Stream writes what a program prints to a file, which it opens with the first byte. It is safe for
// concurrent use.
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

// NewStream is a stream of the attempt that a call of this name makes now. Its file is empty: each
// attempt writes to the files of the one before, because a new file costs more than the rest of a
// short step.
func (d Dir) NewStream(call, kind string) *Stream { return &Stream{path: d.stream(call, kind)} }

func (d Dir) stream(call, kind string) string { return filepath.Join(d.output(), call+"."+kind) }

// Write never fails: a full disk must not look like a closed pipe to the program. Close returns the
// error.
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

// KeepStreams moves what the last attempt of a call has printed to the folder of its step. A link
// that an agent put in the place of a folder is not followed out of the run's folder.
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

// EmptyStreams forgets what the last attempt of a call has printed. A file that cannot be emptied,
// or that its agent removed itself, harms nothing.
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
