// Package journal is the append-only, checksummed record of a run's intentions and their outcomes.
// The records that Commit has acknowledged survive kill -9 and a power cut. A journal that was
// changed is refused.
//
// On disk a record is one line, `%08x %08x {json}\n`: length and CRC-32C of the JSON, and the JSON.
// Each record names the checksum of the one before it, so that no record can be removed, inserted
// or moved unnoticed. A killed writer may leave a torn tail. The next writer copies the tail into a
// file of its own and cuts it off. Every other fault is damage. The small file .head beside the
// journal names the last acknowledged record. Without it, a journal that was cut off at the end of
// a record would look intact.
package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"time"

	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/failpoint"
)

var (
	// ErrNoEpoch is the error of an Append before BeginEpoch or ContinueEpoch, because the record
	// would look like one of the last run. It is also the error of ContinueEpoch if the journal has
	// no epoch.
	ErrNoEpoch = errors.New("no epoch was begun")
	// ErrForeignWrite is the error of a Commit after another process has changed or removed the open
	// journal, or replaced it by a file with other bytes. The run must stop, because another run may
	// be at work.
	ErrForeignWrite = errors.New("the journal was changed by another process")
)

// Journal is open for the one writer that holds the board's lock. It is not safe for concurrent
// use.
type Journal struct {
	path string
	now  func() time.Time
	file file
	sys  system

	durable position // the end of the last committed record
	end     position // the end of the last appended record
	pending []byte
	began   bool
	failed  error

	kept string
	torn int64
}

// Open opens the journal at path, or creates it if it is missing. Its folder must exist. Open calls
// the function replay with every record, oldest first. A record's Data are valid until replay
// returns.
//
// Bytes after the last whole record are copied to path.torn-1 (-2, …) and cut off. Errors:
// *DamageError for a journal changed in any other way, after replay has seen the records before the
// damage; *durable.NotPlainError if the journal or the head file is a link; *durable.HeldError if
// another writer has the journal open.
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

// open writes nothing until the journal has been verified.
func (j *Journal) open(sys system, replay func(Record) error) error {
	known, err := readHead(sys, headName(j.path))
	if err != nil {
		return err
	}
	j.file, err = sys.open(j.path, known.seq == 0)
	if errors.Is(err, fs.ErrNotExist) && known.seq > 0 {
		return known.missing(position{})
	}
	if err != nil {
		return err
	}
	// The journal has a lock of its own, because the board's lock file may have been removed. A
	// second writer could then open the journal, and cut off the first writer's unfinished record
	// as a torn tail.
	if err := j.file.Lock(); err != nil {
		return err
	}
	if err := j.replay(sys, known, replay); err != nil {
		return err
	}
	// If the head file cannot be opened, fail now and not after the first record.
	if err := j.openHead(func(file) error { return nil }); err != nil {
		return err
	}
	// Sync what a killed writer left: its last records and new files must be durable before the run
	// acts on them.
	return errors.Join(j.file.Sync(), sys.syncDir(filepath.Dir(j.path)))
}

func (j *Journal) replay(sys system, known head, replay func(Record) error) error {
	size, err := j.file.SizeByPath()
	if err != nil {
		return err
	}
	end, acked, err := known.walk(j.file, position{}, size, replay)
	if err == nil && end.offset < size {
		err = j.repairTail(sys, end.offset, size)
	}
	if err == nil {
		err = j.rewriteUnacked(acked.offset, end.offset)
	}
	j.durable, j.end = end, end
	return err
}

// Repaired returns the path of Open's copy of the torn tail and its length in bytes. It returns ""
// and 0 if the journal had no torn tail.
func (j *Journal) Repaired() (kept string, n int64) { return j.kept, j.torn }

// BeginEpoch starts the epoch after the last one in the journal. It writes nothing to the disk,
// because each record of the run names the epoch.
func (j *Journal) BeginEpoch() (uint64, error) {
	if j.failed != nil {
		return 0, j.failed
	}
	j.end.epoch++
	j.began = true
	return j.end.epoch, nil
}

// ContinueEpoch puts the next records into the last epoch. It is for records that transfer no
// ownership, such as a person's answer. It fails with ErrNoEpoch before the first epoch.
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

// Append adds d to the pending records and returns the record as it will be read. The record is on
// disk only after Commit. A refused draft (ErrAmbiguous, ErrNoEpoch, Data that are not JSON) leaves
// the journal as it was.
func (j *Journal) Append(d Draft) (Record, error) {
	if j.failed != nil {
		return Record{}, j.failed
	}
	r, err := j.recordOf(d)
	if err != nil {
		return Record{}, j.wrap("append to", err)
	}
	pending, crc, err := appendRecord(j.pending, &r)
	if err != nil {
		return Record{}, j.wrap("append to", err)
	}
	at, err := j.end.next(&r, int64(len(pending)-len(j.pending)), crc)
	if err != nil {
		return Record{}, j.wrap("append to", err)
	}
	j.pending = pending
	j.end = at
	return r, nil
}

func (j *Journal) recordOf(d Draft) (Record, error) {
	if !j.began {
		return Record{}, ErrNoEpoch
	}
	if err := d.validate(); err != nil {
		return Record{}, err
	}
	data, err := compactData(d.Data)
	if err != nil {
		return Record{}, err
	}
	return Record{
		Seq: j.end.seq + 1, Prev: Sum(j.end.crc), Epoch: j.end.epoch, Time: j.nextTime(),
		Type: d.Type, TaskID: d.TaskID, Rev: d.Rev, Actor: d.Actor, Needs: d.Needs, Data: data,
	}, nil
}

func (j *Journal) nextTime() time.Time {
	now := j.now().UTC().Round(0)
	if !now.After(j.end.time) {
		return j.end.time.Add(1)
	}
	return now
}

// Commit makes all appended records durable with one write and one sync. An error is final: after a
// failed sync the kernel has dropped what it could not write, so every later call returns the same
// error and the run must stop.
func (j *Journal) Commit() error {
	if j.failed != nil {
		return j.failed
	}
	if len(j.pending) == 0 {
		return nil
	}
	if err := j.commitPending(); err != nil {
		j.failed = j.wrap("commit", err)
		return j.failed
	}
	j.durable = j.end
	j.pending = nil // release the memory: a thousand journals may wait for hours
	return nil
}

func (j *Journal) commitPending() error {
	size, err := j.file.SizeByPath()
	if errors.Is(err, fs.ErrNotExist) {
		size, err = j.adopt()
	}
	if err == nil && size != j.durable.offset {
		err = ErrForeignWrite
	}
	if err != nil {
		return err
	}
	// The head is opened first: if that fails, nothing has been written.
	return j.openHead(func(f file) error {
		if err := j.writePending(); err != nil {
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

// adopt goes on in the file that is now at the journal's path, if it has the same bytes: an agent may
// have edited all files in place (sed -i), which writes new ones. It returns the size of that file.
// Errors: ErrForeignWrite; *durable.HeldError if another writer has that file.
func (j *Journal) adopt() (size int64, err error) {
	f, err := j.sys.open(j.path, false)
	if durable.IsMachineFault(err) {
		return 0, err
	}
	if err != nil {
		return 0, ErrForeignWrite
	}
	if err = f.Lock(); err == nil {
		size, err = f.SizeByPath()
	}
	if err == nil && !hasEqualBytes(j.file, f, j.durable.offset) {
		err = ErrForeignWrite
	}
	if err != nil {
		return 0, errors.Join(err, f.Close())
	}
	replaced := j.file
	j.file = f
	return size, replaced.Close()
}

// hasEqualBytes reports whether two files begin with the same n bytes.
func hasEqualBytes(a, b io.ReaderAt, n int64) bool {
	const chunk = 64 << 10
	var was, is [chunk]byte
	for at := int64(0); at < n; at += chunk {
		size := min(chunk, n-at)
		_, errA := io.ReadFull(io.NewSectionReader(a, at, size), was[:size])
		_, errB := io.ReadFull(io.NewSectionReader(b, at, size), is[:size])
		if errA != nil || errB != nil || was != is {
			return false
		}
	}
	return true
}

// openHead opens the head file, or creates it if it is missing. It then calls the function named
// use and closes the file. The file does not stay open, since a run may have a thousand journals.
func (j *Journal) openHead(use func(file) error) error {
	f, err := j.sys.open(headName(j.path), true)
	if err != nil {
		return err
	}
	return errors.Join(use(f), f.Close())
}

// writePending writes the pending records with one write, unless a test tears it into two.
func (j *Journal) writePending() error {
	n := failpoint.Cut("journal-torn", len(j.pending))
	_, err := j.file.WriteAt(j.pending[:n], j.durable.offset)
	failpoint.At("journal-torn")
	if err == nil && n < len(j.pending) { // the failpoint did not kill this process
		_, err = j.file.WriteAt(j.pending[n:], j.durable.offset+int64(n))
	}
	return err
}

// Close closes the file and drops the records that were not committed.
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

// wrap adds the path of the journal to err: to the field Path of a *DamageError, and to the text of
// any other error.
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
