package journal

import (
	"os"
)

// Summary is the size of a journal: its whole records and their bytes, and the
// bytes of a torn tail behind them, which may be a record being written.
type Summary struct {
	Records   uint64
	Bytes     int64
	TornBytes int64
}

// Read hands every record of the journal at path to each and changes nothing.
// It may run beside the writer. A missing journal is fs.ErrNotExist, a damaged
// one a *DamageError after the records before the damage.
func Read(path string, each func(Record) error) (Summary, error) {
	s, err := read(disk{}, path, each)
	return s, wrap("read", path, err)
}

func read(sys system, path string, each func(Record) error) (Summary, error) {
	// Before the size is taken: a record that the head names is then in reach,
	// however the writer goes on.
	known, err := readHead(sys, headName(path))
	if err != nil {
		return Summary{}, err
	}
	f, err := os.Open(path)
	if err != nil {
		return Summary{}, err
	}
	defer f.Close()
	info, err := regular(f)
	if err != nil {
		return Summary{}, err
	}
	end, err := known.walk(f, info.Size(), each)
	return Summary{Records: end.seq, Bytes: end.offset, TornBytes: info.Size() - end.offset}, err
}
