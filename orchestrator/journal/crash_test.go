package journal

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

var errDisk = errors.New("input/output error")

// history is what a writer believes: every record it appended, and how many of
// them were acknowledged.
type history struct {
	appended []Record
	acked    int
}

// live opens the journal, commits two records and then one, and stops at the
// first error, as a run does.
func (h *history) live(m *memory) error {
	j, got, err := collect(m)
	if err != nil {
		return err
	}
	defer j.Close()
	if len(got) != len(h.appended) || !begins(h.appended, got) {
		return fmt.Errorf("replayed %v, want %v", got, h.appended)
	}
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

// check opens the journal after every kind of cut and wants all that was
// acknowledged, and nothing that was never appended.
func (h *history) check(m *memory) error {
	for name, cut := range cuts {
		for _, keepNames := range []bool{true, false} {
			next := m.after(cut, keepNames)
			if name == "only the processes die" && !keepNames {
				continue
			}
			_, got, err := collect(next)
			if err != nil {
				return fmt.Errorf("%s: Open = %w", name, err)
			}
			if len(got) < h.acked || !begins(h.appended, got) {
				return fmt.Errorf("%s: replayed %d records, want %d to %d", name, len(got), h.acked, len(h.appended))
			}
		}
	}
	return nil
}

// crashes runs the life of a journal and ends it at the k-th operation, for
// every k; each of the disks that a power cut may leave must be good.
func crashes(prepare func() (*memory, []Record)) error {
	for k := 1; ; k++ {
		m, written := prepare()
		first := len(m.log)
		m.fails = func(n int, _ string) error {
			if n >= first+k {
				return errDisk
			}
			return nil
		}
		h := history{appended: slices.Clone(written), acked: len(written)}
		err := h.live(m)
		if err != nil && !errors.Is(err, errDisk) {
			return fmt.Errorf("dead from operation %d on: %w", k, err)
		}
		if err := h.check(m); err != nil {
			return fmt.Errorf("dead from operation %d of %v on: %w", k, m.log, err)
		}
		if err == nil {
			return nil
		}
	}
}

func TestJournalSurvivesDeathAtEveryOperation(t *testing.T) {
	starts := map[string]func() (*memory, []Record){
		"new journal": func() (*memory, []Record) { return newMemory(), nil },
		"second run":  func() (*memory, []Record) { return filled(t) },
		"torn tail": func() (*memory, []Record) {
			m, written := filled(t)
			f := m.names[testPath]
			f.data = append(f.data, "000000ff 0000"...)
			f.synced = slices.Clone(f.data)
			return m, written
		},
	}
	for name, prepare := range starts {
		t.Run(name, func(t *testing.T) {
			if err := crashes(prepare); err != nil {
				t.Error(err)
			}
		})
	}
}

// Leave out each step in turn: a test that does not notice proves nothing.
func TestEverySyncIsNeeded(t *testing.T) {
	for _, op := range []string{"sync .jsonl", "syncDir", "write .jsonl"} {
		err := crashes(func() (*memory, []Record) {
			m := newMemory()
			m.skips = op
			return m, nil
		})
		if err == nil {
			t.Errorf("crashes without %q = nil, want an error", op)
		}
	}
}

// A torn tail is cut off only when its copy is safe.
func TestTornTailIsNeverLost(t *testing.T) {
	if err := repairs(t, ""); err != nil {
		t.Error(err)
	}
	for _, op := range []string{"sync .torn-1", "syncDir", "write .torn-1"} {
		if repairs(t, op) == nil {
			t.Errorf("repairs without %q = nil, want an error", op)
		}
	}
}

// repairs opens a torn journal, dies at the k-th operation, for every k, and
// looks for the tail on each disk that a power cut may leave.
func repairs(t *testing.T, skips string) error {
	const tail = "000000ff 0000"
	for k := 1; ; k++ {
		m, _ := filled(t)
		f := m.names[testPath]
		f.data = append(f.data, tail...)
		f.synced = slices.Clone(f.data)
		m.skips, m.log = skips, nil
		m.fails = func(n int, _ string) error {
			if n >= k {
				return errDisk
			}
			return nil
		}
		_, _, err := collect(m)
		for name, cut := range cuts {
			if next := m.after(cut, false); !next.holds(tail) {
				return fmt.Errorf("dead from operation %d of %v on, %s: the tail is gone", k, m.log, name)
			}
		}
		if err == nil {
			return nil
		}
	}
}

// holds reports whether a file ends with the bytes.
func (m *memory) holds(tail string) bool {
	for _, f := range m.names {
		if strings.HasSuffix(string(f.data), tail) {
			return true
		}
	}
	return false
}

// A fault that goes away must not be forgotten: the kernel forgets it too.
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
		_, epochErr := j.BeginEpoch()
		for what, err := range map[string]error{"Commit": j.Commit(), "Append": appendErr, "BeginEpoch": epochErr} {
			if err != first {
				t.Errorf("%s after a failed %s = %v, want %v again", what, op, err, first)
			}
		}
	}
}
