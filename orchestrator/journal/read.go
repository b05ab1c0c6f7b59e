package journal

import (
	"encoding/json"
	"errors"
	"io"
	"os"

	"kanban-run/orchestrator/durable"
)

// Summary is the extent of a journal. A torn tail may be a record that is being written.
type Summary struct {
	Records   uint64
	Bytes     int64  // size of all whole records
	TornBytes int64  // size of the rest, after the whole records
	Epoch     uint64 // epoch of the last whole record, or 0 if there is none
	Head      uint64 // seq of the record that the head file names, or 0 if there is none
}

// Read calls the function visit for every record of the journal at path, and does not change
// the journal. A record's Data are valid until the call for the record returns. Read can run beside
// the writer.
// Errors: fs.ErrNotExist for a missing journal, *durable.NotPlainError for a link, and
// *DamageError, after the calls for the records before the damage.
func Read(path string, visit func(Record) error) (Summary, error) { return Follow(path).Read(visit) }

// Salvage calls the function visit for every whole record of the journal at path, also for those
// after a damage. It checks no more than the checksum of each, so it serves to find what an earlier
// run has left behind, but not to run on. Salvage does not change the journal.
func Salvage(path string, visit func(Record)) error {
	f, err := durable.OpenPlain(path, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	for at := int64(0); at >= 0; {
		end, err := salvage(io.NewSectionReader(f, at, info.Size()-at), visit)
		if err != nil {
			return wrap("read", path, err)
		}
		if at, err = findRecord(f, at+end+1, info.Size()); err != nil {
			return wrap("read", path, err)
		}
	}
	return nil
}

// salvage visits the records up to the first place without a whole record, and returns the offset
// of that place.
func salvage(section *io.SectionReader, visit func(Record)) (int64, error) {
	in := newScanner(section, 0, section.Size())
	for {
		line, _, err := in.next()
		var bad *badRecord
		switch {
		case err == io.EOF, errors.As(err, &bad):
			return in.offset, nil
		case err != nil:
			return in.offset, err
		}
		var r Record
		if json.Unmarshal(line, &r) == nil {
			visit(r)
		}
	}
}
