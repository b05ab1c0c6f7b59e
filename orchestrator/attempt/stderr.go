package attempt

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"

	"kanban-run/orchestrator/agent"
)

const (
	maxReceived = 4 << 10
	maxStderr   = 2 << 10
	maxCommand  = 8 << 10 // for each stream of a review command
	maxLine     = 1 << 10
	maxLines    = 20 // greatest number of lines that are shown of one write
)

// tail keeps the last lines of a stream.
type tail struct {
	max int // in bytes
	buf []byte
	cut bool
}

func (t *tail) Write(p []byte) (int, error) {
	n := len(p)
	if len(p) > t.max {
		p, t.cut = p[len(p)-t.max:], true
	}
	if t.buf = append(t.buf, p...); len(t.buf) > 2*t.max {
		t.buf, t.cut = append(t.buf[:0], t.buf[len(t.buf)-t.max:]...), true
	}
	return n, nil
}

// String returns the kept text. If the beginning of the stream was cut off, the text starts with a
// whole line or, if there is no such line, with a whole word.
func (t *tail) String() string {
	b, cut := t.buf, t.cut
	if len(b) > t.max {
		b, cut = b[len(b)-t.max:], true
	}
	if at := bytes.IndexByte(b, '\n'); cut && at >= 0 && at < len(b)-1 {
		b = b[at+1:]
	} else if at := bytes.IndexAny(b, " \t\r"); cut && at >= 0 {
		b = b[at+1:]
	}
	return strings.ToValidUTF8(string(b), "\uFFFD")
}

// lines emits the last whole lines of each write as events for people. Before them, it emits the
// number of the earlier lines of that write, if there are any. It drops lines that are too long.
type lines struct {
	emit    func(agent.Event)
	partial []byte
	long    bool // the current line is too long
}

func (l *lines) Write(p []byte) (int, error) {
	n := len(p)
	var last []string
	seen := 0
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
			seen++
			last = append(last[max(0, len(last)+1-maxLines):], text)
		}
		l.partial, l.long, p = l.partial[:0], false, rest
	}
	if missed := seen - len(last); missed > 0 {
		l.emit(agent.Event{Kind: agent.Printed, Text: fmt.Sprintf("… %d more lines", missed)})
	}
	for _, text := range last {
		l.emit(agent.Event{Kind: agent.Printed, Text: text})
	}
	return n, nil
}

func visible(line []byte) string {
	return strings.TrimFunc(strings.ToValidUTF8(string(line), "\uFFFD"), unicode.IsSpace)
}
