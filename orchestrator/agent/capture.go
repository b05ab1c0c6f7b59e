package agent

import (
	"bytes"
	"strings"
	"sync"
	"unicode/utf8"

	"kanban-run/orchestrator/contract"
)

const (
	space       = " \t\r\n"
	maxReceived = 4 << 10
	// maxJunk bounds the kept part of an output that is no reply. People see a shorter part. If a
	// secret crosses the end of the shorter part, the redactor still recognizes it.
	maxJunk     = 2 * maxReceived
	maxLine     = 1 << 10
	maxWarnings = 20 // limit of the number of warnings about one stream
)

// buffers holds the buffers that no capture uses. Reuse pays because every reply holds the board's
// list of tasks, whose length hardly changes from step to step.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// capture keeps a reply. It keeps only the first and the last bytes of an output that does not begin
// with "{" or is longer than a reply may be.
type capture struct {
	buf  *[]byte // nil before the first byte
	size int64
	junk bool
	last []byte // the last bytes of junk that are not in buf, at most 2*maxJunk
}

func (c *capture) Write(p []byte) (int, error) {
	if c.buf == nil {
		c.buf = buffers.Get().(*[]byte)
	}
	c.size += int64(len(p))
	if !c.junk && len(*c.buf)+len(p) <= contract.MaxReply {
		c.grow(len(p))
		*c.buf = append(*c.buf, p...)
		c.checkBegin()
		return len(p), nil
	}
	c.drop()
	room := min(max(maxJunk-len(*c.buf), 0), len(p))
	*c.buf = append(*c.buf, p[:room]...)
	c.keepLast(p[room:])
	return len(p), nil
}

// keepLast keeps the last maxJunk bytes at least.
func (c *capture) keepLast(p []byte) {
	p = p[max(0, len(p)-maxJunk):]
	if len(c.last)+len(p) > 2*maxJunk {
		c.last = append(c.last[:0], c.last[len(c.last)-maxJunk:]...)
	}
	c.last = append(c.last, p...)
}

// grow makes room for n bytes. Unlike append, it never reserves more than the longest reply.
func (c *capture) grow(n int) {
	if need := len(*c.buf) + n; need > cap(*c.buf) {
		bigger := make([]byte, len(*c.buf), min(max(2*cap(*c.buf), need), contract.MaxReply))
		copy(bigger, *c.buf)
		*c.buf = bigger
	}
}

// checkBegin treats the output as junk if its first character after a decoration is not "{".
func (c *capture) checkBegin() {
	begin := (*c.buf)[:min(len(*c.buf), maxJunk)]
	if begin = begin[decoration(begin):]; len(begin) > 0 && begin[0] != '{' && !endsInMark(begin) {
		c.drop()
	}
}

func (c *capture) drop() {
	c.junk = true
	if len(*c.buf) > maxJunk || cap(*c.buf) > 2*maxJunk {
		c.keepLast((*c.buf)[min(len(*c.buf), maxJunk):])
		*c.buf = bytes.Clone((*c.buf)[:min(len(*c.buf), maxJunk)])
	}
}

// take returns the kept text and gives back the buffer.
func (c *capture) take() string {
	if c.buf == nil {
		return ""
	}
	kept := *c.buf
	text := string(append(kept, c.last...))
	if c.junk && c.size > 2*maxJunk {
		text = string(WholeRunes(kept)) + omitted + lastLines(c.last)
	}
	*c.buf = kept[:0]
	buffers.Put(c.buf)
	c.buf = nil
	return text
}

const omitted = "\n…\n"

// lastLines returns the whole lines among the last maxJunk bytes of b, or these bytes if they have
// no line's end. The part of a line that was cut off may be the first part of a secret.
func lastLines(b []byte) string {
	b = b[max(0, len(b)-maxJunk):]
	if _, lines, ok := bytes.Cut(b, []byte("\n")); ok {
		b = lines
	}
	return strings.ToValidUTF8(string(b), "\uFFFD")
}

// WholeRunes returns b without an incomplete character at its end.
func WholeRunes(b []byte) []byte {
	for i := 1; i <= min(utf8.UTFMax, len(b)); i++ {
		if end := len(b) - i; utf8.RuneStart(b[end]) {
			if utf8.FullRune(b[end:]) {
				return b
			}
			return b[:end]
		}
	}
	return b
}
