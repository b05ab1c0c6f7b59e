package journal

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"syscall"
	"testing"
)

var errDisk = errors.New("input/output error")

// faults are the errors of a disk. The last one affects only writes.
var faults = []error{
	syscall.ENOSPC, syscall.EIO, syscall.EROFS, syscall.EACCES, syscall.EMFILE, syscall.EFBIG, io.ErrShortWrite,
}

func affects(fault error, op string) bool {
	return fault != io.ErrShortWrite || strings.HasPrefix(op, "write")
}

// history is what the writers know: every record that one of them read or appended, and how many of
// those were acknowledged.
type history struct {
	appended []Record
	acked    int
}

// runWriter opens the journal, commits two records and then one, and stops at the first error.
func (h *history) runWriter(m *memory) error {
	j, got, err := collect(m)
	if err != nil {
		return err
	}
	defer j.Close()
	if err := h.checkReplayed(got); err != nil {
		return err
	}
	h.appended, h.acked = got, len(got)
	if _, err := j.BeginEpoch(); err != nil {
		return err
	}
	for _, n := range []int{2, 1} {
		for i := range n {
			r, err := j.Append(draft(i))
			if err != nil {
				return err
			}
			h.appended = append(h.appended, r)
		}
		if err := j.Commit(); err != nil {
			if again := j.Commit(); again != err {
				return fmt.Errorf("second Commit = %v, want %v again", again, err)
			}
			return err
		}
		h.acked = len(h.appended)
	}
	return nil
}

// reopen opens the journal, replays it and closes it.
func (h *history) reopen(m *memory) error {
	j, got, err := collect(m)
	if err == nil {
		err = h.checkReplayed(got)
		h.appended, h.acked = got, len(got)
		j.Close()
	}
	return err
}

// checkReplayed requires all that was acknowledged and nothing that was never appended.
func (h *history) checkReplayed(got []Record) error {
	if len(got) < h.acked || !isPrefix(h.appended, got) {
		return fmt.Errorf("replayed %d records, want %d to %d", len(got), h.acked, len(h.appended))
	}
	return nil
}

// check opens the journal after every kind of cut.
func (h *history) check(m *memory) error {
	for name, next := range m.states() {
		_, got, err := collect(next)
		if err == nil {
			err = h.checkReplayed(got)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// start makes the disk that a journal's life begins with, and its records.
type start func() (*memory, []Record)

// crashEverywhere runs a writer and fails its k-th operation, for every k, and all later ones if
// the fault persists. Every disk that a power cut may leave must be sound then, after a reopening,
// and after a second writer.
func crashEverywhere(prepare start, fault error, persists bool) error {
	for k := 1; ; k++ {
		m, written := prepare()
		first := len(m.log)
		m.fails = func(n int, op string) error {
			if (n == first+k || persists && n > first+k) && affects(fault, op) {
				return fault
			}
			return nil
		}
		h := history{appended: slices.Clone(written), acked: len(written)}
		err := h.runWriter(m)
		if len(m.log) < first+k {
			return nil
		}
		if err := checkReported(err, fault, m.log[first+k-1], persists); err != nil {
			return fmt.Errorf("operation %d of %v failed: %w", k, m.log[first:], err)
		}
		err = h.check(m)
		if err == nil {
			m.fails = nil
			err = errors.Join(h.reopen(m), h.check(m), h.runWriter(m), h.check(m))
		}
		if err != nil {
			return fmt.Errorf("operation %d of %v failed: %w", k, m.log[first:], err)
		}
	}
}

// checkReported requires that the writer got the fault as an error, except from the final Close.
func checkReported(err, fault error, op string, persists bool) error {
	if err != nil && !errors.Is(err, fault) {
		return err
	}
	if err == nil && !persists && affects(fault, op) && !strings.HasPrefix(op, "close") {
		return errors.New("no call returned the fault")
	}
	return nil
}

func TestJournalSurvivesFaultAtEveryOperation(t *testing.T) {
	starts := map[string]start{
		"new journal": func() (*memory, []Record) { return newMemory(), nil },
		"second run":  func() (*memory, []Record) { return filled(t) },
		"torn tail": func() (*memory, []Record) {
			m, written := filled(t)
			m.names[testPath].write([]byte("000000ff 0000"), len(m.names[testPath].data))
			return m, written
		},
	}
	for name, prepare := range starts {
		for _, fault := range faults {
			for _, persists := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%v/persists=%t", name, fault, persists), func(t *testing.T) {
					if err := crashEverywhere(prepare, fault, persists); err != nil {
						t.Error(err)
					}
				})
			}
		}
	}
}

// A test that stays green without a sync would prove nothing.
func TestEverySyncIsNeeded(t *testing.T) {
	for _, op := range []string{"sync .jsonl", "syncDir", "write .jsonl"} {
		err := crashEverywhere(func() (*memory, []Record) {
			m := newMemory()
			m.skips = op
			return m, nil
		}, errDisk, true)
		if err == nil {
			t.Errorf("crashes without %q = nil, want an error", op)
		}
	}
}

// A torn tail is cut off only when its copy is safe.
func TestTornTailIsNeverLost(t *testing.T) {
	if err := repairEverywhere(t, ""); err != nil {
		t.Error(err)
	}
	for _, op := range []string{"sync .torn-1", "syncDir", "write .torn-1"} {
		if repairEverywhere(t, op) == nil {
			t.Errorf("repairs without %q = nil, want an error", op)
		}
	}
}

// repairEverywhere opens a torn journal, dies at the k-th operation, for every k, and requires the
// tail on each disk that a power cut may leave.
func repairEverywhere(t *testing.T, skips string) error {
	const tail = "000000ff 0000"
	for k := 1; ; k++ {
		m, _ := filled(t)
		f := m.names[testPath]
		f.write([]byte(tail), len(f.data))
		f.sync()
		m.skips, m.log = skips, nil
		m.fails = func(n int, _ string) error {
			if n >= k {
				return errDisk
			}
			return nil
		}
		_, _, err := collect(m)
		for name, next := range m.states() {
			if !next.hasTail(tail) {
				return fmt.Errorf("dead from operation %d of %v on, %s: the tail is gone", k, m.log, name)
			}
		}
		if err == nil {
			return nil
		}
	}
}

// hasTail reports whether a file ends with tail.
func (m *memory) hasTail(tail string) bool {
	for _, f := range m.names {
		if strings.HasSuffix(string(f.data), tail) {
			return true
		}
	}
	return false
}

// A fault that goes away stays an error: the kernel has forgotten the bytes.
func TestCommitErrorIsFinal(t *testing.T) {
	for _, op := range []string{"write .jsonl", "sync .jsonl", "write .head"} {
		m := newMemory()
		j, _, err := collect(m)
		if err != nil {
			t.Fatal(err)
		}
		j.BeginEpoch()
		j.Append(draft(0))
		failed := false
		m.fails = func(_ int, o string) error {
			if o == op && !failed {
				failed = true
				return errDisk
			}
			return nil
		}
		first := j.Commit()
		if !errors.Is(first, errDisk) {
			t.Fatalf("Commit with a failed %s = %v, want %v", op, first, errDisk)
		}
		_, appendErr := j.Append(draft(1))
		_, beginErr := j.BeginEpoch()
		_, continueErr := j.ContinueEpoch()
		for what, err := range map[string]error{
			"Commit": j.Commit(), "Append": appendErr, "BeginEpoch": beginErr, "ContinueEpoch": continueErr,
		} {
			if err != first {
				t.Errorf("%s after a failed %s = %v, want %v again", what, op, err, first)
			}
		}
	}
}
