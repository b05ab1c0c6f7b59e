package board

import (
	"hash/maphash"
	"math/bits"
)

// repeats finds the paths that are in a list twice. While each is greater than the one before it none can be, and that is how
// most long lists are; else their numbers go into a hash table. A map from path to line would cost as much as all the rest of
// reading a board.
type repeats struct {
	slots []int32 // number of an entry, counted from 1; 0 is free. At least half of them are.
	seed  maphash.Seed
}

// first is the first of the paths that is the same as path i. It is called for each of them in turn.
func (r *repeats) first(paths []string, i int) (first int, twice bool) {
	if r.slots == nil {
		if i == 0 || paths[i-1] < paths[i] {
			return 0, false
		}
		r.slots, r.seed = make([]int32, 2<<bits.Len(uint(cap(paths)))), maphash.MakeSeed()
		for j := range i {
			r.insert(paths, j)
		}
	}
	return r.insert(paths, i)
}

func (r *repeats) insert(paths []string, i int) (first int, twice bool) {
	mask := uint64(len(r.slots) - 1)
	for at := maphash.String(r.seed, paths[i]) & mask; ; at = (at + 1) & mask {
		switch there := int(r.slots[at]) - 1; {
		case there < 0:
			r.slots[at] = int32(i + 1)
			return 0, false
		case paths[there] == paths[i]:
			return there, true
		}
	}
}
