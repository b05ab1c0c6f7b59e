package orchestrator

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

const (
	spoolMemory = 32 << 10
	spoolDelay  = time.Second
)

// spool keeps a stream of an agent: in memory while it is short and young, so that an attempt that succeeds at once costs no
// file; in a file once it is longer or older, so that a person can watch a long attempt. It is safe for concurrent use.
type spool struct {
	mu    sync.Mutex
	dir   string // the run's folder
	name  string // of the file in it
	began time.Time
	buf   []byte
	file  *os.File
	timer *time.Timer // since there was something young; many streams stay empty

	dropped bool
	rest    func() error // writes what is missing; nil: nothing is
	err     error
}

func newSpool(dir, name string) *spool { return &spool{dir: dir, name: name, began: time.Now()} }

// Write never fails: a full disk must not look like a closed pipe to the agent. The error is returned by keep.
func (s *spool) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil || s.dropped {
		return len(p), nil
	}
	s.buf = append(s.buf, p...)
	if !s.isYoung() || len(s.buf) > spoolMemory {
		s.spill()
	}
	return len(p), nil
}

// isYoung also sees to it that what is in memory is written once the stream is old.
func (s *spool) isYoung() bool {
	left := spoolDelay - time.Since(s.began)
	if left > 0 && s.timer == nil {
		s.timer = time.AfterFunc(left, s.age)
	}
	return left > 0
}

func (s *spool) age() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.buf) > 0 {
		s.spill()
	}
}

func (s *spool) spill() {
	if s.file == nil && s.err == nil {
		s.file, s.err = s.create()
	}
	if s.err == nil {
		_, s.err = s.file.Write(s.buf)
	}
	s.buf = s.buf[:0]
}

// create makes the file inside of the run's folder: a link that an agent put in the place of a folder on the way is not
// followed out of it.
func (s *spool) create() (*os.File, error) {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(s.dir)
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

// remove takes the file away, and its folder, unless that holds something else.
func (s *spool) remove() error {
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	err = root.Remove(s.name)
	_ = root.Remove(filepath.Dir(s.name))
	return err
}

// keep leaves the whole stream in its file; an empty stream leaves none.
func (s *spool) keep() error {
	if rest := s.rest; rest != nil {
		s.rest = nil
		if err := rest(); err != nil {
			return fmt.Errorf("keep the agent's output: %w", err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopAging()
	if len(s.buf) > 0 {
		s.spill()
	}
	if s.file != nil {
		s.err = errors.Join(s.err, s.file.Close())
		s.file = nil
	}
	if s.err != nil {
		return fmt.Errorf("keep the agent's output: %w", s.err)
	}
	return nil
}

func (s *spool) stopAging() {
	if s.timer != nil {
		s.timer.Stop()
	}
}

// drop removes what was kept so far.
func (s *spool) drop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopAging()
	s.buf, s.rest, s.dropped = nil, nil, true
	if s.file == nil {
		return nil
	}
	err := errors.Join(s.file.Close(), s.remove())
	s.file = nil
	return err
}
