package journal

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
)

// badRecord is the error for a place without a whole record. The place is a torn tail if no whole
// record follows it, and damage otherwise.
type badRecord struct{ reason string }

func (e *badRecord) Error() string { return e.reason }

// readSize is the size of the read buffer, in bytes.
const readSize = 256 << 10

// scanner is a reader of a journal's records. It stops at the offset size, and so does not read the
// records that a running writer adds later.
type scanner struct {
	in     *bufio.Reader
	offset int64 // offset of the next record
	size   int64
	header [headerLen]byte
	buf    []byte
}

// newScanner returns a scanner of the records between two offsets.
func newScanner(in io.ReaderAt, from, size int64) *scanner {
	section := io.NewSectionReader(in, from, size-from)
	return &scanner{in: bufio.NewReaderSize(section, int(min(readSize, size-from))), offset: from, size: size}
}

// next returns the JSON of the next record, valid until the next call, and its checksum. Errors:
// io.EOF after the last record, *badRecord, and those of the disk.
func (l *scanner) next() (json []byte, crc uint32, err error) {
	left := l.size - l.offset
	switch {
	case left == 0:
		return nil, 0, io.EOF
	case left < headerLen:
		return nil, 0, &badRecord{"the header of the record is incomplete"}
	}
	if err := l.fill(l.header[:]); err != nil {
		return nil, 0, err
	}
	length, crc, ok := parseHeader(l.header[:])
	if !ok || length > MaxRecord {
		return nil, 0, &badRecord{"no record begins here"}
	}
	if left < headerLen+length+1 {
		return nil, 0, &badRecord{"the record is incomplete"}
	}
	l.buf = slices.Grow(l.buf[:0], int(length)+1)[:length+1]
	if err := l.fill(l.buf); err != nil {
		return nil, 0, err
	}
	json = l.buf[:length]
	if l.buf[length] != '\n' || checksum(json) != crc {
		return nil, 0, &badRecord{"the checksum of the record does not match"}
	}
	l.offset += headerLen + length + 1
	return json, crc, nil
}

// fill fills p from the journal. Errors: *badRecord if the file is now shorter than size, and those
// of the disk.
func (l *scanner) fill(p []byte) error {
	_, err := io.ReadFull(l.in, p)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &badRecord{"the record is incomplete"}
	}
	if err != nil {
		return fmt.Errorf("at byte %d: %w", l.offset, err)
	}
	return nil
}
