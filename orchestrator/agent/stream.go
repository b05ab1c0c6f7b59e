package agent

import "bytes"

// maxStreamLine is how long one line of a tool's stream may be: a reply of the largest size fits, also when many of its
// bytes are escaped.
const maxStreamLine = 32 << 20

// Lines cuts a stream into lines and keeps no more than one. A line that is too long is left out; tools that speak in lines of
// JSON are understood without it.
type Lines struct {
	Each    func(line []byte)  // without its end; it must not be kept
	Long    func(begin []byte) // hears of a line that is left out, once, with the first bytes of it; nil: nobody does
	Dropped int                // lines that were left out
	partial []byte
	long    bool // the line at hand is too long
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
		if len(l.partial) == 0 && !l.long && len(line) <= maxStreamLine {
			l.tell(line)
			continue
		}
		l.add(line)
		l.Flush()
	}
	return n, nil
}

func (l *Lines) add(part []byte) {
	need := len(l.partial) + len(part)
	switch {
	case l.long:
		return
	case need > maxStreamLine:
		if l.Long != nil {
			l.Long(l.partial[:min(len(l.partial), maxJunk)])
		}
		l.partial, l.long = nil, true
		l.Dropped++
		return
	case need > cap(l.partial):
		bigger := make([]byte, len(l.partial), min(max(2*cap(l.partial), need), maxStreamLine))
		copy(bigger, l.partial)
		l.partial = bigger
	}
	l.partial = append(l.partial, part...)
}

// Flush takes what has come as a whole line.
func (l *Lines) Flush() {
	if !l.long {
		l.tell(l.partial)
	}
	if l.long = false; cap(l.partial) > 1<<20 {
		l.partial = nil
	}
	l.partial = l.partial[:0]
}

func (l *Lines) tell(line []byte) {
	if line = bytes.TrimRight(line, "\r"); len(line) > 0 {
		l.Each(line)
	}
}
