package agent

import (
	"bytes"
	"strings"
	"unicode"
)

const (
	maxReply    = 16 << 20
	maxReceived = 4 << 10
	maxJunk     = 2 * maxReceived // more than is shown, so that a secret that was cut in two is not
	maxStderr   = 2 << 10
	maxLine     = 1 << 10
	maxTold     = 20 // lines of one write, and warnings of one stream
)

// capture keeps a reply while it may still become one. What does not begin like an object cannot, and is not worth more than
// its first lines, however much follows.
type capture struct {
	buf  []byte
	size int64
	junk bool
}

// Kept is all that was written, as long as it may be a reply.
func (c *capture) Kept() (all []byte, whole bool) { return c.buf, !c.junk }

// Lend gives room for a long reply.
func (c *capture) Lend(room []byte) { c.buf = room[:0] }

func (c *capture) Write(p []byte) (int, error) {
	c.size += int64(len(p))
	if !c.junk && len(c.buf)+len(p) <= maxReply {
		c.grow(len(p))
		c.buf = append(c.buf, p...)
		c.look()
		return len(p), nil
	}
	c.drop()
	if room := maxJunk - len(c.buf); room > 0 {
		c.buf = append(c.buf, p[:min(room, len(p))]...)
	}
	return len(p), nil
}

// grow keeps append from reserving more than a reply may be long.
func (c *capture) grow(n int) {
	if need := len(c.buf) + n; need > cap(c.buf) {
		bigger := make([]byte, len(c.buf), min(max(2*cap(c.buf), need), maxReply))
		copy(bigger, c.buf)
		c.buf = bigger
	}
}

// look judges the first byte that is not white space, once it is there.
func (c *capture) look() {
	if begin := bytes.TrimLeft(c.buf[:min(len(c.buf), maxJunk)], space); len(begin) > 0 && begin[0] != '{' {
		c.drop()
	}
}

func (c *capture) drop() {
	c.junk = true
	if len(c.buf) > maxJunk || cap(c.buf) > 2*maxJunk {
		c.buf = bytes.Clone(c.buf[:min(len(c.buf), maxJunk)])
	}
}

func (c *capture) isEmpty() bool { return len(bytes.Trim(c.buf, space)) == 0 }

// text is what was kept, without the half of a character at its end.
func (c *capture) text() []byte {
	if c.junk {
		return wholeRunes(c.buf)
	}
	return c.buf
}

func wholeRunes(b []byte) []byte {
	for i := 1; i <= min(3, len(b)); i++ {
		switch c := b[len(b)-i]; {
		case c < 0x80:
			return b
		case c >= 0xC0:
			return b[:len(b)-i]
		}
	}
	return b
}

// tail keeps the last lines of a stream.
type tail struct {
	buf []byte
	cut bool
}

func (t *tail) Write(p []byte) (int, error) {
	n := len(p)
	if len(p) > maxStderr {
		p, t.cut = p[len(p)-maxStderr:], true
	}
	if t.buf = append(t.buf, p...); len(t.buf) > 2*maxStderr {
		t.buf, t.cut = append(t.buf[:0], t.buf[len(t.buf)-maxStderr:]...), true
	}
	return n, nil
}

// String begins with a whole line, or at least a whole word.
func (t *tail) String() string {
	b, cut := t.buf, t.cut
	if len(b) > maxStderr {
		b, cut = b[len(b)-maxStderr:], true
	}
	if at := bytes.IndexByte(b, '\n'); cut && at >= 0 && at < len(b)-1 {
		b = b[at+1:]
	} else if at := bytes.IndexAny(b, " \t\r"); cut && at >= 0 {
		b = b[at+1:]
	}
	return strings.ToValidUTF8(string(b), "\uFFFD")
}

// lines tells of what an agent says on standard error, for somebody who watches: of the last whole lines of each write, and of
// none that is too long for one.
type lines struct {
	emit    func(Event)
	partial []byte
	long    bool // the line at hand is
}

func (l *lines) Write(p []byte) (int, error) {
	n := len(p)
	var last []string
	for {
		line, rest, whole := bytes.Cut(p, []byte("\n"))
		if len(l.partial)+len(line) > maxLine {
			l.partial, l.long = l.partial[:0], true
		} else if !l.long {
			l.partial = append(l.partial, line...)
		}
		if !whole {
			break
		}
		if text := visible(l.partial); text != "" && !l.long {
			last = append(last[max(0, len(last)+1-maxTold):], text)
		}
		l.partial, l.long, p = l.partial[:0], false, rest
	}
	for _, text := range last {
		l.emit(Event{Kind: Text, Text: text})
	}
	return n, nil
}

func visible(line []byte) string {
	return strings.TrimFunc(strings.ToValidUTF8(string(line), "\uFFFD"), unicode.IsSpace)
}
