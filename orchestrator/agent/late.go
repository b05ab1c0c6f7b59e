package agent

import (
	"errors"
	"io"
	"sync"
	"time"
)

// lateDelay is how old an attempt is before a person may want to watch it.
const lateDelay = time.Second

// keeper is a Reader that keeps all of what it was given for as long as it can be a reply.
type keeper interface {
	// Kept is all that was written; whole is false once something is missing. It is not changed by later writes.
	Kept() (all []byte, whole bool)
	// Lend gives memory to keep it in. What is in it is lost.
	Lend(room []byte)
}

// late gives an agent's standard output to its reader at once, and passes it on to where it is redacted and kept only when
// somebody may want it: the attempt is old, it is no reply, or Rest is called. A reply that is accepted at once is not kept, and to
// redact a long one costs more than all else that is done with it. It is safe for concurrent use.
type late struct {
	mu     sync.Mutex
	reader Reader
	to     io.WriteCloser
	began  time.Time
	timer  *time.Timer // since something was held back
	held   keeper      // nil once everything so far was passed on
	ended  bool
	err    error // of the first time that passing on failed
}

func newLate(r Reader, to io.WriteCloser) *late {
	l := &late{reader: r, to: to, began: time.Now()}
	if k, ok := r.(keeper); ok {
		l.held = k
	}
	return l
}

// Write returns the error of whom it passes on to.
func (l *late) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var before []byte
	if l.held != nil {
		before, _ = l.held.Kept()
	}
	if _, err := l.reader.Write(p); err != nil {
		return 0, err
	}
	if l.held != nil {
		if _, whole := l.held.Kept(); whole && l.isYoung() {
			return len(p), nil
		}
		l.held = nil
		l.passOn(before)
	}
	l.passOn(p)
	return len(p), l.err
}

// isYoung also sees to it that what is held back is passed on once the attempt is old.
func (l *late) isYoung() bool {
	left := lateDelay - time.Since(l.began)
	if left > 0 && l.timer == nil {
		l.timer = time.AfterFunc(left, l.passWhileRunning)
	}
	return left > 0
}

func (l *late) passOn(p []byte) {
	if l.err == nil && len(p) > 0 {
		_, l.err = l.to.Write(p)
	}
}

// passWhileRunning does nothing once the attempt has ended: what was held back may be another attempt's by then.
func (l *late) passWhileRunning() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.ended {
		_ = l.pass()
	}
}

// pass passes on what was held back so far; from then on nothing is. The lock is held.
func (l *late) pass() error {
	if l.held != nil {
		all, _ := l.held.Kept()
		l.held = nil
		l.passOn(all)
	}
	return l.err
}

// end says that nothing more will be written. What was passed on so far is made whole, unless the end of it may be half a secret;
// the returned function does the same with what is still held back.
func (l *late) end(whole bool) (rest func() error, err error) {
	finish := func() error {
		l.mu.Lock()
		defer l.mu.Unlock()
		err := l.pass()
		if whole {
			err = errors.Join(err, l.to.Close())
		}
		return err
	}
	l.mu.Lock()
	if l.timer != nil {
		l.timer.Stop()
	}
	held := l.held != nil
	l.ended = true
	l.mu.Unlock()
	if held {
		return finish, nil
	}
	return func() error { return nil }, finish()
}
