// Package journal is the append-only, checksummed record of what a run intended
// and what came of it: whatever Commit acknowledged is there after kill -9 and
// after a power cut, and a changed journal is refused, never believed.
//
// On disk a record is one line, `%08x %08x {json}\n`: the length and the
// CRC-32C of the JSON, and the JSON. Each record names the checksum of the one
// before it, so that none can be taken out, put in or moved. A torn tail, the
// trace of a writer that died, is kept aside and cut off; every other fault is
// damage. Beside the journal stands a small file, .head, that names the last
// acknowledged record; without it a cleanly cut journal would look intact.
package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"kanban-run/orchestrator/failpoint"
)

var (
	// ErrNoEpoch is an Append before BeginEpoch or ContinueEpoch, where the
	// record would pass for one of the run before, and a ContinueEpoch of none.
	ErrNoEpoch = errors.New("no epoch was begun")
	// ErrForeignWrite says that somebody else wrote to the journal, replaced or
	// removed it while it was open. The run must stop: it is not the only one.
	ErrForeignWrite = errors.New("the journal was changed by another process")
)

// Journal is open for one writer, who holds the board's lock. It is not safe
// for use by several goroutines.
type Journal struct {
	path string
	now  func() time.Time
	file file
	sys  system

	durable mark // behind the last committed record
	end     mark // behind the last appended one
	pending []byte
	began   bool
	failed  error

	kept string
	torn int64
}

// Open opens the journal at path, which is made when missing; its folder must
// exist. It hands every record to replay, oldest first, and keeps none: the data
// of a record are valid until replay returns.
//
// Bytes behind the last whole record are copied to path.torn-1 (-2, …) and cut
// off. A journal that was changed in any other way is refused with a
// *DamageError; replay has then seen the records before the damage. A journal
// or a head file that is a link is a *durable.NotPlainError, a journal that is
// open for another writer a *durable.HeldError.
func Open(path string, now func() time.Time, replay func(Record) error) (*Journal, error) {
	return open(disk{}, path, now, replay)
}

func open(sys system, path string, now func() time.Time, replay func(Record) error) (*Journal, error) {
	j := &Journal{path: path, now: now, sys: sys}
	if err := j.open(sys, replay); err != nil {
		return nil, errors.Join(j.wrap("open", err), j.closeFiles())
	}
	return j, nil
}

// open writes nothing before it knows that the journal is sound.
func (j *Journal) open(sys system, replay func(Record) error) error {
	known, err := readHead(sys, headName(j.path))
	if err != nil {
		return err
	}
	j.file, err = sys.open(j.path, known.seq == 0)
	if errors.Is(err, fs.ErrNotExist) && known.seq > 0 {
		return known.missing(mark{})
	}
	if err != nil {
		return err
	}
	// The board's lock may have been removed; then this one keeps a second
	// writer away, before it takes a record that is being written for a torn one.
	if err := j.file.Lock(); err != nil {
		return err
	}
	if err := j.replay(sys, known, replay); err != nil {
		return err
	}
	// A head that cannot be written is found out now, not behind the first record.
	if err := j.withHead(func(file) error { return nil }); err != nil {
		return err
	}
	// Records that a killed writer left unsynced, and files that it had just
	// made, must be durable before anyone acts on them.
	return errors.Join(j.file.Sync(), sys.syncDir(filepath.Dir(j.path)))
}

func (j *Journal) replay(sys system, known head, replay func(Record) error) error {
	size, err := j.file.Named()
	if err != nil {
		return err
	}
	end, acked, err := known.walk(j.file, size, mark{}, func(r Record, _ Place) error { return replay(r) })
	if err == nil && end.offset < size {
		err = j.repair(sys, end.offset, size)
	}
	if err == nil {
		err = j.renew(acked.offset, end.offset)
	}
	j.durable, j.end = end, end
	return err
}

// Repaired returns where Open kept a torn tail and how long it was, in bytes;
// "" and 0 when there was none.
func (j *Journal) Repaired() (kept string, n int64) { return j.kept, j.torn }

// BeginEpoch gives the records that follow an epoch above all that the journal
// has seen. It writes nothing: a run begins with a record of its own.
func (j *Journal) BeginEpoch() (uint64, error) {
	if j.failed != nil {
		return 0, j.failed
	}
	j.end.epoch++
	j.began = true
	return j.end.epoch, nil
}

// ContinueEpoch makes the records that follow part of the last epoch that the
// journal has seen, for what transfers no ownership: a person's word, an audit.
// It is ErrNoEpoch when the journal has seen none.
func (j *Journal) ContinueEpoch() (uint64, error) {
	if j.failed != nil {
		return 0, j.failed
	}
	if j.end.epoch == 0 {
		return 0, j.wrap("continue", ErrNoEpoch)
	}
	j.began = true
	return j.end.epoch, nil
}

// Append gives d its place behind the last record and returns it as it will be
// read, with the draft's own data when they are compact. It is on disk only after
// Commit. A refused draft (ErrAmbiguous, ErrNoEpoch, data that are not JSON)
// leaves the journal as it was.
func (j *Journal) Append(d Draft) (Record, error) {
	if j.failed != nil {
		return Record{}, j.failed
	}
	r, err := j.place(d)
	if err != nil {
		return Record{}, j.wrap("append to", err)
	}
	pending, crc, err := appendRecord(j.pending, &r)
	if err != nil {
		return Record{}, j.wrap("append to", err)
	}
	at, err := j.end.after(&r, int64(len(pending)-len(j.pending)), crc)
	if err != nil {
		return Record{}, j.wrap("append to", err)
	}
	j.pending = pending
	j.end = at
	return r, nil
}

func (j *Journal) place(d Draft) (Record, error) {
	if !j.began {
		return Record{}, ErrNoEpoch
	}
	if err := d.check(); err != nil {
		return Record{}, err
	}
	data, err := compactJSON(d.Data)
	return Record{
		Seq: j.end.seq + 1, Prev: Sum(j.end.crc), Epoch: j.end.epoch, Time: j.tick(),
		Type: d.Type, TaskID: d.TaskID, Rev: d.Rev, Actor: d.Actor, Data: data,
	}, err
}

// tick returns the time, moved behind the last record when the clock stands
// still or was set back: the order of records is also that of their times.
func (j *Journal) tick() time.Time {
	now := j.now().UTC().Round(0)
	if !now.After(j.end.time) {
		return j.end.time.Add(1)
	}
	return now
}

// Commit makes all appended records durable with one write and one sync. Any
// error is final: after a failed sync the kernel has forgotten what it could not
// write, so every later call returns the same error and the run must stop.
func (j *Journal) Commit() error {
	if j.failed != nil {
		return j.failed
	}
	if len(j.pending) == 0 {
		return nil
	}
	if err := j.commit(); err != nil {
		j.failed = j.wrap("commit", err)
		return j.failed
	}
	j.durable = j.end
	j.pending = nil // the next ones may be long in coming
	return nil
}

func (j *Journal) commit() error {
	size, err := j.file.Named()
	if errors.Is(err, fs.ErrNotExist) || err == nil && size != j.durable.offset {
		return ErrForeignWrite
	}
	if err != nil {
		return err
	}
	// Opened first: a head that cannot be is found out before anything is written.
	return j.withHead(func(f file) error {
		if err := j.write(); err != nil {
			return err
		}
		failpoint.At("journal-written")
		if err := j.file.Sync(); err != nil {
			return err
		}
		failpoint.At("journal-synced")
		_, err := f.WriteAt(head{seq: j.end.seq, crc: j.end.crc}.encode(), 0)
		return err
	})
}

// withHead opens the head file, which is made when missing. It does not stay open: a thousand journals may be.
func (j *Journal) withHead(do func(file) error) error {
	f, err := j.sys.open(headName(j.path), true)
	if err != nil {
		return err
	}
	return errors.Join(do(f), f.Close())
}

// write is one write of all that is pending, unless a test tears it.
func (j *Journal) write() error {
	n := failpoint.Cut("journal-torn", len(j.pending))
	_, err := j.file.WriteAt(j.pending[:n], j.durable.offset)
	failpoint.At("journal-torn")
	if err == nil && n < len(j.pending) { // that killed another process only
		_, err = j.file.WriteAt(j.pending[n:], j.durable.offset+int64(n))
	}
	return err
}

// Close closes the files. What was not committed is dropped.
func (j *Journal) Close() error {
	if j.failed == nil {
		j.failed = j.wrap("use", fs.ErrClosed)
	}
	return j.wrap("close", j.closeFiles())
}

func (j *Journal) closeFiles() error {
	if j.file == nil {
		return nil
	}
	return j.file.Close()
}

func (j *Journal) wrap(op string, err error) error { return wrap(op, j.path, err) }

// wrap names the journal in err, unless err is damage, which names it itself.
func wrap(op, path string, err error) error {
	var damage *DamageError
	if errors.As(err, &damage) {
		damage.Path = path
		return damage
	}
	if err != nil {
		return fmt.Errorf("%s journal %s: %w", op, path, err)
	}
	return nil
}
