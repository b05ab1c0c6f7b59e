package claim

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"kanban-run/orchestrator/durable"
)

// book is a file of locks, .kanban-run/claims/locks in a folder. What a lock is on tells what it is of; the bytes of a row say, for
// people and for patterns, which claim has it. The locks belong to the open file, which the guardian has, too. A row whose lock is gone
// was left behind by a run that was killed with its guardian: it holds as long as an agent lives that has its mark.
type book struct {
	file    *os.File
	release func() error // of the guardian
	used    map[int64]bool
	last    int64 // number given out by this process
	system  System
	before  *book // that was taken from its place
}

// row is what is written down of a claim.
type row struct {
	Claim
	Number int64 // in the order of asking for files; 0: it asks for none
}

// What is locked: bytes far behind the rows.
const (
	rowSize = 4096
	maxRows = 4096
	mutexAt = 1 << 50
	rowsAt  = 1 << 51
	tasksAt = 1 << 52
)

// place is a lock of a claim.
type place struct {
	book *book
	at   int64
}

func (p place) free() error {
	var err error
	if i := p.at - rowsAt; i >= 0 && i < maxRows {
		err = p.book.blank(i)
	}
	delete(p.book.used, p.at)
	return errors.Join(err, p.book.set(unix.F_UNLCK, p.at))
}

func openBook(dir string, s System) (*book, error) {
	folder := filepath.Join(dir, ".kanban-run", "claims")
	name := filepath.Join(folder, "locks")
	f, err := durable.OpenPlain(name, os.O_RDWR|os.O_CREATE, 0o600)
	if errors.Is(err, os.ErrNotExist) {
		if err = os.MkdirAll(folder, 0o700); err == nil {
			f, err = durable.OpenPlain(name, os.O_RDWR|os.O_CREATE, 0o600)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("claim the tasks of %s: %w", dir, err)
	}
	if ignore, err := durable.OpenPlain(filepath.Join(folder, ".gitignore"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err == nil { // without it git shows the file
		_, _ = ignore.WriteString("*\n")
		_ = ignore.Close()
	}
	b := &book{file: f, used: map[int64]bool{}, release: func() error { return nil }, system: s}
	if s.Hold != nil {
		if b.release, err = s.Hold(f); err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
	return b, nil
}

// isInPlace says whether the file is still the one that other processes find.
func (b *book) isInPlace() bool {
	there, err := os.Lstat(b.file.Name())
	own, ownErr := b.file.Stat()
	return err == nil && ownErr == nil && os.SameFile(there, own)
}

func (b *book) close() error {
	err := errors.Join(b.file.Close(), b.release())
	if b.before != nil {
		err = errors.Join(err, b.before.close())
	}
	return err
}

// set locks or unlocks a byte. Another open file that has it is an error for which isTaken holds.
func (b *book) set(kind int16, at int64) error {
	return unix.FcntlFlock(b.file.Fd(), unix.F_OFD_SETLK, &unix.Flock_t{Type: kind, Start: at, Len: 1})
}

func isTaken(err error) bool { return errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) }

// isTaken says whether another open file has a byte.
func (b *book) isTaken(at int64) (bool, error) {
	l := unix.Flock_t{Type: unix.F_WRLCK, Start: at, Len: 1}
	err := unix.FcntlFlock(b.file.Fd(), unix.F_OFD_GETLK, &l)
	return l.Type != unix.F_UNLCK, err
}

// claimTask locks a task, or returns the claim of the process that has.
func (b *book) claimTask(c Claim) (places []place, taken *Conflict, err error) {
	sum := sha256.Sum256([]byte(c.Task))
	lock := place{b, int64(tasksAt + binary.BigEndian.Uint64(sum[:])>>16)}
	err = b.set(unix.F_WRLCK, lock.at)
	locked := isTaken(err)
	if err != nil && !locked {
		return nil, nil, err
	}
	if locked {
		taken = &Conflict{Task: c.Task}
	}
	err = b.eachRow(func(other row, left bool) bool {
		if other.Task == c.Task && left == !locked && !(left && other.Board == c.Board) { // its own run has ended what it left
			taken = &Conflict{Board: other.Board, Task: c.Task, Left: left}
			return false
		}
		return true
	})
	switch {
	case locked:
		return nil, taken, err
	case err != nil || taken != nil:
		return nil, taken, errors.Join(err, lock.free())
	}
	places, err = b.write(row{Claim: Claim{Board: c.Board, Task: c.Task, Mark: c.Mark}})
	return append(places, lock), nil, err
}

// queue writes the files of a claim down, with the next number. Errors: errBusy while another process does the same.
func (b *book) queue(c Claim) (places []place, number int64, err error) {
	if err = b.set(unix.F_WRLCK, mutexAt); isTaken(err) {
		return nil, 0, errBusy
	}
	if err != nil {
		return nil, 0, fmt.Errorf("look at the claims of other runs: %w", err)
	}
	defer func() { err = errors.Join(err, b.set(unix.F_UNLCK, mutexAt)) }()
	number = b.last
	err = b.eachRow(func(other row, _ bool) bool {
		number = max(number, other.Number)
		return true
	})
	if err != nil {
		return nil, 0, err
	}
	number++
	b.last = number
	places, err = b.write(row{c, number})
	return places, number, err
}

// inTheWay is the claim of another process that overlaps and has a lower number.
func (b *book) inTheWay(c Claim, number int64) (taken *Conflict, err error) {
	err = b.eachRow(func(other row, left bool) bool {
		if other.Number < number && !(left && other.Board == c.Board) && !b.system.isWithin(other.Mark) {
			if taken = c.conflict(other.Claim); taken != nil {
				taken.Left = left
			}
		}
		return taken == nil
	})
	return taken, err
}

// eachRow reads the claims of other processes, until each returns false. left: the process was killed, and an agent of its lives.
func (b *book) eachRow(each func(r row, left bool) bool) error {
	info, err := b.file.Stat()
	if err != nil {
		return err
	}
	bytesOf := make([]byte, rowSize)
	for i := range min(info.Size()/rowSize, maxRows) {
		if b.used[rowsAt+i] {
			continue
		}
		if _, err := b.file.ReadAt(bytesOf, i*rowSize); err != nil {
			return err
		}
		text, _, _ := bytes.Cut(bytesOf, []byte{0})
		if len(text) == 0 {
			continue
		}
		taken, err := b.isTaken(rowsAt + i)
		if err != nil {
			return err
		}
		var r row
		isRow := json.Unmarshal(text, &r) == nil
		switch {
		case isRow && (taken || b.system.isAtWork(r.Mark)):
			if !each(r, !taken) {
				return nil
			}
		case !taken && b.set(unix.F_WRLCK, rowsAt+i) == nil: // it holds nothing any more
			if err := errors.Join(b.blank(i), b.set(unix.F_UNLCK, rowsAt+i)); err != nil {
				return err
			}
		}
	}
	return nil
}

// blank has a row say nothing.
func (b *book) blank(i int64) error {
	_, err := b.file.WriteAt([]byte{0}, i*rowSize)
	return err
}

// isBlank says whether a row says nothing.
func (b *book) isBlank(i int64) bool {
	first := []byte{0}
	_, err := b.file.ReadAt(first, i*rowSize)
	return first[0] == 0 && (err == nil || errors.Is(err, io.EOF))
}

// write writes a claim into a row that says nothing. One whose patterns are too long claims the whole folder.
func (b *book) write(r row) ([]place, error) {
	text, err := json.Marshal(r)
	if err == nil && len(text) > rowSize {
		r.Files = []string{"**"}
		text, err = json.Marshal(r)
	}
	if err != nil {
		return nil, err
	}
	if len(text) > rowSize {
		text = []byte("{}") // of names that are too long
	}
	for i := range int64(maxRows) {
		if b.used[rowsAt+i] {
			continue
		}
		if err := b.set(unix.F_WRLCK, rowsAt+i); isTaken(err) {
			continue
		} else if err != nil {
			return nil, err
		}
		if !b.isBlank(i) { // it was left behind
			if err := b.set(unix.F_UNLCK, rowsAt+i); err != nil {
				return nil, err
			}
			continue
		}
		b.used[rowsAt+i] = true
		_, err := b.file.WriteAt(append(text, make([]byte, max(0, rowSize-len(text)))...), i*rowSize)
		return []place{{b, rowsAt + i}}, err
	}
	return nil, nil // more than are looked at
}
