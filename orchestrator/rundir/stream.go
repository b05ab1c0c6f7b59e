package rundir

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
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

// Kept is an attempt whose output is kept.
type Kept struct {
	Step    int
	Call    string
	Attempt int
	First   int  // first attempt of the call that this start has made; the output of earlier ones is removed
	All     bool // keep all of the output, and that of earlier attempts
}

// Bounds on what is kept, unless all of it is.
const (
	keptPart = 512 << 10 // bytes of each end of a stream
	mostKept = 16        // attempts of one call
)

// KeepStreams moves the output of the last attempt of a call to the folder of its step. Of a long
// stream it keeps both ends. It follows no link out of the run's folder, since an agent could have
// made one.
func (d Dir) KeepStreams(k Kept) error {
	root, err := plainfile.OpenRoot(d.Path)
	if err != nil {
		return fmt.Errorf("keep the agent's output: %w", err)
	}
	defer root.Close()
	folder := filepath.Join("steps", stepName(k.Step))
	if !k.All {
		removeEarlier(root, folder, k)
	}
	for _, kind := range []string{Stdout, Stderr} {
		from := filepath.Join("output", k.Call+"."+kind)
		info, err := root.Lstat(from)
		if err != nil || info.Size() == 0 || !info.Mode().IsRegular() {
			continue
		}
		to := filepath.Join(folder, fmt.Sprintf("%s-%d.%s", k.Call, k.Attempt, kind))
		if err = root.MkdirAll(folder, 0o700); err == nil {
			err = keepStream(root, from, to, k.All || info.Size() <= 2*keptPart)
		}
		if err != nil {
			return fmt.Errorf("keep the agent's output: %w", err)
		}
	}
	return nil
}

// removeEarlier removes the output of attempts that earlier starts have kept. One that cannot be
// removed is left to the next attempt.
func removeEarlier(root *os.Root, folder string, k Kept) {
	dir, err := root.Open(folder)
	if err != nil {
		return
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		number, of := strings.CutPrefix(name, k.Call+"-")
		number, _, _ = strings.Cut(number, ".")
		if n, err := strconv.Atoi(number); of && err == nil && (n < k.First || n <= k.Attempt-mostKept) {
			_ = root.Remove(filepath.Join(folder, name))
		}
	}
}

// keepStream moves a stream, or copies both ends of it. On a full disk it moves all of it.
func keepStream(root *os.Root, from, to string, all bool) error {
	if !all && copyEnds(root, from, to) == nil {
		return nil
	}
	return root.Rename(from, to)
}

// copyEnds copies both ends of a stream, with a line about what is left out between them.
func copyEnds(root *os.Root, from, to string) error {
	_ = root.Remove(to) // what an agent may have put there
	in, err := root.OpenFile(from, os.O_RDONLY|plainfile.NonBlock, 0)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := root.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, io.MultiReader(
		io.NewSectionReader(in, 0, keptPart),
		strings.NewReader(fmt.Sprintf("\n[kanban-run left out %d bytes here; --keep-output keeps all]\n", info.Size()-2*keptPart)),
		io.NewSectionReader(in, info.Size()-keptPart, keptPart)))
	if err = errors.Join(err, out.Close()); err != nil {
		return errors.Join(err, root.Remove(to))
	}
	return root.Remove(from)
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
