package marks

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"kanban-run/orchestrator/durable"
)

// open notes that a turn about a task begins. The turn is open until the file is closed, or until
// this process dies. open returns nil if the log cannot be written: other boards then do not see
// the turn.
func (t *turns) open(task string) *os.File {
	f, err := durable.OpenSeparated(t.path, func() (*os.File, error) {
		return durable.OpenIgnored(t.path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	})
	if err != nil {
		return nil
	}
	if info, err := f.Stat(); err == nil && info.Size() > maxLog && lockTurn(f, unix.F_WRLCK) == nil {
		_ = f.Truncate(0) // a board that looks at an earlier place takes it for turns of others
	}
	if err := errors.Join(lockTurn(f, unix.F_RDLCK), t.write(f, task, false)); err != nil {
		_ = f.Close()
		return nil
	}
	return f
}

// write adds a line by one call, so that the lines of two boards do not mix.
func (t *turns) write(f *os.File, task string, end bool) error {
	text, err := json.Marshal(line{t.board, task, time.Now(), end})
	if err == nil {
		_, err = f.Write(append(text, '\n'))
	}
	return err
}

// close notes that a turn about a task ends.
func (t *turns) close(f *os.File, task string) {
	_ = t.write(f, task, true) // without this line the turn counts as open until the next look
	_ = f.Close()
}

// lockTurn locks the first byte of the log through this open file.
func lockTurn(f *os.File, kind int16) error {
	return unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &unix.Flock_t{Type: kind, Len: 1})
}

// since looks at the log from the last look on. own is the log as this board has it open for a turn of its
// own, which does not count; nil: it has no turn.
func (t *turns) since(last seen, own *os.File) (s seen) {
	at := last.at
	f, err := durable.OpenPlain(t.path, os.O_RDWR, 0)
	if err != nil {
		return seen{unknown: at > 0} // there is no log, or an agent has removed it
	}
	defer f.Close()
	info, err := f.Stat()
	locked := f
	if mine, failed := own.Stat(); failed == nil && os.SameFile(info, mine) {
		locked = own
	}
	l := unix.Flock_t{Type: unix.F_WRLCK, Len: 1}
	s.open = unix.FcntlFlock(locked.Fd(), unix.F_OFD_GETLK, &l) == nil && l.Type != unix.F_UNLCK
	if err != nil || info.Size() < at {
		return seen{open: s.open, unknown: true}
	}
	s.turns = last.stillOpen()
	if s.at = info.Size(); s.at == at {
		return s
	}
	text, err := io.ReadAll(io.NewSectionReader(f, at, s.at-at))
	s.unknown = err != nil
	for text := range bytes.Lines(text) {
		var l line
		if json.Unmarshal(text, &l) != nil {
			s.unknown = true
		} else if l.Board != t.board {
			s.note(l)
		}
	}
	return s
}
