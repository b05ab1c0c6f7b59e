package agent

import (
	"bytes"
	"cmp"
)

// maxStreamLine bounds one line of a tool's stream, in bytes. The longest reply fits, even with
// many escapes.
const maxStreamLine = 32 << 20

// Lines cuts a stream into lines, and keeps at most one in memory. It drops a line that is too
// long.
type Lines struct {
	Each    func(line []byte)  // gets a line without its newline, and must not keep the line
	Long    func(begin []byte) // called once for a dropped line, with its first bytes; may be nil
	Max     int                // bound of a line, in bytes; 0 means 32 MiB
	Dropped int                // number of dropped lines
	partial []byte
	long    bool // the current line is too long
}

func (l *Lines) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		line, rest, whole := bytes.Cut(p, []byte("\n"))
		p = rest
		if !whole {
			l.add(line)
			break
		}
		if len(l.partial) == 0 && !l.long && len(line) <= l.limit() {
			l.pass(line)
			continue
		}
		l.add(line)
		l.Flush()
	}
	return n, nil
}

func (l *Lines) limit() int { return cmp.Or(l.Max, maxStreamLine) }

func (l *Lines) add(part []byte) {
	need := len(l.partial) + len(part)
	switch {
	case l.long:
		return
	case need > l.limit():
		if l.Long != nil {
			l.Long(l.partial[:min(len(l.partial), maxJunk)])
		}
		l.partial, l.long = nil, true
		l.Dropped++
		return
	case need > cap(l.partial):
		bigger := make([]byte, len(l.partial), min(max(2*cap(l.partial), need), l.limit()))
		copy(bigger, l.partial)
		l.partial = bigger
	}
	l.partial = append(l.partial, part...)
}

// Flush calls Each with the partial line, as if a newline had ended it.
func (l *Lines) Flush() {
	if !l.long {
		l.pass(l.partial)
	}
	if l.long = false; cap(l.partial) > 1<<20 {
		l.partial = nil
	}
	l.partial = l.partial[:0]
}

func (l *Lines) pass(line []byte) {
	if line = bytes.TrimRight(line, "\r"); len(line) > 0 {
		l.Each(line)
	}
}
