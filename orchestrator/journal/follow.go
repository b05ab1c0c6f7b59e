package journal

import (
	"errors"
	"io/fs"
	"os"

	"kanban-run/orchestrator/durable"
)

// ErrReplaced is the error of a Follower whose journal is no longer the one that it has read: it is
// shorter, or another record stands where the last one stood.
var ErrReplaced = errors.New("it is no longer the one that was read")

// Follower reads a journal that goes on. It keeps its place, and does not read a record twice. It is
// not safe for concurrent use.
type Follower struct {
	path    string
	file    fs.FileInfo // the journal's file as it was read; nil: nothing was read
	head    head        // the head as it was read
	end     position    // end of the last record
	summary Summary
}

// Follow returns a Follower of the journal at path.
func Follow(path string) *Follower { return &Follower{path: path} }

// Follow returns a Follower that has read all records up to the last committed one. It returns nil if that is not
// the last record, or if the file cannot be looked at.
func (j *Journal) Follow() *Follower {
	end := j.durable
	info, err := os.Lstat(j.path)
	if err != nil || j.failed != nil || j.end.seq != end.seq {
		return nil
	}
	return &Follower{path: j.path, file: info, head: head{end.seq, end.crc}, end: end,
		summary: Summary{Records: end.seq, Bytes: end.offset, Epoch: end.epoch, Head: end.seq}}
}

// Read is like the function [Read], but calls the function visit only for the records that were added
// since the last call. If the file has not changed since then, Read does not open it. A torn tail is
// read again when it has changed. Read does not notice a change of an earlier record than the last.
// Errors: those of the function Read, and ErrReplaced. After an error the next call begins anew, with
// the first record.
func (f *Follower) Read(visit func(Record) error) (Summary, error) {
	if f.isUnchanged() {
		return f.summary, nil
	}
	err := f.read(visit)
	summary := f.summary
	if err != nil {
		*f = Follower{path: f.path}
	}
	return summary, wrap("read", f.path, err)
}

func (f *Follower) isUnchanged() bool {
	if f.file == nil {
		return false
	}
	now, err := os.Lstat(f.path)
	return err == nil && os.SameFile(now, f.file) && now.Size() == f.file.Size() && now.ModTime().Equal(f.file.ModTime())
}

func (f *Follower) read(visit func(Record) error) error {
	// Read the head before the size: then the size includes the record that the head names, even if
	// a writer adds more.
	known, err := readHead(disk{}, headName(f.path))
	if err != nil {
		return err
	}
	file, err := durable.OpenPlain(f.path, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) && known.seq > 0 {
		return known.missing(position{})
	}
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err == nil {
		err = f.checkPlace(file, known)
	}
	if err != nil {
		return err
	}
	end, _, err := known.walk(file, f.end, info.Size(), visit)
	f.file, f.head, f.end = info, known, end
	f.summary = Summary{
		Records: end.seq, Bytes: end.offset, TornBytes: info.Size() - end.offset,
		Epoch: end.epoch, Head: known.seq,
	}
	return err
}

// checkPlace returns ErrReplaced unless the records that were read stand in the file. It also returns
// ErrReplaced if the head names one of them and has changed since, because only a reader of that
// record can compare the two.
func (f *Follower) checkPlace(file *os.File, known head) error {
	if f.file == nil {
		return nil
	}
	isLast := known == head{seq: f.end.seq, crc: f.end.crc}
	if known.seq <= f.end.seq && known != f.head && !isLast {
		return ErrReplaced
	}
	stands, err := f.end.stands(file)
	if err == nil && !stands {
		err = ErrReplaced
	}
	return err
}
