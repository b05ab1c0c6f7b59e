package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"
)

// DamageError is the error for a journal that was changed after it was written. The bytes from
// Offset on cannot be trusted. The journal stays as it is, and a person decides.
type DamageError struct {
	Path   string
	Offset int64 // offset of the first record that cannot be trusted, in bytes
	Reason string
}

func (e *DamageError) Error() string {
	return fmt.Sprintf("journal %s is damaged at byte %d: %s", e.Path, e.Offset, e.Reason)
}

// Hint names the ways to continue.
func (e *DamageError) Hint() string {
	return "restore the journal's folder from a backup, or move it aside to begin a new run"
}

func damagef(offset int64, format string, args ...any) *DamageError {
	return &DamageError{Offset: offset, Reason: fmt.Sprintf(format, args...)}
}

// position is the end of a sound record, with the values that the next record must continue.
type position struct {
	offset int64
	size   int64 // length of the record's line in bytes
	seq    uint64
	crc    uint32
	epoch  uint64
	time   time.Time
}

// next checks that r continues the chain and returns the end of r.
func (m position) next(r *Record, size int64, crc uint32) (position, error) {
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
	return position{offset: m.offset + size, size: size, seq: r.Seq, crc: crc, epoch: r.Epoch, time: r.Time}, nil
}

// decodeNext decodes the record at m into r and moves m to its end. Errors: *DamageError without a
// path.
func (m *position) decodeNext(json []byte, crc uint32, r *Record) error {
	if err := decode(json, r); err != nil {
		return damagef(m.offset, "not a record: %v", err)
	}
	end, err := m.next(r, headerLen+int64(len(json))+1, crc)
	if err != nil {
		return damagef(m.offset, "%v", err)
	}
	*m = end
	return nil
}

// walk calls the function visit for every record after a position, and returns the end of the last
// sound record. If there is no error, the bytes after that record are a torn tail.
func walk(r io.ReaderAt, at position, size int64, visit func(*Record, *position) error) (position, error) {
	var rec Record
	var bad *badRecord
	in := newScanner(r, at.offset, size)
	for {
		json, crc, err := in.next()
		switch {
		case err == io.EOF:
			return at, nil
		case errors.As(err, &bad):
			return at, requireTornTail(r, at.offset, size, bad)
		case err != nil:
			return at, err
		}
		if err := at.decodeNext(json, crc, &rec); err != nil {
			return at, err
		}
		if err := visit(&rec, &at); err != nil {
			return at, err
		}
	}
}

// stands reports whether the record that ends here is still the one that was read.
func (m position) stands(r io.ReaderAt) (bool, error) {
	if m.seq == 0 {
		return true, nil
	}
	_, crc, err := newScanner(r, m.offset-m.size, m.offset).next()
	if errors.As(err, new(*badRecord)) {
		return false, nil
	}
	return crc == m.crc, err
}

// maxTail bounds the length of a torn tail, in bytes: a writer that died leaves at most the records
// of one commit.
const maxTail = 1 << 30

// requireTornTail returns a *DamageError if a whole record follows the bad record, or if more bytes
// follow than a dying writer can leave. Otherwise the writer died while it wrote the bad record,
// and no acknowledged record is lost.
func requireTornTail(r io.ReaderAt, from, size int64, bad *badRecord) error {
	if size-from > maxTail {
		return damagef(from, "%s, and %d bytes after it are more than a killed run leaves", bad.reason, size-from)
	}
	later, err := findRecord(r, from+1, size)
	if err != nil || later < 0 {
		return err
	}
	return damagef(from, "%s, but a whole record stands after it at byte %d", bad.reason, later)
}

// opening is the beginning of every record's JSON. The Data of a record cannot contain a header
// with this beginning after the header. In JSON, a header can occur only inside a string. Inside a
// string, the quotes of the beginning would be escaped.
var opening = []byte(`{"seq":`)

// findRecord returns the offset of the first whole record that begins at any byte in [from, size),
// or -1 if there is none. It holds one record in memory.
func findRecord(r io.ReaderAt, from, size int64) (int64, error) {
	const overlap = headerLen + 7 // a header, and the first bytes of a record
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
			if whole, err := holdsRecord(r, at, size, buf[i-headerLen:i]); whole || err != nil {
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

// holdsRecord reports whether a whole record begins at an offset. It does not check the end of the
// line, because an editor may have changed it in an acknowledged record.
func holdsRecord(r io.ReaderAt, at, size int64, header []byte) (bool, error) {
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
