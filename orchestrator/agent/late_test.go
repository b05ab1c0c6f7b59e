package agent

import (
	"bytes"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

type closing struct {
	bytes.Buffer
	mu     sync.Mutex
	closed bool
	err    error
}

func (c *closing) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return 0, c.err
	}
	return c.Buffer.Write(p)
}

func (c *closing) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.Buffer.String()
}

func (c *closing) Close() error { c.closed = true; return nil }

func say(t *testing.T, l *late, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if n, err := l.Write([]byte(text)); n != len(text) || err != nil {
			t.Fatalf("Write(%q) = %d, %v", text, n, err)
		}
	}
}

// TestLate: what may be a reply is held back while the attempt is young; everything else goes on at once, in order and once.
func TestLate(t *testing.T) {
	for name, test := range map[string]struct {
		texts       []string
		before, all string
	}{
		"a reply":                {[]string{`{"a"`, `:1}`}, "", `{"a":1}`},
		"no reply":               {[]string{"hello ", "world"}, "hello world", "hello world"},
		"space before no reply":  {[]string{" \n", "x", "y"}, " \nxy", " \nxy"},
		"nothing":                {nil, "", ""},
		"too long for one":       {[]string{"{", strings.Repeat("x", maxReply), "y"}, "{" + strings.Repeat("x", maxReply) + "y", "{" + strings.Repeat("x", maxReply) + "y"},
		"space before the reply": {[]string{" ", "\n{}"}, "", " \n{}"},
	} {
		t.Run(name, func(t *testing.T) {
			var kept closing
			l := newLate(&objectReader{}, &kept)
			say(t, l, test.texts...)
			rest, err := l.end(true)
			if err != nil || kept.String() != test.before {
				t.Fatalf("passed on %.40q, %v, want %.40q", kept.String(), err, test.before)
			}
			for range 2 {
				if err := rest(); err != nil || kept.String() != test.all || !kept.closed {
					t.Fatalf("after rest() passed on %.40q, %v, closed %t, want %.40q", kept.String(), err, kept.closed, test.all)
				}
			}
		})
	}
}

// TestLateInTime: an attempt that is old is passed on as it goes, for somebody who watches.
func TestLateInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var kept closing
		l := newLate(&objectReader{}, &kept)
		say(t, l, `{"status":`)
		time.Sleep(lateDelay - time.Millisecond)
		synctest.Wait()
		if kept.String() != "" {
			t.Errorf("passed on %q while young", kept.String())
		}
		time.Sleep(2 * time.Millisecond)
		synctest.Wait()
		if kept.String() != `{"status":` {
			t.Errorf("passed on %q when old, want all so far", kept.String())
		}
		say(t, l, `"ok"}`)
		if kept.String() != `{"status":"ok"}` {
			t.Errorf("passed on %q, want it at once", kept.String())
		}
		if text := l.reader.(*objectReader).text(); string(text) != `{"status":"ok"}` {
			t.Errorf("the reader has %q", text)
		}
	})
}

// TestLateFromAnOldAttempt: what an attempt says that is old already is not held back.
func TestLateFromAnOldAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var kept closing
		l := newLate(&objectReader{}, &kept)
		time.Sleep(lateDelay)
		if say(t, l, `{"status":`); kept.String() != `{"status":` {
			t.Errorf("passed on %q, want it at once", kept.String())
		}
	})
}

// TestLateHalfASecret: what is behind a bound is not made whole, and an error of whom it is passed on to is told.
func TestLateHalfASecret(t *testing.T) {
	var kept closing
	l := newLate(&objectReader{}, &kept)
	say(t, l, `{"a":`)
	rest, err := l.end(false)
	if err := errors.Join(err, rest()); err != nil || kept.String() != `{"a":` || kept.closed {
		t.Errorf("passed on %q, %v, closed %t", kept.String(), err, kept.closed)
	}
	full := errors.New("no space left")
	l = newLate(&objectReader{}, &closing{err: full})
	say(t, l, `{`)
	if rest, err = l.end(true); err != nil || !errors.Is(rest(), full) {
		t.Errorf("end: %v, want the error of the disk from rest", err)
	}
}

// TestLateAfterTheEnd: a timer that was under way as the attempt ended passes nothing on. The memory may be another attempt's by then.
func TestLateAfterTheEnd(t *testing.T) {
	var kept closing
	l := newLate(&objectReader{}, &kept)
	say(t, l, `{"a":1}`)
	rest, err := l.end(true)
	l.passWhileRunning()
	if err != nil || kept.String() != "" {
		t.Errorf("after the end %q was passed on, %v", kept.String(), err)
	}
	if err := rest(); err != nil || kept.String() != `{"a":1}` {
		t.Errorf("rest passed on %q, %v", kept.String(), err)
	}
}
