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

// first is the first of the tasks with the path of task i. It is called for each of them in turn.
func (r *repeats) first(tasks []Entry, i int) (first int, twice bool) {
	if r.slots == nil {
		if i == 0 || tasks[i-1].Path < tasks[i].Path {
			return 0, false
		}
		r.slots, r.seed = make([]int32, 2<<bits.Len(uint(cap(tasks)))), maphash.MakeSeed()
		for j := range i {
			r.insert(tasks, j)
		}
	}
	return r.insert(tasks, i)
}

func (r *repeats) insert(tasks []Entry, i int) (first int, twice bool) {
	mask := uint64(len(r.slots) - 1)
	for at := maphash.String(r.seed, tasks[i].Path) & mask; ; at = (at + 1) & mask {
		switch there := int(r.slots[at]) - 1; {
		case there < 0:
			r.slots[at] = int32(i + 1)
			return 0, false
		case tasks[there].Path == tasks[i].Path:
			return there, true
		}
	}
}
