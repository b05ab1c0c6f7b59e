package claim

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"kanban-run/orchestrator/durable"
)

// book is a file of locks, .kanban-run/claims/locks in a folder. What a lock is on tells what it is of; the bytes of a row say, for
// people and for patterns, which claim has it. The locks belong to the open file, which the guardian has, too.
type book struct {
	file    *os.File
	release func() error // of the guardian
	used    map[int64]bool
}

// What is locked: bytes far behind the rows.
const (
	rowSize  = 4096
	maxRows  = 4096
	mutexAt  = 1 << 50
	rowsAt   = 1 << 51
	tasksAt  = 1 << 52
	waitTime = 5 * time.Second
)

// place is a lock of a claim.
type place struct {
	book *book
	at   int64
}

func (p place) free() error {
	delete(p.book.used, p.at)
	return p.book.set(unix.F_UNLCK, p.at)
}

func openBook(dir string, hold func(*os.File) (func() error, error)) (*book, error) {
	folder := filepath.Join(dir, ".kanban-run", "claims")
	name := filepath.Join(folder, "locks")
	f, err := durable.OpenPlain(name, os.O_RDWR|os.O_CREATE, 0o600)
	if errors.Is(err, os.ErrNotExist) {
		if err = os.MkdirAll(folder, 0o700); err == nil {
			_ = os.WriteFile(filepath.Join(folder, ".gitignore"), []byte("*\n"), 0o600) // without it git shows the file
			f, err = durable.OpenPlain(name, os.O_RDWR|os.O_CREATE, 0o600)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("claim the tasks of %s: %w", dir, err)
	}
	b := &book{file: f, used: map[int64]bool{}, release: func() error { return nil }}
	if hold != nil {
		if b.release, err = hold(f); err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
	return b, nil
}

func (b *book) close() error { return errors.Join(b.file.Close(), b.release()) }

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
	at := int64(tasksAt + binary.BigEndian.Uint64(sum[:])>>16)
	if err := b.set(unix.F_WRLCK, at); isTaken(err) {
		taken = &Conflict{Task: c.Task}
		err := b.eachRow(func(other Claim) bool {
			if other.Task == c.Task {
				taken.Board = other.Board
			}
			return taken.Board == ""
		})
		return nil, taken, err
	} else if err != nil {
		return nil, nil, err
	}
	row, err := b.write(Claim{Board: c.Board, Task: c.Task})
	return append(row, place{b, at}), nil, err
}

// claimFiles writes the files of a claim down, or returns the claim of another process that overlaps.
func (b *book) claimFiles(c Claim) (places []place, taken *Conflict, err error) {
	for end := time.Now().Add(waitTime); ; time.Sleep(time.Millisecond) {
		err = b.set(unix.F_WRLCK, mutexAt)
		if !isTaken(err) || time.Now().After(end) {
			break
		}
	}
	if err != nil {
		return nil, nil, fmt.Errorf("look at the claims of other runs: %w", err)
	}
	defer func() { err = errors.Join(err, b.set(unix.F_UNLCK, mutexAt)) }()
	if err := b.eachRow(func(other Claim) bool {
		taken = c.conflict(other)
		return taken == nil
	}); err != nil || taken != nil && !c.Warn {
		return nil, taken, err
	}
	places, err = b.write(c)
	return places, taken, err
}

// eachRow reads the claims of other processes, until each returns false.
func (b *book) eachRow(each func(Claim) bool) error {
	info, err := b.file.Stat()
	if err != nil {
		return err
	}
	row := make([]byte, rowSize)
	for i := range min(info.Size()/rowSize, maxRows) {
		taken, err := b.isTaken(rowsAt + i)
		if err != nil {
			return err
		}
		if !taken {
			continue
		}
		if _, err := b.file.ReadAt(row, i*rowSize); err != nil {
			return err
		}
		var c Claim
		text, _, _ := bytes.Cut(row, []byte{0})
		if json.Unmarshal(text, &c) == nil && !each(c) {
			return nil
		}
	}
	return nil
}

// write writes a claim into a row that no process has. One whose patterns are too long claims the whole folder.
func (b *book) write(c Claim) ([]place, error) {
	text, err := json.Marshal(c)
	if err == nil && len(text) > rowSize {
		c.Files = []string{"**"}
		text, err = json.Marshal(c)
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
		b.used[rowsAt+i] = true
		_, err := b.file.WriteAt(append(text, make([]byte, max(0, rowSize-len(text)))...), i*rowSize)
		return []place{{b, rowsAt + i}}, err
	}
	return nil, nil // more than are looked at
}
