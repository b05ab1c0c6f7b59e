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
	path  string
	buf   []byte
	file  *os.File
	timer *time.Timer
	err   error
}

func newSpool(path string) *spool {
	s := &spool{path: path}
	s.timer = time.AfterFunc(spoolDelay, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if len(s.buf) > 0 {
			s.spill()
		}
	})
	return s
}

// Write never fails: a full disk must not look like a closed pipe to the agent. The error is returned by keep.
func (s *spool) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return len(p), nil
	}
	s.buf = append(s.buf, p...)
	if s.file != nil || len(s.buf) > spoolMemory {
		s.spill()
	}
	return len(p), nil
}

func (s *spool) spill() {
	if s.file == nil && s.err == nil {
		s.err = os.MkdirAll(filepath.Dir(s.path), 0o700)
		if s.err == nil {
			s.file, s.err = createPrivate(s.path)
		}
	}
	if s.err == nil {
		_, s.err = s.file.Write(s.buf)
	}
	s.buf = s.buf[:0]
}

// keep leaves the whole stream in its file; an empty stream leaves none.
func (s *spool) keep() error {
	s.timer.Stop()
	s.mu.Lock()
	defer s.mu.Unlock()
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

// drop removes what was kept so far.
func (s *spool) drop() error {
	s.timer.Stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.buf = nil
	if s.file == nil {
		return nil
	}
	err := errors.Join(s.file.Close(), os.Remove(s.path))
	s.file = nil
	_ = os.Remove(filepath.Dir(s.path)) // the step's folder, unless it holds something else
	return err
}
