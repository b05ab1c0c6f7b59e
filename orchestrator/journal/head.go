package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
)

// head is the name of the last acknowledged record, in a file beside the journal. Without it, a
// journal whose last record was cut off, or has rotted, would look like a journal whose writer died
// while it wrote that record.
//
// The head is written after the journal's sync and is not synced itself. After a power cut it might
// name an earlier record, which is harmless. It never names a record that the journal lacks.
type head struct {
	seq uint64
	crc uint32
}

const headLen = 16 + 1 + 8 + 1 + 8 + 1

func (h head) encode() []byte {
	text := fmt.Appendf(nil, "%016x %08x", h.seq, h.crc)
	return fmt.Appendf(text, " %08x\n", checksum(text))
}

func headName(path string) string { return path + ".head" }

// readHead reads the head file. If the file is missing, or a power cut left it empty or torn, it
// returns the zero head, which requires no record.
func readHead(sys system, path string) (head, error) {
	b, err := sys.read(path, headLen)
	if errors.Is(err, fs.ErrNotExist) {
		return head{}, nil
	}
	if err != nil || len(b) < headLen {
		return head{}, err
	}
	seq, err := strconv.ParseUint(string(b[:16]), 16, 64)
	crc, ok := parseHex(b[17:25])
	h := head{seq: seq, crc: crc}
	if err != nil || !ok || string(h.encode()) != string(b) {
		return head{}, nil
	}
	return h, nil
}

// maxNote bounds the part of a note that is read, in bytes.
const maxNote = 512

// Note returns the text of the last call of SetNote, or "" if there was no call.
func (j *Journal) Note() (string, error) {
	b, err := j.sys.read(headName(j.path), headLen+maxNote)
	if err != nil || len(b) <= headLen {
		return "", j.wrap("read the note of", err)
	}
	return string(b[headLen:]), nil
}

// SetNote writes a text into the head file, in place of the text of the last call. All texts must
// have the same length, because SetNote does not truncate the file. SetNote does not sync: a power
// cut may lose the text.
func (j *Journal) SetNote(text string) error {
	return j.wrap("write the note of", j.openHead(func(f file) error {
		_, err := f.WriteAt([]byte(text), headLen)
		return err
	}))
}

// walk calls the function visit with every record after a position. acked is the end of the record
// that the head names, if that is one of them. Errors: *DamageError if the journal lacks that record,
// and those that the function visit returns.
func (h head) walk(r io.ReaderAt, from position, size int64, visit func(Record) error) (end, acked position, err error) {
	before := from
	end, err = walk(r, from, size, func(rec *Record, at *position) error {
		if at.seq == h.seq && at.crc != h.crc {
			return damagef(before.offset, "record %d is not the one that was written", at.seq)
		}
		if at.seq == h.seq {
			acked = *at
		}
		before = *at
		if err := visit(*rec); err != nil {
			return fmt.Errorf("replay record %d (%s): %w", rec.Seq, rec.Type, err)
		}
		return nil
	})
	if err == nil && end.seq < h.seq {
		err = h.missing(end)
	}
	return end, acked, err
}

// missing returns the error for a journal that ends before the head's record.
func (h head) missing(end position) error {
	return damagef(end.offset, "it ends after record %d, but record %d was written", end.seq, h.seq)
}
