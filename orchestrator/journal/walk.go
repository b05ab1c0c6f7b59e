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
func (m mark) after(r Record, size int64, crc uint32) (mark, error) {
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

// badRecord is a place where no whole record stands. Whether it is a torn tail
// or damage is decided by what comes after it.
type badRecord struct{ reason string }

func (e *badRecord) Error() string { return e.reason }

// walker reads the first size bytes of a journal record by record. The bound
// keeps a reader beside a running writer from meeting a record that was half
// there when it looked.
type walker struct {
	in    io.ReaderAt
	size  int64
	at    mark
	buf   []byte // holds what was read
	ahead []byte // the part of it that begins at the mark
	names interner
}

func newWalker(r io.ReaderAt, size int64) *walker {
	return &walker{in: r, size: size, buf: make([]byte, min(size, 256<<10))}
}

// next returns the next record, valid until the next call, io.EOF behind the last one, a *badRecord where
// none stands, a *DamageError without a path where one stands that must not,
// or the error of reading.
func (w *walker) next() (Record, error) {
	line, crc, err := w.readLine()
	if err != nil {
		return Record{}, err
	}
	r, err := w.names.decode(line)
	if err != nil {
		return Record{}, &DamageError{Offset: w.at.offset, Reason: "not a record: " + err.Error()}
	}
	at, err := w.at.after(r, headerLen+int64(len(line))+1, crc)
	if err != nil {
		return Record{}, &DamageError{Offset: w.at.offset, Reason: err.Error()}
	}
	w.at, w.ahead = at, w.ahead[headerLen+len(line)+1:]
	return r, nil
}

// readLine returns the JSON of the next record, valid until the next call.
func (w *walker) readLine() ([]byte, uint32, error) {
	left := w.size - w.at.offset
	if left == 0 {
		return nil, 0, io.EOF
	}
	if left < headerLen {
		return nil, 0, &badRecord{"the header of the record is incomplete"}
	}
	if err := w.fill(headerLen); err != nil {
		return nil, 0, w.readError(err)
	}
	length, crc, ok := parseHeader(w.ahead[:headerLen])
	if !ok || length > MaxRecord {
		return nil, 0, &badRecord{"no record begins here"}
	}
	if left < headerLen+length+1 {
		return nil, 0, &badRecord{"the record is incomplete"}
	}
	if err := w.fill(headerLen + int(length) + 1); err != nil {
		return nil, 0, w.readError(err)
	}
	line := w.ahead[headerLen:][:length]
	if w.ahead[headerLen+length] != '\n' || checksum(line) != crc {
		return nil, 0, &badRecord{"the checksum of the record does not match"}
	}
	return line, crc, nil
}

// fill reads on until n bytes are ahead, which are within the size.
func (w *walker) fill(n int) error {
	if len(w.ahead) >= n {
		return nil
	}
	if n > len(w.buf) {
		w.buf = append(make([]byte, 0, n), w.ahead...)[:n]
	} else {
		copy(w.buf, w.ahead)
	}
	have := len(w.ahead)
	room := w.buf[have:min(int64(len(w.buf)), w.size-w.at.offset)]
	got, err := w.in.ReadAt(room, w.at.offset+int64(have))
	w.ahead = w.buf[:have+got]
	if len(w.ahead) >= n {
		return nil
	}
	return err
}

// readError turns the end of a file that became shorter while it was read into
// a bad record; everything else is an error of the disk.
func (w *walker) readError(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &badRecord{"the record is incomplete"}
	}
	return fmt.Errorf("at byte %d: %w", w.at.offset, err)
}

// walk hands every record to each and returns the place behind the last good
// one. Bytes after that place are torn if err is nil.
func walk(r io.ReaderAt, size int64, each func(Record, mark) error) (mark, error) {
	w := newWalker(r, size)
	var bad *badRecord
	for {
		rec, err := w.next()
		switch {
		case err == io.EOF:
			return w.at, nil
		case errors.As(err, &bad):
			return w.at, tailOnly(r, w.at.offset, size, bad)
		case err != nil:
			return w.at, err
		}
		if err := each(rec, w.at); err != nil {
			return w.at, err
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
