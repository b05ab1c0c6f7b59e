package journal

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
)

// badRecord is a place where no whole record stands. What comes after it decides whether it is a torn tail or damage.
type badRecord struct{ reason string }

func (e *badRecord) Error() string { return e.reason }

// readSize is how much of a journal is read at once.
const readSize = 256 << 10

// lines reads the records of a journal up to a size. The bound keeps a reader beside a running writer
// from meeting a record that was half there when it looked.
type lines struct {
	in     *bufio.Reader
	offset int64 // of the next record
	size   int64
	header [headerLen]byte
	buf    []byte
}

func newLines(in io.ReaderAt, offset, size int64) *lines {
	section := io.NewSectionReader(in, offset, size-offset)
	return &lines{in: bufio.NewReaderSize(section, int(min(readSize, section.Size()))), offset: offset, size: size}
}

// next returns the JSON of the next record, which is valid until the next call, and its checksum.
// Errors: io.EOF behind the last record, *badRecord, and those of the disk.
func (l *lines) next() (json []byte, crc uint32, err error) {
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

// fill takes the end of a file that became shorter while it was read for a bad record.
func (l *lines) fill(p []byte) error {
	_, err := io.ReadFull(l.in, p)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &badRecord{"the record is incomplete"}
	}
	if err != nil {
		return fmt.Errorf("at byte %d: %w", l.offset, err)
	}
	return nil
}
