package rundir

import (
	"errors"
	"fmt"
	"io"
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
	rest []byte // the last part of what could not be written
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
	if len(p) == 0 {
		return 0, nil
	}
	if s.file == nil && s.err == nil {
		if s.err = makeFolder(filepath.Dir(s.path)); s.err == nil {
			s.file, s.err = openPrivate(s.path)
		}
	}
	written := 0
	if s.err == nil {
		written, s.err = s.file.Write(p)
	}
	if s.err != nil {
		s.rest = append(s.rest, p[written:]...)
		s.rest = s.rest[max(0, len(s.rest)-mostRest):]
	}
	return len(p), nil
}

// The bounds on the output that a run keeps where the run's folder is gone, in bytes.
const (
	mostRest = 1 << 20
	mostText = 64 << 20
)

// Text returns what the program has printed, or the last part of it, also if the file was moved or
// removed.
func (s *Stream) Text() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text()
}

func (s *Stream) text() []byte {
	var text []byte
	if s.file != nil {
		if info, err := s.file.Stat(); err == nil {
			from := max(0, info.Size()-mostText)
			text, _ = io.ReadAll(io.NewSectionReader(s.file, from, info.Size()-from)) // better a part than nothing
		}
	}
	return append(text, s.rest...)
}

// Outputs returns the output of the last attempts that is still in the folder, by the names of its
// files.
func (d Dir) Outputs() map[string][]byte {
	all := map[string][]byte{}
	entries, _ := os.ReadDir(d.output()) // what cannot be read cannot be kept
	for _, e := range entries {
		if text, err := plainfile.Read(filepath.Join(d.output(), e.Name()), mostText); err == nil && len(text) > 0 {
			all[e.Name()] = text
		}
	}
	return all
}

// Close closes the file. Errors: those of closing it, and the first error of Write.
func (s *Stream) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file != nil {
		if s.err != nil {
			s.rest = s.text() // the file has only a part
		}
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
