package journal

import (
	"errors"
	"fmt"
	"io"
)

// badRecord is a place where no whole record stands. Whether it is a torn tail
// or damage is decided by what comes after it.
type badRecord struct{ reason string }

func (e *badRecord) Error() string { return e.reason }

// blockSize is how much of a journal is read at once; a block that holds a
// longer record is as long as that.
const blockSize = 256 << 10

// blocksAhead is how many blocks may be read before they are needed: with one,
// the goroutines would wait for each other at every block.
const blocksAhead = 2

// block is a part of a journal: whole lines whose checksums match.
type block struct {
	buf   []byte
	lines []line
	err   error // what stands behind the last line; nil: another block
}

// line is where the JSON of a record stands in its block.
type line struct {
	from, to int
	crc      uint32
}

// blocks reads the first size bytes of a journal from an offset on. The bound keeps a reader beside
// a running writer from meeting a record that was half there when it looked.
type blocks struct {
	in     io.ReaderAt
	size   int64
	offset int64 // of the next record
}

// readBlocks hands the blocks of a journal to use, in order, until it returns an
// error, as it must for a block's own. A block is valid until use returns.
//
// While one block is in use, a goroutine reads the next ones and checks their
// sums, which is half of the work; it has ended when readBlocks returns.
func readBlocks(in io.ReaderAt, size, offset int64, use func(*block) error) error {
	r := &blocks{in: in, size: size, offset: offset}
	b := &block{}
	if r.read(b); b.err != nil {
		return use(b)
	}
	full, empty := make(chan *block, blocksAhead), make(chan *block, blocksAhead+1)
	for range blocksAhead {
		empty <- &block{}
	}
	go r.ahead(full, empty)
	err := use(b)
	for err == nil {
		empty <- b
		b = <-full
		err = use(b)
	}
	close(empty)
	for range full { // until the goroutine has ended
	}
	return err
}

// ahead reads blocks until one has an error or there are no more to fill.
func (r *blocks) ahead(full chan<- *block, empty <-chan *block) {
	defer close(full)
	for b := range empty {
		r.read(b)
		full <- b
		if b.err != nil {
			return
		}
	}
}

// read fills b with the lines from the offset on, and moves the offset behind
// them. A line that does not end in the block is the next block's first.
func (r *blocks) read(b *block) {
	b.lines, b.err = b.lines[:0], nil
	if r.offset == r.size {
		b.err = io.EOF
		return
	}
	if b.buf == nil {
		b.buf = make([]byte, min(r.size-r.offset, blockSize))
	}
	n, err := r.in.ReadAt(b.buf[:min(r.size-r.offset, int64(len(b.buf)))], r.offset)
	at := 0
	for b.err == nil {
		need, l, fault := r.line(b.buf[:n], at)
		switch {
		case fault != nil:
			b.err = fault
		case at+need <= n:
			b.lines = append(b.lines, l)
			at += need
		case err != nil:
			b.err = r.readError(at, err)
		case at > 0:
			r.offset += int64(at)
			return
		default:
			b.buf = make([]byte, need+need/8) // the next will not be much longer
			r.read(b)
			return
		}
	}
}

// line looks at the record that begins at buf[at]. It returns how many bytes it
// takes, and where its JSON is if that many are there.
func (r *blocks) line(buf []byte, at int) (need int, l line, err error) {
	left := r.size - r.offset - int64(at)
	buf = buf[at:]
	switch {
	case left == 0:
		return 0, l, io.EOF
	case left < headerLen:
		return 0, l, &badRecord{"the header of the record is incomplete"}
	case len(buf) < headerLen:
		return headerLen, l, nil
	}
	length, crc, ok := parseHeader(buf[:headerLen])
	if !ok || length > MaxRecord {
		return 0, l, &badRecord{"no record begins here"}
	}
	need = headerLen + int(length) + 1
	if left < int64(need) {
		return 0, l, &badRecord{"the record is incomplete"}
	}
	if len(buf) < need {
		return need, l, nil
	}
	if buf[need-1] != '\n' || checksum(buf[headerLen:need-1]) != crc {
		return 0, l, &badRecord{"the checksum of the record does not match"}
	}
	return need, line{from: at + headerLen, to: at + need - 1, crc: crc}, nil
}

// readError turns the end of a file that became shorter while it was read into
// a bad record; everything else is an error of the disk.
func (r *blocks) readError(at int, err error) error {
	if errors.Is(err, io.EOF) {
		return &badRecord{"the record is incomplete"}
	}
	return fmt.Errorf("at byte %d: %w", r.offset+int64(at), err)
}
