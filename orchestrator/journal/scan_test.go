package journal

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// severalReads returns a journal of several reads, with records shorter than, longer than and as
// long as one, and the offsets behind them.
func severalReads(t *testing.T) (data []byte, at []int) {
	t.Helper()
	j := &Journal{now: time.Now, began: true}
	lengths := []int{10, readSize - 200, 1000, readSize, readSize + 1, 3 * readSize, 1,
		50_000, 50_000, 50_000, 50_000, 50_000, 50_000, 7}
	for i, n := range lengths {
		data := `"` + strings.Repeat("x", n) + `"`
		add(t, j, Draft{Type: "T", TaskID: fmt.Sprint("t", i), Rev: 1, Actor: "a", Data: []byte(data)})
	}
	return j.pending, ends(j.pending)
}

// Damage is found in its record, after all records before it, whichever byte it hits. A fifth of the
// bytes is tried unless KANBAN_TEST_EXHAUSTIVE is set.
func TestDamageInAnyRead(t *testing.T) {
	data, at := severalReads(t)
	if at[len(at)-1] != len(data) {
		t.Fatalf("the journal ends at %d, its last record at %d", len(data), at[len(at)-1])
	}
	r := rand.New(rand.NewPCG(1, 2))
	tries := 60
	if os.Getenv("KANBAN_TEST_EXHAUSTIVE") != "" {
		tries = 300
	}
	for range tries {
		place := r.IntN(len(data))
		if r.IntN(2) == 0 {
			place = min(at[r.IntN(len(at))]+r.IntN(60), len(data)-1)
		}
		bad := slices.Clone(data)
		bad[place] ^= 1 << r.IntN(8)
		record, _ := slices.BinarySearch(at, place+1)
		seen := 0
		count := func(*Record, *position) error { seen++; return nil }
		end, err := walk(bytes.NewReader(bad), position{}, int64(len(bad)), count)
		var damage *DamageError
		last := record == len(at)-1
		if seen != record || end.seq != uint64(record) || last && err != nil || !last && !errors.As(err, &damage) {
			t.Fatalf("byte %d changed: %d records, %+v, %v, want %d and damage", place, seen, end, err, record)
		}
	}
}

// A file that became shorter after its size was taken ends in a torn record.
func TestCutInAnyRead(t *testing.T) {
	data, at := severalReads(t)
	for _, end := range at {
		for _, cut := range []int{end - 1, end, end + 1, end + headerLen, end + headerLen + 1} {
			cut = min(cut, len(data))
			whole, _ := slices.BinarySearch(at, cut+1)
			for _, size := range []int{cut, len(data)} {
				got, err := walk(bytes.NewReader(data[:cut]), position{}, int64(size), ignoreAll)
				if err != nil || got.seq != uint64(whole) {
					t.Errorf("cut at %d of %d: %+v, %v, want %d records", cut, size, got, err, whole)
				}
			}
		}
	}
}

// An error of the caller's function ends the walk at that record.
func TestWalkEndsWithItsCaller(t *testing.T) {
	data, _ := severalReads(t)
	stop := errors.New("enough")
	for n := range 14 {
		seen := 0
		end, err := walk(bytes.NewReader(data), position{}, int64(len(data)), func(*Record, *position) error {
			if seen++; seen > n {
				return stop
			}
			return nil
		})
		if !errors.Is(err, stop) || end.seq != uint64(n)+1 {
			t.Errorf("walk = %+v, %v, want %v at record %d", end, err, stop, n+1)
		}
	}
}
