package board

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestRepeats compares with a map over ascending, nearly ascending and random lists.
func TestRepeats(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 6))
		tasks := make([]string, r.IntN(60))
		for i := range tasks {
			tasks[i] = fmt.Sprintf("t/%03d.md", r.IntN(2*len(tasks)))
		}
		if r.IntN(2) == 0 {
			slices.Sort(tasks)
		}
		if r.IntN(3) == 0 {
			tasks = slices.Compact(tasks)
		}
		var repeated repeats
		seen := map[string]int{}
		for i, e := range tasks {
			want, wantTwice := seen[e]
			if !wantTwice {
				seen[e] = i
			}
			if got, twice := repeated.find(tasks, i); twice != wantTwice || twice && got != want {
				t.Fatalf("seed %d: find(%d) of %v = %d, %v, want %d, %v", seed, i, tasks, got, twice, want, wantTwice)
			}
		}
	}
}

// An ascending list needs no map.
func TestRepeatsOfAnAscendingListTakeNoMemory(t *testing.T) {
	tasks := mustParse(t, "k.yaml", largeBoard(1000)).TaskPaths()
	var repeated repeats
	for i := range tasks {
		repeated.find(tasks, i)
	}
	if repeated.first != nil {
		t.Errorf("a map of %d paths was made", len(repeated.first))
	}
}
