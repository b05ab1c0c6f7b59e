package inspect

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/ledger"
	"kanban-run/orchestrator/projection"
)

// TestReaderOfHistory: log -f is given what was added to a journal since its last look, and all of a journal that came in its place.
func TestReaderOfHistory(t *testing.T) {
	data, err := os.ReadFile("../ledger/testdata/golden/a-night.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	f := Looker{}.Reader(path)
	look := func() (seqs []uint64, records uint64, err error) {
		_, sum, err := f.History(func(e event.Entry) error {
			seqs = append(seqs, e.Seq)
			return nil
		})
		return seqs, sum.Records, err
	}
	write := func(data []byte) {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(data[:len(data)/2])
	first, half, err := look()
	if n := uint64(len(first)); err != nil || n != half || n < 10 {
		t.Fatalf("the first look: %d entries, %d records, %v", n, half, err)
	}
	if again, records, err := look(); len(again) != 0 || records != half || err != nil {
		t.Errorf("nothing was added: %d, %d records, %v", again, records, err)
	}
	write(data)
	added, all, err := look()
	if err != nil || len(added) == 0 || added[0] != half+1 || uint64(len(added)) != all-half {
		t.Errorf("half of the journal was added: %d, %d records, %v", added, all, err)
	}
	if err := os.Rename(path, path+".old"); err != nil {
		t.Fatal(err)
	}
	write(data[:len(data)/2])
	if anew, records, err := look(); !slices.Equal(anew, first) || records != half || err != nil {
		t.Errorf("another journal: %d, %d records, %v, want %d", anew, records, err, first)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	write(nil)
	if none, records, err := look(); len(none) != 0 || records != 0 || err != nil {
		t.Errorf("an empty journal: %d, %d records, %v", none, records, err)
	}
}

// TestReaderWaitsForARun: a board that was never run is told as such, and followed once it runs.
func TestReaderWaitsForARun(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("kanban.yaml", []byte("current: a.md\ntasks: [a.md]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f := Looker{}.Reader("kanban.yaml")
	var never *ledger.NoRunError
	if _, _, err := f.History(nil); !errors.As(err, &never) {
		t.Errorf("history = %v, want a *ledger.NoRunError", err)
	}
	if err := os.MkdirAll(f.dir.Path, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(f.dir.Journal(), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := f.History(nil); err != nil {
		t.Errorf("history = %v", err)
	}
}

// TestReader: who looks at a board again and again sees what somebody sees who looks for the first time, also
// when another journal came in the place of the first. A board that stays as it is is not read.
func TestReader(t *testing.T) {
	data, err := os.ReadFile("../ledger/testdata/golden/a-night.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	looker := Looker{Keep: projection.Keep{Steps: 3, Notices: 5}}
	r := looker.Reader(path)
	lines := bytes.SplitAfter(data, []byte("\n"))
	for i, n := range []int{1, 4, 4, 9, 20, len(lines), 7, len(lines)} {
		if err := os.Remove(path); err != nil && i > 0 && n == 7 {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, bytes.Join(lines[:n], nil), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := r.Look()
		want, wantErr := looker.Look(path)
		if err != nil || wantErr != nil {
			t.Fatal(err, wantErr)
		}
		if a, b := asJSON(t, got.Board), asJSON(t, want.Board); a != b {
			t.Errorf("after %d records: %s\nwant %s", n, a, b)
		}
	}
	records := r.fold.Records
	r.fold = nil // a read would fail
	if b, err := r.Look(); err != nil || b.Records != records {
		t.Errorf("a board that stays as it is: %d records, %v", b.Records, err)
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
