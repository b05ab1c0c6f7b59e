package journal

import (
	"errors"
	"path/filepath"
	"testing"
)

// Write lock during handoff: seed 002, "Lead -> Supervisor handoff contract",
// rule 5.
func TestNoRecordWithoutAnEpoch(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	j, err := Open(path, ticker, ignore)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	if _, err := j.Append(draft(0)); !errors.Is(err, ErrNoEpoch) {
		t.Errorf("Append before BeginEpoch = %v, want ErrNoEpoch", err)
	}
}

// Epochs are strictly monotonic: seed 002, rule 2 of the same contract.
func TestEpochsOnlyRise(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	for want := uint64(1); want < 4; want++ {
		j, err := Open(path, ticker, ignore)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := j.BeginEpoch(); got != want || err != nil {
			t.Errorf("BeginEpoch = %d, %v, want %d", got, err, want)
		}
		add(t, j, draft(0))
		commit(t, j)
		j.Close()
	}
	j := begun(t, path)
	if got, err := j.BeginEpoch(); got != 5 || err != nil {
		t.Errorf("second BeginEpoch = %d, %v, want 5", got, err)
	}
}

// A person's answer transfers no ownership: it belongs to the epoch that asked.
func TestContinueEpoch(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	j := begun(t, path)
	add(t, j, draft(0))
	commit(t, j)
	j.Close()
	for _, want := range []uint64{1, 1, 2} {
		j, err := Open(path, ticker, ignore)
		if err != nil {
			t.Fatal(err)
		}
		if want == 2 { // a run between two answers
			if _, err := j.BeginEpoch(); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := j.ContinueEpoch(); got != want || err != nil {
			t.Errorf("ContinueEpoch = %d, %v, want %d", got, err, want)
		}
		if r := add(t, j, draft(1)); r.Epoch != want {
			t.Errorf("epoch of the record = %d, want %d", r.Epoch, want)
		}
		commit(t, j)
		j.Close()
	}
	if s, err := Read(path, ignore); err != nil || s.Epoch != 2 || s.Head != 4 || s.Records != 4 {
		t.Errorf("Read = %+v, %v, want 4 records, head 4, epoch 2", s, err)
	}
}

func TestContinueEpochNeedsOne(t *testing.T) {
	j, err := Open(filepath.Join(t.TempDir(), "journal.jsonl"), ticker, ignore)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := j.ContinueEpoch(); !errors.Is(err, ErrNoEpoch) || got != 0 {
		t.Errorf("ContinueEpoch of an empty journal = %d, %v, want ErrNoEpoch", got, err)
	}
	if _, err := j.Append(draft(0)); !errors.Is(err, ErrNoEpoch) {
		t.Errorf("Append after that = %v, want ErrNoEpoch", err)
	}
	j.Close()
	if _, err := j.ContinueEpoch(); err == nil || errors.Is(err, ErrNoEpoch) {
		t.Errorf("ContinueEpoch after Close = %v, want another error", err)
	}
}

// An epoch without a record is unknown to the journal.
func TestEpochWithoutARecordIsNotSeen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	begun(t, path).Close()
	if s, err := Read(path, ignore); err != nil || s != (Summary{}) {
		t.Errorf("Read = %+v, %v, want nothing", s, err)
	}
	j, err := Open(path, ticker, ignore)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	if _, err := j.ContinueEpoch(); !errors.Is(err, ErrNoEpoch) {
		t.Errorf("ContinueEpoch = %v, want ErrNoEpoch", err)
	}
}
