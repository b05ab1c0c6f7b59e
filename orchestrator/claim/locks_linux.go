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
	"kanban-run/orchestrator/git"
)

// errNoGit reports a folder that is in no git work tree.
var errNoGit = errors.New("no git work tree")

// lockFile is the file .kanban-run/claims/locks of a folder, or the one in the folder .git. Each row
// of the file is a claim in JSON. For each row and each claimed task, one byte of the file stands for
// a lock. These bytes lie far behind the rows and are never written. Such a byte is locked while a
// run holds the claim. The locks of rows belong to the open file, which the guardian holds, too. If
// the byte of a row is not locked, the run and its guardian were killed. Such a row counts as long as
// an agent with the row's mark lives, or the task is locked, see lockTask; but not in a copy of the
// file, where it is the claim of a run of another folder.
type lockFile struct {
	file     *os.File
	place    durable.Place // of its folder, which stays when the file is replaced
	release  func() error  // makes the guardian close its duplicate of the file
	used     map[int64]bool
	last     int64 // the last claim number that this process has assigned; 0: none
	system   System
	replaced *lockFile // the folder's earlier lock file, which an agent has removed
}

// row is a claim in the lock file.
type row struct {
	Claim
	Number int64         // place in the order in which steps asked for files; 0: no files are claimed
	Place  durable.Place `json:",omitempty"` // of the lock file in which the row was written; "": not known
}

// The size of a row in bytes, the number of rows, and the offsets of the locked bytes.
const (
	rowSize = 4096
	maxRows = 4096
	mutexAt = 1 << 50
	rowsAt  = 1 << 51
	tasksAt = 1 << 52
)

// lock is a locked byte of a claim.
type lock struct {
	file *lockFile
	at   int64
}

// unlock clears the lock's row, if it has one, and unlocks the byte.
func (l lock) unlock() error {
	var err error
	if i := l.at - rowsAt; i >= 0 && i < maxRows {
		err = l.file.clear(i)
	}
	delete(l.file.used, l.at)
	return errors.Join(err, l.file.set(unix.F_UNLCK, l.at))
}

// openLockFile opens the lock file of a folder, and creates it if it is missing. In a git work tree
// the file is in the folder .git, where git clean does not remove it. If that file cannot be
// opened, the lock file is the one in the folder itself.
func openLockFile(dir string, s System) (*lockFile, error) {
	const flag = os.O_RDWR | os.O_CREATE
	err := errNoGit
	var file *os.File
	if inGit := git.LockFile("claims", filepath.Join(dir, "claims")); inGit != "" {
		if err = durable.MakePlainFolder(filepath.Dir(inGit)); err == nil {
			file, err = durable.OpenSeparated(inGit, func() (*os.File, error) { return durable.OpenPlain(inGit, flag, 0o600) })
		}
	}
	if err != nil && !durable.IsMachineFault(err) {
		beside := filepath.Join(dir, ".kanban-run", "claims", "locks")
		file, err = durable.OpenSeparated(beside, func() (*os.File, error) { return durable.OpenIgnored(beside, flag, 0o600) })
	}
	if err != nil {
		return nil, fmt.Errorf("claim the tasks of %s: %w", dir, err)
	}
	place := durable.PlaceOf(filepath.Dir(file.Name()))
	f := &lockFile{file: file, place: place, used: map[int64]bool{}, release: func() error { return nil }, system: s}
	if s.Hold != nil {
		if f.release, err = s.Hold(file); err != nil {
			return nil, errors.Join(err, file.Close())
		}
	}
	return f, nil
}

// isInPlace reports whether the file is still at its path, where other processes find it.
func (f *lockFile) isInPlace() bool {
	there, err := os.Lstat(f.file.Name())
	own, ownErr := f.file.Stat()
	return err == nil && ownErr == nil && os.SameFile(there, own)
}

func (f *lockFile) close() error {
	err := errors.Join(f.file.Close(), f.release())
	if f.replaced != nil {
		err = errors.Join(err, f.replaced.close())
	}
	return err
}

// set locks or unlocks a byte. If the byte is locked through another open file, the function
// isTaken returns true for the error.
func (f *lockFile) set(kind int16, at int64) error { return setLock(f.file, kind, at) }

func setLock(f *os.File, kind int16, at int64) error {
	return unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &unix.Flock_t{Type: kind, Start: at, Len: 1})
}

func isTaken(err error) bool { return errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) }

// isTaken reports whether a byte is locked through another open file.
func (f *lockFile) isTaken(at int64) (bool, error) {
	l := unix.Flock_t{Type: unix.F_WRLCK, Start: at, Len: 1}
	err := unix.FcntlFlock(f.file.Fd(), unix.F_OFD_GETLK, &l)
	return l.Type != unix.F_UNLCK, err
}

// taskByte returns the offset of the byte that is locked for a task. The lock file is the one of the
// task's folder, so the name tells the tasks apart, by whatever path the folder is reached.
func taskByte(task string) int64 {
	sum := sha256.Sum256([]byte(filepath.Base(task)))
	return int64(tasksAt + binary.BigEndian.Uint64(sum[:])>>16)
}

// lockTask locks a task. If another process has claimed the task, lockTask returns the conflict with
// that claim. The lock belongs to the returned file, which the agents of the step inherit: it lasts
// until they have ended, too, even if the run and its guardian are killed, and wherever they are seen.
func (f *lockFile) lockTask(c Claim) (own *os.File, locks []lock, taken *Conflict, err error) {
	if own, err = os.OpenFile(fmt.Sprintf("/proc/self/fd/%d", f.file.Fd()), os.O_RDWR, 0); err != nil {
		return nil, nil, nil, err
	}
	at := taskByte(c.Task)
	err = setLock(own, unix.F_WRLCK, at)
	locked := isTaken(err)
	if err != nil && !locked {
		return nil, nil, nil, errors.Join(err, own.Close())
	}
	if locked {
		taken = &Conflict{Task: c.Task} // the holder has not written its row yet, or it was too long
	}
	f.used[at] = !locked
	err = f.eachRow(func(other row, left bool) bool {
		// Without a lock, a row that is left from a killed run of this board does not count, because
		// this run has ended the agents of the killed run.
		if filepath.Base(other.Task) != filepath.Base(c.Task) || left && !locked && other.Board == c.Board {
			return true
		}
		taken = &Conflict{Board: other.Board, Task: c.Task, Left: left, Unseen: left && !f.system.isAtWork(other.Mark), mark: other.Mark,
			born: other.Place, here: f.place}
		return false
	})
	if err == nil && taken == nil {
		locks, err = f.write(row{Claim: Claim{Board: c.Board, Task: c.Task, Mark: c.Mark}})
		return own, locks, nil, err
	}
	if !locked {
		err = errors.Join(err, unlockTask(own, c.Task))
	}
	delete(f.used, at)
	return nil, nil, taken, errors.Join(err, own.Close())
}

// unlockTask gives back the lock of a task, also where an agent has left a process behind that
// inherited the file.
func unlockTask(own *os.File, task string) error { return setLock(own, unix.F_UNLCK, taskByte(task)) }

// enqueue writes a claim with the next number. Errors: errBusy if another process is writing a
// claim.
func (f *lockFile) enqueue(c Claim) (locks []lock, number int64, err error) {
	if err = f.set(unix.F_WRLCK, mutexAt); isTaken(err) {
		return nil, 0, errBusy
	}
	if err != nil {
		return nil, 0, fmt.Errorf("look at the claims of other runs: %w", err)
	}
	defer func() { err = errors.Join(err, f.set(unix.F_UNLCK, mutexAt)) }()
	number = f.last
	err = f.eachRow(func(other row, _ bool) bool {
		number = max(number, other.Number)
		return true
	})
	if err != nil {
		return nil, 0, err
	}
	number++
	f.last = number
	locks, err = f.write(row{Claim: c, Number: number})
	return locks, number, err
}

// firstConflict returns a claim of another process that overlaps the claim c and that has a lower
// number than the parameter, or nil if there is none.
func (f *lockFile) firstConflict(c Claim, number int64) (taken *Conflict, err error) {
	err = f.eachRow(func(other row, left bool) bool {
		if other.Number < number && !(left && other.Board == c.Board) && !f.system.isWithin(other.Mark) {
			if taken = c.conflict(other.at(c.Dir)); taken != nil {
				taken.Left = left
			}
		}
		return taken == nil
	})
	return taken, err
}

// at returns the claim of a row as seen from another path of its work directory, which is that of the
// lock file.
func (r row) at(dir string) Claim {
	if rel, err := filepath.Rel(r.Dir, r.Task); err == nil && r.Dir != dir {
		r.Task, r.Dir = filepath.Join(dir, rel), dir
	}
	return r.Claim
}

// eachRow calls the function visit for every claim of another process, until the function returns
// false. The argument left is true if that process was killed and one of its agents still lives.
// eachRow also clears the rows of ended runs.
func (f *lockFile) eachRow(visit func(r row, left bool) bool) error {
	info, err := f.file.Stat()
	if err != nil {
		return err
	}
	bytesOf := make([]byte, rowSize)
	for i := range min(info.Size()/rowSize, maxRows) {
		if f.used[rowsAt+i] {
			continue
		}
		if _, err := f.file.ReadAt(bytesOf, i*rowSize); err != nil {
			return err
		}
		text, _, _ := bytes.Cut(bytesOf, []byte{0})
		if len(text) == 0 {
			continue
		}
		taken, err := f.isTaken(rowsAt + i)
		if err != nil {
			return err
		}
		var r row
		isRow := json.Unmarshal(text, &r) == nil
		switch {
		case isRow && (taken || r.Place.IsAt(f.place) && f.isLeft(r)):
			if !visit(r, !taken) {
				return nil
			}
		case !taken && f.set(unix.F_WRLCK, rowsAt+i) == nil: // the run of the row has ended
			if err := errors.Join(f.clear(i), f.set(unix.F_UNLCK, rowsAt+i)); err != nil {
				return err
			}
		}
	}
	return nil
}

// isLeft reports whether an agent of a killed run still works on the task of a row.
func (f *lockFile) isLeft(r row) bool {
	if f.system.isAtWork(r.Mark) {
		return true
	}
	at := taskByte(r.Task)
	inherited, err := f.isTaken(at)
	return inherited && err == nil && !f.used[at]
}

// clear empties a row.
func (f *lockFile) clear(i int64) error {
	_, err := f.file.WriteAt([]byte{0}, i*rowSize)
	return err
}

// isEmpty reports whether a row is empty.
func (f *lockFile) isEmpty(i int64) bool {
	first := []byte{0}
	_, err := f.file.ReadAt(first, i*rowSize)
	return first[0] == 0 && (err == nil || errors.Is(err, io.EOF))
}

// write writes a claim into an empty row. If all rows are full, it returns an error. A claim whose
// patterns are too long for a row claims the whole folder.
func (f *lockFile) write(r row) ([]lock, error) {
	r.Place = f.place
	text, err := json.Marshal(r)
	if err == nil && len(text) > rowSize {
		r.Files = []string{"**"}
		text, err = json.Marshal(r)
	}
	if err != nil {
		return nil, err
	}
	if len(text) > rowSize {
		text = []byte("{}") // even the paths of the board and the task are too long
	}
	for i := range int64(maxRows) {
		if f.used[rowsAt+i] {
			continue
		}
		if err := f.set(unix.F_WRLCK, rowsAt+i); isTaken(err) {
			continue
		} else if err != nil {
			return nil, err
		}
		if !f.isEmpty(i) { // a killed run has left its row here
			if err := f.set(unix.F_UNLCK, rowsAt+i); err != nil {
				return nil, err
			}
			continue
		}
		f.used[rowsAt+i] = true
		_, err := f.file.WriteAt(append(text, make([]byte, max(0, rowSize-len(text)))...), i*rowSize)
		return []lock{{f, rowsAt + i}}, err
	}
	return nil, errors.New("the table of claims is full")
}
