package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"
)

// DamageError says that a journal was changed after it was written: what
// follows Offset cannot be trusted, and nothing was written. A person decides.
type DamageError struct {
	Path   string
	Offset int64 // in bytes, of the first record that cannot be trusted
	Reason string
}

func (e *DamageError) Error() string {
	return fmt.Sprintf("journal %s is damaged at byte %d: %s", e.Path, e.Offset, e.Reason)
}

// Hint says what a person can do about it.
func (e *DamageError) Hint() string {
	return "restore the journal's folder from a backup, or move it aside to begin a new run"
}

// mark is a place in a journal, behind a good record: the fold of the chain.
type mark struct {
	offset int64
	seq    uint64
	crc    uint32
	epoch  uint64
	time   time.Time
}

// after checks that r continues the chain and returns the place behind it.
func (m mark) after(r *Record, size int64, crc uint32) (mark, error) {
	switch {
	case r.Seq != m.seq+1:
		return m, fmt.Errorf("record %d follows record %d", r.Seq, m.seq)
	case r.Prev != Sum(m.crc):
		return m, fmt.Errorf("record %d does not name the checksum of the record before it", r.Seq)
	case r.Epoch < m.epoch:
		return m, fmt.Errorf("record %d is of epoch %d, after epoch %d", r.Seq, r.Epoch, m.epoch)
	case m.seq > 0 && !r.Time.After(m.time):
		return m, fmt.Errorf("record %d is not later than the record before it", r.Seq)
	}
	return mark{offset: m.offset + size, seq: r.Seq, crc: crc, epoch: r.Epoch, time: r.Time}, nil
}

// follow decodes the JSON of the record at m into r and moves m behind it. The
// error is a *DamageError without a path.
func (m *mark) follow(d *decoder, json []byte, crc uint32, r *Record) error {
	if err := d.decode(json, r); err != nil {
		return &DamageError{Offset: m.offset, Reason: "not a record: " + err.Error()}
	}
	next, err := m.after(r, headerLen+int64(len(json))+1, crc)
	if err != nil {
		return &DamageError{Offset: m.offset, Reason: err.Error()}
	}
	*m = next
	return nil
}

// walk hands every record behind from to each and returns the place behind the
// last good one. Bytes after that place are torn if err is nil.
func walk(r io.ReaderAt, size int64, from mark, each func(*Record, *mark) error) (mark, error) {
	at := from
	var rec Record
	var bad *badRecord
	d, in := newDecoder(), newLines(r, from.offset, size)
	for {
		json, crc, err := in.next()
		switch {
		case err == io.EOF:
			return at, nil
		case errors.As(err, &bad):
			return at, tailOnly(r, at.offset, size, bad)
		case err != nil:
			return at, err
		}
		if err := at.follow(d, json, crc, &rec); err != nil {
			return at, err
		}
		if err := each(&rec, &at); err != nil {
			return at, err
		}
	}
}

// tailOnly returns nil when no record stands anywhere behind the bad one at
// from: then its writer died and nothing was lost that had been acknowledged.
func tailOnly(r io.ReaderAt, from, size int64, bad *badRecord) error {
	later, err := findRecord(r, from+1, size)
	if err != nil || later < 0 {
		return err
	}
	return &DamageError{Offset: from, Reason: fmt.Sprintf("%s, but a whole record stands behind it at byte %d", bad.reason, later)}
}

// opening begins the JSON of every record. The contents of a record cannot
// hold it behind a header: there the quotes would be escaped.
var opening = []byte(`{"seq":`)

// findRecord returns the offset of the first whole record that begins at any
// byte in [from, size), -1 if there is none. It holds one record in memory.
func findRecord(r io.ReaderAt, from, size int64) (int64, error) {
	const overlap = headerLen + 7 // a header and the opening
	buf := make([]byte, min(64<<10, max(size-from, 0)))
	for from < size {
		n, err := r.ReadAt(buf[:min(int64(len(buf)), size-from)], from)
		if err != nil && err != io.EOF {
			return -1, fmt.Errorf("at byte %d: %w", from, err)
		}
		for i := headerLen; i < n; i++ {
			next := bytes.Index(buf[i:n], opening)
			if next < 0 {
				break
			}
			i += next
			at := from + int64(i) - headerLen
			if whole, err := isRecord(r, at, size, buf[i-headerLen:i]); whole || err != nil {
				return at, err
			}
		}
		if from+int64(n) >= size || n <= overlap { // the end, or the file became shorter
			break
		}
		from += int64(n - overlap)
	}
	return -1, nil
}

// isRecord does not ask for the line's end: an editor that rewrote all of them
// leaves records that were once acknowledged.
func isRecord(r io.ReaderAt, at, size int64, header []byte) (bool, error) {
	length, crc, ok := parseHeader(header)
	if !ok || length > MaxRecord || at+headerLen+length > size {
		return false, nil
	}
	line := make([]byte, length)
	if _, err := r.ReadAt(line, at+headerLen); err != nil && err != io.EOF {
		return false, fmt.Errorf("at byte %d: %w", at, err)
	}
	return checksum(line) == crc, nil
}
