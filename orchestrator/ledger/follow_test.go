package ledger

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/journal"
	"kanban-run/orchestrator/rundir"
)

// TestFollowerFoldsAsFoldDoes: on every golden journal, which grows by random cuts and is replaced now and then, a Follower
// has the history and the summary of a whole Fold, and is given each entry once.
func TestFollowerFoldsAsFoldDoes(t *testing.T) {
	paths, err := filepath.Glob(golden + "/*.jsonl")
	if err != nil || len(paths) < 40 {
		t.Fatalf("%d journals, %v", len(paths), err)
	}
	rounds := 1
	if os.Getenv("KANBAN_TEST_EXHAUSTIVE") != "" {
		rounds = 20
	}
	for i, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for round := range rounds {
			followCuts(t, rand.New(rand.NewPCG(uint64(round), uint64(i))), path, data)
		}
	}
}

func followCuts(t *testing.T, r *rand.Rand, path string, data []byte) {
	t.Helper()
	dir := rundir.Dir{Path: t.TempDir()}
	f, entries := Follow(dir), 0
	visit := func(event.Entry) error { entries++; return nil }
	for at := 0; at < len(data); {
		at = min(at+1+r.IntN(1+len(data)/8), len(data))
		isOther := r.IntN(8) == 0
		if isOther {
			_ = os.Rename(dir.Journal(), dir.Journal()+".old") // it may be the first one
			at -= r.IntN(at)
		}
		if err := os.WriteFile(dir.Journal(), data[:at], 0o600); err != nil {
			t.Fatal(err)
		}
		h, sum, err := f.Fold(visit)
		if isOther && errors.Is(err, journal.ErrReplaced) {
			entries = 0
			h, sum, err = f.Fold(visit)
		}
		want, wantSum, wantErr := Fold(dir, nil)
		same := reflect.DeepEqual(h, want)
		if err != nil || wantErr != nil || sum != wantSum || entries != int(sum.Records) || !same {
			t.Fatalf("%s, %d bytes: %+v, %v, %d entries, want %+v, %v; the same history: %t", path, at, sum, err, entries, wantSum, wantErr, same)
		}
	}
}

// TestFollowerBeginsAnew: after an error, with the history before the fault, the next Fold begins with the first entry.
func TestFollowerBeginsAnew(t *testing.T) {
	dir := written(t, begun...)
	f, stop, seen := Follow(dir), errors.New("enough"), 0
	h, _, err := f.Fold(func(event.Entry) error {
		if seen++; seen == 2 {
			return stop
		}
		return nil
	})
	if !errors.Is(err, stop) || h.Seq != 2 {
		t.Errorf("Fold = record %d, %v, want %v", h.Seq, err, stop)
	}
	seen = 0
	h, sum, err := f.Fold(func(event.Entry) error { seen++; return nil })
	if want, _, _ := Fold(dir, nil); err != nil || seen != 3 || sum.Records != 3 || !reflect.DeepEqual(h, want) {
		t.Errorf("the next Fold = %+v, %v, %d entries", sum, err, seen)
	}
}
