package journal

import (
	"errors"
	"io/fs"
	"os"

	"kanban-run/orchestrator/durable"
)

// Summary is the extent of a journal: its whole records and their bytes, and
// the bytes of a torn tail behind them, which may be a record being written.
type Summary struct {
	Records   uint64
	Bytes     int64
	TornBytes int64
	Epoch     uint64 // of the last whole record; 0: there is none
	Head      uint64 // seq of the record that the head file names; 0: it names none
}

// Read hands every record of the journal at path to each and changes nothing. The
// data of a record are valid until each returns.
// It may run beside the writer. A missing journal is fs.ErrNotExist, a damaged
// one a *DamageError after the records before the damage, a link a
// *durable.NotPlainError.
func Read(path string, each func(Record) error) (Summary, error) {
	return ReadFrom(path, Place{}, func(r Record, _ Place) error { return each(r) })
}

// Place is a place behind a record of a journal; the zero one is its beginning.
type Place struct{ mark mark }

// ReadFrom is Read of the records behind a place, and tells the place behind each
// of them. A journal to which the place does not belong is a *DamageError.
func ReadFrom(path string, from Place, each func(Record, Place) error) (Summary, error) {
	s, err := read(disk{}, path, from, each)
	return s, wrap("read", path, err)
}

func read(sys system, path string, from Place, each func(Record, Place) error) (Summary, error) {
	// Before the size is taken: a record that the head names is then in reach,
	// however the writer goes on.
	known, err := readHead(sys, headName(path))
	if err != nil {
		return Summary{}, err
	}
	f, err := durable.OpenPlain(path, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) && known.seq > 0 {
		return Summary{}, known.missing(mark{})
	}
	if err != nil {
		return Summary{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return Summary{}, err
	}
	if info.Size() < from.mark.offset {
		return Summary{}, &DamageError{Offset: info.Size(), Reason: "it became shorter while it was read"}
	}
	end, _, err := known.walk(f, info.Size(), from.mark, each)
	return Summary{
		Records: end.seq, Bytes: end.offset, TornBytes: info.Size() - end.offset,
		Epoch: end.epoch, Head: known.seq,
	}, err
}
