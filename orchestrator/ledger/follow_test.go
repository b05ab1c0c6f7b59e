package ledger

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
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
	f, h, entries := journal.Follow(dir.Journal()), flow.History{}, 0
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
		sum, err := Continue(f, dir, &h, visit)
		if isOther && errors.Is(err, journal.ErrReplaced) {
			h, entries = flow.History{}, 0
			sum, err = Continue(f, dir, &h, visit)
		}
		want, wantSum, wantErr := Fold(dir, nil)
		same := reflect.DeepEqual(h, want)
		if err != nil || wantErr != nil || sum != wantSum || entries != int(sum.Records) || !same {
			t.Fatalf("%s, %d bytes: %+v, %v, %d entries, want %+v, %v; the same history: %t", path, at, sum, err, entries, wantSum, wantErr, same)
		}
	}
}

// TestFollowerBeginsAnew: after an error, with the history before the fault, the next Continue begins with the first entry.
func TestFollowerBeginsAnew(t *testing.T) {
	dir := written(t, begun...)
	f, stop, seen := journal.Follow(dir.Journal()), errors.New("enough"), 0
	var h flow.History
	_, err := Continue(f, dir, &h, func(event.Entry) error {
		if seen++; seen == 2 {
			return stop
		}
		return nil
	})
	if !errors.Is(err, stop) || h.Seq != 2 {
		t.Errorf("Continue = record %d, %v, want %v", h.Seq, err, stop)
	}
	h, seen = flow.History{}, 0
	sum, err := Continue(f, dir, &h, func(event.Entry) error { seen++; return nil })
	if want, _, _ := Fold(dir, nil); err != nil || seen != 3 || sum.Records != 3 || !reflect.DeepEqual(h, want) {
		t.Errorf("the next one = %+v, %v, %d entries", sum, err, seen)
	}
}
